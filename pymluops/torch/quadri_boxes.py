"""Quadrilaterals: box_iou_quadri, nms_quadri and poly_nms."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.ops.quadri_boxes import aligned_operator
from pymluops.torch._kept import kept_numbers
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import flag

__all__ = ["box_iou_quadri", "nms_quadri", "poly_nms"]

_MODES = ("iou", "iof")

_PAIRS = TorchOperator(described("box_iou_quadri"), folds=False, sample={"aligned": False})
_ALIGNED = TorchOperator(aligned_operator(), "box_iou_quadri_aligned", sample={"aligned": True})
_NMS = TorchOperator(described("nms_quadri"), folds=False, sample={"iou_threshold": 0.3})
_POLY_NMS = TorchOperator(described("poly_nms"), folds=False, sample={"iou_threshold": 0.3})
for _operator in (_PAIRS, _ALIGNED, _NMS, _POLY_NMS):
    _operator.without_gradient()


def box_iou_quadri(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False) -> Tensor:
    """Divide the area that two quadrilaterals have in common by that of both together, or of the first one.

    The common area is the true one of simple quadrilaterals; mmcv's is true for rectangles alone.
    The result has no gradient.

    Parameters
    ----------
    bboxes1 : Tensor, shape [N, 8]
        Boxes: x and y of four corners, in their order around the box; any floating type.
    bboxes2 : Tensor, shape [M, 8], like `bboxes1`
        The other boxes.
    mode : {"iou", "iof"}
        Divide by the area of both boxes together, or by that of the one in `bboxes1`.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.

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
    >>> boxes = torch.tensor([[0.0, 0, 4, 0, 4, 2, 0, 2], [0, 0, 2, 0, 2, 2, 0, 2]])
    >>> pymluops.torch.box_iou_quadri(boxes, boxes).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if mode not in _MODES:
        raise ValueError(f"box_iou_quadri: mode: expected 'iou' or 'iof', got {mode!r}")
    aligned = flag("box_iou_quadri", "aligned", aligned)
    found: Tensor = (_ALIGNED if aligned else _PAIRS)(bboxes1, bboxes2, _MODES.index(mode), aligned)
    return found


def nms_quadri(
    dets: Tensor, scores: Tensor, iou_threshold: float, labels: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Keep the quadrilaterals that no kept one with a higher score overlaps too much.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    overlap with it, as of `box_iou_quadri`, is above `iou_threshold`, as in mmcv for CUDA; mmcv for
    a CPU suppresses at the threshold itself too. Of equal scores the first one counts as higher. A
    box with a score of minus infinity or NaN is not kept.

    Parameters
    ----------
    dets : Tensor, shape [N, 8]
        Boxes: x and y of four corners, in their order around the box; any floating type.
    scores : Tensor, shape [N], like `dets`
        Their scores.
    iou_threshold : float
        The largest overlap allowed.
    labels : Tensor, optional
        Not looked at, as in mmcv.

    Returns
    -------
    dets : Tensor, shape [K, 9]
        The kept boxes in the order of their scores, which are the last column. The gradient flows
        to both arguments.
    keep : Tensor, shape [K], int64
        Their numbers.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> dets = torch.tensor([[0.0, 0, 4, 0, 4, 2, 0, 2], [0, 0, 4, 0, 4, 3, 0, 3]])
    >>> pymluops.torch.nms_quadri(dets, torch.tensor([0.5, 0.8]), 0.5)[1].tolist()
    [1]
    """
    keep = kept_numbers(_NMS(dets, scores, iou_threshold))
    return torch.cat([dets[keep], scores[keep, None]], 1), keep


def poly_nms(boxes: Tensor, iou_threshold: float) -> Tensor:
    """Keep the quadrilaterals that no kept one with a higher score overlaps too much.

    Parameters
    ----------
    boxes : Tensor, shape [N, 9]
        Boxes: x and y of four corners, in their order around the box, and the score; any floating
        type. Boxes of equal scores do not suppress each other, and NaN is the highest score.
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
    >>> boxes = torch.tensor([[0.0, 0, 4, 0, 4, 2, 0, 2, 0.5], [0, 0, 4, 0, 4, 3, 0, 3, 0.8]])
    >>> pymluops.torch.poly_nms(boxes, 0.5).tolist()
    [1]
    """
    return kept_numbers(_POLY_NMS(boxes, iou_threshold))
