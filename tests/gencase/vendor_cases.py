"""The cases that ship with the vendor's tests, written as files from what is known about them.

`tests/data/vendor_cases.txt` has their shapes, types, parameters and criteria. Of long lists the
number and the range are known; those here are random, and where an operator asks for more than a
range (corners in order, a map of points to voxels), they are made for it.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from support.data_files import TESTS

_TYPES = {
    "f": "FLOAT", "h": "HALF", "bf": "BFLOAT16", "i": "INT32", "l": "INT64", "b": "BOOL", "cf": "COMPLEX_FLOAT",
}  # fmt: skip
_CRITERIA = {"d1": "DIFF1", "d2": "DIFF2", "d3": "DIFF3", "d3_2": "DIFF3_2"}
#: Messages that are not called like their operator.
_MESSAGES = {
    "adam_w": "adamw", "adam_w_light": "adamw", "carafe_forward": "carafe", "carafe_backward": "carafe",
    "dcn_forward": "dcn", "dcn_backward_data": "dcn", "dcn_backward_weight": "dcn", "roialign_forward": "roialign",
    "border_align_forward": "border_align", "border_align_backward": "border_align",
}  # fmt: skip
_TENSOR = re.compile(r"(?P<type>bf|cf|[fhilb])\[(?P<dims>[\d,]+)\](?:@(?P<layout>\w+))?")
_LIST = re.compile(r"(hex|raw|val_l|val)(?:\(([^)]*)\)|\*(\d+) in (\S+?)\.\.(\S+))")


@dataclass
class Row:
    """A row of the table."""

    operator: str
    case: str
    inputs: list[str]
    outputs: list[str]
    parameters: list[tuple[str, str]]
    criteria: str

    @property
    def elements(self) -> int:
        """The number of elements of all tensors."""
        shapes = [_TENSOR.match(text) for text in (*self.inputs, *self.outputs)]
        return sum(int(np.prod([int(dim) for dim in shape["dims"].split(",")])) for shape in shapes if shape)


@dataclass
class _Tensor:
    text: str
    dtype: str
    dims: list[int]
    values: list[float] = field(default_factory=list[float])
    #: How the values are written: hex, raw, val or val_l.
    kind: str = ""


def rows() -> list[Row]:
    """Return the table."""
    found: list[Row] = []
    for line in (TESTS / "data/vendor_cases.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, tensors, parameters, criteria, *_ = [*(cell.strip() for cell in line.split("|")), "", ""]
        operator, _, case = name.partition("/")
        given, made = (re.split(r"; (?=[a-z]+\[)", side.strip()) for side in tensors.split("->"))
        numbers = [
            (key, value) for key, values in re.findall(r"(\w+)=(\S+)", parameters) for value in values.split(",")
        ]
        found.append(Row(operator, case, given, made, numbers, criteria))
    return found


def write(row: Row, path: Path) -> None:
    """Write the case of a row as a text file."""
    random = np.random.default_rng(zlib.crc32(f"{row.operator}/{row.case}".encode()))
    inputs = [_tensor(text, random) for text in row.inputs]
    outputs = [_tensor(text, random) for text in row.outputs]
    made = _MADE.get(row.operator)
    if made is not None:
        made(row.case, inputs, outputs, random)
    lines = [f'op_name: "{row.operator}"']
    for role, tensors in (("input", inputs), ("output", outputs)):
        for number, tensor in enumerate(tensors, 1):
            lines += [f"{role} {{", *_body(tensor, f"{role}{number}"), "}"]
    if row.parameters:
        message = _MESSAGES.get(row.operator, row.operator)
        lines += [f"{message}_param: {{", *(f"  {name}: {value}" for name, value in row.parameters), "}"]
    path.write_text("\n".join([*lines, *_verdict(row.criteria)]) + "\n", encoding="utf-8")


def has_baseline(row: Row) -> bool:
    """Return whether the outputs in the file count, and are known or follow from the inputs."""
    return "GPU" in row.criteria.split() and row.operator in _MADE


def _tensor(text: str, random: np.random.Generator) -> _Tensor:
    head = _TENSOR.match(text)
    assert head is not None, text
    tensor = _Tensor(text, head["type"], [int(dim) for dim in head["dims"].split(",")])
    stated = _LIST.search(text)
    if stated is not None:
        tensor.kind = stated[1]
        if stated[2] is not None:
            tensor.values = [float(value) for value in stated[2].split(",")]
        elif tensor.dtype in "ilb":
            low, high = int(stated[4]), int(stated[5])
            tensor.values = random.integers(low, high + 1, int(stated[3])).tolist()
        else:
            tensor.values = random.uniform(float(stated[4]), float(stated[5]), int(stated[3])).tolist()
    return tensor


def _body(tensor: _Tensor, name: str) -> list[str]:
    text = tensor.text
    own_name, layout = re.search(r"id (\w+)", text), re.search(r"@(\w+)", text)
    strides, on_chip = re.search(r"str\(([\d,]+)\)", text), re.search(r"onchip (\w+)", text)
    thresholds, use = re.search(r"T\(([^)]*)\)", text), re.search(r"use=(\d)", text)
    lines = [f'id: "{own_name[1] if own_name else name}"', "shape {", *(f"  dims: {dim}" for dim in tensor.dims)]
    lines += [f"  dim_stride: {stride}" for stride in strides[1].split(",")] if strides else []
    lines += ["}", f"layout: LAYOUT_{layout[1] if layout else 'ARRAY'}", f"dtype: DTYPE_{_TYPES[tensor.dtype]}"]
    lines += [f"onchip_dtype: DTYPE_{on_chip[1]}"] if on_chip else []
    if thresholds:
        real, _, imaginary = thresholds[1].partition("; imag ")
        numbers = [f"evaluation_threshold: {number}" for number in real.split(",")]
        numbers += [f"evaluation_threshold_imag: {number}" for number in imaginary.split(",") if number]
        lines += [f"thresholds {{ {' '.join(numbers)} }}"]
    lines += [f"threshold_use: {use[1]}"] if use else []
    return [f"  {line}" for line in (*lines, *_random(text), *map(_stated(tensor), tensor.values))]


def _random(text: str) -> list[str]:
    single, double = re.search(r"U\(([^,]+),([^;]+);(\d+)\)", text), re.search(r"Ud\(([^,]+),([^)]+)\)", text)
    if single:
        bounds = f"seed: {single[3]} upper_bound: {single[2]} lower_bound: {single[1]}"
        return [f"random_data: {{ {bounds} distribution: UNIFORM }}"]
    if double:
        bounds = f"lower_bound_double: {double[1]} upper_bound_double: {double[2]}"
        return [f"random_data: {{ {bounds} distribution: UNIFORM }}"]
    return []


def _stated(tensor: _Tensor) -> Callable[[float], str]:
    """Return what writes a value in the way of the file."""
    if tensor.kind == "val_l":
        return lambda value: f"value_l: {int(value)}"
    if tensor.dtype in "ilb":
        return lambda value: f"value_i: {int(value)}"
    if tensor.kind == "hex":
        return lambda value: f'value_h: "{struct.unpack("<I", struct.pack("<f", value))[0]:x}"'
    if tensor.kind == "raw":
        return lambda value: f"value_i: {struct.unpack('<i', struct.pack('<f', value))[0]}"
    return lambda value: f"value_f: {value!r}"


def _verdict(text: str) -> list[str]:
    """Return the lines of the criteria."""
    words = text.split()
    names = [_CRITERIA[word] for word in words if word in _CRITERIA] or ["DIFF1", "DIFF2"]
    numbers = [word for word in words if word[0].isdigit()]
    thresholds = numbers[0].split("/") if numbers else ["0" if names == ["DIFF3"] else "0.003"]
    thresholds *= len(names) // len(thresholds)
    if "E" not in words:
        functions = [*(f"  error_func: {name}" for name in names), *(f"  error_threshold: {t}" for t in thresholds)]
        return ["test_param: {", *functions, "  baseline_device: CPU", "}"]
    device = [f"device: {word}" for word in words if word in ("CPU", "GPU")]
    common = [] if "T" in words else [f"evaluation_threshold: {t}" for t in thresholds]
    return [*device, *(f"evaluation_criterion: {name}" for name in names), *common]


# ---- Values for operators that ask for more than a range -----------------------------------------


def _set(tensor: _Tensor, values: Any) -> None:
    tensor.values, tensor.kind = np.asarray(values).reshape(-1).tolist(), tensor.kind or "val"


_Lists = Sequence[_Tensor]


def _voxels_of_maxima(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    """30 of 34 points are alone in a voxel each, the others in none: their gradient is 0."""
    points, voxels, order = inputs[1].dims[0], 30, random.permutation(inputs[1].dims[0])[:30]
    features, gradients = random.uniform(-97, 98, (points, 5)), random.uniform(-98, 98, (voxels, 5))
    of_voxels, expected, where = np.zeros((points, 5)), np.zeros((points, 5)), np.full(points, -1)
    of_voxels[:voxels], expected[order], where[order] = features[order], gradients, np.arange(voxels)
    for tensor, values in zip(inputs, (gradients, features, of_voxels, where), strict=False):
        _set(tensor, values)
    _set(outputs[0], expected)


def _points_in_voxels(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    """The order of voxels that the outputs of the file state, and two points outside."""
    if case == "case_0":
        _set(inputs[1], [12, 5, 9, 8, 6, 14, 8, 15, 3, -1, 3, 4, 5, -1, 2, 9, 14, 15])


def _spectrum(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    found = np.fft.rfft(np.reshape(inputs[0].values, inputs[0].dims))
    _set(outputs[0], np.stack([found.real, found.imag], -1))


def _powers(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    _set(outputs[0], np.logspace(1, 3, outputs[0].dims[0]))


def _channels(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    """Each bin reads its own channel; the baseline of the file is 0, since the boxes lie outside."""
    _set(inputs[1], np.tile(np.arange(9)[:, None] + 9 * np.arange(3), (2, 1)))


def _vertices(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    """As many points are marked as count, all on a circle."""
    mask = np.zeros((inputs[2].dims[1], 24))
    for row, count in zip(mask, inputs[2].values, strict=True):
        row[random.permutation(24)[: int(count)]] = 1
    angles = random.uniform(0, 2 * np.pi, (*mask.shape, 1)) + np.array([0, np.pi / 2])
    _set(inputs[0], (0.03 if case == "case_4" else 1) * np.sin(angles))
    _set(inputs[1], mask)


def _boxes(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    """Corners in order; of the boxes in space the last two are almost equal."""
    if case == "case_0":
        first = random.uniform(-0.3, 1, (30, 2))
        return _set(inputs[0], np.hstack([first, first + random.uniform(0.05, 0.6, (30, 2))]))
    boxes = random.uniform(0.5, 3, (5, 7))
    boxes[4] = boxes[3] + 1e-3
    return _set(inputs[0], boxes)


def _polygons(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    """Convex and counterclockwise, with the scores of the file."""
    corners, shifts, scores = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), [0.0, 0.5, 5.0], [6.4555, 20.6903, 21.6903]
    if len(inputs[0].values) < len(scores) * 9:
        corners, shifts, scores = np.array([[0, 0], [2, 0], [2.2, 2], [0, 2.1]]), [0.0, 1.0], [5.55, 2.2]
    rows_of = [
        [*(corners + shift * np.array([1, 0])).reshape(-1), score] for shift, score in zip(shifts, scores, strict=True)
    ]
    _set(inputs[0], rows_of)


def _regions(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    if inputs[1].dims == [9, 5]:
        first = random.uniform(-1.7, 60, (9, 2))
        images = [[0], [1], [3], [1], [6], [4], [7], [4], [4]]
        _set(inputs[1], np.hstack([images, first, first + random.uniform(1, 100, (9, 2))]))


def _turned_regions(case: str, inputs: _Lists, outputs: _Lists, random: np.random.Generator) -> None:
    if len(inputs[1].values) > len("0xywha"):
        centres, sizes = random.uniform(0, 130, (16, 2)), random.uniform(1, 40, (16, 2))
        _set(inputs[1], np.hstack([random.integers(0, 9, (16, 1)), centres, sizes, random.uniform(0, 3, (16, 1))]))


_MADE: dict[str, Callable[[str, _Lists, _Lists, np.random.Generator], None]] = {
    "dynamic_point_to_voxel_backward": _voxels_of_maxima,
    "dynamic_point_to_voxel_forward": _points_in_voxels,
    "fft": _spectrum,
    "logspace": _powers,
    "psroipool_backward": _channels,
    "diff_iou_rotated_sort_vertices_forward": _vertices,
    "nms": _boxes,
    "poly_nms": _polygons,
    "roialign_forward": _regions,
    "roi_align_rotated_backward": _turned_regions,
}
