"""RoiAwarePool3d: features of points pooled in the voxels of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from pymluops.ops._described import described, without_sizes
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, is_overridden, override, sizes
from pymluops.torch._numbers import several
from pymluops.torch._upright_boxes import along, inside

__all__ = ["RoIAwarePool3d", "roiaware_pool3d"]

_FORWARD = TorchOperator(
    without_sizes(described("roi_aware_pool3d_forward"), "boxes_num", "pts_num", "channels"),
    folds=False,
    sample={"pts_num": 9, "channels": 3, "max_pts_each_voxel": 4, "out_x": 2, "out_y": 2, "out_z": 1},
)
_SIZES = ("boxes_num", "channels", "max_pts_each_voxel", "out_x", "out_y", "out_z")
_BACKWARD = TorchOperator(without_sizes(described("roi_aware_pool3d_backward"), *_SIZES), folds=False, autocast=False)
_FORWARD.differentiate(_BACKWARD, "grad_out", {"pts_feature": "out"})
_BACKWARD.refuse_gradient("the gradient of roiaware_pool3d cannot be differentiated again")


def _formula(rois: Tensor, pts: Tensor, features: Tensor, method: int, slots: int, x: int, y: int, z: int) -> Tensor:
    """Mark the points of each voxel, of which the first ones count, and reduce all features by the marks."""
    held = inside(rois[None], pts[None])[0]
    places = [place[0] + rois[:, 3 + axis, None] / 2 for axis, place in enumerate(along(rois[None], pts[None]))]
    places.append(pts[None, :, 2] - rois[:, 2:3])
    number = torch.zeros_like(held, dtype=torch.int64)
    for axis, (place, count) in enumerate(zip(places, (x, y, z), strict=True)):
        number = number * count + (place / (rois[:, 3 + axis, None] / count)).long().clamp(0, count - 1)
    mine = held[:, None] & (number[:, None] == torch.arange(x * y * z)[:, None])  # [R, voxels, P]
    mine = mine & (mine.long().cumsum(2) < slots)
    count = mine.sum(2, keepdim=True)
    if method in (0, "max"):
        found = torch.where(mine[..., None], features, -torch.inf).amax(2)
        found = torch.where(found.isinf(), torch.zeros_like(found), found)
    else:
        found = torch.einsum("rvp,pc->rvc", mine.to(features.dtype), features) / count.clamp(min=1)
    return found.reshape(rois.shape[0], x, y, z, features.shape[1])


def _public(
    rois: Tensor, pts: Tensor, features: Tensor, method: int | str, slots: int, x: int, y: int, z: int
) -> tuple[object, ...]:
    return rois, pts, features, (x, y, z), slots, _METHODS.get(method, method)


_METHODS: dict[int | str, int] = {"max": 0, "avg": 1}
_POOL = TensorFunction(_FORWARD, shapes={"argmax": None, "pts_idx_of_voxels": None}, formula=_formula, public=_public)


@_POOL
def roiaware_pool3d(
    rois: Tensor, pts: Tensor, pts_feature: Tensor, out_size: int | Sequence[int], max_pts_per_voxel: int, mode: int
) -> Tensor:
    """Pool the features of the points in each voxel of each box: `RoIAwarePool3dFunction` of mmcv.

    `pymluops.roi_aware_pool3d_forward` has the rules. The gradient flows to `pts_feature`.

    Parameters
    ----------
    rois : Tensor, shape [R, 7]
        Boxes: x, y, z of the bottom, dx, dy, dz, heading; any floating type.
    pts : Tensor, shape [P, 3], like `rois`
        Points.
    pts_feature : Tensor, shape [P, C], like `rois`
        Features of the points.
    out_size : int or (int, int, int)
        Voxels along the axes of a box.
    max_pts_per_voxel : int
        A voxel keeps one point less than this.
    mode : int
        0 for the largest feature, 1 for the mean.

    Returns
    -------
    Tensor, shape [R, out_x, out_y, out_z, C]
        Like `pts_feature`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> rois, points = torch.tensor([[0.0, 0, 0, 4, 2, 2, 0]]), torch.tensor([[-1.0, 0, 1], [1, 0, 1]])
    >>> pymluops.torch.roiaware_pool3d(rois, points, torch.tensor([[5.0], [7]]), (2, 1, 1), 8, 0).flatten().tolist()
    [5.0, 7.0]
    """
    if is_overridden((rois, pts, pts_feature)):
        given = (rois, pts, pts_feature, out_size, max_pts_per_voxel, mode)
        return cast("Tensor", override(roiaware_pool3d, given[:3], *given))
    x, y, z = several("roiaware_pool3d", "out_size", out_size, 3)
    shape = sizes(pts_feature)
    if len(shape) != 2:
        raise ValueError(f"roiaware_pool3d: pts_feature: expected shape [P, C], got {[*shape]}")
    if not (all(shape) and sizes(rois)[0]):  # which the library refuses
        return pts_feature.new_zeros((sizes(rois)[0], x, y, z, shape[1])) + pts_feature[:0].sum()
    arguments = (rois, pts, pts_feature, mode, max_pts_per_voxel, x, y, z)
    return (_POOL.through_torch if compiling() else _POOL.direct)(*arguments)


class RoIAwarePool3d(TracedModule):
    """`roiaware_pool3d` as a module.

    Parameters
    ----------
    out_size : int or (int, int, int)
        Voxels along the axes of a box.
    max_pts_per_voxel : int
        A voxel keeps one point less than this.
    mode : {"max", "avg"}
        The largest feature, or the mean.

    Raises
    ------
    AssertionError
        If `mode` is another one.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.RoIAwarePool3d(4, 16, "avg")
    >>> pool(torch.tensor([[0.0, 0, 0, 1, 1, 1, 0]]), torch.rand(9, 3), torch.rand(9, 5)).shape
    torch.Size([1, 4, 4, 4, 5])
    """

    def __init__(self, out_size: int | Sequence[int], max_pts_per_voxel: int = 128, mode: str = "max") -> None:
        super().__init__()
        assert mode in _METHODS, f"RoIAwarePool3d: mode: expected 'max' or 'avg', got {mode!r}"
        self.out_size, self.max_pts_per_voxel, self.mode = out_size, max_pts_per_voxel, _METHODS[mode]

    def forward(self, rois: Tensor, pts: Tensor, pts_feature: Tensor) -> Tensor:
        """Return the features of each voxel."""
        return roiaware_pool3d(rois, pts, pts_feature, self.out_size, self.max_pts_per_voxel, self.mode)

    def extra_repr(self) -> str:
        """Return the arguments."""
        mode = "avg" if self.mode else "max"
        return f"out_size={self.out_size}, max_pts_per_voxel={self.max_pts_per_voxel}, mode={mode}"
