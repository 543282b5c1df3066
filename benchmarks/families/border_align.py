"""border_align: the largest of some samples along each border of a box, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

_TOLERANCE = {"float32": 1e-4, "float16": 4e-3}

#: Where two samples are equal but for rounding, another way to compute them may take the other one.
_OTHER_SAMPLE = {"float32": 1e-3, "float16": 5e-2}


def build(case: Case) -> Problem:
    """Make a feature map and boxes that lie on it, or the gradient of its result."""
    facts, rng = case.parameters, generator(case)
    batch, (height, width), pool = facts["batch"], facts["size"], facts["pool"]
    channels, boxes = facts["channels"], _boxes(rng, batch, facts["boxes"], height, width).astype(case.dtype)
    features = rng.standard_normal((batch, height, width, 4 * channels), np.float32).astype(case.dtype)
    result = (batch, boxes.shape[1], 4, channels)
    if case.operator.endswith("forward"):
        return _forward(case, features, boxes, result, pool)
    _, argmax = pymluops.border_align_forward(features, boxes, pool)
    gradient = rng.standard_normal(result, np.float32).astype(case.dtype)
    return _backward(case, gradient, boxes, argmax, features.shape, pool)


def _forward(case: Case, features: Array, boxes: Array, result: tuple[int, ...], pool: int) -> Problem:
    def run(out: Arrays) -> Arrays:
        pymluops.border_align_forward(features, boxes, pool, out=out["out"], argmax_idx=out["argmax_idx"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], _TOLERANCE[case.dtype])
        others = float(np.mean(expected["argmax_idx"] != found["argmax_idx"]))
        if others > _OTHER_SAMPLE[case.dtype]:
            raise WrongResultError(f"argmax_idx: {100 * others:.2g} % of the samples are others")

    read = _pixels_read(boxes, pool, features.shape) * result[3] * features.itemsize + boxes.nbytes
    outputs = {"out": (result, features.dtype), "argmax_idx": (result, np.dtype(np.int32))}
    inputs = {"input": features, "boxes": boxes}
    return Problem(case, inputs, outputs, run, check, read)


def _backward(case: Case, gradient: Array, boxes: Array, argmax: Array, shape: tuple[int, ...], pool: int) -> Problem:
    def run(out: Arrays) -> Arrays:
        pymluops.border_align_backward(gradient, boxes, argmax, pool, shape[1:3], out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], _TOLERANCE[case.dtype])

    inputs = {"grad_output": gradient, "boxes": boxes, "argmax_idx": argmax}
    return Problem(case, inputs, {"out": (shape, gradient.dtype)}, run, check)


def _boxes(rng: np.random.Generator, batch: int, count: int, height: int, width: int) -> Array:
    """Return boxes [batch, count, 4] with two corners drawn evenly from the map."""
    corners = rng.random((batch, count, 2, 2)) * (max(width - 1, 0.5), max(height - 1, 0.5))
    return np.sort(corners, axis=2).reshape(batch, count, 4)


def _pixels_read(boxes: Array, pool: int, shape: tuple[int, ...]) -> int:
    """Return how many pixels of a border's channels are the corner of a sample, summed over borders and batch."""
    height, width = shape[1:3]
    x1, y1, x2, y2 = (boxes[..., i].astype(np.float64)[..., None] for i in range(4))
    along = np.arange(pool + 1) / pool
    across, down = (x2 - x1) * along, (y2 - y1) * along
    fixed = np.zeros_like(across)
    places = ((x1 + across, y1 + fixed), (x1 + fixed, y1 + down), (x2 - across, y2 + fixed), (x2 + fixed, y2 - down))
    count = 0
    for x, y in places:
        column, row = np.clip(x.astype(int), 0, width - 1), np.clip(y.astype(int), 0, height - 1)
        seen = np.zeros((boxes.shape[0], height, width), bool)
        image = np.arange(boxes.shape[0])[:, None, None]
        for right in (column, np.minimum(column + 1, width - 1)):
            for lower in (row, np.minimum(row + 1, height - 1)):
                seen[image, lower, right] = True
        count += int(np.count_nonzero(seen))
    return count


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the map to 38 by 38 with 64 channels and a box for each pixel, then the batch."""
    side = min(38, max(2, round((elements / 768) ** 0.5)))
    channels = min(64, max(1, round(elements / (12 * side * side))))
    batch = max(1, round(elements / (12 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "channels": channels, "boxes": side * side, "pool": 10}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    rng = np.random.default_rng(7)
    image, boxes = rng.random((1, 2, 2, 8), np.float32), np.array([[[0, 0, 1, 1], [0.2, 0.1, 0.9, 0.6]]], np.float32)
    pulled, where = pymluops.border_align_forward(image, boxes, 2)
    return [
        TinyCall("border_align_forward", "op(x, b, 2, out=o, argmax_idx=a)",
                 {"x": image, "b": boxes, "a": np.empty_like(where), "o": np.empty_like(pulled)}),
        TinyCall("border_align_backward", "op(x, b, a, 2, size, out=o)",
                 {"x": pulled, "b": boxes, "a": where, "o": np.empty_like(image)}, {"size": (2, 2)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    maps = np.random.default_rng(0).random((1, 4, 4, 8), np.float32)
    boxes = np.array([[[0, 0, 2, 2]]], np.float32)
    first, boxes_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(boxes)
    return TensorCall(
        "border_align",
        lambda: pymluops.border_align_forward(maps, boxes, 2),
        lambda: ops.border_align(first, boxes_t, 2),
    )
