"""The pools of the sparse convolutions of mmcv, computed with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

from pymluops.mmcv._binding import Row
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_pairs,
    check_shape,
    dense,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["indice_maxpool_backward", "indice_maxpool_forward"]

ROWS = (
    Row(
        "SparseMaxPool2d, 3d",
        ("indice_maxpool_forward", "indice_maxpool_backward"),
        "forward, backward",
        "PyTorch",
        "mmcv's code lets through float32 and float16 only.",
    ),
)


@extension_function_of(features="L C", indicePairs="K 2 P", indiceNum="K")
def indice_maxpool_forward(features: Tensor, indicePairs: Tensor, indiceNum: Tensor, numAct: int) -> Tensor:
    """Return for each of numAct output rows the maximum of 0 and the feature rows that reach it."""
    name = "indice_maxpool_forward"
    check_floats(name, features=features)
    check_shape(name, "features", features, (None, None))
    check_int32(name, indicePairs=indicePairs, indiceNum=indiceNum)
    check_pairs(name, indicePairs, indiceNum)
    values = dense(features)
    result = values.new_zeros((numAct, values.shape[1]))
    values = values.where(~values.isnan(), -load_torch().inf)  # NaN never wins
    for sources, targets in _cell_by_cell(name, indicePairs, indiceNum, values.shape[0], numAct):
        places = targets[:, None].expand(-1, values.shape[1])
        result.scatter_reduce_(0, places, values[sources], "amax")
    return result


@extension_function_of(features="L C", outFeatures="A C", outGrad="A C", indicePairs="K 2 P", indiceNum="K")
def indice_maxpool_backward(
    features: Tensor, outFeatures: Tensor, outGrad: Tensor, indicePairs: Tensor, indiceNum: Tensor
) -> Tensor:
    """Return the gradient of the features: that of an output row goes to every feature that equals the maximum."""
    name = "indice_maxpool_backward"
    check_floats(name, features=features, outFeatures=outFeatures, outGrad=outGrad)
    check_shape(name, "features", features, (None, None))
    check_shape(name, "outFeatures", outFeatures, (None, features.shape[1]))
    check_shape(name, "outGrad", outGrad, outFeatures.shape)
    check_int32(name, indicePairs=indicePairs, indiceNum=indiceNum)
    check_pairs(name, indicePairs, indiceNum)
    values, largest, grad = dense(features), dense(outFeatures), dense(outGrad)
    result = values.new_zeros(values.shape)
    for sources, targets in _cell_by_cell(name, indicePairs, indiceNum, values.shape[0], largest.shape[0]):
        equal = values[sources] == largest[targets]
        result.index_add_(0, sources, grad[targets].where(equal, 0))
    return result


def _cell_by_cell(
    function: str, pairs: Tensor, counts: Tensor, read: int, written: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the rows read and the rows written under each cell that has pairs."""
    for k, count in enumerate(counts.tolist()):
        if count:
            sources, targets = pairs[k, :, :count].long()
            for rows, end in ((sources, read), (targets, written)):
                least, most = (int(row) for row in rows.aminmax())
                if least < 0 or most >= end:
                    wrong = least if least < 0 else most
                    raise refuse(function, "indicePairs", f"rows from 0 to {end - 1}", wrong)
            yield sources, targets
