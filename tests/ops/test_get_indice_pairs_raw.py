"""mluOpGetIndicePairs: workspace, room for the output rows, coordinates, early success and num_act_out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from abi.c_objects import UNTOUCHED, RawAbi
from abi.checks import Outcome, outcome
from abi.facts import BAD_PARAM, SUCCESS
from abi.operator_call import GUARD, Call, Edits, Problem, Tensor, needed_workspace
from pymluops.oracle.get_indice_pairs import output_sites

NAMES = ("indices", "indice_pairs", "out_indices", "indice_num")
SPARSE = "sparse_conv_desc"
SUB_M: Edits = {(SPARSE, "sub_m"): 1}
#: Four voxels of a 4 x 5 x 6 grid, batch 2.
VOXELS = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [1, 3, 4, 5], [1, 3, 4, 4]], np.int32)


@pytest.fixture(scope="module")
def abi() -> RawAbi:
    return RawAbi(pymluops.load("cpu"))


def get_indice_pairs(function: str = "mluOpGetIndicePairs") -> Problem:
    """Kernel 3, stride 1, padding 1: K = 27 cells, output space as the input's, default mode."""
    sizes = {"workspace_size": "ok"} if "WorkspaceSize" in function else {"workspace": "ok", "workspace_size": "need"}
    settings = {
        "dimNb": 5, "batch_size": 2, "pad": (1, 1, 1), "stride": (1, 1, 1), "dilation": (1, 1, 1),
        "input_space": (4, 5, 6), "filter_space": (3, 3, 3), "output_space": (4, 5, 6), "sub_m": 0, "transpose": 0,
        "inverse": 0,
    }  # fmt: skip
    tensors = {
        "indices": Tensor((4, 4), "INT32", content=VOXELS),
        "indice_pairs": Tensor((27, 2, 4), "INT32", output=True),
        "out_indices": Tensor((100, 4), "INT32", output=True),
        "indice_num": Tensor((27,), "INT32", output=True),
    }
    return Problem(function, tensors, {"handle": "ok", **sizes}, {SPARSE: settings})


def problem(edits: Edits | None = None) -> Problem:
    return get_indice_pairs().edited(edits or {})


def with_rows(rows: Any, **edits: Any) -> dict[tuple[str, str], Any]:
    """Edits for other indices; everything that depends on L follows."""
    array = np.asarray(rows, np.int32).reshape(-1, 4)
    return {
        ("indices", "dims"): array.shape,
        ("indices", "content"): array,
        ("indice_pairs", "dims"): (27, 2, len(array)),
        **{(SPARSE, name): value for name, value in edits.items()},
    }


def sites(case: Problem) -> list[tuple[int, ...]]:
    return sorted(output_sites(case.tensors["indices"].content, case.settings[SPARSE]))


def sparse_of(call: Call) -> Any:
    """The descriptor of a call."""
    return call.settings[SPARSE]


def test_default_mode(abi: RawAbi) -> None:
    case = problem()
    call = Call(abi, case)
    assert call.run() == SUCCESS
    call.assert_only_outputs_touched()
    wanted = sites(case)
    assert abi.num_act_out(sparse_of(call)) == len(wanted)
    out = call.result("out_indices")
    assert list(map(tuple, out[: len(wanted)])) == wanted
    assert (out[len(wanted) :].view(np.uint8) == 0xA5).all(), "rows behind the last one were written"
    assert_pairs_are_right(call, case, wanted)


def assert_pairs_are_right(call: Call, case: Problem, rows_out: list[tuple[int, ...]]) -> None:
    """Every pair joins an input row and the output row that its filter cell leads to; -1 behind the last pair."""
    geometry, rows = case.settings[SPARSE], case.tensors["indices"].content
    assert geometry is not None
    pairs, number = call.result("indice_pairs"), call.result("indice_num")
    for k, cell in enumerate(np.ndindex(*geometry["filter_space"])):
        wanted = []
        for at, row in enumerate(rows.tolist()):
            alone = {
                **geometry,
                "filter_space": (1, 1, 1),
                "pad": tuple(
                    pad - c * d for pad, c, d in zip(geometry["pad"], cell, geometry["dilation"], strict=True)
                ),
            }
            found = output_sites(np.array([row]), alone)
            wanted += [(at, rows_out.index(site)) for site in found if site in rows_out]
        assert number[k] == len(wanted)
        assert list(zip(*pairs[k, :, : len(wanted)].tolist(), strict=True)) == wanted
        assert (pairs[k, :, len(wanted) :] == -1).all()


