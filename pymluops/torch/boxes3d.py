"""Boxes in space that stand upright: overlaps, and suppression by them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._kept import kept_numbers
from pymluops.torch._library import TorchOperator
from pymluops.torch._rectangles import common_area, finite_with_area, part_of_areas

__all__ = ["boxes_iou3d", "boxes_iou_bev", "boxes_overlap_bev", "nms3d", "nms3d_normal"]


def _bases(boxes_a: Tensor, boxes_b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rectangles of all pairs, seen from above, in float64; of no size where one has no area."""
    rows = (boxes[:, [0, 1, 3, 4, 6]] for boxes in (boxes_a, boxes_b))
    one, other = torch.broadcast_tensors(next(rows)[:, None], next(rows)[None])
    usable = (finite_with_area(one) & finite_with_area(other))[..., None]
    return torch.where(usable, one, 0 * usable).double(), torch.where(usable, other, 0 * usable).double()


def _overlap_formula(boxes_a: Tensor, boxes_b: Tensor, _aligned: bool) -> Tensor:
    return common_area(*_bases(boxes_a, boxes_b)).to(boxes_a.dtype)


def _iou_bev_formula(boxes_a: Tensor, boxes_b: Tensor, _aligned: bool) -> Tensor:
    one, other = _bases(boxes_a, boxes_b)
    areas = (one[..., 2] * one[..., 3]).abs(), (other[..., 2] * other[..., 3]).abs()
    return part_of_areas(common_area(one, other), *areas).to(boxes_a.dtype)


def _iou_3d_formula(boxes_a: Tensor, boxes_b: Tensor, _aligned: bool) -> Tensor:
    one, other = _bases(boxes_a, boxes_b)
    z, height = boxes_a[:, None, 2].double(), boxes_a[:, None, 5].double()
    other_z, other_height = boxes_b[None, :, 2].double(), boxes_b[None, :, 5].double()
    usable = (height > 0) & (other_height > 0) & height.isfinite() & other_height.isfinite()
    shared = torch.minimum((height + other_height) / 2 - (z - other_z).abs(), torch.minimum(height, other_height))
    usable = usable & (shared > 0)
    first, second = (one[..., 2] * one[..., 3]).abs() * height, (other[..., 2] * other[..., 3]).abs() * other_height
    parts = part_of_areas(common_area(one, other) * shared, first, second)
    return torch.where(usable, parts, torch.zeros_like(parts)).to(boxes_a.dtype)


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

    The result has no gradient.

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
