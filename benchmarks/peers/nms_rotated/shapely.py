"""nms_rotated with Shapely: overlaps of the boxes that a tree finds together, then one box after another."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    shapely: Any = importlib.import_module("shapely")
    boxes, scores, threshold = (*problem.inputs.values(), problem.case.parameters["threshold"])

    def run() -> Arrays:
        order = np.argsort(-scores, kind="stable")
        polygons = shapely.polygons(corners(boxes[order]))
        tree = shapely.STRtree(polygons)
        first, second = tree.query(polygons)
        later = first < second
        first, second = first[later], second[later]
        common = shapely.area(shapely.intersection(polygons[first], polygons[second]))
        areas = (boxes[:, 2] * boxes[:, 3])[order]
        over = common / (areas[first] + areas[second] - common) > threshold
        return {"kept": order[keep(len(boxes), first[over], second[over])].astype(np.int32)}

    return {"STRtree": run}


def keep(count: int, first: Array, second: Array) -> Array:
    """Return which boxes are kept, given the pairs of which the first one would suppress the second one."""
    by_first = np.argsort(first, kind="stable")
    starts = np.searchsorted(first[by_first], np.arange(count + 1))
    others = second[by_first]
    left = np.ones(count, np.bool_)
    for i in range(count):
        if left[i]:
            left[others[starts[i] : starts[i + 1]]] = False
    return np.flatnonzero(left)


def corners(boxes: Array) -> Array:
    """[N, 4, 2]."""
    x, y, width, height, angle = boxes.T.astype(np.float64)
    along = np.stack([np.cos(angle), np.sin(angle)], 1) * width[:, None] / 2
    across = np.stack([-np.sin(angle), np.cos(angle)], 1) * height[:, None] / 2
    centre = np.stack([x, y], 1)
    return np.stack(
        [centre + along + across, centre - along + across, centre - along - across, centre + along - across], 1
    )
