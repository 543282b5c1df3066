"""BboxOverlaps: overlaps of upright boxes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.ops.bbox_overlaps import aligned_operator
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import flag

__all__ = ["bbox_overlaps"]

_MODES = ("iou", "iof")

_PAIRS = TorchOperator(described("bbox_overlaps"), folds=False, sample={"aligned": False, "P": 4, "Q": 4})
_PAIRS.without_gradient()
_ALIGNED = TorchOperator(aligned_operator(), "bbox_overlaps_aligned", sample={"aligned": True, "P": 4, "Q": 4})
_ALIGNED.without_gradient()


def _public(bboxes1: Tensor, bboxes2: Tensor, mode: int, aligned: bool, offset: int) -> tuple[Any, ...]:
    return bboxes1, bboxes2, _MODES[mode], aligned, offset


def _formula(bboxes1: Tensor, bboxes2: Tensor, mode: int, aligned: bool, offset: int) -> Tensor:
    one, other = (bboxes1, bboxes2) if aligned else torch.broadcast_tensors(bboxes1[:, None], bboxes2[None])
    low, high = torch.maximum(one[..., :2], other[..., :2]), torch.minimum(one[..., 2:], other[..., 2:])
    common = (high - low + offset).clamp(min=0).prod(-1)
    areas = [(boxes[..., 2:] - boxes[..., :2] + offset).prod(-1) for boxes in (one, other)]
    return common / (areas[0] if mode == 1 else areas[0] + areas[1] - common).clamp(min=offset)


_OF_PAIRS = TensorFunction(_PAIRS, public=_public, formula=_formula)
_OF_ROWS = TensorFunction(_ALIGNED, public=_public, formula=_formula)


@_OF_PAIRS
@_OF_ROWS
def bbox_overlaps(
    bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False, offset: int = 0
) -> Tensor:
    """Divide the area that two upright boxes have in common by that of both together, or of the first one.

    The divisor is at least `offset`. The result has no gradient, as in mmcv.

    Parameters
    ----------
    bboxes1 : Tensor, shape [N, 4]
        Boxes: x1, y1, x2, y2; any floating type.
    bboxes2 : Tensor, shape [M, 4], like `bboxes1`
        The other boxes.
    mode : {"iou", "iof"}
        Divide by the area of both boxes together, or by that of the one in `bboxes1`.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    offset : {0, 1}
        What is added to widths and heights.

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
    >>> boxes = torch.tensor([[0.0, 0, 4, 2], [2, 0, 4, 2]])
    >>> pymluops.torch.bbox_overlaps(boxes, boxes).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if mode not in _MODES:
        raise ValueError(f"bbox_overlaps: mode: expected 'iou' or 'iof', got {mode!r}")
    aligned = flag("bbox_overlaps", "aligned", aligned)
    function = _OF_ROWS if aligned else _OF_PAIRS
    call = function.through_torch if compiling() or (aligned and len(bboxes1) == 0) else function.direct
    found: Tensor = call(bboxes1, bboxes2, _MODES.index(mode), aligned, offset)
    return found
