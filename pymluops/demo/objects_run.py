"""Running the operators that find objects in a scan: voxels, neighbours, boxes with suppression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import pymluops
from pymluops import library
from pymluops.demo import checks, reference_objects
from pymluops.demo.arrays import Array
from pymluops.demo.objects import (
    MAX_POINTS,
    MAX_VOXELS,
    NEIGHBOURS,
    RADIUS,
    THRESHOLD,
    Candidates,
    GridTask,
    candidate_boxes,
    grid_task,
    group_neighbours,
    heights_above_ground,
    may_be_objects,
    mean_points,
)
from pymluops.demo.recorder import Outcome, Recorder
from pymluops.demo.reference_objects import GridVoxels, Overlaps
from pymluops.demo.scans import Scan

FUNCTIONS = {
    "voxelization": "mluOpVoxelization",
    "ball_query": "mluOpBallQuery",
    "nms3d": "mluopsExtNms3d",
    "boxes_iou3d": "mluopsExtBoxesIou3d",
}
"""The operators of this step with their C functions; a library need not have them."""
VOXEL_NAMES = ("voxels", "coors", "num_points_per_voxel", "voxel_num")


@dataclass(frozen=True)
class ObjectRun:
    """Voxels [M] of a grid, their neighbours within `radius`, groups of those above the ground, and boxes around them.

    Neighbours and kept boxes are those that the operators returned, or those of the references
    where an operator refused or the library does not have it: `lacking` lists the latter. Each step
    begins with the reference's result of the one before, so that a fault is reported once.
    """

    scan: Scan
    task: GridTask
    radius: float
    grid: GridVoxels
    places: Array
    heights: Array
    neighbours: Array
    groups: Array
    candidates: Candidates
    kept: Array
    complete: bool  # whether every operator of the step gave a result, where there was something for it
    lacking: tuple[str, ...]

    @property
    def number_of_groups(self) -> int:
        """Groups that have boxes."""
        return len(np.unique(self.candidates.group))

    @property
    def neighbour_counts(self) -> Array:
        """How many places each list of neighbours has, itself included."""
        return np.asarray(1 + np.count_nonzero(np.diff(self.neighbours, axis=1) > 0, axis=1))


def run_objects(recorder: Recorder, scan: Scan, size: float) -> ObjectRun:
    """Sort the bulk of a scan into voxels, link those above the ground, and keep one box for each thing."""
    backend = library.current()
    lacking = tuple(name for name, function in FUNCTIONS.items() if not backend.implements(function))
    task = grid_task(scan, size)
    voxels = _run_voxelization(recorder, task, lacking)
    grid = _without_empty_rows(voxels.expected)
    places = mean_points(grid.voxels, grid.num_points_per_voxel)
    radius = RADIUS * size
    neighbours = _run_ball_query(recorder, places, radius, lacking)
    heights = heights_above_ground(places)
    groups = group_neighbours(neighbours.expected, may_be_objects(places, heights, size))
    candidates = candidate_boxes(grid.voxels, grid.num_points_per_voxel, groups)
    kept = np.empty(0, np.int32)
    complete = voxels.result is not None and neighbours.result is not None
    if len(candidates.scores):
        suppression = _run_nms(recorder, candidates, lacking)
        right = suppression.expected[0]
        kept = right if suppression.result is None else _existing(suppression.result, candidates)
        overlap = _run_iou(recorder, candidates.boxes[right], candidates.boxes, lacking)
        complete = complete and suppression.result is not None and overlap.result is not None
    return ObjectRun(
        scan, task, radius, grid, places, heights,
        neighbours.expected if neighbours.result is None else neighbours.result[0],
        groups, candidates, kept, complete, lacking,
    )  # fmt: skip


def _existing(kept: Array, candidates: Candidates) -> Array:
    """Return the numbers that are those of boxes; all, unless the operator is wrong."""
    return np.asarray(kept[(kept >= 0) & (kept < len(candidates.scores))])


def _without_empty_rows(grid: GridVoxels) -> GridVoxels:
    count = int(grid.voxel_num[0])
    return GridVoxels(grid.voxels[:count], grid.coors[:count], grid.num_points_per_voxel[:count], grid.voxel_num)


def _run_voxelization(recorder: Recorder, task: GridTask, lacking: tuple[str, ...]) -> Outcome[GridVoxels]:
    most = min(MAX_VOXELS, len(task.points))
    points, voxel_size, coors_range = task.points, task.voxel_size, task.coors_range

    def expect() -> GridVoxels:
        return reference_objects.voxelization(points, voxel_size, coors_range, MAX_POINTS, most)

    def call(last: Any) -> tuple[Array, ...]:
        voxels, coors, numbers, count = last or (None,) * 4
        return tuple(
            pymluops.voxelization(
                points, voxel_size, coors_range, MAX_POINTS, most,
                voxels=voxels, coors=coors, num_points_per_voxel=numbers, voxel_num=count,
            )
        )  # fmt: skip

    if "voxelization" in lacking:
        return Outcome(None, expect())
    return recorder.run(
        "voxelization",
        f"{MAX_POINTS} points",
        {"points": points, "voxel_size": voxel_size, "coors_range": coors_range},
        VOXEL_NAMES,
        call,
        expect,
        lambda result, expected: checks.check_all_exact(result, expected, VOXEL_NAMES),
    )


def _run_ball_query(recorder: Recorder, places: Array, radius: float, lacking: tuple[str, ...]) -> Outcome[Array]:
    batch = np.ascontiguousarray(places[None])

    def expect() -> Array:
        return reference_objects.ball_query(places, radius, NEIGHBOURS)

    if "ball_query" in lacking:
        return Outcome(None, expect())
    return recorder.run(
        "ball_query",
        f"{radius:.3g} m",
        {"new_xyz": batch, "xyz": batch},
        ("idx",),
        lambda out: pymluops.ball_query(batch, batch, 0, radius, NEIGHBOURS, out=out),
        expect,
        lambda result, expected: checks.check_exact(result, expected[None]),
    )


def _run_nms(recorder: Recorder, candidates: Candidates, lacking: tuple[str, ...]) -> Outcome[tuple[Array, Overlaps]]:
    boxes, scores = candidates.boxes, candidates.scores

    def expect() -> tuple[Array, Overlaps]:
        return reference_objects.nms3d(boxes, scores, THRESHOLD)

    if "nms3d" in lacking:
        return Outcome(None, expect())
    return recorder.run(
        "nms3d",
        f"overlap {THRESHOLD}",
        {"boxes": boxes, "scores": scores},
        ("kept",),
        lambda _: pymluops.nms3d(boxes, scores, THRESHOLD),
        expect,
        lambda result, expected: checks.check_kept(result, expected[0], expected[1], scores, THRESHOLD),
    )


def _run_iou(recorder: Recorder, kept: Array, boxes: Array, lacking: tuple[str, ...]) -> Outcome[Overlaps]:
    def expect() -> Overlaps:
        return reference_objects.boxes_iou3d(kept, boxes)

    if "boxes_iou3d" in lacking:
        return Outcome(None, expect())
    return recorder.run(
        "boxes_iou3d",
        "kept x all",
        {"boxes_a": kept, "boxes_b": boxes},
        ("ious",),
        lambda out: pymluops.boxes_iou3d(kept, boxes, out=out),
        expect,
        checks.check_overlaps,
    )
