"""BoxIouRotated: overlaps of rotated boxes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.ops.box_iou_rotated import aligned_operator
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._polygons import area_by_angles, corners, crossings

__all__ = ["box_iou_rotated"]

_MODES = ("iou", "iof")
#: Boxes with less overlap no other one.
_LEAST_AREA = 1e-14

_PAIRS = TorchOperator(described("box_iou_rotated"), folds=False, sample={"aligned": False})
_PAIRS.without_gradient()
_ALIGNED = TorchOperator(aligned_operator(), "box_iou_rotated_aligned", sample={"aligned": True})
_ALIGNED.without_gradient()


def _public(bboxes1: Tensor, bboxes2: Tensor, mode: int, _aligned: bool) -> tuple[Any, ...]:
    return bboxes1, bboxes2, _MODES[mode]


def _inside(points: Tensor, boxes: Tensor, angle: Tensor) -> Tensor:
    """Tell which of points [..., P, 2], from the centre of a box, lie in it or on its border."""
    cosine, sine = angle.cos()[..., None], angle.sin()[..., None]
    along = points[..., 0] * cosine + points[..., 1] * sine, points[..., 1] * cosine - points[..., 0] * sine
    half = boxes[..., None, 2] / 2, boxes[..., None, 3] / 2
    return (along[0].abs() <= half[0]) & (along[1].abs() <= half[1])


def _formula(bboxes1: Tensor, bboxes2: Tensor, mode: int, aligned: bool) -> Tensor:
    """Sort the corners of the common polygons."""
    one, other = (bboxes1, bboxes2) if aligned else torch.broadcast_tensors(bboxes1[:, None], bboxes2[None])
    apart = other[..., :2] - one[..., :2]
    corners1 = corners(torch.zeros_like(apart), one[..., 2:4], one[..., 4])
    corners2 = corners(apart, other[..., 2:4], other[..., 4])
    points, meet = crossings(corners1, corners2)
    inside = _inside(corners1 - apart[..., None, :], other, other[..., 4]), _inside(corners2, one, one[..., 4])
    common = area_by_angles(torch.cat([points, corners1, corners2], -2), torch.cat([meet, *inside], -1))
    areas = one[..., 2] * one[..., 3], other[..., 2] * other[..., 3]
    parts = common / (areas[0] if mode == 1 else areas[0] + areas[1] - common)
    sized = (areas[0] >= _LEAST_AREA) & (areas[1] >= _LEAST_AREA)
    return torch.where(sized & parts.isfinite(), parts, torch.zeros_like(parts))


_OF_PAIRS = TensorFunction(_PAIRS, public=_public, formula=_formula)
_OF_ROWS = TensorFunction(_ALIGNED, public=_public, formula=_formula, keywords={"aligned": True})


@_OF_PAIRS
@_OF_ROWS
def box_iou_rotated(
    bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False, clockwise: bool = True
) -> Tensor:
    """Divide the area that two rotated boxes have in common by that of both together, or of the first one.

    The result has no gradient, as in mmcv; `diff_iou_rotated_2d` has one.

    Parameters
    ----------
    bboxes1 : Tensor, shape [N, 5]
        Boxes: x and y of the centre, width, height, and the angle in radians; any floating type.
    bboxes2 : Tensor, shape [M, 5], like `bboxes1`
        The other boxes.
    mode : {"iou", "iof"}
        Divide by the area of both boxes together, or by that of the one in `bboxes1`.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    clockwise : bool
        Whether positive angles turn clockwise, with y pointing down. The overlap is the same.

    Returns
    -------
    Tensor, shape [N, M], or [N] if `aligned`
        Like `bboxes1`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 4, 2, 0], [1, 0, 2, 2, 0]])
    >>> pymluops.torch.box_iou_rotated(boxes, boxes).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if mode not in _MODES:
        raise ValueError(f"box_iou_rotated: mode: expected 'iou' or 'iof', got {mode!r}")
    if not clockwise:
        mirror = bboxes1.new_tensor([1, 1, 1, 1, -1])
        bboxes1, bboxes2 = bboxes1 * mirror, bboxes2 * mirror
    function = _OF_ROWS if aligned else _OF_PAIRS
    return (function.through_torch if compiling() else function.direct)(
        bboxes1, bboxes2, _MODES.index(mode), bool(aligned)
    )
