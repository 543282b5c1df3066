"""quadri_boxes with Shapely: overlaps of the boxes that a tree finds together, then one box after another."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    shapely: Any = importlib.import_module("shapely")
    boxes, threshold = problem.inputs["boxes"], problem.case.parameters["threshold"]

    def parts(rows: Array) -> tuple[Array, Array, Array]:
        polygons = shapely.polygons(rows.reshape(-1, 4, 2).astype(np.float64))
        first, second = shapely.STRtree(polygons).query(polygons)
        areas = shapely.area(polygons)
        common = shapely.area(shapely.intersection(polygons[first], polygons[second]))
        return first, second, common / (areas[first] + areas[second] - common)

    def overlaps() -> Arrays:
        first, second, part = parts(boxes)
        outputs["out"][...] = 0
        outputs["out"][first, second] = part
        return outputs

    def suppress() -> Arrays:
        order = np.argsort(-problem.inputs["scores"], kind="stable")
        first, second, part = parts(boxes[order])
        over = (first < second) & (part > threshold)
        return {"kept": order[_keep(len(boxes), first[over], second[over])].astype(np.int32)}

    return {"STRtree": overlaps if "out" in outputs else suppress}


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
