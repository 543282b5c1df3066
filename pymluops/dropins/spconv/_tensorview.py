"""``cumm.tensorview`` as far as programs need it to hand arrays to spconv's voxels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from pymluops.dropins.spconv._algorithms import Activation

__all__ = ["Tensor", "from_numpy", "gemm", "zeros"]


class Tensor:
    """An array with the names that tensors of cumm have."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def numpy(self) -> np.ndarray:
        """Return a copy of the array."""
        return self._array.copy()

    def numpy_view(self) -> np.ndarray:
        """Return the array itself."""
        return self._array

    @property
    def shape(self) -> list[int]:
        """Its sizes."""
        return list(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return self._array.ndim

    def dim(self, axis: int) -> int:
        """Return the size of an axis."""
        return self._array.shape[axis]

    def clone(self) -> Tensor:
        """Return a copy."""
        return Tensor(self.numpy())

    def __len__(self) -> int:
        """Return the size of the first axis."""
        return len(self._array)

    def __getitem__(self, key: Any) -> Tensor:
        """Return a part."""
        return Tensor(self._array[key])


def from_numpy(array: np.ndarray) -> Tensor:
    """Return a view of an array."""
    return Tensor(np.asarray(array))


def zeros(shape: Any, dtype: Any = np.float32) -> Tensor:
    """Return zeros."""
    return Tensor(np.zeros(shape, dtype))


#: `Activation` of cumm.
gemm = SimpleNamespace(Activation=Activation)
