"""A refused call writes nothing and says which function, which argument, what was expected and what came."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import described
import pymluops
from calls import OPERATORS, Call, legal_call
from support import canary, is_canary

every_operator = pytest.mark.parametrize("operator", OPERATORS)


def _arguments(operator: str) -> list[str]:
    return sorted(legal_call(operator).arrays)


EVERY_ARRAY = [(operator, name) for operator in OPERATORS for name in _arguments(operator)]
every_array = pytest.mark.parametrize(("operator", "name"), EVERY_ARRAY)


def assert_refused(call: Call, name: str, *found: str) -> str:
    """The call raises, names function and argument and what it found, and no output changed."""
    before = {output: call.arrays[output].tobytes() for output in call.outputs}
    with pytest.raises(pymluops.BadParamError) as caught:
        call.python()
    error, text = caught.value, str(caught.value)
    assert {output: call.arrays[output].tobytes() for output in call.outputs} == before
    # The Python name: its guard refused, before any C call.
    assert text.startswith(f"{call.operator}: "), text
    assert re.search(rf"\b{name}\b", text), text
    assert re.search("expected .+, got ", text), text
    for word in found:
        assert word in text, (word, text)
    assert error.status is pymluops.Status.BAD_PARAM
    assert error.function == OPERATORS[call.operator].c_function
    assert isinstance(error.detail, str)
    assert error.detail
    assert isinstance(error, ValueError)
    assert isinstance(error, pymluops.MluOpError)
    return text


def _replaced(operator: str, name: str, array: np.ndarray, seed: int = 0) -> Call:
    call = legal_call(operator, seed)
    call.arrays[name] = array
    return call


@every_array
@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8", "complex64", "bool"])
def test_wrong_dtype(operator: str, name: str, dtype: str) -> None:
    array = legal_call(operator).arrays[name]
    assert_refused(_replaced(operator, name, np.ones(array.shape, dtype)), name, dtype)


@every_array
def test_byte_order_that_is_not_the_machines(operator: str, name: str) -> None:
    array = legal_call(operator).arrays[name]
    assert_refused(_replaced(operator, name, array.astype(array.dtype.newbyteorder())), name)


@every_array
def test_wrong_rank(operator: str, name: str) -> None:
    array = legal_call(operator).arrays[name]
    assert_refused(_replaced(operator, name, array[None].copy()), name)
    if array.ndim > 1:
        assert_refused(_replaced(operator, name, array.reshape(-1)), name)


@every_array
def test_wrong_shape(operator: str, name: str) -> None:
    array = legal_call(operator).arrays[name]
    larger = np.ones((array.shape[0] + 1, *array.shape[1:]), array.dtype)
    call = _replaced(operator, name, larger)
    with pytest.raises(pymluops.BadParamError, match=rf"{array.shape[0] + 1}"):
        call.python()


@every_array
def test_not_contiguous(operator: str, name: str) -> None:
    seed = next(seed for seed in range(100) if legal_call(operator, seed).arrays[name].shape[-1] > 1)
    array = legal_call(operator, seed).arrays[name]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 2), array.dtype)
    view = wide[..., : 2 * array.shape[-1] : 2]
    assert_refused(_replaced(operator, name, view, seed), name, "contiguous")
    assert not wide.any()


@every_array
def test_misaligned(operator: str, name: str) -> None:
    array = legal_call(operator).arrays[name]
    room = np.zeros(array.nbytes + array.itemsize, np.uint8)
    view = room[1 : 1 + array.nbytes].view(array.dtype).reshape(array.shape)
    assert not view.flags.aligned
    assert_refused(_replaced(operator, name, view), name, "align")
    assert not room.any()


@every_operator
def test_read_only_outputs(operator: str) -> None:
    for name in OPERATORS[operator].outputs:
        call = legal_call(operator)
        call.arrays[name].flags.writeable = False
        assert "writ" in assert_refused(call, name) or "read-only" in assert_refused(call, name)
        assert is_canary(call.arrays[name])


@every_operator
def test_read_only_inputs_are_fine(operator: str) -> None:
    call = legal_call(operator)
    for name in set(call.arrays) - set(call.outputs):
        call.arrays[name].flags.writeable = False
    call.python()
    assert not any(is_canary(call.arrays[name]) for name in call.outputs)


OVERLAPS = [
    (operator, output, other)
    for operator in OPERATORS
    for output in OPERATORS[operator].outputs
    for other in _arguments(operator)
    if other != output
]


@pytest.mark.parametrize(("operator", "output", "other"), OVERLAPS)
def test_an_output_may_touch_but_not_overlap_another_argument(operator: str, output: str, other: str) -> None:
    call = legal_call(operator)
    first, second = call.arrays[output], call.arrays[other]
    step = max(first.itemsize, second.itemsize)
    length = -(-first.nbytes // step) * step
    for start, legal in ((0, False), ((first.nbytes // step - 1) * step, False), (length, True)):
        room = np.zeros(length + second.nbytes + 64, np.uint8)
        call.arrays[output] = room[: first.nbytes].view(first.dtype).reshape(first.shape)
        call.arrays[other] = room[start : start + second.nbytes].view(second.dtype).reshape(second.shape)
        if legal:
            call.python()
            continue
        with pytest.raises(pymluops.BadParamError, match="overlap"):
            call.python()
        assert not room.any()


@every_operator
@pytest.mark.parametrize(
    "thing", [[[1.0]], 1.0, "text", object(), np.float32(1)], ids=lambda thing: type(thing).__name__
)
def test_things_that_are_no_arrays(operator: str, thing: Any) -> None:
    for name in _arguments(operator):
        call, changes = legal_call(operator), {}
        watched = [call.arrays[output] for output in call.outputs if output != name]
        if name in call.outputs:
            changes = {name: thing}
        else:
            call.arrays[name] = thing
        with pytest.raises((pymluops.BadParamError, TypeError)):
            call.python(**changes)
        assert all(map(is_canary, watched))


@every_operator
def test_none_is_no_input(operator: str) -> None:
    for name in set(_arguments(operator)) - set(OPERATORS[operator].outputs):
        call: Any = legal_call(operator)
        call.arrays[name] = None
        with pytest.raises((pymluops.BadParamError, TypeError), match=name):
            call.python()
        assert all(is_canary(call.arrays[output]) for output in call.outputs)


@every_operator
def test_outputs_that_are_not_given_are_made(operator: str) -> None:
    call = legal_call(operator)
    for tensor in described.outputs(operator):
        if tensor.zeroed:
            call.arrays[tensor.name][...] = 0
    given = call.python()
    free = call.python(**dict.fromkeys(call.outputs))
    for one, other in zip(
        given if isinstance(given, tuple) else (given,), free if isinstance(free, tuple) else (free,)
    ):
        assert type(other) is np.ndarray
        assert other is not one
        assert other.flags.c_contiguous
        assert other.flags.writeable
        np.testing.assert_array_equal(one, other)


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


def test_num_features_must_be_that_of_out() -> None:
    grad, indices = np.ones((1, 2, 4), np.float32), np.zeros((1, 4, 3), np.int32)
    weights, out = np.ones((1, 4, 3), np.float32), canary((1, 2, 5), "float32")
    with pytest.raises(pymluops.BadParamError):
        pymluops.three_interpolate_backward(grad, indices, weights, 6, out=out)
    for number in (0, -1, 2**31):
        with pytest.raises(pymluops.BadParamError):
            pymluops.three_interpolate_backward(grad, indices, weights, number)
    assert is_canary(out)
