"""Arguments that border_align refuses beyond what its description says."""

from __future__ import annotations

import numpy as np
import pytest

import pymluops
from support.arrays import canary, is_canary
from support.described_calls import legal_call


def test_one_of_two_outputs_may_be_given() -> None:
    call = legal_call("border_align_forward")
    expected = call.python()
    out, argmax = canary(expected[0].shape, expected[0].dtype), canary(expected[1].shape, "int32")
    first, made = call.python(out=out, argmax_idx=None)
    assert first is out
    assert made is not argmax
    np.testing.assert_array_equal(made, expected[1])
    made, second = call.python(out=None, argmax_idx=argmax)
    assert second is argmax
    np.testing.assert_array_equal(made, expected[0])


@pytest.mark.parametrize("number", [1.5, "3", None, [2], np.float32(2), 2**31, -(2**31) - 1, 2**64])
def test_numbers_that_are_no_int32(number: object) -> None:
    call = legal_call("border_align_forward")
    arguments = call.arrays["input"], call.arrays["boxes"], number
    with pytest.raises((pymluops.BadParamError, TypeError), match="pool_size"):
        pymluops.border_align_forward(*arguments, out=call.arrays["out"], argmax_idx=call.arrays["argmax_idx"])
    assert is_canary(call.arrays["out"])
    assert is_canary(call.arrays["argmax_idx"])


def test_numbers_may_be_numpy_integers() -> None:
    call = legal_call("border_align_forward")
    expected = pymluops.border_align_forward(call.arrays["input"], call.arrays["boxes"], 3)
    result = pymluops.border_align_forward(call.arrays["input"], call.arrays["boxes"], np.int64(3))
    np.testing.assert_array_equal(result[0], expected[0])


@pytest.mark.parametrize("size", [(3,), (3, 4, 5), 3, (0, 4), (3, -4), (2**31, 1), (3.5, 4), None])
def test_feature_size_must_be_two_sizes(size: object) -> None:
    grad, boxes = np.ones((1, 2, 4, 1), np.float32), np.zeros((1, 2, 4), np.float32)
    with pytest.raises((pymluops.BadParamError, TypeError), match="feature_size"):
        pymluops.border_align_backward(grad, boxes, np.zeros((1, 2, 4, 1), np.int32), 1, size)


@pytest.mark.parametrize("size", [(3, 3), (4, 2)])
def test_feature_size_must_be_that_of_out(size: tuple[int, int]) -> None:
    grad, boxes = np.ones((1, 2, 4, 1), np.float32), np.zeros((1, 2, 4), np.float32)
    out = canary((1, 3, 4, 4), "float32")
    with pytest.raises(pymluops.BadParamError):
        pymluops.border_align_backward(grad, boxes, np.zeros((1, 2, 4, 1), np.int32), 1, size, out=out)
    assert is_canary(out)
