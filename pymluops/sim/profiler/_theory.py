"""The work that an operator cannot do without, by the vendor's acceptance standard."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Elements of these sizes count as half in the standard's vector peak: 64 operations of a core in a cycle, else 32.
_HALF = (np.dtype(np.float16), np.dtype(np.int16))


class Theory(NamedTuple):
    """The least that an operator reads, writes and computes.

    Attributes
    ----------
    io_bytes : int
        Read from and written to device memory.
    operations : int
        Additions, multiplications and the like.
    half : bool
        Whether the vector unit does 64 of them in a cycle of a core, for elements of 2 bytes, and not 32.
    origin : str
        Where the numbers are from, a phrase.
    """

    io_bytes: int
    operations: int
    half: bool
    origin: str


class ArrayShape(NamedTuple):
    """Shape and type of an argument, which need not live any longer than the call."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def elements(self) -> int:
        """The number of its elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self.elements * self.dtype.itemsize


def shape_of(array: Any) -> ArrayShape:
    """Return the shape of a NumPy array, a tensor of PyTorch or a `DeviceArray`."""
    return ArrayShape(tuple(map(int, array.shape)), np.dtype(str(array.dtype).rpartition(".")[2].lower()))


class PairsGeometry(NamedTuple):
    """What the descriptor of a call of get_indice_pairs says."""

    batch: int
    output_space: tuple[int, ...]
    subm: bool


class OperatorCall(NamedTuple):
    """A call of an operator: arrays in the order of the C function's tensors, inputs first."""

    function: str
    arrays: tuple[ArrayShape, ...]
    geometry: PairsGeometry | None = None


def call_of(function: str, arrays: Sequence[Any], settings: Any) -> OperatorCall:
    """Return what theory needs to know about a call."""
    geometry = None
    if function == _PAIRS:
        geometry = PairsGeometry(settings.batch, tuple(settings.output_space), bool(settings.subm))
    return OperatorCall(function, tuple(map(shape_of, arrays)), geometry)


def _per_element(which: int, operations: int) -> Callable[[Sequence[ArrayShape]], int]:
    return lambda arrays: operations * arrays[which].elements


def _border_align_backward(arrays: Sequence[ArrayShape]) -> int:
    images, boxes, borders, channels = arrays[0].shape
    return images * boxes * borders * (channels // 4) * 3


_PAIRS = "mluOpGetIndicePairs"


class _Pairs(NamedTuple):
    """The sizes of a call of get_indice_pairs."""

    rows: int  # of the input
    volume: int  # of the filter
    grid: int
    counts: int
    subm: bool

    def operations(self) -> int:
        pairs = self.rows * self.volume
        return (48 * pairs + 6 * self.rows if self.subm else 56 * pairs) + self.counts

    def elements(self) -> int:
        pairs = self.rows * self.volume
        moved = 10 * pairs + 11 * self.rows if self.subm else 19 * pairs + 5 * self.rows
        return moved + 2 * self.grid + self.counts


def _pairs(arrays: Sequence[ArrayShape], geometry: PairsGeometry) -> _Pairs:
    rows, volume = arrays[0].shape[0], arrays[3].shape[0]
    grid = geometry.batch * math.prod(geometry.output_space) + 1
    return _Pairs(rows, volume, grid, geometry.batch * volume + 1, geometry.subm)


#: Operations of the arrays, by C function.
_OPERATIONS: dict[str, Callable[[Sequence[ArrayShape]], int]] = {
    "mluOpTinShiftForward": _per_element(2, 1),
    "mluOpTinShiftBackward": _per_element(2, 1),
    "mluOpPsamaskForward": _per_element(1, 1),
    "mluOpPsamaskBackward": _per_element(1, 1),
    "mluOpBorderAlignForward": _per_element(2, 14),
    "mluOpBorderAlignBackward": _border_align_backward,
    "mluOpThreeInterpolateForward": _per_element(3, 5),
    "mluOpThreeInterpolateBackward": _per_element(0, 9),
}


def theory_of(call: OperatorCall) -> Theory | None:
    """Return the work of an operator by the acceptance standard; None if it is not known for the operator."""
    half = call.arrays[0].dtype in _HALF
    if call.geometry is not None:
        pairs = _pairs(call.arrays, call.geometry)
        return Theory(4 * pairs.elements(), pairs.operations(), half, "acceptance standard, int32 elements")
    operations = _OPERATIONS.get(call.function)
    if operations is None:
        return None
    io = sum(array.nbytes for array in call.arrays)
    return Theory(io, operations(call.arrays), half, "acceptance standard")
