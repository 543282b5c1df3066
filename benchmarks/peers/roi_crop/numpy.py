"""roi_crop with NumPy: four rows of channels for each point, and sums of rows in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem
from benchmarks.threads import together


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction. Points, or images, are shared among threads of Python."""
    forward = problem.case.operator.endswith("forward")
    return {"rows": _forward(problem, outputs, threads) if forward else _backward(problem, outputs, threads)}


def _corners(problem: Problem, width: int, height: int) -> tuple[Array, Array]:
    """Return the numbers of the four pixels of each point in the batch, and their weights, 0 beside the map."""
    grid, batch = problem.inputs["grid"], problem.case.parameters["batch"]
    y, x = ((grid[..., axis].ravel() + 1) * (size - 1) / 2 for axis, size in enumerate((height, width)))
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    image = np.arange(y.size) // (y.size // batch)
    places, weights = [], []
    for down, along_y in ((0, 1 - (y - top)), (1, y - top)):
        for right, along_x in ((0, 1 - (x - left)), (1, x - left)):
            row, column = top + down, left + right
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            places.append(np.where(inside, (image * height + row) * width + column, 0))
            weights.append(np.where(inside, along_y * along_x, 0).astype(np.float32))
    return np.stack(places), np.stack(weights)


def _forward(problem: Problem, outputs: Arrays, threads: int) -> Callable[[], Arrays]:
    maps = problem.inputs["input"]
    rows, out = maps.reshape(-1, maps.shape[3]), outputs["out"].reshape(-1, maps.shape[3])
    block = max(1, (1 << 16) // maps.shape[3])

    def run() -> Arrays:
        places, weights = _corners(problem, maps.shape[2], maps.shape[1])

        def work(start: int, stop: int) -> None:
            for low in range(start * len(out) // threads, stop * len(out) // threads, block):
                part = slice(low, min(low + block, stop * len(out) // threads))
                total = out[part]
                np.multiply(rows.take(places[0, part], axis=0), weights[0, part, None], out=total)
                for corner in (1, 2, 3):
                    total += rows.take(places[corner, part], axis=0) * weights[corner, part, None]

        together(work, threads, threads)()
        return outputs

    return run


def _backward(problem: Problem, outputs: Arrays, threads: int) -> Callable[[], Arrays]:
    gradient, out = problem.inputs["grad_output"], outputs["out"]
    values, batch = gradient.reshape(-1, gradient.shape[3]), len(out)
    each = len(values) // batch

    def run() -> Arrays:
        places, weights = _corners(problem, out.shape[2], out.shape[1])

        def work(start: int, stop: int) -> None:
            rows = out.reshape(-1, out.shape[3])
            out[start:stop] = 0
            for point in range(start * each, stop * each):
                for corner in range(4):
                    rows[places[corner, point]] += weights[corner, point] * values[point]

        together(work, batch, threads)()
        return outputs

    return run
