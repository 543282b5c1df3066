"""The memory of a call: each array between guards, so that a write beside it is found."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from pymluops import TensorDescriptor
from pymluops.enums import DataType
from pymluops.gencase._file import CaseTensor

__all__ = ["GUARD_BYTES", "Guarded", "numbers_of"]

#: Bytes before and behind each array.
GUARD_BYTES = 512
_GUARD = 0xC5
#: What outputs begin with where an operator has to write all of them: a NaN, or -1.
_UNWRITTEN = 0xFF
#: Types that NumPy lacks, by the type with their bits.
_BITS = {DataType.BFLOAT16: np.uint16, DataType.INT31: np.uint32}
_NUMPY: dict[DataType, Any] = {
    DataType.HALF: np.float16,
    DataType.FLOAT: np.float32,
    DataType.DOUBLE: np.float64,
    DataType.BOOL: np.uint8,
    DataType.COMPLEX_FLOAT: np.complex64,
    DataType.INT8: np.int8,
    DataType.INT16: np.int16,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.UINT8: np.uint8,
    DataType.UINT16: np.uint16,
    DataType.UINT32: np.uint32,
    DataType.UINT64: np.uint64,
    DataType.COMPLEX_HALF: np.dtype((np.float16, (2,))),
    **_BITS,
}


def numbers_of(memory: np.ndarray, dtype: DataType) -> np.ndarray:
    """Return the elements in some bytes as numbers that NumPy computes with."""
    if dtype == DataType.COMPLEX_HALF:
        parts = memory.view(np.float16).reshape(-1, 2).astype(np.float32)
        return np.ascontiguousarray(parts).view(np.complex64).reshape(-1)
    if dtype == DataType.BFLOAT16:
        return (memory.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return memory.view(_NUMPY[dtype])


class Guarded:
    """The memory of one tensor.

    Parameters
    ----------
    tensor : CaseTensor
        What it is of.
    values : numpy.ndarray or None
        What it begins with: elements from the first to the last in memory; None: nothing.
    zeros : bool
        Whether it begins with zeros where it has no values.
    """

    def __init__(self, tensor: CaseTensor, values: np.ndarray | None, zeros: bool = False) -> None:
        tensor.require_memory()
        self.tensor = tensor
        nbytes = tensor.span * tensor.itemsize
        self._all = np.full(2 * GUARD_BYTES + nbytes, _GUARD, np.uint8)
        self.memory = self._all[GUARD_BYTES : GUARD_BYTES + nbytes]
        if values is None:
            self.memory[...] = 0 if zeros else _UNWRITTEN
        else:
            given = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
            self.memory[: given.size] = given[:nbytes]

    @property
    def intact(self) -> bool:
        """Whether nothing was written beside the array."""
        ends = self._all[:GUARD_BYTES], self._all[-GUARD_BYTES:]
        return all(bool((end == _GUARD).all()) for end in ends)

    def gaps(self) -> int:
        """Return a checksum of the bytes between the elements."""
        if self.tensor.is_packed or not self.memory.size:
            return 0
        is_gap = np.ones(self.tensor.span, np.bool_)
        np.lib.stride_tricks.as_strided(is_gap, self.tensor.shape, self.tensor.strides)[...] = False
        return zlib.crc32(np.ascontiguousarray(self.memory.reshape(self.tensor.span, -1)[is_gap]).data)

    @property
    def described(self) -> tuple[TensorDescriptor, np.ndarray]:
        """What `pymluops.functions` takes; complex numbers of half are bytes."""
        tensor = self.tensor
        kind = _NUMPY[tensor.dtype]
        memory = self.memory if isinstance(kind, np.dtype) else self.memory.view(kind)
        return TensorDescriptor(tensor.shape, tensor.dtype, tensor.layout, tensor.strides), memory

    def numbers(self) -> np.ndarray:
        """Return a copy of the elements in the shape of the tensor."""
        flat = numbers_of(self.memory.copy(), self.tensor.dtype)
        if not flat.size:
            return flat.reshape(self.tensor.shape)
        steps = [step * flat.itemsize for step in self.tensor.strides]
        return np.ascontiguousarray(np.lib.stride_tricks.as_strided(flat, self.tensor.shape, steps))

    def span(self) -> np.ndarray:
        """Return a copy of the elements in memory, with those between the elements of the tensor."""
        return numbers_of(self.memory.copy(), self.tensor.dtype)
