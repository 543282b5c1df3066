"""border_align with NumPy: rows of channels taken for some boxes at a time, sums by a weighted count."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.border_align._points import backward_positions, corners, forward_positions
from benchmarks.problem import Array, Arrays, Problem
from benchmarks.threads import together

#: Elements of a block of boxes that stays in the second-level cache.
_BLOCK = 1 << 16


def _whole(values: Any) -> Array:
    return np.asarray(values, np.int64)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction. Work is shared among threads of Python."""
    forward = problem.case.operator.endswith("forward")
    if forward:
        return {"rows": _forward(problem, outputs, threads)}
    return {"bincount": _backward(problem, outputs, threads)}


def _forward(problem: Problem, outputs: Arrays, threads: int) -> Any:
    features, boxes, pool = problem.inputs["input"], problem.inputs["boxes"], problem.case.parameters["pool"]
    batch, height, width, _ = features.shape
    channels = problem.case.parameters["channels"]
    count = batch * boxes.shape[1] * 4
    out, argmax = outputs["out"].reshape(count, channels), outputs["argmax_idx"].reshape(count, channels)
    rows = features.reshape(-1, channels)
    block = max(1, _BLOCK // channels)

    def geometry() -> tuple[Array, Array]:
        place = forward_positions(np, boxes.astype(np.float32, copy=False), pool)
        pixels, weights = corners(np, _whole, place, height, width)
        first = np.arange(batch)[:, None, None, None, None] * height * width
        index = (first + pixels) * 4 + np.arange(4)[:, None, None]
        return index.reshape(count, pool + 1, 4), weights.reshape(count, pool + 1, 4).astype(np.float32)

    def sample(index: Array, weights: Array) -> Array:
        value = rows.take(index[:, 0], axis=0).astype(np.float32, copy=False)
        value *= weights[:, :1]
        for corner in (1, 2, 3):
            part = rows.take(index[:, corner], axis=0).astype(np.float32, copy=False)
            part *= weights[:, corner, None]
            value += part
        return value

    found: list[Array] = []

    def work(start: int, stop: int) -> None:
        index, weights = found
        for low in range(start * count // threads, stop * count // threads, block):
            part = slice(low, min(low + block, stop * count // threads))
            best = sample(index[part, 0], weights[part, 0])
            where = np.zeros(best.shape, np.int32)
            for i in range(1, pool + 1):
                value = sample(index[part, i], weights[part, i])
                wins = value > best
                np.copyto(best, value, where=wins)
                np.copyto(where, i, where=wins)
            out[part], argmax[part] = best, where

    shared = together(work, threads, threads)

    def run() -> Arrays:
        found[:] = geometry()
        shared()
        return outputs

    return run


def _backward(problem: Problem, outputs: Arrays, threads: int) -> Any:
    gradient, boxes, argmax = (problem.inputs[name] for name in ("grad_output", "boxes", "argmax_idx"))
    pool, out = problem.case.parameters["pool"], outputs["out"]
    batch, height, width, _ = out.shape
    channels = gradient.shape[3]
    steps = np.arange(pool + 1, dtype=np.float32)

    def work(start: int, stop: int) -> None:
        for n in range(start, stop):
            place = backward_positions(np, boxes[n].astype(np.float32, copy=False), steps, pool)
            pixels, weights = corners(np, _whole, place, height, width)
            box, border = np.arange(len(boxes[n]))[:, None, None], np.arange(4)[:, None]
            chosen = pixels[box, border, argmax[n]], weights[box, border, argmax[n]]
            total = np.zeros(height * width * 4 * channels)
            inner = border * channels + np.arange(channels)
            values = gradient[n].astype(np.float32, copy=False)
            for corner in range(4):
                target = chosen[0][..., corner] * (4 * channels) + inner
                part = values * chosen[1][..., corner]
                total += np.bincount(target.reshape(-1), part.reshape(-1), minlength=len(total))
            out[n] = total.reshape(out[n].shape)

    shared = together(work, batch, threads)

    def run() -> Arrays:
        shared()
        return outputs

    return run
