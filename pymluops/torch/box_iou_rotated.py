"""BoxIouRotated: overlaps of rotated boxes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.ops.box_iou_rotated import aligned_operator
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import flag
from pymluops.torch._rectangles import common_area, finite_with_area, part_of_areas

__all__ = ["box_iou_rotated"]

_MODES = ("iou", "iof")

_PAIRS = TorchOperator(described("box_iou_rotated"), folds=False, sample={"aligned": False})
_PAIRS.without_gradient()
_ALIGNED = TorchOperator(aligned_operator(), "box_iou_rotated_aligned", sample={"aligned": True})
_ALIGNED.without_gradient()


def _public(bboxes1: Tensor, bboxes2: Tensor, mode: int, _aligned: bool) -> tuple[Any, ...]:
    return bboxes1, bboxes2, _MODES[mode]


def _formula(bboxes1: Tensor, bboxes2: Tensor, mode: int, aligned: bool) -> Tensor:
    """Compute in float64, with PyTorch's operators."""
    one, other = (bboxes1, bboxes2) if aligned else torch.broadcast_tensors(bboxes1[:, None], bboxes2[None])
    usable = finite_with_area(one) & finite_with_area(other)
    one, other = (torch.where(usable[..., None], box, torch.zeros_like(box)).double() for box in (one, other))
    areas = one[..., 2] * one[..., 3], other[..., 2] * other[..., 3]
    return part_of_areas(common_area(one, other), *areas, mode == 1).to(bboxes1.dtype)


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
    aligned = flag("box_iou_rotated", "aligned", aligned)
    if not flag("box_iou_rotated", "clockwise", clockwise):
        mirror = bboxes1.new_tensor([1, 1, 1, 1, -1])
        bboxes1, bboxes2 = bboxes1 * mirror, bboxes2 * mirror
    function = _OF_ROWS if aligned else _OF_PAIRS
    return (function.through_torch if compiling() else function.direct)(bboxes1, bboxes2, _MODES.index(mode), aligned)
