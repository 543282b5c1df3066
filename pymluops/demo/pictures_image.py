"""Pictures of the image families: psamask, border_align and tin_shift."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pymluops.demo.arrays import Array
from pymluops.demo.image_features import FRAME_GROUPS, POOL_SIZE, Attention, BorderTask, FrameTask
from pymluops.demo.images import Image
from pymluops.demo.pictures_scan import short_name

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
PLACES = 3
BOXES = len(COLOURS)
VACATED = (0.92, 0.92, 0.92)


def attention_figure(attention: Attention, collect: Array, distribute: Array, image: Image) -> Figure:
    """For a few places: the mask window, the values that the place collects, and those distributed to it."""
    height, width = attention.picture.shape[:2]
    places = _telling_places(attention)
    labels = 0.0 if image.angles is None else 0.55
    row_height = 3.55 * min(1.3, height / width) + 0.35 + labels
    figure = Figure(figsize=(12, PLACES * row_height + 0.8), layout="constrained")
    figure.suptitle(
        f"psamask: attention of a place over the map, mask {attention.mask_size[0]} x {attention.mask_size[1]}\n"
        f"{_source(image)}"
    )
    axes = figure.subplots(PLACES, 3, squeeze=False)
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    for row, (y, x) in zip(axes, places, strict=True):
        row[0].imshow(image.pixels, extent=extent)
        row[0].set_title(f"place ({x}, {y}) and its mask window")
        reach = [size // 2 for size in attention.mask_size]
        corner, size = (x - reach[1] - 0.5, y - reach[0] - 0.5), attention.mask_size[::-1]
        row[0].add_patch(Rectangle(corner, *size, fill=False, edgecolor=COLOURS[0], linewidth=2))
        gathers = collect[0, y, x].reshape(height, width)
        gets = distribute[0, y, x].reshape(height, width)
        for ax, weights, title in ((row[1], gathers, "collect"), (row[2], gets, "distribute")):
            ax.imshow(image.pixels.mean(axis=2), cmap="gray", extent=extent)
            strength = Normalize(0, float(np.quantile(weights[weights > 0], 0.98)) if weights.any() else 1.0)
            drawn = ax.imshow(weights, cmap="inferno", norm=strength, alpha=np.where(weights > 0, 0.85, 0.0))
            figure.colorbar(drawn, ax=ax, label="weight", shrink=0.8, extend="max")
            ax.set_title("collect: where it looks" if title == "collect" else "distribute: which positions look at it")
        for ax in row:
            ax.plot(x, y, marker="+", markersize=14, markeredgewidth=2.5, color=COLOURS[1])
            _axes_of(ax, height, width, image)
    return figure


def _telling_places(attention: Attention) -> list[tuple[int, int]]:
    """Return (row, column) of places that differ in colour and lie apart from each other."""
    height, width = attention.picture.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    inner = (y >= height // 6) & (y < height - height // 6) & (x >= width // 6) & (x < width - width // 6)
    feature = np.concatenate([attention.picture, np.stack([y / height, x / width], axis=-1)], axis=2)
    mean = attention.mask.reshape(height, width, -1)
    spread = (mean / np.maximum(mean.max(axis=2, keepdims=True), 1e-12)).mean(axis=2)  # how many places are alike
    typical = np.abs(spread - np.quantile(spread, 0.6))
    first = int(np.argmin(np.where(inner, typical, np.inf)))
    chosen = [first]
    flat, far = feature.reshape(-1, feature.shape[2]), np.full(height * width, np.inf)
    while len(chosen) < PLACES:
        far = np.minimum(far, np.linalg.norm(flat - flat[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(np.where(inner.reshape(-1), far, -1.0))))
    return [divmod(place, width) for place in chosen]


def border_figure(task: BorderTask, output: Array, argmax: Array, image: Image) -> Figure:
    """The boxes whose four borders meet the strongest edges, with the sampling points, and the score of every place."""
    height, width = task.picture.shape[:2]
    strength = output[0].astype(np.float32).max(axis=2)  # [K, 4]: the strongest edge along each border
    score = strength.min(axis=1)
    ratio = height / width
    wide = ratio < 0.5
    size = (12, 2 * (10.5 * ratio + 1.2) + 0.8) if wide else (13, 5.6 * min(ratio, 1.4) + 1.5)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(f"border_align: {len(score):,} boxes, {POOL_SIZE + 1} samples a border\n{_source(image)}")
    left, right = figure.subplots(2, 1) if wide else figure.subplots(1, 2)
    left.imshow(image.pixels, extent=(-0.5, width - 0.5, height - 0.5, -0.5))
    for number, colour in zip(_best_boxes(task.boxes[0], score, (height, width)), COLOURS, strict=False):
        _draw_box(left, task.boxes[0, number], output[0, number], argmax[0, number], colour)
    left.set_title("boxes with a strong edge on every side\ndots: samples; stars: the strongest sample of a border")
    drawn = right.imshow(score.reshape(height, width), cmap="viridis")
    figure.colorbar(drawn, ax=right, label="slope (brightness a cell)", shrink=0.8)
    right.set_title("score of the box around each place\n(the weakest of its four borders)")
    for ax in (left, right):
        _axes_of(ax, height, width, image)
    return figure


def _best_boxes(boxes: Array, score: Array, size: tuple[int, int]) -> list[int]:
    """Return the highest scoring boxes that overlap each other little and are neither tiny nor the whole picture."""
    x1, y1, x2, y2 = boxes.T
    area = (x2 - x1) * (y2 - y1)
    fitting = (x2 - x1 >= 3.5) & (y2 - y1 >= 3.5) & (area < 0.3 * size[0] * size[1])
    chosen: list[int] = []
    for number in np.argsort(-np.where(fitting, score * np.sqrt(np.sqrt(area)), -1.0)):
        if len(chosen) == BOXES or not fitting[number]:
            break
        across = np.minimum(x2[number], x2[chosen]) - np.maximum(x1[number], x1[chosen])
        down = np.minimum(y2[number], y2[chosen]) - np.maximum(y1[number], y1[chosen])
        common = np.clip(across, 0, None) * np.clip(down, 0, None)
        if (common < 0.25 * np.minimum(area[number], area[chosen])).all():
            chosen.append(int(number))
    return chosen


def _draw_box(ax: Axes, box: Array, output: Array, argmax: Array, colour: str) -> None:
    x1, y1, x2, y2 = (float(v) for v in box)
    ax.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, edgecolor="white", linewidth=3.2))
    ax.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, edgecolor=colour, linewidth=1.8))
    steps = np.linspace(0, 1, POOL_SIZE + 1)
    corners = ((x1, y1, x2, y1), (x1, y1, x1, y2), (x2, y2, x1, y2), (x2, y2, x2, y1))
    for border, (ax0, ay0, ax1, ay1) in enumerate(corners):
        xs, ys = ax0 + steps * (ax1 - ax0), ay0 + steps * (ay1 - ay0)
        style: dict[str, Any] = {"color": colour, "markeredgecolor": "black"}
        ax.plot(xs, ys, linestyle="", marker="o", markersize=3, markeredgewidth=0.4, **style)
        winner = argmax[border, int(output[border].argmax())]
        ax.plot(xs[winner], ys[winner], marker="*", markersize=11, **style)


def frame_figure(task: FrameTask, shifted: Array, image: Image) -> Figure:
    """The first sequence before and after, a pair of strips for each channel group."""
    count, groups, (height, width) = task.frames.shape[1], len(FRAME_GROUPS), task.size
    gap = max(2, width // 24)
    step_y, step_x = height + gap, width + gap
    sheet = np.ones((2 * groups * step_y, count * step_x, 3), dtype=np.float32)
    labels, texts = [], []
    for row in range(2 * groups):
        group, after = divmod(row, 2)
        shift = int(task.shifts[0, group]) if after else 0
        for t in range(count):
            frame = _frame(shifted if after else task.frames, t, group, task.size)
            vacated = not 0 <= t - shift < count
            top, left = row * step_y, t * step_x
            sheet[top : top + height, left : left + width] = VACATED if vacated and not frame.any() else frame
            texts.append((left, top, "zero" if vacated else str(t - shift)))
        labels.append(f"after: {shift:+d}" if after else f"{FRAME_GROUPS[group]}\nbefore")

    figure = Figure(figsize=(13.5, 12.0 * sheet.shape[0] / sheet.shape[1] + 1.4), layout="constrained")
    figure.suptitle(f"tin_shift: each channel group moves in time by its own number of frames\n{_source(image)}")
    ax = figure.subplots()
    ax.imshow(np.round(255 * sheet).astype(np.uint8))
    for left, top, text in texts:
        box = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5}
        ax.text(left + 0.04 * width, top + 0.05 * height, text, va="top", fontweight="bold", bbox=box)
    ax.set_xticks([t * step_x + width / 2 for t in range(count)], [f"t = {t}" for t in range(count)])
    ax.set_yticks([row * step_y + height / 2 for row in range(2 * groups)], labels)
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("the number in a frame is its time before the shift")
    return figure


def _frame(frames: Array, t: int, group: int, size: tuple[int, int]) -> Array:
    per_group = frames.shape[2] // len(FRAME_GROUPS)
    channels = frames[0, t, group * per_group : (group + 1) * per_group].astype(np.float32)
    return np.clip(channels.reshape(per_group, *size).transpose(1, 2, 0), 0, 1)


def _axes_of(ax: Axes, height: int, width: int, image: Image) -> None:
    """Keep the picture's own extent; a range view has its angles at the edges, a photograph no ticks."""
    ax.set_xlim(-0.5, width - 0.5)
    ax.set_ylim(height - 0.5, -0.5)
    ax.set_xticks([])
    ax.set_yticks([])
    if image.angles is None:
        return
    left, right, bottom, top = image.angles
    across = np.arange(np.ceil(right / 20) * 20, left + 1e-6, 20)
    up = np.arange(np.ceil(bottom / 10) * 10, top + 1e-6, 10)
    ax.set_xticks([(left - angle) / (left - right) * width - 0.5 for angle in across], [f"{a:.0f}°" for a in across])
    ax.set_yticks([(top - angle) / (top - bottom) * height - 0.5 for angle in up], [f"{a:.0f}°" for a in up])
    ax.set_xlabel("azimuth, 0° along x")
    ax.set_ylabel("elevation")


def _source(image: Image) -> str:
    return short_name(image.source)
