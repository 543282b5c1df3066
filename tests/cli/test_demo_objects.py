"""The demo's boxes around objects: references against the oracles, groups, candidates, and what the checks refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pymluops._progress import Progress
from pymluops.demo import checks, objects, reference_objects
from pymluops.demo.bulk import bulk
from pymluops.demo.objects_run import run_objects
from pymluops.demo.recorder import Recorder
from pymluops.demo.scans import Scan
from pymluops.oracle import ball_query, boxes3d, voxelization

CARS = np.array([[6.0, 3.0, 0.8, 4.2, 1.8, 1.6, 0.4], [-7.0, -4.0, 0.8, 3.8, 1.7, 1.6, 1.2]])


def surface(box: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """Points on the sides of a box."""
    local = rng.uniform(-0.5, 0.5, (count, 3))
    side, sign = rng.integers(0, 2, count), rng.choice([-0.5, 0.5], count)
    local[np.arange(count), side] = sign
    local *= box[3:6]
    cos, sin = np.cos(box[6]), np.sin(box[6])
    x, y = local[:, 0] * cos - local[:, 1] * sin, local[:, 0] * sin + local[:, 1] * cos
    return np.stack([x, y, local[:, 2]], axis=1) + box[:3]


def street() -> Scan:
    """A ground with two cars, and a wall that is no object."""
    rng = np.random.default_rng(0)
    ground = np.column_stack([rng.uniform(-12, 12, (6000, 2)), rng.normal(0, 0.01, 6000)])
    wall = np.column_stack([rng.uniform(-12, 12, 1500), np.full(1500, 11.0), rng.uniform(0, 5, 1500)])
    xyz = np.concatenate([ground, wall, *(surface(car, rng, 900) for car in CARS)])
    return Scan("street", xyz, np.zeros((len(xyz), 1), np.float32), ("x", "y", "z", "i"))


@pytest.fixture(scope="module")
def run() -> Any:
    recorder = Recorder(Progress(None, 4))
    found = run_objects(recorder, street(), 0.2)
    assert [row.operator for row in recorder.rows] == ["voxelization", "ball_query", "nms3d", "boxes_iou3d"]
    assert all(row.check.ok for row in recorder.rows)
    return found


def test_a_box_is_kept_for_each_car_and_none_for_the_wall(run: Any) -> None:
    boxes = run.candidates.boxes[run.kept].astype(np.float64)
    boxes[:, :3] += run.task.origin
    assert len(boxes) == 2
    for car in CARS:
        found = boxes[np.linalg.norm(boxes[:, :2] - car[:2], axis=1).argmin()]
        np.testing.assert_allclose(found[:2], car[:2], atol=0.3)
        np.testing.assert_allclose(found[3:5], car[3:5], atol=0.6)
        assert abs(np.sin(found[6] - car[6])) < 0.2  # the same direction, or the opposite one


def test_the_references_are_the_oracles() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(-1, 7, (80, 4)).astype(np.float32)
    size, extent = np.full(3, 1.5, np.float32), np.array([0, 0, 0, 6, 6, 6], np.float32)
    for found, expected in zip(
        reference_objects.voxelization(points, size, extent, 2, 12), voxelization.voxels(points, size, extent, 2, 12),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(found, expected)
    places = rng.uniform(0, 3, (60, 3)).astype(np.float32)
    expected = ball_query.ball_query(places[None], places[None], 0, 0.8, 5, np.zeros((1, 60, 5), np.int32))[0]
    np.testing.assert_array_equal(reference_objects.ball_query(places, 0.8, 5), expected)
    boxes = boxes3d.random_boxes(rng, 24).astype(np.float32)
    found = reference_objects.boxes_iou3d(boxes, boxes)
    exact = np.array([[boxes3d.iou_3d(a, b) for b in boxes.astype(np.float64)] for a in boxes.astype(np.float64)])
    assert (np.abs(found.value - exact) <= found.allowed).all()
    scores = rng.random(24).astype(np.float32)
    kept, _ = reference_objects.nms3d(boxes, scores, 0.1)
    assert kept.tolist() == boxes3d.suppression("nms3d", boxes.astype(np.float64), scores, 0.1)


def test_groups_are_chains_of_neighbours() -> None:
    neighbours = np.array([[0, 1], [1, 2], [2, 2], [3, 3], [4, 5], [5, 5]])
    chosen = np.array([True, True, True, True, False, True])
    assert objects.group_neighbours(neighbours, chosen).tolist() == [0, 0, 0, 3, -1, 5]


def test_one_outlier_does_not_stretch_the_bulk() -> None:
    xyz = np.concatenate([np.random.default_rng(2).uniform(-1, 1, (999, 3)), [[900.0, -900, 900]]])
    low, high = bulk(xyz)
    assert (low > -1.5).all() and (high < 1.5).all()


def test_wrongly_kept_boxes_are_found(run: Any) -> None:
    candidates = run.candidates
    kept, overlaps = reference_objects.nms3d(candidates.boxes, candidates.scores, objects.THRESHOLD)

    def check(actual: np.ndarray) -> checks.Check:
        return checks.check_kept(actual, kept, overlaps, candidates.scores, objects.THRESHOLD)

    assert check(kept).exact
    assert "wrongly kept or suppressed" in check(kept[:-1]).text()
    everything = np.argsort(-candidates.scores, kind="stable").astype(np.int32)
    assert "wrongly kept or suppressed" in check(everything).text()
    assert "order of their scores" in check(kept[::-1].copy()).text()
    assert "expected" in check(kept.astype(np.int64)).text()
