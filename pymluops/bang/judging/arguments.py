"""The arguments of a task: arrays that are made, outputs, and arrays that a kernel changes."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._arguments import is_integer
from pymluops._shown import shown
from pymluops.errors import BadParamError, BadParamTypeError

__all__ = ["Argument", "Changed", "Output", "Random", "changed", "made", "output", "random"]

#: Random integers go to this, as far as their type does.
_LIMIT = 100


@dataclass(frozen=True)
class Random:
    """An array of random numbers; `random` makes it."""

    shape: tuple[int, ...]
    dtype: str
    low: float
    high: float
    seed: int | None


@dataclass(frozen=True)
class Output:
    """An array that a kernel writes as a whole, and that holds nothing before; `output` makes it."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Changed:
    """An array that a kernel reads and writes; `changed` makes it."""

    start: NDArray[Any] | Random


#: What a task gives to a kernel: arrays, numbers, None for a null pointer.
Argument: TypeAlias = "NDArray[Any] | Random | Output | Changed | int | float | bool | bytes | None"


def random(
    *shape: int, dtype: Any = "float32", low: float | None = None, high: float | None = None, seed: int | None = None
) -> Random:
    """Describe an input of random numbers, the same in every run.

    Parameters
    ----------
    *shape : int
        The dims.
    dtype : dtype or str
        The element type; also ``"bfloat16"``, which needs the package ml_dtypes.
    low, high : float, optional
        The range; -1 to 1 if not given, of integers -100 to 100 as far as their type goes.
    seed : int, optional
        If not given, it follows from the name of the argument.
    """
    for argument, value in (("low", low), ("high", high), ("seed", seed)):
        is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if value is not None and (not is_number or (argument == "seed" and not is_integer(value))):
            expected = "an integer" if argument == "seed" else "a number"
            raise BadParamTypeError(f"random: {argument}: expected {expected}, got {shown(value)}")
    if seed is not None and seed < 0:
        raise BadParamError(f"random: seed: expected an integer from 0, got {seed}")
    name = dtype_named(dtype).name
    kind = dtype_named(dtype).kind
    most = min(_LIMIT, int(np.iinfo(name).max)) if kind in "iu" else 1
    least = max(-_LIMIT, int(np.iinfo(name).min)) if kind in "iu" else 0 if kind == "b" else -1
    begin, end = least if low is None else low, most if high is None else high
    if not -math.inf < begin <= end < math.inf:
        raise BadParamError(f"random: low, high: expected a range, got {begin} to {end}")
    return Random(_shape(shape), name, begin, end, seed)


def output(*shape: int, dtype: Any = "float32") -> Output:
    """Describe an output: an array that the kernel writes as a whole.

    Parameters
    ----------
    *shape : int
        The dims.
    dtype : dtype or str
        The element type.
    """
    return Output(_shape(shape), dtype_named(dtype).name)


def changed(start: NDArray[Any] | Random) -> Changed:
    """Describe an array that the kernel reads and writes.

    Parameters
    ----------
    start : ndarray or Random
        What it holds before.
    """
    if isinstance(start, Random):
        return Changed(start)
    array = np.asarray(start)
    dtype_named(array.dtype)
    return Changed(array)


def made(name: str, argument: Argument) -> Any:
    """Return the value of an argument that is given to a kernel, and to the reference; of an output None."""
    if isinstance(argument, Output):
        return None
    if isinstance(argument, Changed):
        return made(name, argument.start)
    if isinstance(argument, Random):
        return _random(argument, zlib.crc32(name.encode()) if argument.seed is None else argument.seed)
    if isinstance(argument, np.ndarray):
        native = argument.astype(argument.dtype.newbyteorder("="), copy=False)  # as the card has it
        return np.ascontiguousarray(native) if native.ndim else native
    return argument


def dtype_named(dtype: Any) -> np.dtype[Any]:
    """Return an element type by its name, bfloat16 too."""
    if dtype in ("bfloat16", "bf16"):
        try:
            import ml_dtypes
        except ImportError:
            raise BadParamError("task: dtype: bfloat16 needs the package ml_dtypes") from None
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    try:
        found = np.dtype({"half": "float16", "float": "float32"}.get(dtype, dtype) if isinstance(dtype, str) else dtype)
    except TypeError:
        raise BadParamError(f"task: dtype: expected an element type, got {shown(dtype)}") from None
    if found.kind not in "fiubc" and found.name != "bfloat16":
        raise BadParamError(f"task: dtype: expected a type of numbers, got {shown(dtype)}")
    return found


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    given: list[Any] = list(shape)
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = list(cast("Sequence[Any]", given[0]))
    if not all(isinstance(dim, (int, np.integer)) and dim >= 0 for dim in given) or math.prod(given) >= 2**40:
        raise BadParamError(f"task: shape: expected dims from 0, got {shown(shape)}")
    return tuple(map(int, given))


def _random(argument: Random, seed: int) -> NDArray[Any]:
    generator, dtype = np.random.default_rng(seed), dtype_named(argument.dtype)
    if dtype.kind in "iub":
        drawn = generator.integers(int(argument.low), int(argument.high), argument.shape, endpoint=True)
        return np.asarray(drawn).astype(dtype)
    if dtype.kind == "c":
        parts = generator.uniform(argument.low, argument.high, (2, *argument.shape))
        return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
    return np.asarray(generator.uniform(argument.low, argument.high, argument.shape)).astype(dtype)
