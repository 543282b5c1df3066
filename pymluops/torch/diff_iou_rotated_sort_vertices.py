"""DiffIouRotatedSortVertices, and the overlaps of rotated boxes with gradients that it serves."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._descriptions import shown
from pymluops.torch._library import TorchOperator
from pymluops.torch._polygons import by_size, common_part

__all__ = ["diff_iou_rotated_2d", "diff_iou_rotated_3d"]

_SORT = TorchOperator(described("diff_iou_rotated_sort_vertices_forward"))
_SORT.without_gradient()


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
    _check("diff_iou_rotated_2d", {"box1": box1, "box2": box2}, 5)
    return _iou(box1, box2, slice(2, 4))


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
