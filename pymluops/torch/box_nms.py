"""Suppression of boxes in a plane: nms, soft_nms and nms_match."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._kept import kept_numbers
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import limit

__all__ = ["nms", "nms_match", "soft_nms"]

_METHODS = {"naive": 0, "linear": 1, "gaussian": 2}

_NMS = TorchOperator(described("nms2d"), folds=False, sample={"iou_threshold": 0.3})
_NMS.without_gradient()
_MATCH = TorchOperator(described("nms_match"), folds=False, sample={"iou_threshold": 0.3})
_MATCH.without_gradient()
_SOFT = TorchOperator(
    described("soft_nms"), folds=False, sample={"iou_threshold": 0.3, "sigma": 0.5, "min_score": 1e-3, "method": 1}
)
_SOFT.without_gradient()


def nms(
    boxes: Tensor,
    scores: Tensor,
    iou_threshold: float,
    offset: int = 0,
    score_threshold: float = 0,
    max_num: int = -1,
) -> tuple[Tensor, Tensor]:
    """Keep the boxes that no kept box with a higher score overlaps too much.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    intersection over union with it is above `iou_threshold`. Of equal scores the first one counts
    as higher. A box with a score of minus infinity or NaN is not kept.

    Parameters
    ----------
    boxes : Tensor, shape [N, 4]
        Boxes: x1, y1, x2, y2; any floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The largest overlap allowed.
    offset : {0, 1}
        What is added to widths and heights.
    score_threshold : float
        If it is above 0, only boxes with a higher score are looked at.
    max_num : int
        If it is above 0, the most boxes that are kept.

    Returns
    -------
    dets : Tensor, shape [K, 5]
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
    >>> boxes = torch.tensor([[0.0, 0, 4, 2], [1, 0, 5, 2], [9, 0, 13, 2]])
    >>> pymluops.torch.nms(boxes, torch.tensor([0.5, 0.8, 0.6]), 0.5)[1].tolist()
    [1, 2]
    """
    max_num = limit("nms", "max_num", max_num, -1)
    considered = scores
    if score_threshold > 0:
        considered = scores.masked_fill(~(scores > score_threshold), -torch.inf)
    keep = kept_numbers(_NMS(boxes, considered, iou_threshold, offset))
    if max_num > 0:
        keep = keep[:max_num]
    return torch.cat([boxes[keep], scores[keep, None]], 1), keep


def soft_nms(
    boxes: Tensor,
    scores: Tensor,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    min_score: float = 1e-3,
    method: str = "linear",
    offset: int = 0,
) -> tuple[Tensor, Tensor]:
    """Pick boxes from the highest score down, and lower the scores of those that a pick overlaps.

    Parameters
    ----------
    boxes : Tensor, shape [N, 4]
        Boxes: x1, y1, x2, y2; any floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The overlap from which on a score is lowered; "gaussian" does not look at it.
    sigma : float
        The width of "gaussian".
    min_score : float
        The least score of a box after the first pick.
    method : {"naive", "linear", "gaussian"}
        Whether a pick multiplies scores of boxes with an overlap o by 0, by 1 - o, or by
        exp(-o**2 / sigma).
    offset : {0, 1}
        What is added to widths and heights.

    Returns
    -------
    dets : Tensor, shape [K, 5]
        The picked boxes in their order, with the scores that they had then. It has no gradient, as
        in mmcv.
    keep : Tensor, shape [K], int64
        Their numbers.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 4, 2], [0, 0, 4, 4], [9, 0, 13, 2]])
    >>> dets, keep = pymluops.torch.soft_nms(boxes, torch.tensor([0.5, 0.75, 0.625]))
    >>> keep.tolist(), dets[:, 4].tolist()
    ([1, 2, 0], [0.75, 0.625, 0.25])
    """
    if method not in _METHODS:
        raise ValueError(f"soft_nms: method: expected 'naive', 'linear' or 'gaussian', got {method!r}")
    dets, kept, count = _SOFT(boxes, scores, iou_threshold, sigma, min_score, _METHODS[method], offset)
    keep = kept_numbers((kept, count))
    return dets.narrow(0, 0, keep.shape[0]), keep


def nms_match(dets: Tensor, iou_threshold: float) -> list[Tensor]:
    """Sort boxes into groups: a kept one, and those that overlap it by at least the threshold.

    Parameters
    ----------
    dets : Tensor, shape [N, 5]
        Boxes: x1, y1, x2, y2, score; any floating type. A score of NaN is the highest.
    iou_threshold : float
        The overlap from which on a box belongs to another one.

    Returns
    -------
    list of Tensor, int64
        The numbers of each group in the order of their scores, the kept one first.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> dets = torch.tensor([[0.0, 0, 4, 2, 0.5], [1, 0, 5, 2, 0.8], [9, 0, 13, 2, 0.6]])
    >>> [group.tolist() for group in pymluops.torch.nms_match(dets, 0.5)]
    [[1, 0], [2]]
    """
    matches, order = (found.long() for found in _MATCH(dets, iou_threshold))
    if len(order) == 0:
        return []
    leaders = matches[order]
    kept = order[leaders == order]
    # Numbers of the groups in the order of scores, and the boxes of each one together.
    group = torch.empty_like(order)
    group[kept] = torch.arange(len(kept))
    numbers, places = group[leaders].sort(stable=True)
    return list(order[places].split(torch.bincount(numbers).tolist()))
