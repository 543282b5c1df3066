"""indice_convolution: products of sparse rows with filter cells, in float64 unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import NOT_SUPPORTED, Check, Refusals, bad, unsupported
from pymluops.oracle.ways import Way

#: The functions that compute in double have another shape than those of the ABI, and tests of their
#: own.
IN_DOUBLE = "mluopsExtIndiceConvolutionForward"

#: What only the C function looks at: values of the pairs, their numbers, and how these fit to the
#: rows.
LEFT_TO_C = ("indice_pairs", "indice_num", "output_grad_desc", "input_grad_desc", "filters_desc")


def _cells(filters: np.ndarray) -> np.ndarray:
    """The filters [kd, kh, kw, Ci, Co] as [K, Ci, Co]."""
    return filters.reshape(-1, *filters.shape[-2:]).astype(np.float64)


def forward(
    features: np.ndarray, filters: np.ndarray, pairs: np.ndarray, num: np.ndarray, rows: int, inverse: int = 0
) -> np.ndarray:
    """features_out [rows, Co]: out[o] += features[i] @ filters[k] for each cell k and pair (i, o), or (o, i)."""
    cells = _cells(filters)
    out = np.zeros((rows, filters.shape[-1]))
    for k in range(len(cells)):
        for number in range(int(num[k])):
            source, target = pairs[k, inverse, number], pairs[k, 1 - inverse, number]
            out[target] += features[source].astype(np.float64) @ cells[k]
    return out


def backward_data(
    output_grad: np.ndarray, filters: np.ndarray, pairs: np.ndarray, num: np.ndarray, rows: int, inverse: int = 0
) -> np.ndarray:
    """input_grad [rows, Ci]: grad[i] += output_grad[o] @ filters[k]^T for each cell k and pair."""
    cells = _cells(filters)
    grad = np.zeros((rows, filters.shape[-2]))
    for k in range(len(cells)):
        for number in range(int(num[k])):
            target, source = pairs[k, inverse, number], pairs[k, 1 - inverse, number]
            grad[target] += output_grad[source].astype(np.float64) @ cells[k].T
    return grad


def backward_filter(
    features: np.ndarray, output_grad: np.ndarray, pairs: np.ndarray, num: np.ndarray, inverse: int = 0
) -> np.ndarray:
    """filters_grad [K, Ci, Co]: the outer products of features and output gradients, summed over the pairs."""
    grad = np.zeros((len(num), features.shape[1], output_grad.shape[1]))
    for k in range(len(num)):
        for number in range(int(num[k])):
            feature = features[pairs[k, inverse, number]].astype(np.float64)
            grad[k] += np.outer(feature, output_grad[pairs[k, 1 - inverse, number]].astype(np.float64))
    return grad


def chained(
    source: np.ndarray, cells: np.ndarray, pairs: np.ndarray, num: np.ndarray, rows: int, source_side: int
) -> np.ndarray:
    """The product bit by bit: a chain of multiply-adds in float32, each rounded once, over cells, pairs and channels.

    float64 holds the product of two floats exactly; adding a float to it rounds twice at worst,
    which differs from one rounding only where the sum lies halfway between two floats. Small
    integers never do.
    """
    out = np.zeros((rows, cells.shape[-1]), np.float32)
    for k in range(len(cells)):
        for number in range(int(num[k])):
            target = pairs[k, 1 - source_side, number]
            row = source[pairs[k, source_side, number]].astype(np.float64)
            for channel, factors in enumerate(cells[k].astype(np.float64)):
                out[target] = (row[channel] * factors + out[target]).astype(np.float32)
    return out


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the pairs be a permutation of the rows for each cell."""
    pairs, num = arguments["indice_pairs"], arguments["indice_num"]
    inputs = pairs.shape[2]
    outputs = arguments["num_act_out"] if "num_act_out" in arguments else len(arguments["output_grad"])
    pairs[...] = -1
    for k in range(len(pairs)):
        num[k] = rng.integers(0, min(inputs, outputs) + 1)
        pairs[k, 0, : num[k]] = rng.permutation(inputs)[: num[k]]
        pairs[k, 1, : num[k]] = rng.permutation(outputs)[: num[k]]
    arguments["inverse"] = arguments["sub_m"] = 0


def ways(size: int) -> Iterator[Way]:
    """Pairs whose outputs ascend in each cell, and pairs in any order."""
    rows = size * 15
    sizes = {"L": rows, "Y": rows, "num_act_out": rows, "Ci": 16, "Co": 20, "kd": 9, "kh": 1, "kw": 1}
    for name in (
        "indice_convolution_forward",
        "indice_convolution_backward_data",
        "indice_convolution_backward_filter",
    ):
        for ascending in (True, False):
            yield Way(name, "ascending pairs" if ascending else "any pairs", sizes, change=_all_pairs(ascending))


