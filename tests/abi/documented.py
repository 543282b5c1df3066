"""The documented checks of the operator functions, in their order, written out in Python.

`outcome(problem)` says which status a call must give and which arguments its reason may name. It knows nothing of how
the library does it: each function below follows the documented list of one family line by line.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from abi.facts import BAD_PARAM, DTYPES, LAYOUTS, NOT_SUPPORTED, SUCCESS
from abi.problems import LARGEST_BUFFER, Problem, Tensor
from abi.raw import packed


class Check(NamedTuple):
    """One line of a list; `arguments` are those the reason may name."""

    holds: bool
    status: int
    arguments: tuple[str, ...]
    rows_needed: int | None = None


class Outcome(NamedTuple):
    status: int
    arguments: tuple[str, ...] = ()
    #: what num_act_out tells after a refusal for want of output rows
    rows_needed: int | None = None


#: Yielded where a list ends early with success.
DONE = Check(False, SUCCESS, ())

Checks = Iterator[Check]


def outcome(problem: Problem) -> Outcome:
    """The first check that fails decides."""
    for check in LISTS[problem.function](problem):
        if not check.holds:
            return Outcome(check.status, check.arguments, check.rows_needed)
    return Outcome(SUCCESS)


# ---- vocabulary ------------------------------------------------------------------------------------------------------


def dims(tensor: Tensor) -> tuple[int, ...]:
    return tensor.dims or ()


def code(tensor: Tensor) -> int:
    return DTYPES[tensor.dtype] if isinstance(tensor.dtype, str) else tensor.dtype


def order(tensor: Tensor) -> int:
    return LAYOUTS[tensor.layout] if isinstance(tensor.layout, str) else tensor.layout


def is_real(tensor: Tensor) -> bool:
    return code(tensor) in (DTYPES["HALF"], DTYPES["FLOAT"])


def is_contiguous(tensor: Tensor) -> bool:
    if tensor.strides is None or tensor.elements == 0:
        return True
    steps = zip(dims(tensor), tensor.strides, packed(dims(tensor)), strict=True)
    return all(size == 1 or stride == wanted for size, stride, wanted in steps)


def bad(holds: bool, *arguments: str) -> Check:
    return Check(holds, BAD_PARAM, arguments)


def unsupported(holds: bool, *arguments: str) -> Check:
    return Check(holds, NOT_SUPPORTED, arguments)


def objects(problem: Problem, *names: str, sparse: bool = False) -> Checks:
    yield bad(problem.values.get("handle", "ok") == "ok", "handle")
    if sparse:
        assert problem.sparse is not None
        yield bad(problem.sparse.get("desc", "ok") in ("ok", "unset"), "sparse_conv_desc")
    for name in names:
        yield bad(problem.tensors[name].desc == "ok", name + "_desc")


def ranks(problem: Problem, *wanted: tuple[str, int]) -> Checks:
    for name, rank in wanted:
        yield bad(len(dims(problem.tensors[name])) == rank, name + "_desc")


def contiguous(problem: Problem, *names: str) -> Checks:
    for name in names:
        yield unsupported(is_contiguous(problem.tensors[name]), name + "_desc")


def not_big(problem: Problem, *names: str) -> Checks:
    for name in names:
        yield unsupported(problem.tensors[name].elements < 2**31, name + "_desc")


def has_layout(problem: Problem, layout: str, *names: str) -> Checks:
    for name in names:
        yield bad(order(problem.tensors[name]) == LAYOUTS[layout], name + "_desc")


def is_int32(problem: Problem, name: str) -> Check:
    return bad(code(problem.tensors[name]) == DTYPES["INT32"], name + "_desc")


def same_dtype(problem: Problem, first: str, second: str) -> Check:
    holds = code(problem.tensors[first]) == code(problem.tensors[second])
    return bad(holds, first + "_desc", second + "_desc")


def pointers(problem: Problem, *names: str) -> Checks:
    """All pointers first, then overlap, which is looked at last."""
    for name in names:
        yield bad(problem.tensors[name].data not in ("null", "misaligned"), name)


def no_overlap(problem: Problem) -> Check:
    """Tests place at most one tensor inside another one."""
    moved = [name for name, tensor in problem.tensors.items() if isinstance(tensor.data, tuple)]
    involved = [
        name for name in moved if problem.tensors[name].output or problem.tensors[_target(problem, name)].output
    ]
    return bad(not involved, *involved, *(_target(problem, name) for name in involved))


def _target(problem: Problem, name: str) -> str:
    data = problem.tensors[name].data
    assert isinstance(data, tuple)
    return data[0]


# ---- the lists -------------------------------------------------------------------------------------------------------


def tin_shift(problem: Problem) -> Checks:
    first, _, last = problem.tensors
    x, shifts, y = (dims(tensor) for tensor in problem.tensors.values())
    names = (first, "shifts", last)
    yield from objects(problem, *names)
    yield from ranks(problem, (first, 4), ("shifts", 2))
    yield bad(len(y) == len(x), last + "_desc", first + "_desc")
    yield bad(x[2] != 0, first + "_desc")
    yield bad(shifts[1] != 0, "shifts_desc")
    yield bad(x[2] % shifts[1] == 0, "shifts_desc", first + "_desc")
    yield bad(x == y, last + "_desc", first + "_desc")
    yield bad(x[0] == shifts[0], "shifts_desc", first + "_desc")
    yield from contiguous(problem, *names)
    yield is_int32(problem, "shifts")
    yield bad(is_real(problem.tensors[first]), first + "_desc")
    yield same_dtype(problem, last, first)
    yield bad(x[0] != 0, first + "_desc")
    yield bad(x[3] != 0, first + "_desc")
    yield from not_big(problem, *names)
    if x[1] == 0:
        yield DONE
    yield from pointers(problem, *names)
    yield no_overlap(problem)


def psamask(problem: Problem) -> Checks:
    forward = problem.function.endswith("Forward")
    mask, full = ("x", "y") if forward else ("dx", "dy")
    m, f = dims(problem.tensors[mask]), dims(problem.tensors[full])
    h_mask, w_mask = problem.values["h_mask"], problem.values["w_mask"]
    both = (mask + "_desc", full + "_desc")
    yield from objects(problem, full, mask)
    yield bad(problem.values["psa_type"] in (0, 1), "psa_type")
    yield bad(h_mask > 0, "h_mask")
    yield bad(w_mask > 0, "w_mask")
    yield from ranks(problem, (mask, 4), (full, 4))
    yield from has_layout(problem, "NHWC", mask, full)
    yield bad(code(problem.tensors[mask]) == code(problem.tensors[full]) == DTYPES["FLOAT"], *both)
    yield bad(m[:3] == f[:3], *both)
    yield bad(h_mask * w_mask == m[3], both[0], "h_mask", "w_mask")
    yield bad(m[1] * m[2] == f[3], *both)
    for name in (mask, full):  # strided or big tensors are bad parameters here, not unsupported ones
        yield bad(is_contiguous(problem.tensors[name]), name + "_desc")
    yield bad(max(tensor.elements for tensor in problem.tensors.values()) < 2**31, *both)
    if problem.tensors[mask if forward else full].elements == 0:
        yield DONE
    yield from pointers(problem, *((mask, full) if forward else (full, mask)))
    yield no_overlap(problem)


def border_align_forward(problem: Problem) -> Checks:
    names = ("input", "boxes", "output", "argmax_idx")
    x, boxes, y, argmax = (dims(problem.tensors[name]) for name in names)
    yield from objects(problem, *names)
    yield from ranks(problem, ("input", 4), ("boxes", 3), ("output", 4), ("argmax_idx", 4))
    yield from contiguous(problem, *names)
    yield same_dtype(problem, "input", "boxes")
    yield bad(is_real(problem.tensors["input"]), "input_desc", "boxes_desc")
    yield same_dtype(problem, "output", "input")
    yield is_int32(problem, "argmax_idx")
    yield from has_layout(problem, "NHWC", "input", "output", "argmax_idx")
    yield bad(x[3] % 4 == 0, "input_desc")
    yield bad(x[0] != 0 and x[3] != 0 and x[1] != 0 and x[2] != 0, "input_desc")
    yield bad(boxes[1] != 0, "boxes_desc")
    yield bad(boxes[2] == 4, "boxes_desc")
    yield bad(x[0] == boxes[0], "boxes_desc", "input_desc")
    yield bad(problem.values["pool_size"] > 0, "pool_size")
    wanted = (x[0], boxes[1], 4, x[3] // 4)
    yield bad(y == wanted, "output_desc")
    yield bad(argmax == wanted, "argmax_idx_desc")
    yield from not_big(problem, "input", "boxes", "output")
    yield from pointers(problem, *names)
    yield no_overlap(problem)


def border_align_backward(problem: Problem) -> Checks:
    names = ("grad_output", "boxes", "argmax_idx", "grad_input")
    y, boxes, argmax, x = (dims(problem.tensors[name]) for name in names)
    yield from objects(problem, *names)
    yield from ranks(problem, ("grad_output", 4), ("boxes", 3), ("argmax_idx", 4), ("grad_input", 4))
    yield from contiguous(problem, *names)
    yield bad(is_real(problem.tensors["grad_output"]), "grad_output_desc")
    yield is_int32(problem, "argmax_idx")
    yield same_dtype(problem, "boxes", "grad_output")
    yield same_dtype(problem, "grad_input", "grad_output")
    yield from has_layout(problem, "NHWC", "grad_output", "argmax_idx", "grad_input")
    yield bad(x[3] % 4 == 0, "grad_input_desc")
    yield bad(x[0] != 0 and x[3] != 0 and x[1] != 0 and x[2] != 0, "grad_input_desc")
    yield bad(boxes[2] == 4, "boxes_desc")
    yield bad(boxes[1] != 0, "boxes_desc")
    yield bad(problem.values["pool_size"] > 0, "pool_size")
    wanted = (x[0], boxes[1], 4, x[3] // 4)
    yield bad(y == wanted, "grad_output_desc", "boxes_desc", "grad_input_desc")
    yield bad(boxes[0] == x[0], "boxes_desc", "grad_input_desc")
    yield bad(argmax == wanted, "argmax_idx_desc")
    yield from not_big(problem, "grad_output", "boxes", "grad_input")
    yield from pointers(problem, *names)
    yield no_overlap(problem)


def three_interpolate(problem: Problem) -> Checks:
    forward = problem.function.endswith("Forward")
    first, indices, weights, last = names = tuple(problem.tensors)
    tensors = problem.tensors
    # `points` has N as its last dimension, `sources` has M.
    sources, points = (first, last) if forward else (last, first)
    a, i, w, z = (dims(tensors[name]) for name in names)
    yield from objects(problem, *names)
    yield from ranks(problem, *((name, 3) for name in names))
    yield from has_layout(problem, "ARRAY", *names)
    yield same_dtype(problem, first, weights)
    yield is_int32(problem, indices)
    yield same_dtype(problem, weights, last)
    yield bad(is_real(tensors[first]), *(name + "_desc" for name in (first, weights, last)))
    yield bad(a[0] == i[0], first + "_desc", indices + "_desc")
    yield bad(i == w, indices + "_desc", weights + "_desc")
    yield bad(w[2] == 3, weights + "_desc", indices + "_desc")
    yield bad(z[:2] == a[:2], first + "_desc", last + "_desc")
    yield bad(dims(tensors[points])[2] == i[1], points + "_desc", indices + "_desc")
    yield from contiguous(problem, *names)
    yield from not_big(problem, *names)
    for name in (indices, weights, points):
        yield bad(tensors[name].elements != 0, name + "_desc")
    yield bad(dims(tensors[sources])[2] != 0, sources + "_desc")
    yield from pointers(problem, *names)
    yield no_overlap(problem)


_INDICE_TENSORS = ("indices", "indice_pairs", "out_indices", "indice_num")


def get_indice_pairs(problem: Problem) -> Checks:
    yield from objects(problem, *_INDICE_TENSORS, sparse=True)
    yield from _indice_pairs_shapes(problem)
    if any(problem.tensors[name].elements == 0 for name in _INDICE_TENSORS):
        yield DONE
    yield from pointers(problem, *_INDICE_TENSORS)
    size = problem.values["workspace_size"]
    yield bad(problem.values["workspace"] == "ok" or size == 0, "workspace")
    yield bad(size == "need" or (isinstance(size, tuple) and size[1] >= 0), "workspace_size", "workspace")
    yield no_overlap(problem)
    yield from _indice_pairs_content(problem)


def get_indice_pairs_workspace_size(problem: Problem) -> Checks:
    yield from objects(problem, *_INDICE_TENSORS, sparse=True)
    yield bad(problem.values["workspace_size"] != "null", "workspace_size")
    if any(problem.tensors[name].elements == 0 for name in _INDICE_TENSORS):
        yield DONE
    yield from _indice_pairs_shapes(problem)


def _indice_pairs_shapes(problem: Problem) -> Checks:
    geometry = _geometry(problem)
    pad, stride, dilation = geometry["pad"], geometry["stride"], geometry["dilation"]
    indices, pairs, out, num = (dims(problem.tensors[name]) for name in _INDICE_TENSORS)
    yield from ranks(problem, ("indices", 2), ("indice_pairs", 3), ("out_indices", 2), ("indice_num", 1))
    yield bad(indices[1] == 4, "indices_desc")
    yield bad(out[1] == 4, "out_indices_desc")
    yield bad(pairs[1] == 2, "indice_pairs_desc")
    yield bad(pairs[2] == indices[0], "indice_pairs_desc", "indices_desc")
    yield bad(pairs[0] == num[0], "indice_pairs_desc", "indice_num_desc")
    batch = geometry["batch_size"]
    cells = batch * int(np.prod(geometry["input_space"], dtype=object))
    yield bad(indices[0] <= cells, "indices_desc", "sparse_conv_desc")
    axes = list(zip(pad, stride, dilation, strict=True))
    yield bad(all(p >= 0 and d >= 1 and s >= 1 for p, s, d in axes), "sparse_conv_desc")
    yield bad(all(d == 1 or s == 1 for _, s, d in axes), "sparse_conv_desc")
    yield bad(pairs[0] == int(np.prod(geometry["filter_space"])), "indice_pairs_desc", "sparse_conv_desc")
    yield bad(out[0] <= batch * int(np.prod(geometry["output_space"], dtype=object)), "out_indices_desc")
    yield from contiguous(problem, *_INDICE_TENSORS)
    yield from not_big(problem, *_INDICE_TENSORS)
    for name in _INDICE_TENSORS:
        yield is_int32(problem, name)
    if geometry["sub_m"]:
        same = tuple(geometry["input_space"]) == tuple(geometry["output_space"])
        yield bad(same and all(d == 1 and s == 1 for _, s, d in axes), "sparse_conv_desc")


def _geometry(problem: Problem) -> dict[str, Any]:
    assert problem.sparse is not None
    if problem.sparse.get("desc") == "unset":
        nothing = dict.fromkeys(("pad", "stride", "dilation", "input_space", "filter_space", "output_space"), (0, 0, 0))
        return {**nothing, "batch_size": 0, "sub_m": 0}
    return problem.sparse


def _indice_pairs_content(problem: Problem) -> Checks:
    """Coordinates in range and room for all output rows; only for tensors small enough to have data."""
    geometry, tensor = _geometry(problem), problem.tensors["indices"]
    if tensor.nbytes > LARGEST_BUFFER:
        return
    rows = np.zeros(dims(tensor), np.int32)
    if tensor.content is not None and tensor.content.nbytes == tensor.nbytes:
        rows = tensor.content.reshape(rows.shape)
    limits = np.array([geometry["batch_size"], *geometry["input_space"]])
    yield bad(bool(((rows >= 0) & (rows < limits)).all()), "indices")
    needed = len(rows) if geometry["sub_m"] else len(output_sites(rows, geometry))
    room = dims(problem.tensors["out_indices"])[0]
    yield Check(room >= needed, BAD_PARAM, ("out_indices_desc", "out_indices"), needed)


def output_sites(rows: np.ndarray, geometry: dict[str, Any]) -> set[tuple[int, ...]]:
    """The distinct output coordinates that any row reaches through any filter cell."""
    sites = set()
    for row, *cells in itertools.product(rows.tolist(), *(range(size) for size in geometry["filter_space"])):
        site = [row[0]]
        for axis, cell in enumerate(cells):
            at = row[axis + 1] + geometry["pad"][axis] - cell * geometry["dilation"][axis]
            step, limit = geometry["stride"][axis], geometry["output_space"][axis]
            if at % step or not 0 <= at // step < limit:
                break
            site.append(at // step)
        else:
            sites.add(tuple(site))
    return sites


LISTS = {
    "mluOpTinShiftForward": tin_shift,
    "mluOpTinShiftBackward": tin_shift,
    "mluOpPsamaskForward": psamask,
    "mluOpPsamaskBackward": psamask,
    "mluOpBorderAlignForward": border_align_forward,
    "mluOpBorderAlignBackward": border_align_backward,
    "mluOpThreeInterpolateForward": three_interpolate,
    "mluOpThreeInterpolateBackward": three_interpolate,
    "mluOpGetIndicePairs": get_indice_pairs,
    "mluOpGetIndicePairsWorkspaceSize": get_indice_pairs_workspace_size,
}
