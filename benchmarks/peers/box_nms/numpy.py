"""box_nms with NumPy: each pick is compared with all boxes left at once."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    boxes, scores = problem.inputs.values()
    way = {"nms2d": _keep, "soft_nms": _lower, "nms_match": _match}[problem.case.operator]
    threshold, name = problem.case.parameters["threshold"], result(problem)
    return {"a pick at a time": lambda: {name: way(boxes, scores, threshold).astype(np.int32)}}


def result(problem: Problem) -> str:
    """Return the name of the result."""
    return "matches" if problem.case.operator == "nms_match" else "found"


def overlaps(box: Array, others: Array) -> Array:
    """Intersection over union."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    common = np.maximum(high - low, 0).prod(1)
    areas = (others[:, 2:] - others[:, :2]).prod(1)
    part: Array = common / ((box[2:] - box[:2]).prod() + areas - common)
    return part


def _keep(boxes: Array, scores: Array, threshold: float) -> Array:
    order = np.argsort(-scores, kind="stable")
    kept = []
    while len(order):
        kept.append(order[0])
        order = order[1:][overlaps(boxes[order[0]], boxes[order[1:]]) <= threshold]
    return np.array(kept)


def _match(boxes: Array, scores: Array, threshold: float) -> Array:
    order = np.argsort(-scores, kind="stable")
    matches = np.arange(len(boxes))
    while len(order):
        near = overlaps(boxes[order[0]], boxes[order[1:]]) >= threshold
        matches[order[1:][near]] = order[0]
        order = order[1:][~near]
    return matches


def _lower(boxes: Array, scores: Array, threshold: float) -> Array:
    left, numbers, kept = scores.copy(), np.arange(len(boxes)), []
    while len(numbers):
        best = int(np.argmax(left))
        kept.append(numbers[best])
        part = overlaps(boxes[numbers[best]], boxes[numbers])
        left = left * np.where(part >= threshold, 1 - part, 1).astype(np.float32)
        stay = left >= np.float32(1e-3)
        stay[best] = False
        left, numbers = left[stay], numbers[stay]
    return np.array(kept)
