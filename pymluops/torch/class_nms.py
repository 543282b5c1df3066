"""Suppression within classes, and of boxes from above, under mmcv's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from pymluops.torch._numbers import flag, limit
from pymluops.torch.box_nms import nms, soft_nms
from pymluops.torch.nms_rotated import nms_rotated
from pymluops.torch.quadri_boxes import nms_quadri

__all__ = ["batched_nms", "nms_bev", "nms_normal_bev"]

_SUPPRESSIONS: dict[str, Callable[..., Any]] = {
    "nms": nms,
    "soft_nms": soft_nms,
    "nms_rotated": nms_rotated,
    "nms_quadri": nms_quadri,
}


def batched_nms(
    boxes: Tensor,
    scores: Tensor,
    idxs: Tensor,
    nms_cfg: Mapping[str, Any] | None,
    class_agnostic: bool = False,
) -> tuple[Tensor, Tensor]:
    """Suppress boxes within each class, by moving the classes away from each other.

    Parameters
    ----------
    boxes : Tensor, shape [N, 4], or [N, 5] for "nms_rotated"
        Boxes as that function takes them; any floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    idxs : Tensor, shape [N]
        Numbers of their classes, from 0.
    nms_cfg : mapping or None
        ``type``, one of "nms", "soft_nms", "nms_rotated" and "nms_quadri", or a function like
        these; ``class_agnostic``; ``split_thr``, from which number of boxes on the classes are
        suppressed one after another; and arguments of the function. None suppresses nothing.
    class_agnostic : bool
        Whether classes are not looked at.

    Returns
    -------
    dets : Tensor, shape [K, 5], or [K, 6] for boxes with angles
        The kept boxes in the order of their scores, which are the last column.
    keep : Tensor, shape [K], int64
        Their numbers.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    mmcv moves classes by the largest coordinate alone, so that boxes of different classes with
    negative coordinates can meet. Here they are moved by the whole extent.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> boxes = torch.tensor([[0.0, 0, 4, 2], [0, 0, 4, 2], [0, 0, 4, 2]])
    >>> scores, classes = torch.tensor([0.5, 0.8, 0.6]), torch.tensor([0, 1, 0])
    >>> pymluops.torch.batched_nms(boxes, scores, classes, {"iou_threshold": 0.5})[1].tolist()
    [1, 2]
    """
    if nms_cfg is None:
        ordered, order = scores.sort(descending=True, stable=True)
        return torch.cat([boxes[order], ordered[:, None]], -1), order
    options = dict(nms_cfg)
    class_agnostic = flag("batched_nms", "class_agnostic", options.pop("class_agnostic", class_agnostic))
    suppress = _suppression(options.pop("type", "nms"))
    split = options.pop("split_thr", 10000)
    apart = boxes if class_agnostic or not len(boxes) else _apart(boxes, idxs)
    if len(boxes) < split:
        dets, keep = suppress(apart, scores, **options)
        return torch.cat([boxes[keep], dets[:, -1:]], -1), keep
    most = options.pop("max_num", -1)
    numbers, found = [], []
    for one in torch.unique(idxs):
        rows = (idxs == one).nonzero().view(-1)
        dets, keep = suppress(apart[rows], scores[rows], **options)
        numbers.append(rows[keep])
        found.append(dets[:, -1])
    keep, kept_scores = torch.cat(numbers), torch.cat(found)
    by_number = keep.argsort()  # so that of equal scores the first box comes first
    keep, kept_scores = keep[by_number], kept_scores[by_number]
    kept_scores, order = kept_scores.sort(descending=True, stable=True)
    chosen = slice(0, most if most > 0 else None)
    keep, kept_scores = keep[order][chosen], kept_scores[chosen]
    return torch.cat([boxes[keep], kept_scores[:, None]], -1), keep


def _suppression(given: Any) -> Callable[..., Any]:
    found: Any = _SUPPRESSIONS.get(given) if isinstance(given, str) else given
    if not callable(found):
        raise ValueError(f"batched_nms: nms_cfg: expected a type of {', '.join(_SUPPRESSIONS)}, got {given!r}")
    return found


def _apart(boxes: Tensor, classes: Tensor) -> Tensor:
    """Return the boxes with those of each class in a place of its own."""
    if boxes.shape[-1] == 5:  # positions and sizes: a box reaches at most width plus height from its centre
        places, sizes = boxes[:, :2], boxes[:, 2:4].max()
        offsets = classes.to(boxes) * (places.max() + sizes + 1 - (places.min() - sizes).clamp(max=0))
        return torch.cat([places + offsets[:, None], boxes[:, 2:]], -1)
    offsets = classes.to(boxes) * (boxes.max() + 1 - boxes.min().clamp(max=0))
    return boxes + offsets[:, None]


def nms_bev(
    boxes: Tensor,
    scores: Tensor,
    thresh: float,
    pre_max_size: int | None = None,
    post_max_size: int | None = None,
) -> Tensor:
    """Keep the turned boxes, seen from above, that no kept box with a higher score overlaps too much.

    Parameters
    ----------
    boxes : Tensor, shape [N, 5]
        Boxes: x1, y1, x2, y2 and the angle in radians; any floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    thresh : float
        The largest overlap allowed.
    pre_max_size, post_max_size : int, optional
        The most boxes that are looked at, and that are kept.

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
    >>> boxes = torch.tensor([[0.0, 0, 4, 2, 0], [0, 0, 4, 2, 0.1], [9, 0, 13, 2, 0]])
    >>> pymluops.torch.nms_bev(boxes, torch.tensor([0.5, 0.8, 0.6]), 0.5).tolist()
    [1, 2]
    """
    _check("nms_bev", boxes)
    if pre_max_size is not None:
        pre_max_size = limit("nms_bev", "pre_max_size", pre_max_size)
    if post_max_size is not None:
        post_max_size = limit("nms_bev", "post_max_size", post_max_size)
    order = scores.sort(descending=True, stable=True)[1][:pre_max_size]
    low, high = boxes[order, :2], boxes[order, 2:4]
    turned = torch.cat([(low + high) / 2, high - low, boxes[order, 4:]], 1)
    return order[nms_rotated(turned, scores[order], thresh)[1]][:post_max_size]


def nms_normal_bev(boxes: Tensor, scores: Tensor, thresh: float) -> Tensor:
    """Keep the boxes, seen from above without their angles, that no kept one overlaps too much.

    Parameters
    ----------
    boxes : Tensor, shape [N, 5]
        Boxes: x1, y1, x2, y2 and an angle that is not looked at; any floating type.
    scores : Tensor, shape [N], like `boxes`
        Their scores.
    thresh : float
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
    >>> boxes = torch.tensor([[0.0, 0, 4, 2, 0], [1, 0, 5, 2, 1.5], [9, 0, 13, 2, 0]])
    >>> pymluops.torch.nms_normal_bev(boxes, torch.tensor([0.5, 0.8, 0.6]), 0.5).tolist()
    [1, 2]
    """
    _check("nms_normal_bev", boxes)
    return nms(boxes[:, :4], scores, thresh)[1]


def _check(function: str, boxes: Tensor) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 5:
        raise ValueError(f"{function}: boxes: expected shape [N, 5], got {[*boxes.shape]}")
