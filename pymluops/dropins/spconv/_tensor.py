"""``SparseConvTensor`` of spconv, and the pairs that its ``indice_dict`` has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from pymluops.dropins.spconv._algorithms import ConvAlgo
from pymluops.torch.sparse import SparseConvTensor as _Tensor
from pymluops.torch.sparse._dispatch import shapes_of
from pymluops.torch.sparse._numbers import sizes, whole
from pymluops.torch.sparse._tensor import IndiceData as _Kept
from pymluops.torch.sparse._tensor import Window

__all__ = ["ImplicitGemmIndiceData", "IndiceData", "SparseConvTensor", "expand_nd", "require", "scatter_nd"]


def require(condition: bool, text: str) -> None:
    """Raise AssertionError, as spconv does, with a text."""
    if not condition:
        raise AssertionError(text)


class IndiceData:
    """Pairs that a layer has kept, with the attributes that spconv's have."""

    def __init__(
        self,
        out_indices: Tensor,
        indices: Tensor,
        indice_pairs: Tensor,
        indice_pair_num: Tensor,
        spatial_shape: Sequence[int],
        out_spatial_shape: Sequence[int],
        is_subm: bool,
        algo: ConvAlgo,
        ksize: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int],
        padding: Sequence[int],
        voxel_num: Any = None,
    ) -> None:
        window = Window(
            "sub-manifold" if is_subm else "regular", list(ksize), list(stride), list(padding), list(dilation),
            [0] * len(ksize), list(spatial_shape), int(indices[:, 0].max()) + 1 if len(indices) else 0,
        )  # fmt: skip
        pairs, num = rulebook(indice_pairs, indice_pair_num, is_subm)
        self.kept = _Kept.keep(out_indices, indices, pairs, num, window, list(out_spatial_shape))
        self.algo, self.voxel_num = algo, voxel_num

    @classmethod
    def of(cls, kept: _Kept, algo: ConvAlgo) -> IndiceData:
        """Return pairs that a layer has found."""
        made = cls.__new__(cls)
        made.kept, made.algo, made.voxel_num = kept, algo, None
        return made

    @property
    def out_indices(self) -> Tensor:
        """Places of the output rows."""
        return self.kept.out_indices

    @property
    def indices(self) -> Tensor:
        """Places of the input rows."""
        return self.kept.indices

    @property
    def indice_pairs(self) -> Tensor:
        """Input and output rows, [2, K, L], -1 after the last pair."""
        return self.kept.indice_pairs.transpose(0, 1)

    @property
    def indice_pair_num(self) -> Tensor:
        """Number of pairs of each cell; as in spconv 0 from the centre of a sub-manifold filter on."""
        return half_counts(self.kept.indice_pair_num) if self.is_subm else self.kept.indice_pair_num

    @property
    def spatial_shape(self) -> list[int]:
        """The space of the input."""
        return list(self.kept.spatial_shape)

    @property
    def out_spatial_shape(self) -> list[int]:
        """The space of the output."""
        return list(self.kept.out_shape)

    @property
    def is_subm(self) -> bool:
        """Whether the output rows are the input rows."""
        return self.kept.window.kind == "sub-manifold"

    @property
    def ksize(self) -> list[int]:
        """Size of the window."""
        return list(self.kept.window.kernel_size)

    @property
    def stride(self) -> list[int]:
        """Steps of the window."""
        return list(self.kept.window.stride)

    @property
    def padding(self) -> list[int]:
        """Padding of the window."""
        return list(self.kept.window.padding)

    @property
    def dilation(self) -> list[int]:
        """Dilation of the window."""
        return list(self.kept.window.dilation)


#: spconv keeps pairs of its other algorithms in another class; here there is one.
ImplicitGemmIndiceData = IndiceData


def rulebook(indice_pairs: Tensor, indice_pair_num: Tensor, subm: bool) -> tuple[Tensor, Tensor]:
    """Return pairs [K, 2, L] and the counts of all cells, those that spconv leaves out in sub-manifold mode too."""
    num = (indice_pairs[0] >= 0).sum(1, dtype=torch.int32) if subm else indice_pair_num
    return indice_pairs.transpose(0, 1), num


