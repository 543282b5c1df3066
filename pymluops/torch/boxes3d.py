"""Boxes in space that stand upright: overlaps, and suppression by them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._kept import kept_numbers
from pymluops.torch._library import TorchOperator
from pymluops.torch._polygons import area_by_angles, corners, crossings

__all__ = ["boxes_iou3d", "boxes_iou_bev", "boxes_overlap_bev", "nms3d", "nms3d_normal"]


#: How far outside of a box a corner counts as inside.
_MARGIN = 1e-2


def _holds(boxes: Tensor, points: Tensor) -> Tensor:
    """Tell which of points [..., P, 2], from the centre of a box, lie in it or within the margin around it."""
    cosine, sine = boxes[..., 6].cos()[..., None], boxes[..., 6].sin()[..., None]
    along = points[..., 0] * cosine + points[..., 1] * sine, points[..., 1] * cosine - points[..., 0] * sine
    half = boxes[..., None, 3] / 2 + _MARGIN, boxes[..., None, 4] / 2 + _MARGIN
    return (along[0].abs() < half[0]) & (along[1].abs() < half[1])


def _overlap_formula(boxes_a: Tensor, boxes_b: Tensor, _aligned: bool) -> Tensor:
    """Sort the corners of the common polygons."""
    one, other = torch.broadcast_tensors(boxes_a[:, None], boxes_b[None])
    apart = other[..., :2] - one[..., :2]
    corners_a = corners(torch.zeros_like(apart), one[..., 3:5], one[..., 6])
    corners_b = corners(apart, other[..., 3:5], other[..., 6])
    points, meet = crossings(corners_a, corners_b)
    inside = _holds(other, corners_a - apart[..., None, :]), _holds(one, corners_b)
    area = area_by_angles(torch.cat([points, corners_a, corners_b], -2), torch.cat([meet, *inside], -1))
    return torch.where(area.isfinite(), area, torch.zeros_like(area))


def _part(common: Tensor, sizes_a: Tensor, sizes_b: Tensor, least: float) -> Tensor:
    parts = common / (sizes_a[:, None] + sizes_b[None] - common).clamp(min=least)
    return torch.where(parts.isnan(), torch.zeros_like(parts), parts)


def _iou_bev_formula(boxes_a: Tensor, boxes_b: Tensor, aligned: bool) -> Tensor:
    common = _overlap_formula(boxes_a, boxes_b, aligned)
    return _part(common, boxes_a[:, 3:5].prod(1), boxes_b[:, 3:5].prod(1), 1e-8)


def _iou_3d_formula(boxes_a: Tensor, boxes_b: Tensor, aligned: bool) -> Tensor:
    one, other = boxes_a[:, None], boxes_b[None]
    top = torch.minimum(one[..., 2] + one[..., 5] / 2, other[..., 2] + other[..., 5] / 2)
    height = (top - torch.maximum(one[..., 2] - one[..., 5] / 2, other[..., 2] - other[..., 5] / 2)).clamp(min=0)
    common = _overlap_formula(boxes_a, boxes_b, aligned) * height
    return _part(common, boxes_a[:, 3:6].prod(1), boxes_b[:, 3:6].prod(1), 1e-6)


def _pairs(name: str, formula: Callable[..., Tensor]) -> TensorFunction:
    """Register a function of all pairs, which has no gradient."""
    operator = TorchOperator(described(name), folds=False, sample={"aligned": False})
    operator.without_gradient()
    return TensorFunction(operator, public=lambda boxes_a, boxes_b, _aligned: (boxes_a, boxes_b), formula=formula)


def _suppression(name: str) -> TorchOperator:
    operator = TorchOperator(described(name), folds=False, sample={"iou_threshold": 0.3})
    operator.without_gradient()
    return operator


_OVERLAP_BEV = _pairs("boxes_overlap_bev", _overlap_formula)
_IOU_BEV, _IOU_3D = _pairs("boxes_iou_bev", _iou_bev_formula), _pairs("boxes_iou3d", _iou_3d_formula)
_NMS_3D, _NMS_3D_NORMAL = _suppression("nms3d"), _suppression("nms3d_normal")


@_OVERLAP_BEV
def boxes_overlap_bev(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """Compute the area that boxes have in common, seen from above.

    Corners within 0.01 around the other box count as inside, as in mmcv. The result has no
    gradient.

    Parameters
    ----------
    boxes_a : Tensor, shape [N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians; any
        floating type.
    boxes_b : Tensor, shape [M, 7], like `boxes_a`
        The other boxes.

    Returns
    -------
    Tensor, shape [N, M]
        Like `boxes_a`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 0, 4, 2, 2, 0], [1, 0, 5, 4, 2, 2, 0]])
    >>> [[round(area, 3) for area in row] for row in pymluops.torch.boxes_overlap_bev(boxes, boxes).tolist()]
    [[8.0, 6.0], [6.0, 8.0]]
    """
    return (_OVERLAP_BEV.through_torch if compiling() else _OVERLAP_BEV.direct)(boxes_a, boxes_b, False)


@_IOU_BEV
def boxes_iou_bev(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """Divide the area that boxes have in common, seen from above, by that of both together.

    Boxes have seven columns, as in OpenPCDet; mmcv's function of this name, which is deprecated,
    takes corners. The result has no gradient.

    Parameters
    ----------
    boxes_a : Tensor, shape [N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians; any
        floating type.
    boxes_b : Tensor, shape [M, 7], like `boxes_a`
        The other boxes.

    Returns
    -------
    Tensor, shape [N, M]
        Like `boxes_a`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 0, 4, 2, 2, 0], [1, 0, 5, 4, 2, 2, 0]])
    >>> [[round(part, 3) for part in row] for row in pymluops.torch.boxes_iou_bev(boxes, boxes).tolist()]
    [[1.0, 0.6], [0.6, 1.0]]
    """
    return (_IOU_BEV.through_torch if compiling() else _IOU_BEV.direct)(boxes_a, boxes_b, False)


@_IOU_3D
def boxes_iou3d(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """Divide the volume that boxes have in common by that of both together.

    The result has no gradient; `diff_iou_rotated_3d` has one.

    Parameters
    ----------
    boxes_a : Tensor, shape [N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians; any
        floating type.
    boxes_b : Tensor, shape [M, 7], like `boxes_a`
        The other boxes.

    Returns
    -------
    Tensor, shape [N, M]
        Like `boxes_a`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 0, 4, 2, 2, 0], [1, 0, 1, 4, 2, 2, 0]])
    >>> [[round(part, 3) for part in row] for row in pymluops.torch.boxes_iou3d(boxes, boxes).tolist()]
    [[1.0, 0.231], [0.231, 1.0]]
    """
    return (_IOU_3D.through_torch if compiling() else _IOU_3D.direct)(boxes_a, boxes_b, False)


def nms3d(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keep the boxes that no kept box with a higher score overlaps too much, seen from above.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    overlap with it, as of `boxes_iou_bev`, is above `iou_threshold`. Of equal scores the first one
    counts as higher. A box with a score of minus infinity or NaN is not kept.

    Parameters
    ----------
    boxes : Tensor, shape [N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians; any
        floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The largest overlap allowed.

    Returns
    -------
    Tensor, shape [K], int64
        Numbers of the kept boxes in the order of their scores.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 0, 4, 2, 2, 0], [1, 0, 0, 4, 2, 2, 0], [9, 0, 0, 4, 2, 2, 0]])
    >>> pymluops.torch.nms3d(boxes, torch.tensor([0.5, 0.8, 0.6]), 0.3).tolist()
    [1, 2]
    """
    return kept_numbers(_NMS_3D(boxes, scores, iou_threshold))


def nms3d_normal(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keep boxes as `nms3d` does, as if all headings were 0.

    Parameters
    ----------
    boxes : Tensor, shape [N, 7]
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading, which is not looked
        at; any floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The largest overlap allowed.

    Returns
    -------
    Tensor, shape [K], int64
        Numbers of the kept boxes in the order of their scores.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 0, 4, 2, 2, 0], [1, 0, 0, 4, 2, 2, 1.5], [9, 0, 0, 4, 2, 2, 0]])
    >>> pymluops.torch.nms3d_normal(boxes, torch.tensor([0.5, 0.8, 0.6]), 0.3).tolist()
    [1, 2]
    """
    return kept_numbers(_NMS_3D_NORMAL(boxes, scores, iou_threshold))
