"""box_nms with numba: loops over boxes in the order of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.box_nms.numpy import result
from benchmarks.peers.numba_support import inlined
from benchmarks.problem import Arrays, Problem


def _overlap(boxes: Any, i: int, k: int) -> Any:
    width = min(boxes[i, 2], boxes[k, 2]) - max(boxes[i, 0], boxes[k, 0])
    height = min(boxes[i, 3], boxes[k, 3]) - max(boxes[i, 1], boxes[k, 1])
    if width <= 0 or height <= 0:
        return np.float32(0)
    common = width * height
    area = (boxes[i, 2] - boxes[i, 0]) * (boxes[i, 3] - boxes[i, 1])
    other = (boxes[k, 2] - boxes[k, 0]) * (boxes[k, 3] - boxes[k, 1])
    return common / (area + other - common)


_part = inlined(_overlap)


def _match(boxes: Any, threshold: Any, matches: Any) -> None:
    """Find the place of the one that each box belongs to; boxes stand in the order of scores."""
    count = len(boxes)
    matches[:] = -1
    for i in range(count):
        if matches[i] >= 0:
            continue
        matches[i] = i
        for k in range(i + 1, count):
            if matches[k] < 0 and _part(boxes, i, k) > threshold:
                matches[k] = i


def _lower(boxes: Any, scores: Any, threshold: Any, numbers: Any) -> int:
    count, left = len(boxes), len(boxes)
    numbers[:] = np.arange(count)
    for i in range(count):
        if i >= left:
            break
        best = i
        for k in range(i, left):
            if scores[numbers[k]] > scores[numbers[best]]:
                best = k
        numbers[i], numbers[best] = numbers[best], numbers[i]
        k = i + 1
        while k < left:
            part = _part(boxes, numbers[i], numbers[k])
            if part >= threshold:
                scores[numbers[k]] *= np.float32(1) - part
            if scores[numbers[k]] < np.float32(1e-3):
                left -= 1
                numbers[k], numbers[left] = numbers[left], numbers[k]
            else:
                k += 1
    return left


_matched, _lowered = inlined(_match), inlined(_lower)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    boxes, scores = problem.inputs.values()
    threshold = np.float32(problem.case.parameters["threshold"])
    places = np.zeros(len(boxes), np.int64)

    def match() -> Arrays:
        order = np.argsort(-scores, kind="stable")
        _matched(boxes[order], threshold, places)
        if problem.case.operator == "nms2d":
            return {"found": order[places == np.arange(len(places))].astype(np.int32)}
        matches = np.empty(len(places), np.int32)
        matches[order] = order[places]
        return {result(problem): matches}

    def lower() -> Arrays:
        return {"found": places[: _lowered(boxes, scores.copy(), threshold, places)].astype(np.int32)}

    return {"loops": lower if problem.case.operator == "soft_nms" else match}
