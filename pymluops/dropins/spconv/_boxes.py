"""Boxes of ``spconv.utils``: overlaps of convex quadrilaterals, and suppression, with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "non_max_suppression_cpu",
    "rbbox_intersection",
    "rbbox_iou",
    "rotate_non_max_suppression_cpu",
]

#: Pairs that are looked at together.
_BLOCK = 1 << 15


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    found: np.ndarray = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return found


def _areas(corners: np.ndarray) -> np.ndarray:
    """Return twice the areas, negative where the corners go clockwise."""
    return _cross(corners, np.roll(corners, -1, -2)).sum(-1)


def _anticlockwise(corners: Any, name: str) -> np.ndarray:
    found = np.asarray(corners, np.float64)
    if found.ndim != 3 or found.shape[1:] != (4, 2):
        raise ValueError(f"{name}: expected corners of shape [N, 4, 2], got {list(found.shape)}")
    return np.where((_areas(found) < 0)[:, None, None], found[:, ::-1], found)


def _inside(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Tell which points [P, 4, 2] lie in the quadrilaterals of their rows, borders included."""
    edges = np.roll(corners, -1, 1) - corners
    side = _cross(edges[:, None], points[:, :, None] - corners[:, None])
    found: np.ndarray = (side >= -1e-12 * np.abs(edges).max((1, 2))[:, None, None] ** 2).all(2)
    return found


def _crossings(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where edges of a and b of the same row cross, [P, 16, 2], and whether they do."""
    to_a, to_b = (np.roll(one, -1, 1) - one for one in (a, b))
    gap = b[:, None] - a[:, :, None]  # [P, 4, 4, 2]
    along_a, along_b = to_a[:, :, None], to_b[:, None]
    spread = _cross(along_a, along_b)
    with np.errstate(all="ignore"):
        t, u = _cross(gap, along_b) / spread, _cross(gap, along_a) / spread
    crossing = (spread != 0) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    points = a[:, :, None] + np.where(crossing, t, 0)[..., None] * along_a
    return points.reshape(-1, 16, 2), crossing.reshape(-1, 16)


def _common(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the area that quadrilaterals of the same row have in common: that of the hull of all common corners."""
    points, crossing = _crossings(a, b)
    points = np.concatenate([points, a, b], 1)
    known = np.concatenate([crossing, _inside(a, b), _inside(b, a)], 1)
    count = np.maximum(known.sum(1), 1)
    middle = np.where(known[..., None], points, 0).sum(1) / count[:, None]
    away = points - middle[:, None]
    angle = np.where(known, np.arctan2(away[..., 1], away[..., 0]), np.inf)
    order = np.argsort(angle, 1, kind="stable")
    away = np.take_along_axis(away, order[..., None], 1)
    # What is no corner repeats the first one, and adds no area.
    away = np.where((np.arange(away.shape[1]) < known.sum(1)[:, None])[..., None], away, away[:, :1])
    area = np.where(known.sum(1) >= 3, _areas(away) / 2, 0)
    found: np.ndarray = np.maximum(area, 0)
    return found


def _compared(boxes: Any, others: Any, standup: Any, thresh: float, quotient: bool, name: str) -> np.ndarray:
    given = np.asarray(boxes)
    a, b = _anticlockwise(boxes, name), _anticlockwise(others, name)
    near = np.asarray(standup) > thresh
    if near.shape != (len(a), len(b)):
        raise ValueError(f"{name}: standup_iou: expected shape [{len(a)}, {len(b)}], got {list(near.shape)}")
    found = np.zeros(near.shape, given.dtype if given.dtype.kind == "f" else np.float64)
    rows, columns = np.nonzero(near)
    for begin in range(0, len(rows), _BLOCK):
        i, j = rows[begin : begin + _BLOCK], columns[begin : begin + _BLOCK]
        values = _common(a[i], b[j])
        if quotient:
            both = (_areas(a[i]) + _areas(b[j])) / 2 - values
            values = np.divide(values, both, out=np.zeros_like(values), where=both > 0)
        found[i, j] = values
    return found


def rbbox_iou(box_corners: Any, qbox_corners: Any, standup_iou: Any, standup_thresh: float) -> np.ndarray:
    """Return the quotients of common and joint areas.

    Parameters
    ----------
    box_corners, qbox_corners : array, shapes [N, 4, 2] and [K, 4, 2]
        Corners of convex quadrilaterals, one after another.
    standup_iou : array, shape [N, K]
        Quotients for the boxes around them.
    standup_thresh : float
        Pairs with a quotient up to this one are left out: 0.

    Returns
    -------
    array, shape [N, K]
    """
    return _compared(box_corners, qbox_corners, standup_iou, standup_thresh, True, "rbbox_iou")


def rbbox_intersection(box_corners: Any, qbox_corners: Any, standup_iou: Any, standup_thresh: float) -> np.ndarray:
    """Return the common areas [N, K]; arguments as those of `rbbox_iou`."""
    return _compared(box_corners, qbox_corners, standup_iou, standup_thresh, False, "rbbox_intersection")


def _kept(overlaps: np.ndarray, order: np.ndarray, thresh: float) -> list[int]:
    """Return the numbers of the boxes that no kept one before suppresses."""
    suppressed = np.zeros(len(order), bool)
    keep: list[int] = []
    for place, number in enumerate(order.tolist()):
        if not suppressed[place]:
            keep.append(number)
            suppressed |= overlaps[number, order] >= thresh
    return keep


def non_max_suppression_cpu(boxes: Any, order: Any, thresh: float, eps: float = 0) -> list[int]:
    """Keep boxes in an order that no kept one before overlaps by `thresh` or more.

    Parameters
    ----------
    boxes : array, shape [N, 4]
        Lower and upper bounds: x1, y1, x2, y2.
    order : array, shape [N]
        Numbers of the boxes, that with the highest score first.
    thresh : float
        Quotient of common and joint area.
    eps : float
        Is added to widths and heights.

    Returns
    -------
    list of int
        Numbers of the boxes kept.
    """
    given, ranked = np.asarray(boxes), np.asarray(order).astype(np.int64)
    low, high = given[:, :2], given[:, 2:4]
    area = np.prod(high - low + eps, 1)
    suppressed = np.zeros(len(ranked), bool)
    keep: list[int] = []
    for place, number in enumerate(ranked.tolist()):
        if suppressed[place]:
            continue
        keep.append(number)
        size = np.minimum(high[number], high[ranked]) - np.maximum(low[number], low[ranked]) + eps
        common = np.where((size > 0).all(1), np.prod(size, 1), 0)
        both = area[number] + area[ranked] - common
        suppressed |= (common > 0) & (np.divide(common, both, out=np.zeros_like(common), where=both > 0) >= thresh)
    return keep


def rotate_non_max_suppression_cpu(boxes: Any, order: Any, standup_iou: Any, thresh: float) -> list[int]:
    """Keep quadrilaterals [N, 4, 2] in an order that no kept one before overlaps by `thresh` or more."""
    overlaps = _compared(boxes, boxes, standup_iou, 0, True, "rotate_non_max_suppression_cpu")
    overlaps[overlaps == 0] = -np.inf
    return _kept(overlaps, np.asarray(order).astype(np.int64), thresh)
