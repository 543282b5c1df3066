"""PointsInBoxes: the boxes that hold points."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._upright_boxes import inside

__all__ = ["points_in_boxes_all", "points_in_boxes_cpu", "points_in_boxes_part"]

_PART = TorchOperator(described("points_in_boxes_part"), sample={"M": 3, "margin": 0.0, "centred": False})
_ALL = TorchOperator(described("points_in_boxes_all"), sample={"M": 3, "margin": 0.0, "centred": False})
for _operator in (_PART, _ALL):
    _operator.without_gradient()


def _all_formula(boxes: Tensor, points: Tensor, margin: float, centred: bool) -> Tensor:
    return inside(boxes, points, margin, centred).transpose(1, 2).int()


def _part_formula(boxes: Tensor, points: Tensor, margin: float, centred: bool) -> Tensor:
    count = boxes.shape[1]
    number = torch.arange(count)[:, None]
    first = torch.where(inside(boxes, points, margin, centred), number, count).amin(1)
    return torch.where(first < count, first, -1).int()


def _public(boxes: Tensor, points: Tensor, _margin: float, _centred: bool) -> tuple[Tensor, Tensor]:
    return points, boxes


_FIRST = TensorFunction(_PART, formula=_part_formula, public=_public)
_EVERY = TensorFunction(_ALL, formula=_all_formula, public=_public)


@_FIRST
def points_in_boxes_part(points: Tensor, boxes: Tensor) -> Tensor:
    """Find the first box that holds each point: `points_in_boxes_part` of mmcv.

    A box stands on (x, y, z), is dx, dy and dz large, and turned by its heading from the x axis
    towards the y axis. Results need no gradient.

    Parameters
    ----------
    points : Tensor, shape [B, N, 3]
        The points; any floating type.
    boxes : Tensor, shape [B, M, 7], like `points`
        x, y, z, dx, dy, dz, heading.

    Returns
    -------
    Tensor, shape [B, N], int32
        The number of the box, or -1 for a point in none.

    Raises
    ------
    ValueError
        If an argument is not as described, or there are no boxes.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[[5.0, 0, 0, 2, 2, 2, 0], [0, 0, 0, 2, 2, 2, 0.5]]])
    >>> pymluops.torch.points_in_boxes_part(torch.tensor([[[5, 0.5, 0], [0, 0, 2], [0, 0, -1]]]), boxes).tolist()
    [[0, 1, -1]]
    """
    return (_FIRST.through_torch if compiling() else _FIRST.direct)(boxes, points, 0.0, False)


@_EVERY
def points_in_boxes_all(points: Tensor, boxes: Tensor) -> Tensor:
    """Tell of each point and each box whether the box holds the point: `points_in_boxes_all` of mmcv.

    Boxes are those of `points_in_boxes_part`. Results need no gradient.

    Parameters
    ----------
    points : Tensor, shape [B, N, 3]
        The points; any floating type.
    boxes : Tensor, shape [B, M, 7], like `points`
        x, y, z, dx, dy, dz, heading.

    Returns
    -------
    Tensor, shape [B, N, M], int32
        1 where the box holds the point, else 0.

    Raises
    ------
    ValueError
        If an argument is not as described, or there are no boxes.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[[5.0, 0, 0, 2, 2, 2, 0], [5, 1, 0, 9, 9, 9, 0]]])
    >>> pymluops.torch.points_in_boxes_all(torch.tensor([[[5, 0.5, 0], [0, 0, 9]]]), boxes).tolist()
    [[[1, 1], [0, 0]]]
    """
    return (_EVERY.through_torch if compiling() else _EVERY.direct)(boxes, points, 0.0, False)


def points_in_boxes_cpu(points: Tensor, boxes: Tensor) -> Tensor:
    """Do what `points_in_boxes_all` does: mmcv has this name for the CPU.

    Parameters
    ----------
    points : Tensor, shape [B, N, 3]
        The points; any floating type.
    boxes : Tensor, shape [B, M, 7], like `points`
        x, y, z, dx, dy, dz, heading.

    Returns
    -------
    Tensor, shape [B, N, M], int32
        1 where the box holds the point, else 0.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[[5.0, 0, 0, 2, 2, 2, 0]]])
    >>> pymluops.torch.points_in_boxes_cpu(torch.tensor([[[5, 0.5, 0]]]), boxes).tolist()
    [[[1]]]
    """
    return points_in_boxes_all(points, boxes)
