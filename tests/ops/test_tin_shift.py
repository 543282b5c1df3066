"""tin_shift forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import tin_shift
from support.arrays import any_bits, canary, is_canary
from support.c_calls import NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits
from support.data_files import facts
from support.selection import examples
from support.signatures import assert_signature

FACTS = facts("acceptance_shapes.json")["tin_shift"]
FUNCTIONS = {"forward": pymluops.tin_shift_forward, "backward": pymluops.tin_shift_backward}
C_FUNCTIONS = {"forward": "mluOpTinShiftForward", "backward": "mluOpTinShiftBackward"}
EXTREMES = (-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2)

both_directions = pytest.mark.parametrize("direction", ["forward", "backward"])
both_dtypes = pytest.mark.parametrize("dtype", ["float16", "float32"])


@both_directions
@both_dtypes
def test_demo_of_the_design_document(direction: str, dtype: str) -> None:
    source = np.arange(1, 37, dtype=dtype).reshape(FACTS["demo"]["shape"])
    moved = FUNCTIONS[direction](source, np.array([FACTS["demo"]["shifts"]], np.int32))
    expected = np.zeros_like(source)
    expected[:, :-1, 0:2] = source[:, 1:, 0:2]
    expected[:, :, 2:4] = source[:, :, 2:4]
    expected[:, 2:, 4:6] = source[:, :-2, 4:6]
    assert_same_bits(moved, expected)


@both_directions
@both_dtypes
@pytest.mark.parametrize("row", FACTS["rules"], ids=lambda row: row["id"])
def test_every_rule_of_the_design_document(raw: Raw, direction: str, dtype: str, row: dict[str, Any]) -> None:
    source, shifts = np.ones(row["input"], dtype), np.zeros(row["shifts"], np.int32)
    out = canary(row["input"], dtype)
    status = raw.status(C_FUNCTIONS[direction], Tensor(source), Tensor(shifts), Tensor(out))
    assert status == row["status"], raw.reason()
    if status == SUCCESS:
        assert_same_bits(out, source)
        assert_same_bits(FUNCTIONS[direction](source, shifts), source)
        return
    with pytest.raises(pymluops.BadParamError):
        FUNCTIONS[direction](source, shifts, out=out)
    assert is_canary(out)


@both_directions
@examples(200)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(0, 9), st.integers(1, 4), st.integers(1, 7)),
    groups=st.integers(1, 3),
    dtype=st.sampled_from(["float16", "float32"]),
    seed=st.integers(0, 2**32 - 1),
    extreme=st.booleans(),
)
@example(shape=(2, 5, 1, 1), groups=1, dtype="float16", seed=0, extreme=True)
def test_moves_every_bit_pattern_unchanged(
    direction: str, shape: tuple[int, ...], groups: int, dtype: str, seed: int, extreme: bool
) -> None:
    rng = np.random.default_rng(seed)
    batch, segments, per_group, points = shape
    source = any_bits(rng, (batch, segments, per_group * groups, points), dtype)
    shifts = rng.integers(-segments - 1, segments + 2, (batch, groups), np.int32)
    if extreme:
        shifts[rng.integers(batch), rng.integers(groups)] = rng.choice(EXTREMES)
    out = canary(source.shape, dtype)
    assert FUNCTIONS[direction](source, shifts, out=out) is out
    assert_same_bits(out, tin_shift.shift(source, shifts))


@both_directions
@both_dtypes
def test_a_realistic_size(direction: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    source = any_bits(rng, (4, 8, 64, 14 * 14), dtype)
    shifts = rng.integers(-9, 10, (4, 8), np.int32)
    result = FUNCTIONS[direction](source, shifts)
    assert isinstance(result, np.ndarray)
    assert_same_bits(result, tin_shift.shift(source, shifts))


@pytest.mark.parametrize("shift", EXTREMES)
def test_a_shift_of_any_size_empties_the_group(shift: int) -> None:
    source = np.ones((1, 3, 2, 4), np.float32)
    result = pymluops.tin_shift_forward(source, np.array([[shift, 1]], np.int32))
    assert (result[:, :, 0] == 0).all()
    assert (result[:, 1:, 1] == 1).all()
    assert (result[:, 0, 1] == 0).all()


@both_directions
def test_backward_moves_like_forward_and_not_against_it(direction: str) -> None:
    source = np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)
    assert FUNCTIONS[direction](source, np.array([[1]], np.int32)).ravel().tolist() == [0, 1, 2]


@both_directions
def test_no_segments_is_a_success_that_looks_at_no_pointer(raw: Raw, direction: str) -> None:
    empty = Descriptor((2, 0, 4, 3), pair=True)
    assert raw.status(C_FUNCTIONS[direction], empty, Descriptor((2, 2), "int32", pair=True), empty) == SUCCESS
    result = FUNCTIONS[direction](np.empty((2, 0, 4, 3), np.float16), np.zeros((2, 2), np.int32))
    assert result.shape == (2, 0, 4, 3)
    assert result.dtype == np.float16


@both_directions
def test_more_than_int32_elements_are_not_supported(raw: Raw, direction: str) -> None:
    huge = Descriptor((1, 1, 1, 2**31), pair=True)
    assert raw.status(C_FUNCTIONS[direction], huge, Descriptor((1, 1), "int32", pair=True), huge) == NOT_SUPPORTED


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_refusals_name_the_argument_and_both_sides(function: Callable[..., Any]) -> None:
    source = np.zeros((2, 3, 64, 5), np.float32)
    with pytest.raises(pymluops.BadParamError, match="shifts") as caught:
        function(source, np.zeros((2, 5), np.int32))
    assert "G divides C=64" in str(caught.value)
    assert "[2, 5]" in str(caught.value)
    with pytest.raises(pymluops.BadParamError, match=r"shifts.*int32.*int64"):
        function(source, np.zeros((2, 4), np.int64))
    with pytest.raises(pymluops.BadParamError, match="float64"):
        function(source.astype(np.float64), np.zeros((2, 4), np.int32))


def test_tin_shift_demo() -> None:
    source = (10 * np.arange(6)[:, None] + np.arange(6)).astype(np.float32).reshape(1, 6, 6, 1)
    moved = tin_shift.shift(source, np.array([[-1, 0, 2]], np.int32))[0, :, :, 0]
    assert moved[:, 0].tolist() == [10, 20, 30, 40, 50, 0]
    assert moved[:, 2].tolist() == [2, 12, 22, 32, 42, 52]
    assert moved[:, 5].tolist() == [0, 0, 5, 15, 25, 35]


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("tin_shift_forward", "(input, shifts, *, out=None, handle=None)"),
        ("tin_shift_backward", "(grad_output, shifts, *, out=None, handle=None)"),
    ],
)
def test_signatures_keep_the_contract(name: str, contract: str) -> None:
    assert_signature(name, contract)
