"""box_iou_rotated with Shapely: areas of intersections of polygons, where a tree says that they may meet."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    shapely: Any = importlib.import_module("shapely")
    first, second = problem.inputs["bbox1"], problem.inputs["bbox2"]
    out = outputs["out"]

    def run() -> Arrays:
        polygons, others = (shapely.polygons(_corners(boxes)) for boxes in (first, second))
        rows, columns = shapely.STRtree(others).query(polygons)
        common = shapely.area(shapely.intersection(polygons[rows], others[columns]))
        areas, other_areas = (boxes[:, 2] * boxes[:, 3] for boxes in (first, second))
        out[...] = 0
        out[rows, columns] = common / (areas[rows] + other_areas[columns] - common)
        return outputs

    return {"STRtree": run}


def _corners(boxes: Array) -> Array:
    """[N, 4, 2]."""
    x, y, width, height, angle = boxes.T.astype(np.float64)
    along = np.stack([np.cos(angle), np.sin(angle)], 1) * width[:, None] / 2
    across = np.stack([-np.sin(angle), np.cos(angle)], 1) * height[:, None] / 2
    centre = np.stack([x, y], 1)
    return np.stack(
        [centre + along + across, centre - along + across, centre - along - across, centre + along - across], 1
    )
