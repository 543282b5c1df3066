"""A sparse tensor: rows of features and the places they belong to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pymluops.torch.sparse._dispatch import compiling, shapes_of, watched
from pymluops.torch.sparse._numbers import sizes, whole
from pymluops.torch.sparse._places import check_invariants, checked_places, same_places, snapshot, version_of
from pymluops.torch.sparse._union import REDUCTIONS, distinct, occupied, reduced


class Window(NamedTuple):
    """The convolution that pairs belong to."""

    kind: str
    kernel_size: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    output_padding: list[int]
    spatial_shape: list[int]
    batch_size: int


@dataclass(frozen=True, eq=False)
class IndiceData:
    """Pairs that an `indice_key` keeps, for later convolutions with the same key and for inverse ones.

    As a sequence it has the first five values, as in mmcv.
    """

    out_indices: Tensor
    indices: Tensor
    indice_pairs: Tensor
    indice_pair_num: Tensor
    spatial_shape: list[int]
    window: Window
    out_shape: list[int]
    versions: tuple[int | None, int | None]

    def _values(self) -> tuple[Any, ...]:
        return self.out_indices, self.indices, self.indice_pairs, self.indice_pair_num, self.spatial_shape

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def __getitem__(self, position: int) -> Any:
        return self._values()[position]

    @classmethod
    def keep(
        cls, out: Tensor, given: Tensor, pairs: Tensor, num: Tensor, window: Window, out_shape: list[int]
    ) -> IndiceData:
        """Keep pairs with the places that they were found for, as copies where PyTorch does not count changes."""
        given, out = snapshot(given), snapshot(out)
        versions = version_of(given), version_of(out)
        return cls(out, given, pairs, num, window.spatial_shape, window, list(out_shape), versions)

    def starts_at(self, places: Tensor) -> bool:
        """Tell whether these are the places that the pairs were found for."""
        return same_places(self.indices, self.versions[0], places)

    def ends_at(self, places: Tensor) -> bool:
        """Tell whether these are the places of the output rows."""
        return same_places(self.out_indices, self.versions[1], places)


class SparseConvTensor:
    """Features at some places of a grid; elsewhere the tensor is 0. Rows with the same place add up.

    Parameters
    ----------
    features : Tensor, shape [L, C]
        One row for each place.
    indices : Tensor, shape [L, 1 + ndim]
        Places: batch, then one coordinate for each axis; integers, or whole floats. They are kept
        as int32.
    spatial_shape : sequence of int
        Size of the grid along each axis.
    batch_size : int
        Number of batches; any of them may be without places.
    grid : Tensor, optional
        Kept for mmcv's sake; the CPU needs none.

    Raises
    ------
    TypeError
        If features or indices are no tensors.
    ValueError
        If the shapes do not fit together, a number is not whole, or a place lies outside of the
        batches or the space; with `check_invariants`, if a place is there twice.

    Notes
    -----
    A layer looks at places again only if they are another tensor, or were changed in place. Changes
    that PyTorch does not count, through NumPy or ``.data``, are not seen. A layer never writes into
    the `indice_dict` of its input: its output has a new one.
    """

    def __init__(
        self,
        features: Tensor,
        indices: Tensor,
        spatial_shape: Sequence[int],
        batch_size: int,
        grid: Tensor | None = None,
    ) -> None:
        for name, given in (("features", features), ("indices", indices)):
            thing: Any = given
            if not isinstance(thing, Tensor):
                raise TypeError(f"SparseConvTensor: {name}: expected a torch.Tensor, got {type(thing).__name__}")
        shape = sizes("SparseConvTensor", "spatial_shape", spatial_shape, len(spatial_shape), 1)
        rows, places = shapes_of(features, indices)
        if len(rows) != 2:
            raise ValueError(f"SparseConvTensor: features: expected shape [L, C], got {rows}")
        if len(places) != 2 or places[0] != rows[0] or places[1] != 1 + len(shape):
            expected = f"{rows[0]}, {1 + len(shape)}"
            raise ValueError(f"SparseConvTensor: indices: expected shape [{expected}], got {places}")
        self.features = features
        self.indices = indices
        self.spatial_shape = shape
        self.batch_size = whole("SparseConvTensor", "batch_size", batch_size, 0)
        self.grid = grid
        self.indice_dict: dict[str, IndiceData] = {}
        self._checked: tuple[Any, ...] | None = None
        self.checked_indices()

    def checked_indices(self) -> Tensor:
        """Return the places as packed int32; they are looked at once, and again after a change.

        Returns
        -------
        Tensor, shape [L, 1 + ndim], int32

        Raises
        ------
        BadParamError
            If a place lies outside of the batches or the space.
        """
        known = self._checked
        now = version_of(self.indices), list(self.spatial_shape), self.batch_size, check_invariants.is_enabled()
        # In inference mode a change would not be noticed. Where PyTorch watches, a look makes
        # another tensor.
        uncounted = now[0] is None and not compiling() and not watched(self.indices)
        if known is None or uncounted or known[0] is not self.indices or known[1:] != now:
            space = self.spatial_shape
            self.spatial_shape = sizes("SparseConvTensor", "spatial_shape", space, len(space), 1)
            self.batch_size = whole("SparseConvTensor", "batch_size", self.batch_size, 0)
            shape = shapes_of(self.indices)[0]
            if len(shape) != 2 or shape[1] != 1 + len(self.spatial_shape):
                expected = f"[L, {1 + len(self.spatial_shape)}]"
                raise ValueError(f"SparseConvTensor: indices: expected shape {expected}, got {shape}")
            self.indices = checked_places("SparseConvTensor", self.indices, self.batch_size, self.spatial_shape)
            self._know()
        return self.indices

    def _know(self) -> None:
        """Remember that these places were looked at."""
        facts = list(self.spatial_shape), self.batch_size, check_invariants.is_enabled()
        self._checked = (self.indices, version_of(self.indices), *facts)

    def with_rows(
        self, features: Tensor, indices: Tensor, spatial_shape: list[int], indice_dict: dict[str, IndiceData]
    ) -> SparseConvTensor:
        """Return a layer's output: rows at places that the library has found."""
        new = self._like()
        new.features, new.indices = features, indices
        new.spatial_shape, new.indice_dict = list(spatial_shape), dict(indice_dict)
        new._know()
        return new

    def _like(self) -> SparseConvTensor:
        """Return a tensor with the attributes of this one."""
        kind = type(self)
        new = kind.__new__(kind)
        new.__dict__.update(self.__dict__)
        return new

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
        """Return the pairs that are kept under a key, None if there are none."""
        return None if key is None else self.indice_dict.get(key)

    def replace_feature(self, features: Tensor) -> SparseConvTensor:
        """Return the same places with other features."""
        new = self._like()
        rows, places = shapes_of(features, self.indices)
        if len(rows) != 2 or rows[0] != places[0]:
            raise ValueError(f"SparseConvTensor: features: expected shape [{places[0]}, C], got {rows}")
        new.features, new.indice_dict = features, dict(self.indice_dict)
        return new

    def dense(self, channels_first: bool = True) -> Tensor:
        """Return all places as a dense tensor; rows with the same place are added.

        Parameters
        ----------
        channels_first : bool
            Whether the channels are dim 1 or the last one.

        Returns
        -------
        Tensor
            Shape [batch_size, C, *spatial_shape] or [batch_size, *spatial_shape, C].

        Raises
        ------
        BadParamError
            If a place lies outside of the batches or the space.
        """
        indices = self.checked_indices()
        channels = self.features.shape[1]
        place = indices[:, 0].long()
        for axis, size in enumerate(self.spatial_shape):
            place = place * size + indices[:, axis + 1]
        cells = self.batch_size * self.spatial_size
        if not channels_first:
            rows = self.features.new_zeros((cells, channels)).index_add_(0, place, self.features)
            return rows.view(self.batch_size, *self.spatial_shape, channels)
        # Added where they belong: a transposition afterwards takes longer than all the rest.
        maps = self.features.new_zeros((channels, cells)).index_add_(1, place, self.features.t())
        return maps.view(channels, self.batch_size, *self.spatial_shape).movedim(0, 1).contiguous()

    @classmethod
    def from_dense(cls, dense: Tensor, channels_first: bool = True) -> SparseConvTensor:
        """Return the places of a dense tensor at which some channel is not 0, ascending, and their channels.

        Parameters
        ----------
        dense : Tensor
            Shape [batch_size, C, *space] or [batch_size, *space, C], with 1 axis or more.
        channels_first : bool
            Whether the channels are dim 1 or the last one.

        Returns
        -------
        SparseConvTensor
            The gradient of its features flows to `dense`.

        Raises
        ------
        TypeError
            If `dense` is no tensor.
        ValueError
            If it has fewer than 3 dims.
        """
        given: Any = dense
        if not isinstance(given, Tensor):
            raise TypeError(f"SparseConvTensor: dense: expected a torch.Tensor, got {type(given).__name__}")
        if given.dim() < 3:
            expected = "[batch_size, C, *space]" if channels_first else "[batch_size, *space, C]"
            raise ValueError(f"SparseConvTensor: dense: expected shape {expected}, got {list(given.shape)}")
        rows = given.movedim(1, -1) if channels_first else given
        batch, *space, _ = shapes_of(rows)[0]
        places = occupied(rows.detach())
        return cls(rows[places.long().unbind(1)], places, space, batch)

    def coalesce(self, reduce: str = "sum") -> SparseConvTensor:
        """Return a tensor with each place once, ascending by batch and place.

        Parameters
        ----------
        reduce : {"sum", "mean", "max"}
            What becomes of the rows of a place. The gradient of a maximum goes to every row that
            equals it.

        Returns
        -------
        SparseConvTensor
            With an empty `indice_dict`, as rows have other numbers.

        Raises
        ------
        ValueError
            If `reduce` is another word.
        BadParamError
            If a place lies outside of the batches or the space.
        """
        if reduce not in REDUCTIONS:
            expected = ", ".join(REDUCTIONS)
            raise ValueError(f"SparseConvTensor: reduce: expected one of {expected}, got {reduce!r}")
        places, group = distinct(self.checked_indices(), self.batch_size, self.spatial_shape)
        return self.with_rows(reduced(self.features, group, places.shape[0], reduce), places, self.spatial_shape, {})

    def __add__(self, other: Any) -> SparseConvTensor:
        """Add a tensor of features, or a sparse tensor, whose places may be others; see `sparse_add`."""
        if isinstance(other, SparseConvTensor):
            return self._plus(other)
        return (
            self.replace_feature(self.features + other) if isinstance(other, (Tensor, int, float)) else NotImplemented
        )

    def __radd__(self, other: Any) -> SparseConvTensor:
        """Let `sum` begin with 0, and a tensor of features stand before."""
        return self + other

    def _plus(self, *others: SparseConvTensor) -> SparseConvTensor:
        """Add sparse tensors of the same space."""
        terms = (self, *others)
        places = [term.checked_indices() for term in terms]
        if all(same_places(places[0], None, other) for other in places):
            return self.replace_feature(sum([term.features for term in others], self.features))
        both = torch.cat(places)
        union, group = distinct(both, self.batch_size, self.spatial_shape)
        rows = torch.cat([term.features for term in terms])
        return self.with_rows(reduced(rows, group, union.shape[0], "sum"), union, self.spatial_shape, {})

    def __repr__(self) -> str:
        facts = f"{list(self.features.shape)} at places of {self.spatial_shape}, batch_size={self.batch_size}"
        return f"SparseConvTensor({facts})"
