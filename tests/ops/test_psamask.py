"""psamask forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import psamask
from support.arrays import any_bits, canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits
from support.data_files import facts
from support.selection import examples
from support.signatures import assert_signature

FACTS = facts("acceptance_shapes.json")["psamask"]
MODES = {"collect": psamask.COLLECT, "distribute": psamask.DISTRIBUTE}

both_modes = pytest.mark.parametrize("mode", MODES)


def _status(raw: Raw, direction: str, mode: int, source: Any, h_mask: int, w_mask: int, out: Any) -> int:
    return raw.status(f"mluOpPsamask{direction.title()}", mode, source, h_mask, w_mask, out)


@both_modes
@pytest.mark.parametrize("row", FACTS, ids=lambda row: row["id"])
def test_every_row_of_the_design_document(raw: Raw, mode: str, row: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x, dy = any_bits(rng, row["x"], "float32"), any_bits(rng, row["y"], "float32")
    y, dx = canary(row["y"], "float32"), canary(row["x"], "float32")
    assert _status(raw, "forward", MODES[mode], Tensor(x, NHWC), *row["mask"], Tensor(y, NHWC)) == row["status"]
    assert _status(raw, "backward", MODES[mode], Tensor(dy, NHWC), *row["mask"], Tensor(dx, NHWC)) == row["status"]
    forward = pymluops.psamask_forward(x, mode, tuple(row["mask"]))
    backward = pymluops.psamask_backward(dy, mode, tuple(row["mask"]))
    assert_same_bits(forward, y)
    assert_same_bits(backward, dx)
    assert_same_bits(forward, psamask.forward_by_cell(x, MODES[mode], *row["mask"]))
    assert_same_bits(backward, psamask.backward_by_cell(dy, MODES[mode], *row["mask"]))


@both_modes
def test_a_mask_far_larger_than_the_map(mode: str) -> None:
    # Only the four cells of every position that lie on the 2 x 2 map count; the rest of a million
    # is 0 backwards.
    dy = np.arange(1, 17, dtype=np.float32).reshape(1, 2, 2, 4)
    dx = pymluops.psamask_backward(dy, mode, 1000)
    assert np.count_nonzero(dx) == 16
    assert_same_bits(pymluops.psamask_forward(dx, mode, 1000), dy)
    middle = dx.reshape(2, 2, 1000, 1000)[0, 0, 499:501, 499:501]
    assert middle.ravel().tolist() == ([1, 2, 3, 4] if mode == "collect" else [1, 5, 9, 13])


@both_modes
@examples(150)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6)),
    mask=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    seed=st.integers(0, 2**32 - 1),
)
def test_moves_every_bit_pattern_unchanged(
    mode: str, shape: tuple[int, int, int], mask: tuple[int, int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = any_bits(rng, (*shape, mask[0] * mask[1]), "float32")
    dy = any_bits(rng, (*shape, shape[1] * shape[2]), "float32")
    y, dx = canary(dy.shape, "float32"), canary(x.shape, "float32")
    assert pymluops.psamask_forward(x, mode, mask, out=y) is y
    assert pymluops.psamask_backward(dy, mode, mask, out=dx) is dx
    assert_same_bits(y, psamask.forward(x, MODES[mode], *mask))
    assert_same_bits(dx, psamask.backward(dy, MODES[mode], *mask))


SIZES = {
    "odd": (2, (15, 20), (29, 39)),
    "even mask": (2, (12, 17), (4, 4)),
    "one row": (2, (1, 40), (3, 81)),
    "wide rows": (1, (2, 700), (3, 5)),
    "one column": (3, (530, 1), (7, 1)),
    "psanet": (1, (30, 30), (59, 59)),
    "wide mask": (2, (3, 50), (4, 300)),
    # Results of 100 MB and more.
    "large map": (1, (71, 73), (5, 7)),
    "large mask": (1, (40, 40), (131, 130)),
    "many wide masks": (260, (2, 70), (3, 250)),
}


@pytest.mark.sampled("size", "mode")
@both_modes
@pytest.mark.parametrize(("batch", "size", "mask"), SIZES.values(), ids=SIZES)
def test_larger_sizes(mode: str, batch: int, size: tuple[int, int], mask: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    x = rng.random((batch, *size, mask[0] * mask[1]), np.float32)
    dy = rng.random((batch, *size, size[0] * size[1]), np.float32)
    y = pymluops.psamask_forward(x, mode, mask)
    assert np.array_equal(y, psamask.forward_by_cell(x, MODES[mode], *mask))
    del x, y
    dx = pymluops.psamask_backward(dy, mode, mask)
    assert np.array_equal(dx, psamask.backward_by_cell(dy, MODES[mode], *mask))


@pytest.mark.parametrize("spelling", ["collect", "distribute", 0, 1, np.int32(1)])
def test_spellings_of_the_type(spelling: Any) -> None:
    x = np.arange(36, dtype=np.float32).reshape(1, 2, 2, 9)
    mode = MODES[spelling] if isinstance(spelling, str) else int(spelling)
    assert_same_bits(pymluops.psamask_forward(x, spelling, 3), psamask.forward(x, mode, 3, 3))


@pytest.mark.parametrize("psa_type", [2, -1, 2**31 - 1, -(2**31)])
def test_an_unknown_type_is_refused(raw: Raw, psa_type: int) -> None:
    x, y = np.ones((1, 2, 2, 9), np.float32), canary((1, 2, 2, 4), "float32")
    assert _status(raw, "forward", psa_type, Tensor(x, NHWC), 3, 3, Tensor(y, NHWC)) == BAD_PARAM
    assert _status(raw, "backward", psa_type, Tensor(y, NHWC), 3, 3, Tensor(x, NHWC)) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError, match="psa_type"):
        pymluops.psamask_forward(x, psa_type, 3, out=y)
    assert is_canary(y)


@pytest.mark.parametrize("psa_type", ["", "COLLECTED", "gather", None, 0.5, 2**40])
def test_nonsense_for_a_type_is_refused_in_python(psa_type: Any) -> None:
    x, y = np.ones((1, 2, 2, 9), np.float32), canary((1, 2, 2, 4), "float32")
    with pytest.raises((pymluops.BadParamError, TypeError), match="psa_type"):
        pymluops.psamask_forward(x, psa_type, 3, out=y)
    assert is_canary(y)


@pytest.mark.parametrize("mask", [(0, 9), (9, 0), (-3, -3), (-1, -9), (3, -3), (0, 0), (-(2**31), 2)])
def test_mask_sizes_must_be_positive(raw: Raw, mask: tuple[int, int]) -> None:
    x, y = np.ones((1, 2, 2, 9), np.float32), canary((1, 2, 2, 4), "float32")
    assert _status(raw, "forward", 0, Tensor(x, NHWC), *mask, Tensor(y, NHWC)) == BAD_PARAM
    assert _status(raw, "backward", 0, Tensor(y, NHWC), *mask, Tensor(x, NHWC)) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError, match="mask"):
        pymluops.psamask_forward(x, 0, mask, out=y)
    with pytest.raises(pymluops.BadParamError, match="mask"):
        pymluops.psamask_backward(np.ones_like(y), 0, mask)
    assert is_canary(y)


def test_a_mask_whose_product_wraps_around_is_refused(raw: Raw) -> None:
    # 65537 * 65537 is 131073 in 32 bits: the channels of x would fit by accident.
    x, y = Descriptor((1, 2, 2, 131073), layout=NHWC, pair=True), Descriptor((1, 2, 2, 4), layout=NHWC, pair=True)
    assert _status(raw, "forward", 0, x, 65537, 65537, y) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError):
        pymluops.psamask_forward(np.zeros((1, 1, 1, 131073), np.float32), 0, 65537)


@both_modes
@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3), (2, 3, 0)])
def test_nothing_to_do_is_a_success_that_looks_at_no_pointer(raw: Raw, mode: str, shape: tuple[int, int, int]) -> None:
    x = Descriptor((*shape, 6), layout=NHWC, pair=True)
    y = Descriptor((*shape, shape[1] * shape[2]), layout=NHWC, pair=True)
    assert _status(raw, "forward", MODES[mode], x, 2, 3, y) == SUCCESS
    assert _status(raw, "backward", MODES[mode], y, 2, 3, x) == SUCCESS
    assert pymluops.psamask_forward(np.empty(x.shape, np.float32), mode, (2, 3)).shape == y.shape
    assert pymluops.psamask_backward(np.empty(y.shape, np.float32), mode, (2, 3)).shape == x.shape


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.zeros((1, 2, 2, 9), np.float16), np.zeros((1, 2, 2, 4), np.float16)),
        (np.zeros((1, 2, 2, 9), np.float64), np.zeros((1, 2, 2, 4), np.float64)),
        (np.zeros((1, 2, 2, 9), np.int32), np.zeros((1, 2, 2, 4), np.int32)),
        (np.zeros((1, 2, 2, 9), np.float32), np.zeros((1, 2, 2, 4), np.float16)),
        (np.zeros((1, 2, 2, 8), np.float32), np.zeros((1, 2, 2, 4), np.float32)),
        (np.zeros((1, 2, 2, 9), np.float32), np.zeros((1, 2, 2, 5), np.float32)),
        (np.zeros((1, 2, 4, 9), np.float32)[:, :, ::2], np.zeros((1, 2, 2, 4), np.float32)),
        (np.zeros((2, 2, 9), np.float32), np.zeros((2, 2, 4), np.float32)),
    ],
    ids=["half", "double", "int", "mixed", "mask channels", "map channels", "strided", "rank"],
)
def test_each_refusal_is_a_bad_parameter(raw: Raw, x: np.ndarray, y: np.ndarray) -> None:
    assert _status(raw, "forward", 0, Tensor(x, NHWC), 3, 3, Tensor(y, NHWC)) == BAD_PARAM
    assert _status(raw, "backward", 0, Tensor(y, NHWC), 3, 3, Tensor(x, NHWC)) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError):
        pymluops.psamask_forward(x, 0, 3, out=y)
    with pytest.raises(pymluops.BadParamError):
        pymluops.psamask_backward(y, 0, 3, out=x)


def test_other_layouts_are_refused_in_c(raw: Raw) -> None:
    x, y = np.ones((1, 2, 2, 9), np.float32), canary((1, 2, 2, 4), "float32")
    assert _status(raw, "forward", 0, Tensor(x, ARRAY), 3, 3, Tensor(y, NHWC)) == BAD_PARAM
    assert _status(raw, "forward", 0, Tensor(x, NHWC), 3, 3, Tensor(y, ARRAY)) == BAD_PARAM
    assert is_canary(y)


@pytest.mark.parametrize("function", [pymluops.psamask_forward, pymluops.psamask_backward])
@pytest.mark.parametrize("psa_type", [-1, 2, 2**40, True, None])
def test_a_number_that_is_no_type_is_refused_before_the_call(function: Callable[..., Any], psa_type: object) -> None:
    with pytest.raises(pymluops.BadParamError, match="psa_type: expected 'collect', 'distribute', 0 or 1, got"):
        function(np.zeros((1, 1, 1, 1), np.float32), psa_type, 1)


def test_psamask_collect_of_a_2x2_map_by_hand() -> None:
    x = np.arange(36, dtype=np.float32).reshape(1, 2, 2, 9)
    y = psamask.forward(x, psamask.COLLECT, 3, 3)
    # Position (0, 0) sees the four lower right cells of its mask, position (1, 1) the four upper
    # left ones.
    assert y[0, 0, 0].tolist() == [4, 5, 7, 8]
    assert y[0, 1, 1].tolist() == [27, 28, 30, 31]


def test_psamask_distribute_is_collect_with_positions_and_cells_exchanged() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 15)).astype(np.float32)
    collected = psamask.forward(x, psamask.COLLECT, 3, 5).reshape(2, 12, 12)
    distributed = psamask.forward(x, psamask.DISTRIBUTE, 3, 5).reshape(2, 12, 12)
    np.testing.assert_array_equal(distributed, collected.transpose(0, 2, 1))


@pytest.mark.parametrize("psa_type", [psamask.COLLECT, psamask.DISTRIBUTE])
@pytest.mark.parametrize("mask", [(1, 1), (3, 4), (9, 2), (6, 11)])
def test_both_ways_to_spread_a_mask_agree(psa_type: int, mask: tuple[int, int]) -> None:
    rng = np.random.default_rng(6)
    x, dy = rng.normal(size=(2, 3, 5, mask[0] * mask[1])), rng.normal(size=(2, 3, 5, 15))
    one, other = psamask.forward(x, psa_type, *mask), psamask.forward_by_cell(x, psa_type, *mask)
    np.testing.assert_array_equal(one, other)
    one, other = psamask.backward(dy, psa_type, *mask), psamask.backward_by_cell(dy, psa_type, *mask)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("psa_type", [psamask.COLLECT, psamask.DISTRIBUTE])
def test_psamask_backward_is_the_adjoint(psa_type: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-9, 9, (2, 4, 3, 8)).astype(np.float64)
    dy = rng.integers(-9, 9, (2, 4, 3, 12)).astype(np.float64)
    there = (psamask.forward(x, psa_type, 2, 4) * dy).sum()
    assert there == (psamask.backward(dy, psa_type, 2, 4) * x).sum()


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("psamask_forward", "(x, psa_type, mask_size, *, out=None, handle=None)"),
        ("psamask_backward", "(dy, psa_type, mask_size, *, out=None, handle=None)"),
    ],
)
def test_signatures_keep_the_contract(name: str, contract: str) -> None:
    assert_signature(name, contract)