def half_counts(num: Tensor) -> Tensor:
    """Return counts of pairs as spconv tells them in sub-manifold mode: 0 from the centre on."""
    found = num.clone()
    found[found.shape[0] // 2 :] = 0
    return found


class SparseConvTensor(_Tensor):
    """Features at some places of a grid, as spconv 2.x has them.

    Parameters
    ----------
    features : Tensor, shape [N, C]
        One row for each place.
    indices : Tensor, shape [N, ndim + 1], int32
        Places: batch, then one coordinate for each axis.
    spatial_shape : sequence of int
        Size of the grid along each axis; a list, array or tensor.
    batch_size : int
        Number of batches.
    grid, voxel_num, benchmark, permanent_thrust_allocator, enable_timer, force_algo
        Kept as attributes; without meaning on a CPU.
    indice_dict : dict, optional
        Pairs that layers have kept.
    """

    indice_dict: dict[str, Any]

    def __init__(
        self,
        features: Tensor,
        indices: Tensor,
        spatial_shape: Any,
        batch_size: int,
        grid: Tensor | None = None,
        voxel_num: Tensor | None = None,
        indice_dict: dict[str, Any] | None = None,
        benchmark: bool = False,
        permanent_thrust_allocator: bool = False,
        enable_timer: bool = False,
        force_algo: ConvAlgo | None = None,
    ) -> None:
        rows, places = shapes_of(features, indices)
        require(len(rows) == 2, f"SparseConvTensor: features: expected shape [N, C], got {rows}")
        require(len(places) == 2, f"SparseConvTensor: indices: expected shape [N, ndim + 1], got {places}")
        shape = [*spatial_shape]
        fits = len(shape) == places[1] - 1
        require(fits, f"SparseConvTensor: spatial_shape: expected {places[1] - 1} sizes, got {shape}")
        require(indices.dtype == torch.int32, f"SparseConvTensor: indices: expected int32, got {indices.dtype}")
        self._features = features
        self.indices = indices
        self.spatial_shape = sizes("SparseConvTensor", "spatial_shape", shape, len(shape), 1)
        self.batch_size = whole("SparseConvTensor", "batch_size", batch_size, 0)
        require(self.batch_size > 0, f"SparseConvTensor: batch_size: expected more than 0, got {batch_size}")
        self.grid = features.new_empty(0) if grid is None else grid
        self.voxel_num = voxel_num
        self.indice_dict = {} if indice_dict is None else indice_dict
        self.benchmark, self.benchmark_record = benchmark, cast("dict[str, Any]", {})
        self.thrust_allocator, self._timer = None, None
        self.force_algo = force_algo
        self.int8_scale: Any = None
        self._checked = None

    @property
    def features(self) -> Tensor:
        """The rows; `replace_feature` makes a tensor with others."""
        return self._features

    @features.setter
    def features(self, val: Tensor) -> None:
        raise ValueError("SparseConvTensor: features cannot be set; use x = x.replace_feature(features)")

    @property
    def spatial_size(self) -> Any:
        """Number of places of one batch."""
        return np.prod(self.spatial_shape)

    @property
    def is_quantized(self) -> bool:
        """Whether the features are quantised."""
        return self.features.dtype in (torch.qint8, torch.quint8)

    def q_scale(self) -> float:
        """Return the scale of quantised features."""
        if self.is_quantized:
            return self.features.q_scale()
        raise ValueError("SparseConvTensor: q_scale: expected quantised features, got others")

    def dequantize(self) -> SparseConvTensor:
        """Return a tensor whose features are not quantised."""
        return self.replace_feature(self.features.dequantize())

    def find_indice_pair(self, key: str | None) -> Any:
        """Return the pairs that are kept under a key, None if there are none."""
        return None if key is None else self.indice_dict.get(key)

    def shadow_copy(self) -> SparseConvTensor:
        """Return another tensor with the same members."""
        return self._like()

    def _like(self) -> SparseConvTensor:
        kind = type(self)
        new = kind.__new__(kind)
        new.__dict__.update(self.__dict__)
        return new

    def replace_feature(self, feature: Tensor) -> SparseConvTensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a tensor with other features, of any number of rows, and all other members."""
        new = self._like()
        new._features = feature
        return new

    def with_rows(
        self, features: Tensor, indices: Tensor, spatial_shape: list[int], indice_dict: dict[str, Any]
    ) -> SparseConvTensor:
        """Return a layer's output: rows at places that the library has found."""
        new = self._like()
        new._features, new.indices = features, indices
        new.spatial_shape, new.indice_dict = list(spatial_shape), dict(indice_dict)
        new._know()
        return new

    def select_by_index(self, valid_indices: Tensor) -> SparseConvTensor:
        """Return some of the rows, with an empty `indice_dict`."""
        new = self._like()
        new._features, new.indices = self.features[valid_indices], self.indices[valid_indices]
        new.indice_dict = {}
        return new

    def minus(self) -> SparseConvTensor:
        """Return a tensor with negative features."""
        return self.replace_feature(-self.features)

    @classmethod
    def from_dense(cls, x: Tensor, channels_first: bool = False) -> SparseConvTensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the places of a dense tensor [batch, *space, C] that are not 0."""
        found = _Tensor.from_dense(x, channels_first)
        return cls(found.features, found.indices, found.spatial_shape, found.batch_size)

    def __add__(self, other: Any) -> SparseConvTensor:
        """Add features row by row; the places are those of the left tensor, whatever the other's are."""
        if not isinstance(other, (SparseConvTensor, Tensor, int, float)):
            return NotImplemented
        return self.replace_feature(self.features + (other.features if isinstance(other, _Tensor) else other))

    def __repr__(self) -> str:
        return f"SparseConvTensor[shape={list(self.features.shape)}]"


def scatter_nd(indices: Tensor, updates: Tensor, shape: Sequence[int]) -> Tensor:
    """Return zeros of a shape, with `updates` at the places `indices` [..., ndim] of the first dims."""
    found = torch.zeros(*shape, dtype=updates.dtype, device=updates.device)
    places = indices.reshape(-1, indices.shape[-1]).long()
    rest = shape[indices.shape[-1] :]
    found[tuple(places.unbind(1))] = updates.reshape(len(places), *rest)
    return found


def expand_nd(ndim: int, val: Any) -> list[int]:
    """Return a number for each axis."""
    return sizes("expand_nd", "val", val, ndim, 0)