def _all_pairs(ascending: bool) -> Callable[[dict[str, Any], np.random.Generator], None]:
    def change(arguments: dict[str, Any], rng: np.random.Generator) -> None:
        pairs = arguments["indice_pairs"]
        arguments["indice_num"][...] = pairs.shape[2]
        pairs[...] = np.arange(pairs.shape[2]) if ascending else rng.integers(0, pairs.shape[2], pairs.shape)

    return change


# ---- refusals ------------------------------------------------------------------------------------


def _content(tensor: Any) -> np.ndarray:
    """What the memory of an array holds; zeros where its content is of another size."""
    if tensor.content is not None and tensor.content.nbytes == tensor.nbytes:
        return tensor.content.reshape(tensor.dims)
    return np.zeros(tensor.dims or (), np.int64)


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """Numbers of pairs, and rows that exist."""
    counts, pairs = (problem.tensors[name] for name in ("indice_num", "indice_pairs"))
    checks = {"inverse": [unsupported(problem.values["inverse"] == 0, "inverse")]}
    if len(pairs.dims or ()) == 3:
        checks["sides"] = [bad(pairs.dims[1] == 2, "indice_pairs_desc")]
    if len(pairs.dims or ()) != 3 or counts.data != "ok" or pairs.dims[0] != counts.dims[0]:
        return checks
    numbers, length = _content(counts), pairs.dims[2]
    most, outputs = int(numbers.max(initial=0)), sizes.get("Y", sizes.get("num_act_out", 0))
    checks["counts"] = [bad(bool(((numbers >= 0) & (numbers <= length)).all()), "indice_num")]
    checks["most"] = [bad(outputs >= most, "output_grad_desc", "indice_num")]
    if problem.values.get("sub_m") == 1:
        centre = int(numbers[len(numbers) // 2]) if len(numbers) else 0
        plain = sizes.get("Y") == sizes.get("L") and centre == most and len(numbers) % 2 == 1
        checks["sub_manifold"] = [bad(plain, "input_grad_desc", "output_grad_desc", "indice_num", "filters_desc")]
    if pairs.elements <= 1 << 17 and pairs.dims[1] == 2:
        rows = _content(pairs)
        sides = list(enumerate((length, outputs)))
        used = [(rows[k, side, : numbers[k]], limit) for k in range(len(numbers)) for side, limit in sides]
        checks["rows"] = [bad(all(((one >= 0) & (one < limit)).all() for one, limit in used), "indice_pairs")]
    return checks


_FIRST_AND_LAST = {"NHWC": "Co{} Ci", "NDHWC": "Co{} Ci", "NCHW": "Co Ci{}", "NCDHW": "Co Ci{}"}
_OTHER_FILTERS = {
    ("filters", layout, number): text.format(" kd kh kw" if number == 5 else " kd=1 kh kw")
    for layout, text in _FIRST_AND_LAST.items()
    for number in (4, 5)
} | {("filters", layout, 4): "kd=1 kh kw Ci Co" for layout in ("ARRAY", "HWCN")}
_LAYOUTS = ("NDHWC", "NCDHW", "ARRAY")

_FORWARD = (
    "handle objects:features objects:filters objects:indice_pairs numbers objects types scalars:sub_m scalars:inverse "
    "inverse layouts ranks:features ranks:indice_pairs ranks:features_out ranks packed indexable scalars shapes "
    "aligned counts"
)
_BACKWARD_DATA = (
    "handle objects ranks sides allowed layouts packed scalars numbers inverse shapes aligned counts sub_manifold most "
    "types indexable"
)
_BACKWARD_FILTER = "handle objects numbers scalars:inverse packed types indexable ranks shapes aligned counts"
_END = "empty data workspace overlap rows"
_NOT_SUPPORTED = {"layouts": NOT_SUPPORTED, "ranks:filters": NOT_SUPPORTED}
_ANY_FILTERS = {("filters_grad", layout, 4): "kd=1 kh kw Ci Co" for layout in ("ARRAY", *_FIRST_AND_LAST)}


def _refusals(name: str, order: str, **more: Any) -> dict[str, Refusals]:
    """How a function refuses, and the one that tells the size of its workspace."""
    pointer = order + " empty pointer" if name == "Forward" else "pointer " + order
    return {
        f"mluOpIndiceConvolution{name}": Refusals(f"{order} {_END}", checks=_checks, **more),
        f"mluOpGetIndiceConvolution{name}WorkspaceSize": Refusals(pointer, checks=_checks, **more),
    }


REFUSALS = {
    **_refusals(
        "Forward", _FORWARD, statuses=_NOT_SUPPORTED, layouts={"filters": _LAYOUTS},
        shapes={key: text for key, text in _OTHER_FILTERS.items() if key[2] == 5},
    ),
    **_refusals(
        "BackwardData", _BACKWARD_DATA, layouts={"filters": (*_LAYOUTS, "NHWC", "NCHW", "HWCN")}, shapes=_OTHER_FILTERS
    ),
    **_refusals("BackwardFilter", _BACKWARD_FILTER, shapes=_ANY_FILTERS),
}  # fmt: skip
