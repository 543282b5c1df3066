"""VoxelPooling: the sums of features in the columns of a grid of BEVDepth."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pymluops.ops._described import described, without_sizes
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import is_overridden, override, sizes
from pymluops.torch._numbers import several

__all__ = ["voxel_pooling"]

_FORWARD = TorchOperator(
    without_sizes(described("voxel_pooling_forward"), "batch_size", "num_points", "num_channels"),
    folds=False,
    sample={"num_points": 5, "num_channels": 3, "num_voxel_x": 3, "num_voxel_y": 2, "num_voxel_z": 2},
)
_BACKWARD = TorchOperator(
    described("voxel_pooling_backward"), folds=False, autocast=False, sample={"C": 3, "Y": 2, "X": 3, "P": 5}
)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input_features": "out"})
_BACKWARD.refuse_gradient("the gradient of voxel_pooling cannot be differentiated again")


def _formula(geom_xyz: Tensor, features: Tensor, width: int, height: int, depth: int) -> Tensor:
    """Add the features up at the numbers of their pixels; those of no pixel go to one that is cut off."""
    batch, _, channels = features.shape
    x, y, z = geom_xyz.long().unbind(-1)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height) & (z >= 0) & (z < depth)
    pixel = torch.where(inside, y * width + x, height * width)[..., None].expand(-1, -1, channels)
    total = features.new_zeros((batch, height * width + 1, channels)).scatter_add(1, pixel, features)
    return total[:, :-1].reshape(batch, height, width, channels).permute(0, 3, 1, 2).contiguous()


_POOL = TensorFunction(
    _FORWARD,
    orders={"output_features": (0, 3, 1, 2)},
    shapes={"pos_memo": None},
    formula=_formula,
    public=lambda geom, features, x, y, z: (geom, features, (x, y, z)),
)


@_POOL
def voxel_pooling(geom_xyz: Tensor, input_features: Tensor, voxel_num: Sequence[int]) -> Tensor:
    """Add up the features of all points in each column of a grid, seen from above.

    Points are added in their order; one outside of the grid, also by its height, is left out. The
    gradient flows to `input_features`.

    Parameters
    ----------
    geom_xyz : Tensor, shape [B, P, 3], int32 or int64
        The cell of each point: x, y, z.
    input_features : Tensor, shape [B, P, C]
        Features of the points; any floating type.
    voxel_num : (int, int, int)
        Number of cells along x, y and z.

    Returns
    -------
    Tensor, shape [B, C, Y, X]
        Like `input_features`, contiguous.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> geom, features = torch.tensor([[[1, 0, 0], [1, 0, 2], [5, 0, 0]]]), torch.tensor([[[1.0], [2], [4]]])
    >>> pymluops.torch.voxel_pooling(geom, features, (2, 1, 3)).tolist()
    [[[[0.0, 3.0]]]]
    """
    if is_overridden((geom_xyz, input_features)):
        found: Tensor = override(voxel_pooling, (geom_xyz, input_features), geom_xyz, input_features, voxel_num)
        return found
    width, height, depth = several("voxel_pooling", "voxel_num", voxel_num, 3, repeat=False)
    shape = sizes(input_features)
    if len(shape) != 3:
        raise ValueError(f"voxel_pooling: input_features: expected shape [B, P, C], got {[*shape]}")
    if not all(shape):  # which the library refuses
        return input_features.new_zeros((shape[0], shape[2], height, width)) + input_features.sum()
    way = _POOL.through_torch if compiling() else _POOL.direct
    return way(geom_xyz, input_features, width, height, depth)
