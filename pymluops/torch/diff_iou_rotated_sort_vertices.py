"""DiffIouRotatedSortVertices, which mmcv's overlaps of rotated boxes need, and such overlaps with gradients."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._descriptions import shown
from pymluops.torch._library import TorchOperator
from pymluops.torch._overlaps import by_size, common_part

__all__ = ["diff_iou_rotated_2d", "diff_iou_rotated_3d"]

_SORT = TorchOperator(described("diff_iou_rotated_sort_vertices_forward"))
_SORT.without_gradient()


def diff_iou_rotated_2d(box1: Tensor, box2: Tensor) -> Tensor:
    """Divide the area that rotated boxes have in common by that of both together, with gradients.

    Boxes in the same places are compared, in float64. Equal boxes with an area have exactly 1, and
    boxes that are exchanged the same result. Where both sides of a box are below 0 their signs do
    not count; one alone is 0. A box without an area overlaps none.

    Parameters
    ----------
    box1, box2 : Tensor, shape [B, N, 5]
        Boxes: x and y of the centre, width, height, and the angle in radians; any floating type.

    Returns
    -------
    Tensor, shape [B, N]
        Like `box1`; NaN where a number is NaN.

    Raises
    ------
    ValueError
        If the shapes or types are others.

    Notes
    -----
    Where edges of both boxes lie on each other the overlap bends: in equal boxes, in boxes that
    touch, in nested boxes with a common edge. There the derivative by a number is the mean of the
    one-sided derivatives below and above it, which is 0 for equal boxes. Where rounding separates
    the edges it lies between the two, and where a side is 0 it is that of a side that grows.

    For a box with sides w and h no derivative is larger than 2 / w + 2 / h by x or y, 2 / w by w,
    2 / h by h and (w / h + h / w) / 2 by the angle.

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
    _check("diff_iou_rotated_2d", {"box1": box1, "box2": box2}, 5)
    return _iou(box1, box2, slice(2, 4))


def diff_iou_rotated_3d(box3d1: Tensor, box3d2: Tensor) -> Tensor:
    """Divide the volume that upright boxes have in common by that of both together, with gradients.

    Boxes in the same places are compared, in float64. Equal boxes with a volume have exactly 1, and
    boxes that are exchanged the same result. Where dx and dy are below 0 their signs do not count;
    other sizes below 0 are 0. A box without a volume overlaps none.

    Parameters
    ----------
    box3d1, box3d2 : Tensor, shape [B, N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians; any
        floating type.

    Returns
    -------
    Tensor, shape [B, N]
        Like `box3d1`; NaN where a number is NaN.

    Raises
    ------
    ValueError
        If the shapes or types are others.

    Notes
    -----
    Where faces of both boxes lie on each other the derivative by a number is the mean of the
    one-sided derivatives below and above it, as in `diff_iou_rotated_2d`: 0 for equal boxes. No
    derivative is larger than 2 / dx + 2 / dy by x or y, 2 / dz by z, 2 divided by a size by that
    size, and (dx / dy + dy / dx) / 2 by the heading.

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
    _check("diff_iou_rotated_3d", {"box3d1": box3d1, "box3d2": box3d2}, 7)
    return _iou(box3d1, box3d2, slice(3, 6))


def _check(name: str, boxes: dict[str, Tensor], columns: int) -> None:
    for argument, tensor in boxes.items():
        if not tensor.is_floating_point():
            raise ValueError(f"{name}: {argument}: expected a floating type, got {shown(tensor.dtype)}")
    first, second = (tensor.shape for tensor in boxes.values())
    if len(first) != 3 or first[2] != columns or first != second:
        expected = f"two shapes [B, N, {columns}] that are equal"
        raise ValueError(f"{name}: expected {expected}, got {[*first]} and {[*second]}")


def _iou(first: Tensor, second: Tensor, sizes: slice) -> Tensor:
    """Divide what boxes have in common by both together; `sizes` are the columns between place and angle."""
    box, frame = by_size(first, second, sizes)
    empty = frame[..., sizes] == 0
    ratio = (box[..., sizes] / frame[..., sizes].masked_fill(empty, 1)).prod(-1)
    common = common_part(box, frame, sizes)
    found = common / (1 + ratio - common)
    return torch.where(empty.any(-1), found * 0, found).clamp(max=1).to(first.dtype)
