"""ps_roi_pool with NumPy: integral images, whose four corners give the sum of a bin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction."""
    forward = problem.case.operator.endswith("forward")
    return {"integral": _forward(problem, outputs) if forward else _backward(problem, outputs)}


def edges(problem: Problem, axis: int, size: int) -> tuple[Array, Array]:
    """Return the first pixel of each bin along an axis, and the one behind its last, [R, g]."""
    rois, bins, scale = problem.inputs["rois"], problem.case.parameters["bins"], problem.case.parameters["scale"]
    low, high = (np.copysign(np.floor(np.abs(c) + 0.5), c) for c in (rois[:, 1 + axis], rois[:, 3 + axis]))
    start = (low * np.float32(scale)).astype(np.float32)
    step = np.maximum((high + 1) * np.float32(scale) - start, np.float32(0.1)) / np.float32(bins)
    number = np.arange(bins, dtype=np.float32)
    first = np.floor(number * step[:, None] + start[:, None])
    behind = np.ceil((number + 1) * step[:, None] + start[:, None])
    return np.clip(first, 0, size).astype(np.int64), np.clip(behind, 0, size).astype(np.int64)


def _geometry(problem: Problem, height: int, width: int) -> tuple[Any, ...]:
    """Return the rows and columns of the corners of the bins, [R, g, 1] and [R, 1, g], and their pixels."""
    top, bottom = (edge[:, :, None] for edge in edges(problem, 1, height))
    left, right = (edge[:, None, :] for edge in edges(problem, 0, width))
    image = problem.inputs["rois"][:, 0].astype(np.int64)[:, None, None]
    area = np.maximum(bottom - top, 0) * np.maximum(right - left, 0)
    return image, ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)), area


def _forward(problem: Problem, outputs: Arrays) -> Callable[[], Arrays]:
    maps, facts = problem.inputs["input"], problem.case.parameters
    bins, depth = facts["bins"], facts["depth"]
    batch, height, width, channels = maps.shape
    i, j = np.arange(bins)[None, :, None], np.arange(bins)[None, None, :]
    own = np.arange(depth) * bins * bins + (i * bins + j)[..., None]

    def run() -> Arrays:
        image, corners, area = _geometry(problem, height, width)
        integral = np.zeros((batch, height + 1, width + 1, channels))
        np.cumsum(maps, axis=1, out=integral[:, 1:, 1:])
        np.cumsum(integral[:, 1:, 1:], axis=2, out=integral[:, 1:, 1:])
        total = sum(sign * integral[image[..., None], row[..., None], column[..., None], own]
                    for row, column, sign in corners)  # fmt: skip
        outputs["out"][...] = np.where(area > 0, 1, 0)[..., None] * total / np.maximum(area, 1)[..., None]
        outputs["mapping_channel"][...] = own
        return outputs

    return run


def _backward(problem: Problem, outputs: Arrays) -> Callable[[], Arrays]:
    gradient, mapping, out = problem.inputs["top_grad"], problem.inputs["mapping_channel"], outputs["out"]
    batch, height, width, channels = out.shape

    def run() -> Arrays:
        image, corners, area = _geometry(problem, height, width)
        share = np.where(area > 0, 1, 0)[..., None] * gradient / np.maximum(area, 1)[..., None]
        steps = np.zeros(batch * (height + 1) * (width + 1) * channels)
        for row, column, sign in corners:
            place = ((image * (height + 1) + row) * (width + 1) + column)[..., None] * channels + mapping
            steps += np.bincount(place.ravel(), (sign * share).ravel(), minlength=steps.size)
        steps = steps.reshape(batch, height + 1, width + 1, channels)
        out[...] = np.cumsum(np.cumsum(steps, axis=1), axis=2)[:, :height, :width]
        return outputs

    return run
