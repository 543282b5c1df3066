"""A sparse tensor: rows of features and the places they belong to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class IndiceData(NamedTuple):
    """What an `indice_key` keeps of a convolution, for later ones with the same key and for inverse ones."""

    out_indices: Tensor
    indices: Tensor
    indice_pairs: Tensor
    indice_pair_num: Tensor
    spatial_shape: list[int]


class SparseConvTensor:
    """Features at some places of a grid; what is not listed is 0.

    Parameters
    ----------
    features : Tensor, shape [L, C]
        One row for each place.
    indices : Tensor, shape [L, 1 + ndim]
        Places: batch, then one coordinate for each axis. They are kept as int32.
    spatial_shape : sequence of int
        Size of the grid along each axis.
    batch_size : int
        Number of batches; any of them may be without places.
    grid : Tensor, optional
        Kept for mmcv's sake; the CPU needs none.

    Raises
    ------
    ValueError
        If the shapes do not fit together.
    """

    def __init__(
        self,
        features: Tensor,
        indices: Tensor,
        spatial_shape: Sequence[int],
        batch_size: int,
        grid: Tensor | None = None,
    ) -> None:
        shape = [int(size) for size in spatial_shape]
        if features.dim() != 2:
            raise ValueError(f"SparseConvTensor: features: expected shape [L, C], got {list(features.shape)}")
        if list(indices.shape) != [len(features), 1 + len(shape)]:
            expected = f"{len(features)}, {1 + len(shape)}"
            raise ValueError(f"SparseConvTensor: indices: expected shape [{expected}], got {list(indices.shape)}")
        self.features = features
        self.indices = indices.to(torch.int32)
        self.spatial_shape = shape
        self.batch_size = int(batch_size)
        self.grid = grid
        self.indice_dict: dict[str, IndiceData] = {}

    @property
    def spatial_size(self) -> int:
        """Number of places of one batch."""
        return math.prod(self.spatial_shape)

    @property
    def sparity(self) -> float:
        """Part of the places that have a row (spelt as in mmcv)."""
        places = self.spatial_size * self.batch_size
        return len(self.indices) / places if places else 0.0

    def find_indice_pair(self, key: str | None) -> IndiceData | None:
        """Return what was kept under a key, None if there is nothing."""
        return None if key is None else self.indice_dict.get(key)

    def replace_feature(self, features: Tensor) -> SparseConvTensor:
        """Return the same places with other features."""
        new = SparseConvTensor(features, self.indices, self.spatial_shape, self.batch_size, self.grid)
        new.indice_dict = self.indice_dict
        return new

    def dense(self, channels_first: bool = True) -> Tensor:
        """Return all places as a dense tensor.

        Parameters
        ----------
        channels_first : bool
            Whether the channels are dim 1 or the last one.

        Returns
        -------
        Tensor
            Shape [batch_size, C, *spatial_shape] or [batch_size, *spatial_shape, C].
        """
        channels = self.features.shape[1]
        place = self.indices[:, 0].long()
        for axis, size in enumerate(self.spatial_shape):
            place = place * size + self.indices[:, axis + 1]
        rows = self.features.new_zeros((self.batch_size * self.spatial_size, channels))
        dense = rows.index_put((place,), self.features).view(self.batch_size, *self.spatial_shape, channels)
        return dense.movedim(-1, 1).contiguous() if channels_first else dense

    def __repr__(self) -> str:
        facts = f"{list(self.features.shape)} at places of {self.spatial_shape}, batch_size={self.batch_size}"
        return f"SparseConvTensor({facts})"
