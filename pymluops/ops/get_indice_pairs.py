"""Pairs of input and output rows of a sparse 3-D convolution, from SECOND (Sensors 2018)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._arguments import INT32_MAX, flag, refusal
from pymluops._core import (
    DeviceArray,
    Handle,
    Operator,
    SparseConvolutionDescriptor,
    in_device_memory,
    integer,
    integers,
    leading_dim,
    leading_rows,
    of_kind,
)
from pymluops._work import RULES, ArrayShape, Rule
from pymluops.ops._schema import INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._typing import Array

__all__ = ["IndicePairs", "get_indice_pairs"]

_Result = TypeVar("_Result")

_PAIRS = Operator(
    "mluOpGetIndicePairs",
    "get_indice_pairs",
    (
        Tensor(
            "indices", INT32, "L 4", within=("batch", "depth", "height", "width"), axes=("row",), library_looks=True
        ),
        Tensor("out_indices", INT32, "rows 4", output=True, own_memory=True),
        Tensor("indice_pairs", INT32, "K 2 L", output=True),
        Tensor("indice_num", INT32, "K", output=True, zero_if="L"),
    ),
    (
        Scalar("batch_size", symbol="batch"),
        Scalar("spatial_shape", symbol="depth"),
        Scalar("spatial_shape", symbol="height"),
        Scalar("spatial_shape", symbol="width"),
        Scalar("kernel_size", symbol="K"),
        Scalar("rows", minimum=0),
    ),
    workspace="mluOpGetIndicePairsWorkspaceSize",
)

# Rows of the largest out_indices that an operator takes.
_MOST_ROWS = 2**29 - 1


class IndicePairs(NamedTuple, Generic[_Result]):
    """What `get_indice_pairs` returns: NumPy arrays, tensors of PyTorch or `DeviceArray`s, as its argument is one.

    Attributes
    ----------
    out_indices : array, shape [num_act_out, 4], int32
        Places of the output rows: batch, depth, height, width.
    indice_pairs : array, shape [K, 2, L], int32
        For filter cell k, ``[k, 0, :indice_num[k]]`` are input rows and ``[k, 1, :indice_num[k]]``
        the output rows that they contribute to; -1 after that.
    indice_num : array, shape [K], int32
        Number of pairs of each filter cell.
    """

    out_indices: _Result
    indice_pairs: _Result
    indice_num: _Result


class _Geometry(NamedTuple):
    batch: int
    input_space: tuple[int, ...]
    filter_space: tuple[int, ...]
    output_space: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    subm: bool


def get_indice_pairs(
    indices: Array,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[Any]:
    """Find which input rows meet which output rows under each cell of a sparse 3-D convolution's filter.

    Along each axis, filter cell k sends input place i to output place ``(i + padding - k*dilation)
    / stride`` where that is a whole number inside the output space. In the default mode all places
    that are reached become output rows, in ascending order of (batch, depth, height, width). In
    sub-manifold mode the output rows are the input rows.

    Parameters
    ----------
    indices : array, shape [L, 4], int32
        Places of the input rows: batch, depth, height, width. Rows may repeat, but there are at
        most as many as places.
    batch_size : int
        Number of batches, > 0.
    spatial_shape : (int, int, int)
        Depth, height and width of the input space, in voxels.
    kernel_size : int or (int, int, int)
        Size of the filter; K is the product.
    stride, padding, dilation : int or (int, int, int)
        As in any convolution. On no axis may stride and dilation both differ from 1.
    subm : bool
        Sub-manifold mode: stride and dilation are 1 and the spaces equal. The padding is used as
        given; ``kernel_size // 2`` centres the filter. Of repeated rows the first is taken as
        output.
    out_spatial_shape : (int, int, int), optional
        Output space; by default the input space in sub-manifold mode, else
        ``(i + 2*padding - dilation*(kernel_size - 1) - 1) // stride + 1`` for each axis.
    validate : bool
        Refuse a row outside batch or space and name its coordinate. The CPU library refuses it in
        any case. Rows in device memory are not looked at before the call.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    IndicePairs
        A named tuple ``(out_indices, indice_pairs, indice_num)`` of new arrays of the kind of
        `indices`. The call waits for the device in any case, since the number of rows has to be
        known.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.
    AllocFailedError
        If memory does not suffice for the results.

    Notes
    -----
    A memory pool recycles the memory of released results and workspaces of 4 to 64 MiB. It keeps at
    most 128 MiB of idle memory, or what the environment variable ``PYMLUOPS_POOL_MIB`` says. This
    holds for all operators.

    References
    ----------
    Yan, Mao, Li: SECOND: Sparsely Embedded Convolutional Detection. Sensors 2018, 18(10), 3337.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> voxels = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3]], np.int32)
    >>> pairs = pymluops.get_indice_pairs(
    ...     voxels, batch_size=1, spatial_shape=(1, 1, 4), kernel_size=(1, 1, 2), stride=(1, 1, 2)
    ... )
    >>> pairs.out_indices.tolist()
    [[0, 0, 0, 0], [0, 0, 0, 1]]
    >>> pairs.indice_pairs.tolist()
    [[[0, -1, -1], [0, -1, -1]], [[1, 2, -1], [0, 1, -1]]]
    >>> pairs.indice_num.tolist()
    [1, 2]
    """
    geometry = _geometry(
        batch_size, spatial_shape, kernel_size, stride, padding, dilation, out_spatial_shape, flag(_PAIRS, "subm", subm)
    )
    volume = math.prod(geometry.filter_space)
    length = leading_dim(indices)
    _check_counts(geometry, volume, length)
    rows = length
    if not geometry.subm:
        rows = min(volume * length, geometry.batch * math.prod(geometry.output_space), _MOST_ROWS)
    handle = _PAIRS.resolve(handle)
    on_device = handle.backend.on_device
    with SparseConvolutionDescriptor(*geometry, backend=handle.backend) as sparse:
        scalars = (geometry.batch, *geometry.input_space, volume, rows)
        found: Any = _PAIRS(handle, (indices, None, None, None), scalars, validate, sparse, on_device)
        used = length if geometry.subm else sparse.num_act_out
    if on_device:
        found = _from_device(handle, IndicePairs(*found), used, in_device_memory(indices))
        return IndicePairs(*(of_kind(indices, array) for array in found))
    out_indices, indice_pairs, indice_num = found
    if used < rows:  # drop the spare rows; no other reference to the array exists
        out_indices.resize((used, 4), refcheck=False)
    return IndicePairs(of_kind(indices, out_indices), indice_pairs, indice_num)


def _from_device(handle: Handle, found: IndicePairs[DeviceArray], used: int, stay: bool) -> IndicePairs[Any]:
    """Let the spare rows go, which the library did not write; bring the results to the host unless they stay."""
    out_indices, indice_pairs, indice_num = found
    if used < out_indices.shape[0]:
        out_indices = leading_rows(handle, out_indices, used)
    results = IndicePairs(out_indices, indice_pairs, indice_num)
    return results if stay else IndicePairs(*(array.to_host() for array in results))


def _geometry(
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    out_spatial_shape: Sequence[int] | None,
    subm: bool,
) -> _Geometry:
    """Read the arguments and find the output space."""
    batch = integer(_PAIRS, "batch_size", batch_size, 1)
    space = integers(_PAIRS, "spatial_shape", spatial_shape, 3, 1, repeat=False)
    kernel = integers(_PAIRS, "kernel_size", kernel_size, 3, 1)
    steps = integers(_PAIRS, "stride", stride, 3, 1)
    pads = integers(_PAIRS, "padding", padding, 3, 0)
    gaps = integers(_PAIRS, "dilation", dilation, 3, 1)
    if out_spatial_shape is not None:
        out = integers(_PAIRS, "out_spatial_shape", out_spatial_shape, 3, 1, repeat=False)
    elif subm:
        out = space
    else:
        axes = zip(space, pads, gaps, kernel, steps, strict=True)
        out = tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, p, d, k, s in axes)
        if min(out) < 1:
            fitting = f"a filter that fits into spatial_shape={list(space)} with padding={list(pads)}"
            raise refusal(_PAIRS, "kernel_size", fitting, f"{list(kernel)} with dilation={list(gaps)}")
        if max(out) > INT32_MAX:
            raise refusal(
                _PAIRS, "padding", f"an output space of at most {INT32_MAX} voxels on each axis", str(list(out))
            )
    if any(s != 1 and d != 1 for s, d in zip(steps, gaps, strict=True)):
        raise refusal(_PAIRS, "dilation", f"1 where stride={list(steps)} is not 1", str(list(gaps)))
    if subm:
        for name, value in (("stride", steps), ("dilation", gaps)):
            if value != (1, 1, 1):
                raise refusal(_PAIRS, name, "1 in sub-manifold mode", str(list(value)))
        if out != space:
            raise refusal(
                _PAIRS, "out_spatial_shape", f"spatial_shape={list(space)} in sub-manifold mode", str(list(out))
            )
    return _Geometry(batch, space, kernel, out, steps, pads, gaps, subm)


def _check_counts(geometry: _Geometry, volume: int, length: int) -> None:
    if volume > INT32_MAX:
        raise refusal(_PAIRS, "kernel_size", f"at most {INT32_MAX} cells", f"{volume} in {list(geometry.filter_space)}")
    places = geometry.batch * math.prod(geometry.input_space)
    if length > places:
        raise refusal(
            _PAIRS, "indices", f"at most {places} rows, the places in batch_size and spatial_shape", str(length)
        )


# ---- the work, by the acceptance standard --------------------------------------------------------


class _Kept(NamedTuple):
    """What the work depends on in the descriptor of a call."""

    batch: int
    output_space: tuple[int, ...]
    subm: bool


class _Work(NamedTuple):
    """The sizes of a call."""

    rows: int  # of the input
    volume: int  # of the filter
    grid: int
    counts: int
    subm: bool

    @classmethod
    def of(cls, arrays: Sequence[ArrayShape], kept: _Kept) -> _Work:
        rows, volume = arrays[0].shape[0], arrays[3].shape[0]
        grid = kept.batch * math.prod(kept.output_space) + 1
        return cls(rows, volume, grid, kept.batch * volume + 1, kept.subm)

    def operations(self) -> int:
        pairs = self.rows * self.volume
        return (48 * pairs + 6 * self.rows if self.subm else 56 * pairs) + self.counts

    def elements(self) -> int:
        pairs = self.rows * self.volume
        moved = 10 * pairs + 11 * self.rows if self.subm else 19 * pairs + 5 * self.rows
        return moved + 2 * self.grid + self.counts


RULES[_PAIRS.function] = Rule(
    operations=lambda arrays, kept: _Work.of(arrays, kept).operations(),
    io_bytes=lambda arrays, kept: 4 * _Work.of(arrays, kept).elements(),
    keep=lambda settings: _Kept(settings.batch, tuple(settings.output_space), bool(settings.subm)),
    origin="acceptance standard, int32 elements",
)
