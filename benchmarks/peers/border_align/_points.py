"""Where the samples of border_align lie, as whole arrays, for NumPy and PyTorch alike."""

from __future__ import annotations

from typing import Any

Points = tuple[Any, Any]


def forward_positions(xp: Any, boxes: Any, pool: int) -> Points:
    """Return x and y [N, K, 4, pool + 1] of all samples; the step is added again and again, as the operator does."""
    x1, y1, x2, y2 = (boxes[..., i] for i in range(4))
    dx, dy = (x2 - x1) / pool, (y2 - y1) / pool
    zero = xp.zeros_like(dx)
    x, y = xp.stack([x1, x1, x2, x2], -1), xp.stack([y1, y1, y2, y2], -1)
    step_x, step_y = xp.stack([dx, zero, -dx, zero], -1), xp.stack([zero, dy, zero, -dy], -1)
    xs, ys = [x], [y]
    for _ in range(pool):
        xs.append(xs[-1] + step_x)
        ys.append(ys[-1] + step_y)
    return xp.stack(xs, -1), xp.stack(ys, -1)


def backward_positions(xp: Any, boxes: Any, steps: Any, pool: int) -> Points:
    """Return x and y [N, K, 4, pool + 1] of all samples: start plus `steps`, 0 to pool as floats, times the step."""
    x1, y1, x2, y2 = (boxes[..., i] for i in range(4))
    dx, dy = (x2 - x1) / pool, (y2 - y1) / pool
    zero = xp.zeros_like(dx)
    x, y = xp.stack([x1, x1, x2, x2], -1), xp.stack([y1, y1, y2, y2], -1)
    step_x, step_y = xp.stack([dx, zero, -dx, zero], -1), xp.stack([zero, dy, zero, -dy], -1)
    return x[..., None] + step_x[..., None] * steps, y[..., None] + step_y[..., None] * steps


def corners(xp: Any, to_index: Any, place: Points, height: int, width: int) -> tuple[Any, Any]:
    """Return the pixels [..., 4] around each sample and their weights, 0 where it lies outside.

    `to_index` turns an array of floats into one of whole numbers.
    """
    x, y = place
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    left, right, lx = _axis(xp, x, width)
    upper, lower, ly = _axis(xp, y, height)
    hx, hy = 1 - lx, 1 - ly
    rows, columns = (upper, upper, lower, lower), (left, right, left, right)
    pixels = xp.stack([to_index(row * width + column) for row, column in zip(rows, columns, strict=True)], -1)
    weights = xp.stack([hy * hx, hy * lx, ly * hx, ly * lx], -1)
    return pixels, weights * inside[..., None]


def _axis(xp: Any, position: Any, size: int) -> tuple[Any, Any, Any]:
    # A place on the last pixel or beyond it is that pixel's.
    position = xp.clip(position, 0, size - 1)
    low = xp.floor(position)
    return low, xp.clip(low + 1, 0, size - 1), position - low
