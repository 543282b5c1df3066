"""From pixels to the arguments of psamask, border_align and tin_shift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.resample import blur, resize, slopes

PSAMASK_CELLS = 2304
BOX_CELLS = 3072
MASK_REACH = 15
POOL_SIZE = 10
FRAMES = 8
CROP = 96
FRAME_GROUPS = ("colour", "colour, blurred", "slope down", "slope across")
FRAME_SHIFTS = ((0, 2, -1, 3), (1, -2, 0, -3))


@dataclass(frozen=True)
class Attention:
    """The picture at the map's resolution [H, W, 3], and the mask input [1, H, W, h_mask * w_mask]."""

    picture: Array
    mask: Array
    mask_size: tuple[int, int]


@dataclass(frozen=True)
class BorderTask:
    """The border_align arguments: features [1, H, W, 4C], one box a location [1, H * W, 4]."""

    picture: Array
    features: Array
    boxes: Array


@dataclass(frozen=True)
class FrameTask:
    """The tin_shift arguments: frames [B, T, C, HW] and shifts [B, G]."""

    frames: Array
    shifts: Array
    size: tuple[int, int]


def map_size(picture: Array, cells: int) -> tuple[int, int]:
    """Return the height and width of a feature map of about `cells` cells with the picture's proportions."""
    height, width = picture.shape[:2]
    side = np.sqrt(cells / (height * width))
    return max(4, min(height, round(height * side))), max(4, min(width, round(width * side)))


def local_attention(picture: Array) -> Attention:
    """Return how alike each place is to the places around it, as attention weights.

    A mask cell holds exp(-difference of colour), and the cells of one place that lie inside the
    picture sum to 1. Cells outside get the border's value: psamask has to leave them out.
    """
    small = resize(picture, map_size(picture, PSAMASK_CELLS))
    height, width = small.shape[:2]
    reach = (min(MASK_REACH, height - 1), min(MASK_REACH, width - 1))
    size = (2 * reach[0] + 1, 2 * reach[1] + 1)
    smooth = blur(small, 0.7)
    padded = np.pad(smooth, [(reach[0],) * 2, (reach[1],) * 2, (0, 0)], mode="edge")
    inside = np.pad(np.ones((height, width), dtype=np.float32), [(reach[0],) * 2, (reach[1],) * 2])
    mask = np.empty((height, width, *size), dtype=np.float32)
    total = np.zeros((height, width), dtype=np.float32)
    for i in range(size[0]):
        for j in range(size[1]):
            difference = padded[i : i + height, j : j + width] - smooth
            alike = np.exp(-60.0 * np.einsum("hwc,hwc->hw", difference, difference))
            mask[:, :, i, j] = alike
            total += alike * inside[i : i + height, j : j + width]
    mask /= total[:, :, None, None]
    return Attention(small, mask.reshape(1, height, width, -1), size)


def border_task(picture: Array) -> BorderTask:
    """Return edge features for each of the four borders, and boxes that reach from each place to the edges around it.

    A box has its top and bottom on horizontal edges and its left and right on vertical ones. The
    features of the top and bottom border are the slopes down the picture, those of left and right
    the slopes across, at four scales.
    """
    size = map_size(picture, BOX_CELLS)
    small = resize(picture, size)
    tones = np.concatenate([small, small.mean(axis=2, keepdims=True)], axis=2)
    down, across = [], []
    for sigma in (0.5, 0.8, 1.2, 1.8):
        vertical, horizontal = slopes(blur(tones, sigma))
        down.append(np.abs(vertical))
        across.append(np.abs(horizontal))
    by_border = [np.concatenate(part, axis=2) for part in (down, across, down, across)]
    features = np.concatenate(by_border, axis=2)[None].astype(np.float32)
    boxes = edge_boxes(down[1].max(axis=2), across[1].max(axis=2))
    return BorderTask(small, np.ascontiguousarray(features), boxes[None])


def edge_boxes(down: Array, across: Array) -> Array:
    """Return one box (x1, y1, x2, y2) a place, [H * W, 4]: from the place to the nearest strong edge on each side."""
    height, width = down.shape
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    top = _last_edge(_ridge(down, axis=0), axis=0)
    bottom = height - 1 - _last_edge(_ridge(down, axis=0)[::-1], axis=0)[::-1]
    left = _last_edge(_ridge(across, axis=1), axis=1)
    right = width - 1 - _last_edge(_ridge(across, axis=1)[:, ::-1], axis=1)[:, ::-1]
    # A place on an edge still gets a box of some size, and fractions so that the sampling has
    # something to interpolate.
    x1, x2 = np.minimum(left, columns - 1.25), np.maximum(right, columns + 1.25)
    y1, y2 = np.minimum(top, rows - 1.25), np.maximum(bottom, rows + 1.25)
    return np.stack([x1, y1, x2, y2], axis=-1).reshape(-1, 4).astype(np.float32)


def _ridge(slope: Array, axis: int) -> Array:
    """Return where the slope is among the steepest sixth and steepest along `axis`."""
    padded = np.pad(slope, [(1, 1) if a == axis else (0, 0) for a in (0, 1)])
    before = np.take(padded, range(slope.shape[axis]), axis=axis)
    after = np.take(padded, range(2, slope.shape[axis] + 2), axis=axis)
    return np.asarray((slope >= before) & (slope > after) & (slope > np.quantile(slope, 0.83)))


def _last_edge(edge: Array, axis: int) -> Array:
    """Return for each place the position of the last edge strictly before it along `axis`, or 0."""
    length = edge.shape[axis]
    position = np.arange(length).reshape([-1 if a == axis else 1 for a in (0, 1)])
    last = np.maximum.accumulate(np.where(edge, position, 0), axis=axis)
    first = np.zeros_like(np.take(last, [0], axis=axis))
    return np.concatenate([first, np.take(last, range(length - 1), axis=axis)], axis=axis).astype(np.float32)


def frame_task(picture: Array) -> FrameTask:
    """Return two sequences cut from the picture by a window that slides across it and down it.

    Each of the four channel groups holds another view of the frames, so that their shifts in time
    can be seen apart.
    """
    share = 0.5 if max(picture.shape[:2]) < 2 * min(picture.shape[:2]) else 0.9
    factor = CROP / (share * min(picture.shape[:2]))
    if factor < 1:  # the window shows that share of the shorter side
        picture = resize(picture, (round(picture.shape[0] * factor), round(picture.shape[1] * factor)))
    height, width = picture.shape[:2]
    side = int(share * min(height, width))
    crop = (min(CROP, side), min(CROP, side))
    smooth = blur(picture, 2.5)
    down, across = slopes(blur(picture, 1.0))
    views = np.concatenate([picture, smooth, 0.5 + 3 * down, 0.5 + 3 * across], axis=2)
    slide = np.linspace(0, 1, FRAMES)
    sequences = []
    for moves_down in (False, True):
        top, left = (height - crop[0]) / 2, (width - crop[1]) / 2
        frames = []
        for part in slide:
            y, x = (part * 2 * top, left) if moves_down else (top, part * 2 * left)
            cut = views[int(y) : int(y) + crop[0], int(x) : int(x) + crop[1]]
            frames.append(cut.transpose(2, 0, 1).reshape(views.shape[2], -1))
        sequences.append(frames)
    frames_array = np.ascontiguousarray(np.clip(np.array(sequences), 0, 1), dtype=np.float32)
    return FrameTask(frames_array, np.array(FRAME_SHIFTS, dtype=np.int32), crop)
