"""contour_expand and pixel_group: regions of text that grow from kernels, one pixel after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way


def _grow(
    labels: np.ndarray, queue: deque[tuple[int, int]], steps: list[tuple[int, int]], take: Callable[..., bool]
) -> None:
    while queue:
        row, column = queue.popleft()
        for down, right in steps:
            i, j = row + down, column + right
            if (
                0 <= i < labels.shape[0]
                and 0 <= j < labels.shape[1]
                and labels[i, j] <= 0
                and take(i, j, labels[row, column])
            ):
                labels[i, j] = labels[row, column]
                queue.append((i, j))


def expand(masks: np.ndarray, kernels: np.ndarray, least_area: int, count: int) -> np.ndarray:
    """The label of each pixel."""
    labels = np.where((kernels > 0) & (kernels < count), kernels, 0).astype(np.int32)
    areas = np.bincount(labels.ravel(), minlength=count)
    labels[areas[labels] < least_area] = 0
    if len(masks) > 1:
        queue = deque(map(tuple, np.argwhere(labels > 0).tolist()))
        _grow(labels, queue, [(-1, 0), (1, 0), (0, -1), (0, 1)], lambda i, j, _label: bool(masks[0, i, j]))
    return labels


def group(
    score: np.ndarray,
    mask: np.ndarray,
    embedding: np.ndarray,
    kernels: np.ndarray,
    contour: np.ndarray,
    count: int,
    distance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The label of each pixel, mean scores and numbers of pixels, in the type of the scores step by step."""
    real = score.dtype.type
    labels = np.where((kernels > 0) & (kernels < count), kernels, 0).astype(np.int32)
    centres = np.zeros((count, embedding.shape[2]), score.dtype)
    with np.errstate(all="ignore"):
        for i, j in np.argwhere(labels > 0):
            centres[labels[i, j]] += embedding[i, j]
        numbers = np.bincount(labels.ravel(), minlength=count)
        centres /= np.maximum(numbers, 1).astype(score.dtype)[:, None]
        limit = real(distance) * real(distance)

        def take(i: int, j: int, label: int) -> bool:
            total = real(0)
            for apart in embedding[i, j] - centres[label]:
                total = real(np.float64(total) + np.float64(apart) * np.float64(apart))
            return bool(mask[i, j]) and not total >= limit

        queue = deque(map(tuple, np.argwhere((labels > 0) & contour.astype(bool)).tolist()))
        _grow(labels, queue, [(0, -1), (0, 1), (-1, 0), (1, 0)], take)
        means, counts = np.zeros(count, score.dtype), np.zeros(count, np.int32)
        for i, j in np.argwhere(labels > 0):
            means[labels[i, j]] += score[i, j]
            counts[labels[i, j]] += 1
        means /= np.maximum(counts, 1).astype(score.dtype)
    return labels, means, counts


def kernels(rng: np.random.Generator, height: int, width: int, count: int) -> np.ndarray:
    """Small rectangles with labels."""
    found = np.zeros((height, width), np.int32)
    for label in range(1, count):
        top, left = rng.integers(0, height), rng.integers(0, width)
        found[top : top + rng.integers(1, 4), left : left + rng.integers(1, 4)] = label
    return found


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let kernels be connected, and masks be mostly set."""
    name = "internal_kernel_label" if "internal_kernel_label" in arguments else "kernel_label"
    labels = arguments[name]
    labels[...] = kernels(rng, *labels.shape, arguments["label_count"])
    for key in ("kernel_mask", "mask", "kernel_contour"):
        if key in arguments:
            arguments[key][...] = rng.random(arguments[key].shape) < 0.8
    if "embedding" in arguments:
        arguments["embedding"][...] = rng.normal(size=arguments["embedding"].shape)
        arguments["distance_threshold"] = float(rng.uniform(0.5, 3))
    else:
        arguments["min_kernel_area"] = int(rng.integers(0, 3))


def in_double(_name: str, *given: Any) -> Any:
    """The results for float64 values."""
    return group(*given)


def ways(size: int) -> Iterator[Way]:
    """Large maps, most of which are text."""
    sizes = {"H": 30 * size, "W": 40, "label_count": 9}
    yield Way("contour_expand", "large", {**sizes, "K": 3}, {"min_kernel_area": 1}, change=prepare)
    yield Way("pixel_group", "large", {**sizes, "C": 4}, {"distance_threshold": 3.0}, change=prepare)


REFUSALS = {
    "mluopsExtContourExpand": Refusals(
        order="handle objects scalars:label_count ranks shapes packed types positive indexable empty data overlap"
    ),
    "mluopsExtPixelGroup": Refusals(
        order="handle objects scalars:label_count ranks shapes packed types positive indexable data overlap"
    ),
}
