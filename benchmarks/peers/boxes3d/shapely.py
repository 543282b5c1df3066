"""boxes3d with Shapely: areas of intersections of polygons, where a tree says that they may meet."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    shapely: Any = importlib.import_module("shapely")
    name = problem.case.operator
    run: Callable[[], Arrays]
    if name.startswith("nms"):
        run = _suppression(shapely, problem, name.endswith("normal"))
    else:
        run = _pairs(shapely, problem, outputs, name)
    return {"STRtree": run}


def _pairs(shapely: Any, problem: Problem, outputs: Arrays, name: str) -> Callable[[], Arrays]:
    first, second, out = problem.inputs["boxes_a"], problem.inputs["boxes_b"], outputs["out"]

    def run() -> Arrays:
        polygons, others = (shapely.polygons(_corners(boxes)) for boxes in (first, second))
        rows, columns = shapely.STRtree(others).query(polygons)
        common = shapely.area(shapely.intersection(polygons[rows], others[columns]))
        axes = slice(3, 5)
        if name == "boxes_iou3d":
            axes = slice(3, 6)
            top = np.minimum(*(boxes[at, 2] + boxes[at, 5] / 2 for boxes, at in ((first, rows), (second, columns))))
            low = np.maximum(*(boxes[at, 2] - boxes[at, 5] / 2 for boxes, at in ((first, rows), (second, columns))))
            common = common * np.maximum(top - low, 0)
        sizes, other_sizes = (boxes[:, axes].prod(1) for boxes in (first, second))
        whole = 1 if name == "boxes_overlap_bev" else sizes[rows] + other_sizes[columns] - common
        out[...] = 0
        out[rows, columns] = common / whole
        return outputs

    return run


def _suppression(shapely: Any, problem: Problem, straight: bool) -> Callable[[], Arrays]:
    boxes, scores, threshold = (*problem.inputs.values(), problem.case.parameters["threshold"])

    def run() -> Arrays:
        order = np.argsort(-scores, kind="stable")
        sorted_boxes = boxes[order]
        if straight:
            sorted_boxes[:, 6] = 0
        polygons = shapely.polygons(_corners(sorted_boxes))
        first, second = shapely.STRtree(polygons).query(polygons)
        later = first < second
        first, second = first[later], second[later]
        common = shapely.area(shapely.intersection(polygons[first], polygons[second]))
        areas = sorted_boxes[:, 3] * sorted_boxes[:, 4]
        over = common / (areas[first] + areas[second] - common) > threshold
        return {"kept": order[_keep(len(boxes), first[over], second[over])].astype(np.int32)}

    return run


def _keep(count: int, first: Array, second: Array) -> Array:
    """Return which boxes are kept, given the pairs of which the first one would suppress the second one."""
    by_first = np.argsort(first, kind="stable")
    starts = np.searchsorted(first[by_first], np.arange(count + 1))
    others = second[by_first]
    left = np.ones(count, np.bool_)
    for i in range(count):
        if left[i]:
            left[others[starts[i] : starts[i + 1]]] = False
    return np.flatnonzero(left)


def _corners(boxes: Array) -> Array:
    """[N, 4, 2]."""
    x, y, _, dx, dy, _, heading = boxes.T.astype(np.float64)
    along = np.stack([np.cos(heading), np.sin(heading)], 1) * dx[:, None] / 2
    across = np.stack([-np.sin(heading), np.cos(heading)], 1) * dy[:, None] / 2
    centre = np.stack([x, y], 1)
    return np.stack(
        [centre + along + across, centre - along + across, centre - along - across, centre + along - across], 1
    )
