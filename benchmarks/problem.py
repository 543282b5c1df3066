"""A problem: the arrays of a case, the bytes that must move, our call, and the check of a result."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cases import Case

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

_GARBAGE = 0xA5


class WrongResultError(Exception):
    """Two ways to compute the same gave different results."""


@dataclass(frozen=True)
class Problem:
    """Everything that is measured of one case.

    `inputs` and `outputs` name arrays and the shapes and types of arrays. Each byte of them must be
    read or written once; where an operator needs less of its inputs or has no outputs here, `read`
    and `written` are the bytes that it must read and write. ``run(buffers)`` is our call: it writes
    into the buffers and returns the results by name. An operator without ``out=`` has no outputs
    here. ``check(expected, found)`` raises `WrongResultError`.
    """

    case: Case
    inputs: Mapping[str, Array]
    outputs: Mapping[str, tuple[tuple[int, ...], npt.DTypeLike]]
    run: Callable[[Arrays], Arrays]
    check: Callable[[Arrays, Arrays], None]
    read: int | None = None
    written: int | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes that must be read."""
        return sum(array.nbytes for array in self.inputs.values()) if self.read is None else self.read

    @property
    def bytes_written(self) -> int:
        """Bytes that must be written."""
        if self.written is not None:
            return self.written
        return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in self.outputs.values())

    @property
    def bytes_moved(self) -> int:
        """All bytes that must move."""
        return self.bytes_read + self.bytes_written

    def buffers(self) -> Arrays:
        """Return arrays for the outputs, every page of them touched."""
        arrays = {name: np.empty(shape, dtype) for name, (shape, dtype) in self.outputs.items()}
        spoil(arrays)
        return arrays


def spoil(arrays: Arrays) -> None:
    """Fill arrays with bytes that no operator produces, so that unwritten outputs are detected."""
    for array in arrays.values():
        array.view(np.uint8).fill(_GARBAGE)


def generator(case: Case) -> np.random.Generator:
    """Return the random numbers of a case; the same case gives the same numbers, whatever its type."""
    return np.random.default_rng(zlib.crc32(f"{case.family}/{case.name}".encode()))


def same_bits(expected: Arrays, found: Arrays) -> None:
    """Check for an operator that copies."""
    for name, array in expected.items():
        if array.tobytes() != found[name].tobytes():
            differing = int(np.count_nonzero(array.view(np.uint8) != found[name].view(np.uint8)))
            raise WrongResultError(f"{name}: {differing} of {array.nbytes} bytes differ")


def close(name: str, expected: Array, found: Array, tolerance: float) -> None:
    """Check for an operator that sums: the largest difference as a part of the largest value."""
    if expected.shape != found.shape:
        raise WrongResultError(f"{name}: shape {list(found.shape)} instead of {list(expected.shape)}")
    worst, largest = 0.0, 0.0
    for one, other in zip(_parts(expected), _parts(found), strict=True):
        difference = np.abs(one.astype(np.float32) - other.astype(np.float32))
        worst = max(worst, float(difference.max(initial=0.0)))
        largest = max(largest, float(np.abs(one).max(initial=0.0)))
        if not np.isfinite(difference).all():
            raise WrongResultError(f"{name}: not all values are numbers")
    if worst > tolerance * max(largest, 1e-30):
        raise WrongResultError(f"{name}: differs by {worst:.2g} where values reach {largest:.2g}")


def _parts(array: Array, size: int = 1 << 22) -> list[Array]:
    """Cut an array, so that a check needs little memory."""
    flat = array.reshape(-1)
    return [flat[start : start + size] for start in range(0, max(flat.size, 1), size)]


@dataclass(frozen=True)
class TinyCall:
    """A statement that calls an operator, the arrays and other values it names, and its limit in nanoseconds."""

    operator: str
    statement: str
    arrays: Mapping[str, Array]
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limit: float | None = 2000.0

    @property
    def torch_statement(self) -> str:
        """The same call of the PyTorch operator: positional arguments, the outputs last."""
        return re.sub(r"\b[a-z_0-9]+=(?=[a-z]\b)", "", self.statement)


@dataclass(frozen=True)
class TensorCall:
    """A call of a function of `pymluops.torch`, and one of the function for arrays that computes the same."""

    function: str
    arrays: Callable[[], Any]
    tensors: Callable[[], Any]
