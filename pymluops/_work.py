"""Rules for the work that operators cannot do without, by the vendor's acceptance standard.

The module of a family puts a rule for each of its operators into `RULES`; profiles of the simulator
read them there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["RULES", "ArrayShape", "Rule", "per_element", "shape_of"]


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


def _all_bytes(arrays: Sequence[ArrayShape], _kept: Any) -> int:
    return sum(array.nbytes for array in arrays)


def _nothing(_settings: Any) -> Any:
    return None


@dataclass(frozen=True)
class Rule:
    """How much an operator reads, writes and computes at least.

    Attributes
    ----------
    operations : function
        Returns the number of additions, multiplications and the like, given the shapes of the
        arrays in the order of the C function's tensors, and what `keep` returned.
    io_bytes : function
        Returns the bytes read from and written to device memory, given the same. By default each
        array moves once.
    keep : function
        Returns what the others need to know of the settings of a call, which need not live any
        longer than it.
    origin : str
        Where the numbers are from, a phrase.
    """

    operations: Callable[[Sequence[ArrayShape], Any], int]
    io_bytes: Callable[[Sequence[ArrayShape], Any], int] = _all_bytes
    keep: Callable[[Any], Any] = _nothing
    origin: str = "acceptance standard"


def per_element(which: int, operations: int) -> Rule:
    """Return the rule of an operator that does so many operations for each element of one of its arrays."""
    return Rule(lambda arrays, _kept: operations * arrays[which].elements)


#: The rules by C function.
RULES: dict[str, Rule] = {}