def test_sub_manifold_mode(abi: RawAbi) -> None:
    case = problem(SUB_M)
    call = Call(abi, case)
    assert call.run() == SUCCESS
    call.assert_only_outputs_touched()
    assert abi.num_act_out(sparse_of(call)) == len(VOXELS)
    out = call.result("out_indices")
    assert (out[:4] == VOXELS).all()
    assert (out[4:].view(np.uint8) == 0xA5).all()
    assert_pairs_are_right(call, case, [tuple(row) for row in VOXELS.tolist()])


# ---- workspace -----------------------------------------------------------------------------------


@pytest.mark.parametrize("edits", [{}, SUB_M], ids=["default", "sub-manifold"])
def test_workspace_of_exactly_the_needed_size(abi: RawAbi, edits: Edits) -> None:
    call = Call(abi, problem(edits))
    needed = needed_workspace(call)
    assert needed > 0
    assert call.run() == SUCCESS
    assert (call.workspace[needed:] == 0xA5).all(), "bytes behind the workspace were written"


@pytest.mark.parametrize("edits", [{}, SUB_M], ids=["default", "sub-manifold"])
@pytest.mark.parametrize("size", [0, 1, ("need", -1)])
def test_workspace_too_small(abi: RawAbi, edits: Edits, size: Any) -> None:
    call = Call(abi, problem({**edits, ("workspace_size", "value"): size}))
    assert call.run() == BAD_PARAM
    assert abi.reason().startswith("mluOpGetIndicePairs: workspace_size: ")
    call.assert_untouched()
    assert (call.workspace == 0xA5).all()


@pytest.mark.parametrize("size", [1, "need", 2**63])
def test_workspace_null(abi: RawAbi, size: Any) -> None:
    call = Call(abi, problem({("workspace", "value"): "null", ("workspace_size", "value"): size}))
    assert call.run() == BAD_PARAM
    assert abi.reason().startswith("mluOpGetIndicePairs: workspace: ")
    call.assert_untouched()


@pytest.mark.parametrize("edits", [{}, SUB_M], ids=["default", "sub-manifold"])
@pytest.mark.parametrize("shift", [1, 4, 33])
def test_workspace_at_any_address(abi: RawAbi, edits: Edits, shift: int) -> None:
    wanted, call = Call(abi, problem(edits)), Call(abi, problem(edits))
    assert wanted.run() == SUCCESS
    arguments = call.arguments()
    memory = np.full(call.workspace_size + shift + GUARD, 0xA5, np.uint8)
    arguments[4] = abi.ffi.cast("void *", memory.ctypes.data + shift)
    assert abi.lib.mluOpGetIndicePairs(*arguments) == SUCCESS, abi.reason()
    assert all((call.result(name) == wanted.result(name)).all() for name in NAMES)
    assert (memory[:shift] == 0xA5).all()
    assert (memory[shift + call.workspace_size :] == 0xA5).all()


@pytest.mark.parametrize("name", NAMES)
def test_workspace_inside_a_tensor(abi: RawAbi, name: str) -> None:
    call = Call(abi, problem())
    arguments = call.arguments()
    arguments[4] = call.pointer(name)
    assert abi.lib.mluOpGetIndicePairs(*arguments) == BAD_PARAM
    assert abi.reason().startswith("mluOpGetIndicePairs: workspace: ")
    call.assert_untouched()


def test_workspace_size_function_touches_nothing_else(abi: RawAbi) -> None:
    call = Call(abi, get_indice_pairs("mluOpGetIndicePairsWorkspaceSize"))
    assert call.run() == SUCCESS
    assert call.size_out[0] == needed_workspace(Call(abi, problem()))
    call.assert_only_outputs_touched()


