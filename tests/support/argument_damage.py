"""Small damages to the arguments of a legal call. Some leave it legal; which ones is for the libraries to agree on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

from support import families
from support.arrays import canary
from support.described_calls import Call

DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    "complex64",
)  # fmt: skip
NUMBERS = (-(2**31), -3, -1, 0, 1, 2, 3, 4, 9, 65537, 2**31 - 1)


def _pick(rng: Random, call: Call) -> str:
    return rng.choice(sorted(call.arrays))


def _like(call: Call, name: str, shape: tuple[int, ...], dtype: object) -> np.ndarray:
    """A fresh array: a canary where it is an output, zeros where it is an input."""
    return canary(shape, dtype) if name in call.outputs else np.zeros(shape, dtype)


def change_dtype(rng: Random, call: Call) -> None:
    name = _pick(rng, call)
    call.arrays[name] = _like(call, name, call.arrays[name].shape, rng.choice(DTYPES))


def change_size(rng: Random, call: Call) -> None:
    name = _pick(rng, call)
    shape = list(call.arrays[name].shape)
    if shape:
        axis = rng.randrange(len(shape))
        shape[axis] = rng.choice((0, 1, 2, 3, 4, shape[axis] + 1, max(shape[axis] - 1, 0)))
    call.arrays[name] = _like(call, name, tuple(shape), call.arrays[name].dtype)


def change_rank(rng: Random, call: Call) -> None:
    name = _pick(rng, call)
    array = call.arrays[name]
    way = rng.randrange(3)
    if way == 0:
        call.arrays[name] = array.reshape(-1)
    elif way == 1 and array.ndim and array.shape[-1]:
        call.arrays[name] = array[..., 0].copy()
    else:
        call.arrays[name] = np.expand_dims(array, rng.randrange(array.ndim + 1)).copy()


def exchange_axes(rng: Random, call: Call) -> None:
    name = _pick(rng, call)
    order = list(range(call.arrays[name].ndim))
    rng.shuffle(order)
    moved = call.arrays[name].transpose(order)
    call.arrays[name] = moved if rng.random() < 0.5 else moved.copy()


def _written(call: Call) -> set[str]:
    """What must be writable: outputs, and what is changed in place."""
    return {*call.outputs, *(one.name for one in families.OPERATORS[call.operator].tensors if one.in_place)}


def change_strides(rng: Random, call: Call) -> None:
    """Same shape and values, laid out otherwise: with gaps, backwards, column first or with one value repeated."""
    name = _pick(rng, call)
    array = call.arrays[name]
    if not array.ndim:
        return
    axis, way = rng.randrange(array.ndim), rng.randrange(4)
    if way == 0:
        step = rng.choice((2, 3))
        wide = canary([size * step if i == axis else size for i, size in enumerate(array.shape)], array.dtype)
        call.arrays[name] = wide[(slice(None),) * axis + (slice(None, None, step),)]
    elif way == 1:
        call.arrays[name] = np.flip(array, axis)
        return
    elif way == 2:
        call.arrays[name] = np.asfortranarray(array)
        return
    else:
        one = np.zeros([1 if i == axis else size for i, size in enumerate(array.shape)], array.dtype)
        view = np.broadcast_to(one, array.shape)
        call.arrays[name] = view.copy() if name in _written(call) else view
        return
    if name not in call.outputs:
        call.arrays[name][...] = array


def misalign(rng: Random, call: Call) -> None:
    """Same values, the first byte not at a multiple of the element size."""
    name = _pick(rng, call)
    array = call.arrays[name]
    room = canary(array.nbytes + 64, np.uint8)
    shift = rng.choice((1, 2, 3, 4))
    moved = room[shift : shift + array.nbytes].view(array.dtype).reshape(array.shape)
    moved[...] = array
    call.arrays[name] = moved


def share_memory(rng: Random, call: Call) -> None:
    """Two arguments in one buffer: the second begins inside the first, at its end, or just past it."""
    output = rng.choice(call.outputs or sorted(_written(call)))
    other = rng.choice(sorted(set(call.arrays) - {output}))
    first, second = rng.sample((output, other), 2)
    one, two = call.arrays[first], call.arrays[second]
    step = max(one.itemsize, two.itemsize)
    start = rng.choice((0, step, max(one.nbytes // step - 1, 0) * step, -(-one.nbytes // step) * step))
    room = canary(start + max(one.nbytes, two.nbytes) + 64, np.uint8)
    for name, at, array in ((first, 0, one), (second, start, two)):
        view = room[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
        if name not in call.outputs:
            view[...] = np.zeros_like(array)
        call.arrays[name] = view


def change_number(rng: Random, call: Call) -> None:
    if call.numbers:
        name = rng.choice(sorted(call.numbers))
        old = call.numbers[name]
        call.numbers[name] = not old if isinstance(old, bool) else rng.choice(NUMBERS)


MUTATIONS: tuple[Callable[[Random, Call], None], ...] = (
    change_dtype, change_size, change_rank, exchange_axes, change_strides, misalign, share_memory, change_number,
)  # fmt: skip


def mutate(rng: Random, call: Call) -> list[str]:
    """Applies up to three mutations and returns their names."""
    chosen = [rng.choice(MUTATIONS) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
    for mutation in chosen:
        mutation(rng, call)
    # pool_size counts loop passes, and the large legal ones would take minutes.
    if call.numbers.get("pool_size", 0) > 100_000:
        call.numbers["pool_size"] = 1000
    return [mutation.__name__ for mutation in chosen]
