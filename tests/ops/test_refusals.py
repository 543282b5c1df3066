"""A refused call writes nothing and says which function, which argument, what was expected and what came."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pymluops
from support import described, families
from support.arrays import is_canary
from support.described_calls import OPERATORS, Call, legal_call

every_operator = pytest.mark.parametrize("operator", OPERATORS)


def _arguments(operator: str) -> list[str]:
    return sorted(legal_call(operator).arrays)


def _dtype(operator: str, name: str) -> np.dtype[Any]:
    return np.dtype(legal_call(operator).arrays[name].dtype)


EVERY_ARRAY = [(operator, name) for operator in OPERATORS for name in _arguments(operator)]
every_array = pytest.mark.parametrize(("operator", "name"), EVERY_ARRAY)
#: The types of one byte are aligned anywhere, and have no order of bytes.
every_wide_array = pytest.mark.parametrize(
    ("operator", "name"), [(operator, name) for operator, name in EVERY_ARRAY if _dtype(operator, name).itemsize > 1]
)


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
    dtype = "uint16" if _dtype(operator, name) == dtype else dtype
    array = legal_call(operator).arrays[name]
    assert_refused(_replaced(operator, name, np.ones(array.shape, dtype)), name, dtype)


@every_wide_array
def test_byte_order_that_is_not_the_machines(operator: str, name: str) -> None:
    array = legal_call(operator).arrays[name]
    assert_refused(_replaced(operator, name, array.astype(array.dtype.newbyteorder())), name)


@every_array
def test_wrong_rank(operator: str, name: str) -> None:
    call = legal_call(operator)
    call.keep_sizes()
    array = call.arrays[name]
    for wrong in (array[None].copy(), *([array.reshape(-1)] if array.ndim > 1 else [])):
        call.arrays[name] = wrong
        assert_refused(call, name)


def _bound_axis(operator: str, name: str) -> int | None:
    """The first axis of an array whose size another array has too, or which is not free; None without one."""
    known = families.OPERATORS[operator]
    terms = next(tensor.shape.split() for tensor in known.tensors if tensor.name == name)
    others = {term for tensor in known.tensors if tensor.name != name for term in tensor.shape.split()}
    return next((axis for axis, term in enumerate(terms) if term in others or not term.isidentifier()), None)


@every_array
def test_wrong_shape(operator: str, name: str) -> None:
    array, axis = legal_call(operator).arrays[name], _bound_axis(operator, name)
    shape = [*array.shape]
    if axis is None:  # any shape of this rank is legal
        assert _replaced(operator, name, np.ones([size + 1 for size in shape], array.dtype)).python() is not None
        return
    shape[axis] += 1
    call = _replaced(operator, name, np.ones(shape, array.dtype))
    with pytest.raises(pymluops.BadParamError, match=rf"{shape[axis]}"):
        call.python()


@every_array
def test_not_contiguous(operator: str, name: str) -> None:
    seed = next((seed for seed in range(100) if legal_call(operator, seed).arrays[name].shape[-1] > 1), None)
    if seed is None:  # one element, of which any stride is right
        return
    array = legal_call(operator, seed).arrays[name]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 2), array.dtype)
    view = wide[..., : 2 * array.shape[-1] : 2]
    assert_refused(_replaced(operator, name, view, seed), name, "contiguous")
    assert not wide.any()


@every_wide_array
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
    changed = {tensor.name for tensor in OPERATORS[operator].tensors if tensor.in_place}
    for name in set(call.arrays) - set(call.outputs) - changed:
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
    optional = {tensor.name for tensor in OPERATORS[operator].tensors if tensor.optional}
    for name in set(_arguments(operator)) - set(OPERATORS[operator].outputs) - optional:
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
    given, free = call.python(), call.python(**dict.fromkeys(call.outputs))
    if not call.outputs:
        assert given is free is None
        return
    for one, other in zip(
        given if isinstance(given, tuple) else (given,), free if isinstance(free, tuple) else (free,)
    ):
        assert type(other) is np.ndarray
        assert other is not one
        assert other.flags.c_contiguous
        assert other.flags.writeable
        np.testing.assert_array_equal(one, other)
