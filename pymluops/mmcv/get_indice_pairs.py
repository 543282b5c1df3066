"""The pairs of the sparse convolutions of mmcv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run_on_cpu
from pymluops.mmcv._tensors import check_int32, check_shape, dense, extension_function, refuse, whole_number
from pymluops.mmcv._torch import Tensor, load_torch, operators
from pymluops.ops._sparse_extension import PAIRS, pairs_arguments

__all__ = [
    "get_indice_pairs_2d_backward",
    "get_indice_pairs_2d_forward",
    "get_indice_pairs_3d_backward",
    "get_indice_pairs_3d_forward",
    "get_indice_pairs_4d_forward",
]

ROWS = (
    Row(
        "SparseConv2d, 3d, SubMConv2d, 3d: pairs",
        (
            "get_indice_pairs_2d_forward",
            "get_indice_pairs_2d_backward",
            "get_indice_pairs_3d_forward",
            "get_indice_pairs_3d_backward",
        ),
        "-",
        "mluOpGetIndicePairs; transposed, or sub-manifold and dilated: mluopsExtGetIndicePairs",
        "Output rows are in ascending order. The _backward functions are those for a given grid, which is not used.",
        "int32",
    ),
    Row(
        "SparseConv4d, SubMConv4d: pairs",
        ("get_indice_pairs_4d_forward",),
        "-",
        "mluopsExtGetIndicePairs",
        dtypes="int32",
    ),
)


class Convolution(NamedTuple):
    """Shape of a sparse convolution: all but `batch` and the flags have a number for each axis."""

    batch: int
    space: tuple[int, ...]
    out_space: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    subm: bool
    transposed: bool

    @property
    def plain(self) -> bool:
        """Whether `get_indice_pairs` of the library has it, perhaps with an axis of size 1 before its own."""
        dilated = any(d > 1 and (self.subm or s > 1) for s, d in zip(self.stride, self.dilation, strict=True))
        return len(self.space) < 4 and not self.transposed and not dilated


@extension_function
def get_indice_pairs_2d_forward(
    indices: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Return out_indices, indice_pairs and indice_num of a convolution in two dimensions; indices are [L, 3]."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_2d_forward", 2, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_3d_forward(
    indices: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Return out_indices, indice_pairs and indice_num of a convolution in three dimensions; indices are [L, 4]."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_3d_forward", 3, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_4d_forward(
    indices: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Return out_indices, indice_pairs and indice_num of a convolution in four dimensions; indices are [L, 5]."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_4d_forward", 4, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_2d_backward(
    indices: Tensor,
    gridOut: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Do what `get_indice_pairs_2d_forward` does; gridOut, memory for a table of all places, is not needed."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_2d_backward", 2, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_3d_backward(
    indices: Tensor,
    gridOut: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Do what `get_indice_pairs_3d_forward` does; gridOut, memory for a table of all places, is not needed."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_3d_backward", 3, indices, batchSize, lists, _subM, _transpose)


def _pairs(
    function: str,
    ndim: int,
    indices: Tensor,
    batch_size: int,
    lists: tuple[Sequence[int], ...],
    subm: int,
    transposed: int,
) -> list[Tensor]:
    check_int32(function, indices=indices)
    check_shape(function, "indices", indices, (None, ndim + 1))
    shape = _convolution(function, ndim, batch_size, lists, bool(subm), bool(transposed))
    rows = dense(indices)
    return _pairs_of_library(rows, shape) if shape.plain else _pairs_of_extension(rows, shape)


def _convolution(
    function: str, ndim: int, batch_size: int, lists: tuple[Sequence[int], ...], subm: bool, transposed: bool
) -> Convolution:
    """Read the arguments. A sub-manifold convolution has stride 1 and is centred, whatever is given."""
    names = ("outSpatialShape", "spatialShape", "kernelSize", "stride", "padding", "dilation")
    numbers = [
        tuple(whole_number(function, name, number) for number in numbers)
        for name, numbers in zip(names, lists, strict=True)
    ]
    for name, values in zip(names, numbers, strict=True):
        least = 0 if name == "padding" else 1
        if len(values) != ndim or min(values) < least:
            raise refuse(function, name, f"{ndim} numbers of at least {least}", list(values))
    out_space, space, kernel, stride, padding, dilation = numbers
    if batch_size < 1:
        raise refuse(function, "batchSize", "at least 1", batch_size)
    if subm:
        out_space, stride, padding, transposed = space, (1,) * ndim, tuple(size // 2 for size in kernel), False
    return Convolution(batch_size, space, out_space, kernel, stride, padding, dilation, subm, transposed)


def _pairs_of_library(rows: Tensor, shape: Convolution) -> list[Tensor]:
    """Let the library find the pairs. In two dimensions there is one layer of voxels."""
    layer = (1,) * (3 - len(shape.space))
    no_padding = (0,) * len(layer)
    if layer:
        rows = load_torch().nn.functional.pad(rows, (1, 0))[:, [1, 0, 2, 3]]  # batch, 0, height, width
    out_indices, pairs, counts = operators.get_indice_pairs(
        dense(rows),
        batch_size=shape.batch,
        spatial_shape=layer + shape.space,
        kernel_size=layer + shape.kernel,
        stride=layer + shape.stride,
        padding=no_padding + shape.padding,
        dilation=layer + shape.dilation,
        subm=shape.subm,
        out_spatial_shape=layer + shape.out_space,
    )
    return [dense(out_indices[:, [0, 2, 3]] if layer else out_indices), pairs, counts]


def _pairs_of_extension(rows: Tensor, shape: Convolution) -> list[Tensor]:
    """Let the library's extension find the pairs, of any kind."""
    axes = (shape.space, shape.kernel, shape.out_space, shape.stride, shape.padding, shape.dilation)
    arrays, scalars = pairs_arguments(rows, shape.batch, axes, shape.subm, shape.transposed)
    pairs, out_indices, counts, used = run_on_cpu(PAIRS, arrays, scalars)
    return [out_indices[: int(used[0])].clone(), pairs, counts]
