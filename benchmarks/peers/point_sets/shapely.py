"""point_sets with Shapely: hulls, overlaps of the pairs that a tree finds, and oriented envelopes."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread. Shapely has no gradients."""
    shapely: Any = importlib.import_module("shapely")
    sets = problem.inputs["pointsets"].reshape(-1, 9, 2).astype(np.float64)

    def surround() -> Arrays:
        boxes = shapely.oriented_envelope(shapely.multipoints(sets))
        outputs["out"][...] = shapely.get_coordinates(boxes).reshape(-1, 5, 2)[:, :4].reshape(-1, 8)
        return outputs

    def overlaps() -> Arrays:
        hulls = shapely.convex_hull(shapely.multipoints(sets))
        others = shapely.polygons(problem.inputs["polygons"].reshape(-1, 4, 2).astype(np.float64))
        first, second = shapely.STRtree(others).query(hulls)
        common = shapely.area(shapely.intersection(hulls[first], others[second]))
        outputs["out"][...] = 0
        united = shapely.area(hulls)[first] + shapely.area(others)[second] - common
        outputs["out"][first, second] = common / united
        return outputs

    ways = {"convex_iou": {"STRtree": overlaps}, "min_area_polygons": {"oriented_envelope": surround}}
    return ways.get(problem.case.operator, {})