def test_workspace_is_proportional_to_pairs(abi: RawAbi) -> None:
    """An output space of 340 million cells does not show in the workspace."""
    rows = 1000
    large = (41, 1440, 1440)
    edits = {
        ("indices", "dims"): (rows, 4), ("indice_pairs", "dims"): (27, 2, rows),
        ("out_indices", "dims"): (27 * rows, 4),
        (SPARSE, "input_space"): large, (SPARSE, "output_space"): large, (SPARSE, "batch_size"): 4,
    }  # fmt: skip
    needed = needed_workspace(Call(abi, problem(edits)))
    assert 0 < needed <= 64 * 27 * rows


# ---- room for the output rows --------------------------------------------------------------------


@pytest.mark.parametrize("short", [1, 5])
def test_out_indices_too_small(abi: RawAbi, short: int) -> None:
    """num_act_out then tells the rows needed, nothing else is written, and a second call with that room succeeds."""
    needed = len(sites(problem()))
    call = Call(abi, problem({("out_indices", "dims"): (needed - short, 4)}))
    assert call.run() == BAD_PARAM
    assert str(needed) in abi.reason()
    assert abi.reason().startswith("mluOpGetIndicePairs: out_indices")
    call.assert_untouched(num_act_out=needed)
    assert Call(abi, problem({("out_indices", "dims"): (needed, 4)})).run() == SUCCESS


def test_out_indices_too_small_in_sub_manifold_mode(abi: RawAbi) -> None:
    call = Call(abi, problem({**SUB_M, ("out_indices", "dims"): (3, 4)}))
    assert call.run() == BAD_PARAM
    call.assert_untouched(num_act_out=4)


def test_other_refusals_keep_num_act_out(abi: RawAbi) -> None:
    call = Call(abi, problem())
    assert call.run() == SUCCESS
    count = abi.num_act_out(sparse_of(call))
    lib, descs = abi.lib, [call.descs[name] for name in NAMES]
    pointers = [call.pointer(name) for name in NAMES]
    pairs = [value for both in zip(descs[1:], pointers[1:], strict=True) for value in both]
    status = lib.mluOpGetIndicePairs(call.handle, sparse_of(call), descs[0], abi.null, abi.null, 0, *pairs)
    assert status == BAD_PARAM
    assert abi.num_act_out(sparse_of(call)) == count


