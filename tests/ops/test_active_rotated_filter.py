"""active_rotated_filter forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import active_rotated_filter as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "filters": st.integers(1, 5),
        "planes": st.sampled_from([1, 2, 5, 31, 70]),
        "orientations": st.sampled_from([1, 2, 4, 8, 16]),
        "side": st.sampled_from([1, 3]),
        "rotations": st.sampled_from([2, 4, 8]),
        "dtype": st.sampled_from([np.float32, np.float16]),
        "moves": st.sampled_from(["different places", "any places", "any numbers"]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def table(rng: np.random.Generator, shape: tuple[int, ...], any_place: bool = False) -> np.ndarray:
    """Places [r, k, k, R] of the cells, different in each rotation or not."""
    size = int(np.prod(shape[:3]))
    columns = [rng.integers(0, size, size) if any_place else rng.permutation(size) for _ in range(shape[3])]
    return (np.stack(columns, 1).reshape(shape) + 1).astype(np.int32)


@examples(120)
@given(s=SHAPES)
def test_both_are_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    cells = (s["orientations"], s["side"], s["side"])
    indices = table(rng, (*cells, s["rotations"]), s["moves"] == "any places")
    if s["moves"] == "any numbers":
        odd = rng.choice([0, -1, indices.max() + 1, 2**31 - 1, -(2**31)], indices.shape)
        indices = np.where(rng.random(indices.shape) < 0.2, odd, indices).astype(np.int32)
    filters = any_bits(rng, (s["filters"], s["planes"], *cells), s["dtype"])
    found = pymluops.active_rotated_filter_forward(filters, indices)
    assert_same_bits(found, oracle.forward(filters, indices))
    for grad, same in ((rng.normal(size=found.shape).astype(s["dtype"]), assert_same_bits),
                       (any_bits(rng, found.shape, s["dtype"]), assert_same_values)):  # fmt: skip
        back = pymluops.active_rotated_filter_backward(grad, indices, filters.shape[:2])
        same(back, oracle.backward(grad, indices, *filters.shape[:2]))


#: O, I, r, k, R: shapes of the dumped case and, with fewer filters, of networks; the largest table.
NAMED = [(4, 10, 1, 3, 8), (32, 64, 1, 3, 8), (16, 32, 8, 3, 8), (1, 2, 128, 3, 8), (3, 2, 128, 1, 2), (1, 1, 1, 1, 2)]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[int, ...], dtype: Any) -> None:
    filters, planes, orientations, side, rotations = case
    rng = np.random.default_rng(3)
    given = rng.uniform(1, 10, (filters, planes, orientations, side, side)).astype(dtype)
    indices = table(rng, (orientations, side, side, rotations))
    if (orientations, side, rotations) == (1, 3, 8):
        indices = oracle.STANDARD.reshape(1, 3, 3, 8)
    found = pymluops.active_rotated_filter_forward(given, indices)
    assert_same_bits(found, oracle.forward(given, indices))
    back = pymluops.active_rotated_filter_backward(found, indices, (filters, planes))
    assert_same_bits(back, oracle.backward(found, indices, filters, planes))


def test_standard_table_turns_by_45_degrees() -> None:
    filters = np.arange(1.0, 10.0, dtype=np.float32).reshape(1, 1, 1, 3, 3)
    found = pymluops.active_rotated_filter_forward(filters, oracle.STANDARD.reshape(1, 3, 3, 8))[:, 0]
    assert found[0].tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert found[1].tolist() == [[4, 1, 2], [7, 5, 3], [8, 9, 6]]
    assert found[2].tolist() == [[7, 4, 1], [8, 5, 2], [9, 6, 3]]  # a quarter of a turn
    assert_same_bits(found[2], np.rot90(found[0], -1))
    assert_same_bits(found[4], np.rot90(found[0], 2))


def test_of_several_cells_the_last_one_stays_and_other_places_are_zero() -> None:
    filters = np.array([5, 6, 7, 8], np.float32).reshape(1, 1, 4, 1, 1)
    indices = np.int32([[2, 1], [2, 2], [4, 3], [2, 4]]).reshape(4, 1, 1, 2)
    found = pymluops.active_rotated_filter_forward(filters, indices)
    assert found.reshape(2, 4).tolist() == [[0, 8, 0, 7], [5, 6, 7, 8]]
    grad = np.arange(1, 9, dtype=np.float32).reshape(2, 4, 1, 1)
    back = pymluops.active_rotated_filter_backward(grad, indices, (1, 1))
    assert back.ravel().tolist() == [2 + 5, 2 + 6, 4 + 7, 2 + 8]


@pytest.mark.parametrize("place", [0, -1, 3, 2**31 - 1, -(2**31)])
def test_places_beside_the_filter_are_left_out(place: int) -> None:
    filters = np.array([5, 6], np.float32).reshape(1, 1, 2, 1, 1)
    indices = np.int32([[place, 2], [2, 1]]).reshape(2, 1, 1, 2)
    assert pymluops.active_rotated_filter_forward(filters, indices).reshape(2, 2).tolist() == [[0, 6], [6, 5]]
    grad = np.array([1, 2, 10, 20], np.float32).reshape(2, 2, 1, 1)
    assert pymluops.active_rotated_filter_backward(grad, indices, (1, 1)).ravel().tolist() == [20, 12]


def test_rotations_are_added_up_in_their_order() -> None:
    grad = np.array([2**24, 1, 1, -(2**24)], np.float32).reshape(4, 1, 1, 1)
    indices = np.ones((1, 1, 1, 4), np.int32)
    assert pymluops.active_rotated_filter_backward(grad, indices, (1, 1)).item() == 0
    # float16 is added up in float32.
    grad = np.array([2048, 1, 1, 1], np.float16).reshape(4, 1, 1, 1)
    assert pymluops.active_rotated_filter_backward(grad, indices, (1, 1)).item() == 2052


def test_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    filters, grad = rng.normal(size=(2, 5, 4, 3, 3)), rng.normal(size=(16, 20, 3, 3))
    indices = table(rng, (4, 3, 3, 8))
    forward = double_of(described("active_rotated_filter_forward"))(None, (filters, indices, None), ())
    back = double_of(described("active_rotated_filter_backward"))(None, (grad, indices, None), (2, 5))
    assert (forward * grad).sum() == pytest.approx((filters * back).sum(), rel=1e-12)


# ---- refusals ------------------------------------------------------------------------------------


def raw_call(raw: Raw, arrays: dict[str, Any], forward: bool, workspace_size: int = 0) -> int:
    """Status of a C function; arrays stand for packed tensors."""
    filters, indices, rotated = (
        Tensor(one) if isinstance(one, np.ndarray) else one
        for one in (arrays[name] for name in ("filter", "indices", "rotated"))
    )
    if forward:
        name, workspace = "mluOpActiveRotatedFilterForward", (raw.ffi.NULL, workspace_size)
        return raw.status(name, filters, indices, *workspace, rotated)
    return raw.status("mluopsExtActiveRotatedFilterBackward", rotated, indices, filters)


def _arrays(forward: bool) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    filters, rotated = (rng.normal(size=s).astype(np.float32) for s in ((2, 3, 2, 3, 3), (8, 6, 3, 3)))
    made = {"filter": filters, "indices": table(rng, (2, 3, 3, 4)), "rotated": rotated}
    written = "rotated" if forward else "filter"
    return {**made, written: canary(made[written].shape, np.float32)}


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    arrays = _arrays(True)
    assert raw_call(raw, arrays, True) == SUCCESS, raw.reason()
    assert_same_bits(arrays["rotated"], pymluops.active_rotated_filter_forward(arrays["filter"], arrays["indices"]))
    arrays = _arrays(False)
    assert raw_call(raw, arrays, False) == SUCCESS, raw.reason()
    expected = pymluops.active_rotated_filter_backward(arrays["rotated"], arrays["indices"], (2, 3))
    assert_same_bits(arrays["filter"], expected)


def _ones(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.ones(shape, dtype)


#: What replaces the arrays, and the status.
REFUSED: list[tuple[dict[str, Any], int]] = [
    ({"filter": _ones(2, 6, 3, 3)}, BAD_PARAM),
    ({"filter": _ones(2, 3, 1, 3, 3)}, BAD_PARAM),
    ({"filter": _ones(2, 3, 2, 3, 1)}, BAD_PARAM),
    ({"filter": _ones(3, 3, 2, 3, 3)}, BAD_PARAM),
    ({"filter": _ones(2, 2, 2, 3, 3)}, BAD_PARAM),
    ({"filter": _ones(2, 3, 2, 3, 3, dtype=np.float16)}, BAD_PARAM),
    ({"filter": _ones(2, 3, 2, 3, 3, dtype=np.int32)}, BAD_PARAM),
    ({"filter": _ones(2, 3, 2, 3, 6)[..., ::2]}, NOT_SUPPORTED),
    ({"indices": _ones(18, 4, dtype=np.int32)}, BAD_PARAM),
    ({"indices": _ones(2, 3, 3, 8, dtype=np.int32)}, BAD_PARAM),
    ({"indices": _ones(2, 1, 3, 4, dtype=np.int32)}, BAD_PARAM),
    ({"indices": _ones(2, 3, 3, 4, dtype=np.int64)}, BAD_PARAM),
    ({"indices": _ones(2, 3, 3, 4)}, BAD_PARAM),
    ({"indices": _ones(2, 3, 3, 8, dtype=np.int32)[..., ::2]}, NOT_SUPPORTED),
    ({"rotated": _ones(8, 6, 9)}, BAD_PARAM),
    ({"rotated": _ones(9, 6, 3, 3)}, BAD_PARAM),
    ({"rotated": _ones(8, 5, 3, 3)}, BAD_PARAM),
    ({"rotated": _ones(8, 6, 3, 1)}, BAD_PARAM),
    ({"rotated": _ones(8, 6, 3, 3, dtype=np.float16)}, BAD_PARAM),
    ({"rotated": _ones(8, 6, 3, 6)[..., ::2]}, NOT_SUPPORTED),
    ({"filter": _ones(0, 3, 2, 3, 3), "rotated": _ones(0, 6, 3, 3)}, BAD_PARAM),
    ({"filter": _ones(2, 0, 2, 3, 3), "rotated": _ones(8, 0, 3, 3)}, BAD_PARAM),
]


@pytest.mark.parametrize(("changes", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, changes: dict[str, Any], wanted: int) -> None:
    for forward, written in ((True, "rotated"), (False, "filter")):
        arrays = {**_arrays(forward), **changes}
        assert raw_call(raw, arrays, forward) == wanted
        assert raw.reason()
        assert written in changes or is_canary(arrays[written])


def _sized(orientations: int, side: int, rotations: int) -> dict[str, Any]:
    size = orientations * side * side
    indices = np.resize(np.arange(1, size + 1, dtype=np.int32), (orientations, side, side, rotations))
    return {
        "filter": _ones(1, 2, orientations, side, side),
        "indices": indices,
        "rotated": _ones(rotations, 2 * orientations, side, side),
    }


@pytest.mark.parametrize(
    "sizes", [(3, 3, 4), (0, 3, 4), (256, 1, 2), (2, 2, 4), (2, 5, 4), (2, 3, 3), (2, 3, 1), (2, 3, 16)]
)
def test_sizes_that_no_table_has(raw: Raw, sizes: tuple[int, int, int]) -> None:
    arrays = _sized(*sizes)
    for forward in (True, False):
        assert raw_call(raw, arrays, forward) == BAD_PARAM
        assert "indices_desc: expected" in raw.reason()
    with pytest.raises(pymluops.BadParamError):
        pymluops.active_rotated_filter_forward(arrays["filter"], arrays["indices"])


def test_a_workspace_that_is_announced_must_be_there(raw: Raw) -> None:
    arrays = _arrays(True)
    assert raw_call(raw, arrays, True, workspace_size=8) == BAD_PARAM
    assert "workspace" in raw.reason()
    assert is_canary(arrays["rotated"])


def test_products_of_sizes_that_overflow(raw: Raw) -> None:
    for dims in ((2**62, 0, 2, 3, 3), (0, 2**62, 2, 3, 3)):
        assert raw_call(raw, {**_arrays(True), "filter": Descriptor(dims, pair=True)}, True) == BAD_PARAM
        assert "output" in raw.reason()
