"""The guard of the Python functions accepts exactly the arguments that the C library accepts."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

import pymluops
from support import described
from support.argument_damage import mutate
from support.arrays import canary
from support.c_calls import SUCCESS, Raw, Tensor
from support.comparison import bits
from support.described_calls import OPERATORS, Call
from support.example import PAIRING
from support.selection import is_thorough

#: Random calls for each operator; the seed of one that fails is in the message.
CASES = 2500 if is_thorough() else 250


def _left_to_c(call: Call) -> tuple[str, ...]:
    """How messages of the C function begin for what the guard leaves to it.

    These are the arguments in LEFT_TO_C of the oracle; and all data where a tensor is empty, since
    some C functions look at the others then.
    """
    function = call.description.c_function
    if any(array.size == 0 for array in call.arrays.values()):
        return (f"{function}: ",)
    oracle = importlib.import_module(f"pymluops.oracle.{described.family_of(call.operator)}")
    return tuple(f"{function}: {argument}: " for argument in getattr(oracle, "LEFT_TO_C", ()))


@pytest.fixture(scope="module")
def shared_raw() -> Iterator[Raw]:
    with Raw(pymluops.load("cpu")) as raw:
        yield raw


def _roots(call: Call) -> list[np.ndarray]:
    """The arrays that own the memory of the arguments, each in one piece."""
    roots = []
    for array in call.arrays.values():
        while isinstance(array.base, np.ndarray):
            array = array.base
        roots.append(array)
    return roots


def _memory(call: Call) -> list[bytes]:
    """All bytes that the arguments can reach, buffers behind views included."""
    return [ctypes.string_at(root.ctypes.data, root.nbytes) for root in _roots(call)]


def _refill(call: Call, memory: list[bytes]) -> None:
    for root, content in zip(_roots(call), memory, strict=True):
        if root.flags.writeable:
            ctypes.memmove(root.ctypes.data, content, root.nbytes)


def _describe(call: Call, steps: list[str]) -> str:
    arrays = {name: (a.dtype.name, a.shape, a.strides, a.ctypes.data % 64) for name, a in call.arrays.items()}
    return f"{call.operator} {steps}: {arrays} {call.numbers}"


def _check(raw: Raw, call: Call, steps: list[str]) -> bool:
    """Makes the call both ways and compares; returns whether it was accepted."""
    before = _memory(call)
    accepted_by_c = call.c(raw) == SUCCESS
    reason = "" if accepted_by_c else raw.reason()
    after_c = _memory(call)
    assert accepted_by_c or after_c == before, f"C refused and wrote: {_describe(call, steps)}"
    outputs_of_c = [bits(call.arrays[name]).copy() for name in call.outputs]
    _refill(call, before)
    try:
        call.python()
        message = ""
    except pymluops.BadParamError as error:
        message = str(error)
        assert _memory(call) == before, f"Python refused and wrote: {_describe(call, steps)}"
    assert (message == "") == accepted_by_c, f"C says {reason!r}, Python says {message!r}: {_describe(call, steps)}"
    # What is refused is refused before the C call, and so under the name of the Python function;
    # but for what only the C function looks at.
    assert accepted_by_c or message.startswith((f"{call.operator}: ", *_left_to_c(call))), message
    if accepted_by_c:
        empty = any(array.size == 0 for array in call.arrays.values())
        for tensor, expected in zip(described.outputs(call.operator), outputs_of_c, strict=True):
            if tensor.zero_if and empty:  # the C function writes nothing
                expected[...] = 0
            np.testing.assert_array_equal(bits(call.arrays[tensor.name]), expected)
    return accepted_by_c


@pytest.mark.parametrize("operator", OPERATORS)
def test_python_accepts_exactly_what_c_accepts(shared_raw: Raw, operator: str) -> None:
    seen: Counter[bool] = Counter()
    for seed in range(CASES):
        rng = Random(f"{operator} {seed}")
        call = OPERATORS[operator].legal(rng)
        seen[_check(shared_raw, call, [f"seed {seed}", *mutate(rng, call)])] += 1
    # The search must reach both sides of the border.
    assert min(seen[True], seen[False]) >= CASES // 10, seen


def _triple(rng: Random, values: tuple[int, ...]) -> tuple[int, int, int]:
    return rng.choice(values), rng.choice(values), rng.choice(values)


def _random_convolution(rng: Random) -> tuple[np.ndarray, Any]:
    geometry = PAIRING.oracle.Geometry(
        rng.choice((1, 2, 2, 0, -1)), _triple(rng, (1, 2, 3, 4)), _triple(rng, (1, 2, 3)),
        _triple(rng, (1, 1, 1, 2, 3)), _triple(rng, (0, 0, 1, 2)), _triple(rng, (1, 1, 1, 2)),
        rng.random() < 0.3, _triple(rng, (1, 2, 3, 4, 5)),
    )  # fmt: skip
    if rng.random() < 0.3:
        field = rng.choice(("space", "kernel", "stride", "padding", "dilation", "given_out"))
        geometry = dataclasses.replace(geometry, **{field: _triple(rng, (1, 2, 0, -1))})
    if geometry.subm and rng.random() < 0.8:
        ones = (1, 1, 1)
        geometry = dataclasses.replace(geometry, given_out=geometry.space, stride=ones, dilation=ones)
    rows = rng.choice((0, 1, 2, 5, 20))
    sites = np.array((geometry.batch, *geometry.space))
    generator = np.random.default_rng(rng.getrandbits(32))
    indices = generator.integers(0, np.maximum(sites, 1), (rows, 4)).astype(np.int32)
    if rows and rng.random() < 0.15:
        indices[rng.randrange(rows), rng.randrange(4)] = rng.choice((-1, 4, 7, 2**31 - 1, -(2**31)))
    return indices, geometry


def _damage_indices(rng: Random, indices: np.ndarray) -> np.ndarray:
    way = rng.randrange(12)
    if way == 0:
        return indices.astype(rng.choice(("int64", "float32", "uint32", "int16")))
    if way == 1:
        return indices[:, :3].copy()
    if way == 2:
        return indices.reshape(-1)
    if way == 3:
        return np.concatenate([indices, indices], 1)[:, ::2]
    if way == 4:
        return np.asfortranarray(indices)
    if way == 5:
        room = np.zeros(indices.nbytes + 8, np.uint8)
        moved = room[1 : 1 + indices.nbytes].view(np.int32).reshape(indices.shape)
        moved[...] = indices
        return moved
    return indices


def _c_accepts(raw: Raw, indices: np.ndarray, geometry: Any) -> tuple[bool, str]:
    slot = raw.ffi.new("mluOpSparseConvolutionDescriptor_t *")
    assert raw.lib.mluOpCreateSparseConvolutionDescriptor(slot) == SUCCESS
    try:
        if raw.set_sparse(slot[0], geometry) != SUCCESS:
            return False, raw.reason()
        length = indices.shape[0]
        # A sub-manifold call writes its input's rows; else no more rows can come out than there are
        # sites or pairs.
        rows = length if geometry.subm else min(geometry.cells * length, geometry.batch * int(np.prod(geometry.out)))
        shapes = (geometry.cells, 2, length), (rows, 4), (geometry.cells,)
        outputs = [Tensor(canary(shape, "int32")) for shape in shapes]
        return getattr(raw, PAIRING.name)(slot[0], Tensor(indices), *outputs) == SUCCESS, raw.reason()
    finally:
        raw.lib.mluOpDestroySparseConvolutionDescriptor(slot[0])


def _python_refusal(indices: np.ndarray, geometry: Any, validate: bool) -> str:
    """What the Python function says against a call; empty if it accepts it."""
    arguments: dict[str, Any] = {
        "batch_size": geometry.batch, "spatial_shape": geometry.space, "kernel_size": geometry.kernel,
        "stride": geometry.stride, "padding": geometry.padding, "dilation": geometry.dilation,
        "subm": geometry.subm, "out_spatial_shape": geometry.given_out,
    }  # fmt: skip
    try:
        PAIRING.run(indices, validate=validate, **arguments)
    except pymluops.BadParamError as error:
        return str(error)
    return ""


def test_an_operator_with_settings_accepts_exactly_what_c_accepts(shared_raw: Raw) -> None:
    seen: Counter[bool] = Counter()
    for seed in range(2 * CASES):
        rng = Random(seed)
        indices, geometry = _random_convolution(rng)
        indices = _damage_indices(rng, indices)
        accepted, reason = _c_accepts(shared_raw, indices, geometry)
        message = _python_refusal(indices, geometry, rng.random() < 0.5)
        case = f"seed {seed}: {indices.dtype} {indices.tolist()} {geometry}"
        assert (message == "") == accepted, f"C says {reason!r}, Python says {message!r}: {case}"
        seen[accepted] += 1
    assert min(seen[True], seen[False]) >= CASES // 10, seen