# ---- coordinates ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sub_m", [0, 1])
@pytest.mark.parametrize(
    "row", [(2, 0, 0, 0), (-1, 0, 0, 0), (0, 4, 0, 0), (0, -1, 0, 0), (0, 0, 5, 0), (0, 0, -1, 0), (0, 0, 0, 6),
            (0, 0, 0, -1), (2**31 - 1,) * 4, (-(2**31),) * 4],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("at", [0, 2])
def test_coordinate_outside_batch_or_space(abi: RawAbi, sub_m: int, row: tuple[int, ...], at: int) -> None:
    rows = VOXELS.copy()
    rows[at] = row
    call = Call(abi, problem(with_rows(rows, sub_m=sub_m)))
    assert call.run() == BAD_PARAM
    assert abi.reason().startswith("mluOpGetIndicePairs: indices")
    call.assert_untouched()


def test_corners_of_the_space_are_inside(abi: RawAbi) -> None:
    rows = [(1, 3, 4, 5), (0, 0, 0, 0), (1, 0, 0, 5), (0, 3, 4, 0)]
    for sub_m in (0, 1):
        case = problem(with_rows(rows, sub_m=sub_m))
        call = Call(abi, case)
        assert call.run() == SUCCESS, abi.reason()
        wanted = list(map(tuple, rows)) if sub_m else sites(case)
        assert_pairs_are_right(call, case, wanted)


def test_duplicate_rows(abi: RawAbi) -> None:
    """Each is its own input row; both lead to the same output row, in sub-manifold mode the lowest."""
    rows = [(0, 1, 1, 1), (0, 1, 1, 2), (0, 1, 1, 1)]
    case = problem(with_rows(rows))
    call = Call(abi, case)
    assert call.run() == SUCCESS
    assert abi.num_act_out(sparse_of(call)) == len(sites(case))
    assert_pairs_are_right(call, case, sites(case))
    case = problem(with_rows(rows, sub_m=1))
    call = Call(abi, case)
    assert call.run() == SUCCESS
    assert abi.num_act_out(sparse_of(call)) == 3
    assert (call.result("out_indices")[:3] == np.array(rows)).all()
    assert_pairs_are_right(call, case, list(map(tuple, rows)))  # list.index finds the lowest


# ---- the count of outputs in the cases that are easily got wrong ---------------------------------


def count_outputs(abi: RawAbi, edits: dict[tuple[str, str], Any]) -> tuple[int, int]:
    case = problem(edits)
    call = Call(abi, case)
    assert call.run() == SUCCESS, abi.reason()
    assert_pairs_are_right(call, case, sites(case))
    return abi.num_act_out(sparse_of(call)), len(sites(case))


def test_nothing_valid_gives_0(abi: RawAbi) -> None:
    edits = {
        **with_rows([(0, 1, 1, 1)]), (SPARSE, "filter_space"): (1, 1, 1), (SPARSE, "stride"): (2, 2, 2),
        (SPARSE, "pad"): (0, 0, 0), ("indice_pairs", "dims"): (1, 2, 1), ("indice_num", "dims"): (1,),
    }  # fmt: skip
    case = problem(edits)
    call = Call(abi, case)
    assert abi.num_act_out(sparse_of(call)) == 0
    assert call.run() == SUCCESS
    assert abi.num_act_out(sparse_of(call)) == 0
    assert call.result("indice_num").tolist() == [0]
    assert call.result("indice_pairs").ravel().tolist() == [-1, -1]
    assert (call.result("out_indices").view(np.uint8) == 0xA5).all()


def test_nothing_valid_resets_an_earlier_count(abi: RawAbi) -> None:
    call = Call(abi, problem())
    assert call.run() == SUCCESS
    assert abi.num_act_out(sparse_of(call)) > 0
    changes = {"output_space": (1, 1, 1), "pad": (0, 0, 0), "input_space": (4, 5, 9), "stride": (9, 9, 9)}
    assert abi.set_sparse(sparse_of(call), **{**call.problem.settings[SPARSE], **changes}) == SUCCESS
    rows = call.buffers["indices"][GUARD : GUARD + 64].view(np.int32).reshape(4, 4)
    rows[:] = [(0, 3, 3, 3)] * 4
    call.descs["out_indices"] = abi.tensor((2, 4), "INT32")
    assert call.run() == SUCCESS, abi.reason()
    assert abi.num_act_out(sparse_of(call)) == 0


def test_all_candidates_valid_and_distinct(abi: RawAbi) -> None:
    found, wanted = count_outputs(abi, with_rows([(0, 1, 1, 1)]))
    assert found == wanted == 27


def test_no_invalid_candidate_but_shared_outputs(abi: RawAbi) -> None:
    found, wanted = count_outputs(abi, with_rows([(0, 1, 1, 1), (0, 1, 1, 2)]))
    assert found == wanted == 36


def test_a_single_invalid_candidate(abi: RawAbi) -> None:
    one_short = {
        (SPARSE, "filter_space"): (1, 1, 2),
        ("indice_num", "dims"): (2,),
        (SPARSE, "pad"): (0, 0, 0),
    }
    found, wanted = count_outputs(abi, {**with_rows([(0, 0, 0, 0)]), **one_short, ("indice_pairs", "dims"): (2, 2, 1)})
    assert found == wanted == 1


@pytest.mark.parametrize("stride", [7, 13, 14, 15, 26, 28, 30])
def test_integers_are_exact(abi: RawAbi, stride: int) -> None:
    """True multiples of these strides are lost in float32 arithmetic."""
    space, count = 40 * stride, 40
    rows = [(0, 0, 0, stride * i) for i in range(count)]
    edits = {
        **with_rows(rows), (SPARSE, "filter_space"): (1, 1, 1), (SPARSE, "stride"): (1, 1, stride),
        (SPARSE, "pad"): (0, 0, 0), (SPARSE, "input_space"): (1, 1, space),
        (SPARSE, "output_space"): (1, 1, count),
        ("indice_pairs", "dims"): (1, 2, count), ("indice_num", "dims"): (1,), ("out_indices", "dims"): (count, 4),
    }  # fmt: skip
    found, wanted = count_outputs(abi, edits)
    assert found == wanted == count


@pytest.mark.parametrize("axis", range(3))
def test_dilation_or_stride_on_each_axis(abi: RawAbi, axis: int) -> None:
    for name in ("stride", "dilation"):
        three = tuple(2 if at == axis else 1 for at in range(3))
        found, wanted = count_outputs(abi, {(SPARSE, name): three})
        assert found == wanted > 0


# ---- early success -------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", ["indices", "out_indices"])
def test_zero_elements_succeed_before_pointers(abi: RawAbi, empty: str) -> None:
    edits: dict[tuple[str, str], Any] = {(name, "data"): "null" for name in NAMES}
    edits |= {("workspace", "value"): "null", ("workspace_size", "value"): 0}
    if empty == "indices":
        edits |= {("indices", "dims"): (0, 4), ("indice_pairs", "dims"): (27, 2, 0)}
    else:
        edits |= {("out_indices", "dims"): (0, 4)}
    call = Call(abi, problem(edits))
    assert outcome(call.problem) == Outcome(SUCCESS)
    assert call.run() == SUCCESS, abi.reason()
    assert abi.num_act_out(sparse_of(call)) == 0
    call.assert_untouched()


def test_zero_elements_reset_num_act_out(abi: RawAbi) -> None:
    call = Call(abi, problem())
    assert call.run() == SUCCESS
    empty, pairs = abi.tensor((0, 4), "INT32"), abi.tensor((27, 2, 0), "INT32")
    null = abi.null
    status = abi.lib.mluOpGetIndicePairs(
        call.handle, sparse_of(call), empty, null, null, 0, pairs, null, call.descs["out_indices"], null,
        call.descs["indice_num"], null,
    )  # fmt: skip
    assert status == SUCCESS
    assert abi.num_act_out(sparse_of(call)) == 0


@pytest.mark.parametrize("empty", NAMES)
def test_zero_elements_need_no_workspace_whatever_else_is_wrong(abi: RawAbi, empty: str) -> None:
    """The size function answers 0 before every check but those of the objects."""
    call = Call(abi, get_indice_pairs("mluOpGetIndicePairsWorkspaceSize"))
    descs = {name: abi.tensor((5, 5), "HALF") for name in NAMES}
    descs[empty] = abi.tensor((3, 0), "BOOL")
    size = abi.out("size_t")
    assert abi.lib.mluOpGetIndicePairsWorkspaceSize(call.handle, abi.sparse(), *descs.values(), size) == SUCCESS
    assert size[0] == 0
    size[0] = UNTOUCHED
    descs[empty] = abi.tensor((5, 5), "HALF")
    assert abi.lib.mluOpGetIndicePairsWorkspaceSize(call.handle, abi.sparse(), *descs.values(), size) == BAD_PARAM
    assert size[0] == UNTOUCHED


# ---- limits that the device has and the CPU has not ----------------------------------------------


def test_more_than_4096_filter_cells(abi: RawAbi) -> None:
    cells = 17 * 17 * 17
    edits = {
        (SPARSE, "filter_space"): (17, 17, 17), (SPARSE, "pad"): (8, 8, 8),
        ("indice_pairs", "dims"): (cells, 2, 4), ("indice_num", "dims"): (cells,), ("out_indices", "dims"): (240, 4),
    }  # fmt: skip
    call = Call(abi, problem(edits))
    assert call.run() == SUCCESS, abi.reason()
    assert abi.num_act_out(sparse_of(call)) == 240


def test_more_than_a_million_rows_are_described(abi: RawAbi) -> None:
    rows = 1_500_000
    edits = {
        ("indices", "dims"): (rows, 4), ("indice_pairs", "dims"): (27, 2, rows),
        (SPARSE, "input_space"): (200, 200, 200), (SPARSE, "output_space"): (200, 200, 200),
    }  # fmt: skip
    call = Call(abi, get_indice_pairs("mluOpGetIndicePairsWorkspaceSize").edited(edits))
    assert call.run() == SUCCESS, abi.reason()
    assert call.size_out[0] >= 4 * rows
