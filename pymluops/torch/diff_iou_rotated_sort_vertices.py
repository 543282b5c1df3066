"""DiffIouRotatedSortVertices, and the overlaps of rotated boxes with gradients that it serves."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._library import TorchOperator
from pymluops.torch._polygons import corners, cross, crossings

__all__ = ["diff_iou_rotated_2d", "diff_iou_rotated_3d"]

_SORT = TorchOperator(described("diff_iou_rotated_sort_vertices_forward"))
_SORT.without_gradient()

#: How far outside of a box, in its sides, a corner counts as inside, and how far apart corners
#: count as one: those of equal boxes. Also the sine of the angle of edges that count as parallel.
_NEAR = 1e-6


def diff_iou_rotated_2d(box1: Tensor, box2: Tensor) -> Tensor:
    """Divide the area that rotated boxes have in common by that of both together, with gradients.

    Boxes in the same places are compared. The common polygon is made of the corners of each box
    that lie in the other one and of the points where their edges cross.

    Parameters
    ----------
    box1, box2 : Tensor, shape [B, N, 5]
        Boxes: x and y of the centre, width, height, and the angle in radians; any floating type.

    Returns
    -------
    Tensor, shape [B, N]
        Like `box1`.

    Raises
    ------
    ValueError
        If the shapes are others.

    References
    ----------
    Zhou et al.: IoU Loss for 2D/3D Object Detection. 3DV 2019, arXiv:1908.03851.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> box1, box2 = torch.tensor([[[0.0, 0, 4, 2, 0]]]), torch.tensor([[[1.0, 0, 4, 2, 0]]])
    >>> round(pymluops.torch.diff_iou_rotated_2d(box1, box2).item(), 4)
    0.6
    """
    _check("diff_iou_rotated_2d", box1, box2, 5)
    common = _common_area(box1, box2)
    return _part(common, box1[..., 2] * box1[..., 3] + box2[..., 2] * box2[..., 3] - common)


def diff_iou_rotated_3d(box3d1: Tensor, box3d2: Tensor) -> Tensor:
    """Divide the volume that upright boxes have in common by that of both together, with gradients.

    Boxes in the same places are compared.

    Parameters
    ----------
    box3d1, box3d2 : Tensor, shape [B, N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians; any
        floating type.

    Returns
    -------
    Tensor, shape [B, N]
        Like `box3d1`.

    Raises
    ------
    ValueError
        If the shapes are others.

    References
    ----------
    Zhou et al.: IoU Loss for 2D/3D Object Detection. 3DV 2019, arXiv:1908.03851.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> box1, box2 = torch.tensor([[[0.0, 0, 0, 4, 2, 2, 0]]]), torch.tensor([[[1.0, 0, 1, 4, 2, 2, 0]]])
    >>> round(pymluops.torch.diff_iou_rotated_3d(box1, box2).item(), 4)
    0.2308
    """
    _check("diff_iou_rotated_3d", box3d1, box3d2, 7)
    columns = [0, 1, 3, 4, 6]
    low, high = (box3d1[..., 2], box3d2[..., 2]), (box3d1[..., 5] / 2, box3d2[..., 5] / 2)
    top = torch.minimum(low[0] + high[0], low[1] + high[1])
    height = top - torch.maximum(low[0] - high[0], low[1] - high[1])
    common = _common_area(box3d1[..., columns], box3d2[..., columns]) * height.clamp(min=0)
    return _part(common, box3d1[..., 3:6].prod(-1) + box3d2[..., 3:6].prod(-1) - common)


def _check(name: str, first: Tensor, second: Tensor, columns: int) -> None:
    if first.ndim != 3 or first.shape[2] != columns or first.shape != second.shape:
        expected = f"two shapes [B, N, {columns}] that are equal"
        raise ValueError(f"{name}: expected {expected}, got {[*first.shape]} and {[*second.shape]}")


def _part(common: Tensor, whole: Tensor) -> Tensor:
    """Return a quotient that is 0 where boxes have no size."""
    return common / whole.clamp(min=torch.finfo(whole.dtype).tiny)


def _are_inside(points: Tensor, box: Tensor) -> Tensor:
    """Tell which points lie in a box, given its corners, or on its border."""
    apart = points - box[..., :1, :]
    inside = torch.ones_like(points[..., 0], dtype=torch.bool)
    for side in (box[..., 1:2, :] - box[..., :1, :], box[..., 3:, :] - box[..., :1, :]):
        along = (apart * side).sum(-1) / (side * side).sum(-1)
        inside = inside & (along > -_NEAR) & (along < 1 + _NEAR)
    return inside


def _are_among(points: Tensor, box: Tensor) -> Tensor:
    """Tell which points are corners of a box."""
    apart = (points[..., :, None, :] - box[..., None, :, :]).abs().amax(-1)
    size = (box[..., 0, :] - box[..., 2, :]).abs().amax(-1)
    return (apart <= _NEAR * size[..., None, None]).any(-1)


def _common_area(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return the area of the common polygon, whose corners the library puts into order."""
    corners1, corners2 = (corners(boxes[..., :2], boxes[..., 2:4], boxes[..., 4]) for boxes in (boxes1, boxes2))
    points, meet = crossings(corners1, corners2, _NEAR)
    vertices = torch.cat([corners1, corners2, points], -2)
    inside = _are_inside(corners1, corners2), _are_inside(corners2, corners1) & ~_are_among(corners2, corners1)
    mask = torch.cat([*inside, meet], -1)
    count = mask.sum(-1, dtype=torch.int32)
    with torch.no_grad():
        mean = (vertices * mask[..., None]).sum(-2, keepdim=True) / count.clamp(min=1)[..., None, None]
        order = _SORT((vertices - mean).contiguous(), mask, count).long()
    walk = vertices.gather(-2, order[..., None].expand(-1, -1, -1, 2))
    return cross(walk[..., :-1, :], walk[..., 1:, :]).sum(-1).abs() / 2
