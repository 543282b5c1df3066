"""Boxes of ``spconv.utils`` against shapely, and suppression against loops."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
shapely = pytest.importorskip("shapely")


def corners(count: int, seed: int, degrees: float | None = None) -> np.ndarray:
    """Rotated boxes of sizes from 0.5 to 4, some clockwise; on a grid and at right angles if asked for."""
    rng = np.random.default_rng(seed)
    middle, size = rng.uniform(0, 8, (count, 1, 2)), rng.uniform(0.5, 4, (count, 1, 2))
    angle = rng.uniform(0, 7, count) if degrees is None else rng.integers(0, 4, count) * np.deg2rad(degrees)
    if degrees is not None:
        middle, size = np.round(middle), np.round(size) + 1
    unit = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2 * size
    turn = np.stack([np.stack([np.cos(angle), -np.sin(angle)], 1), np.stack([np.sin(angle), np.cos(angle)], 1)], 1)
    found = middle + np.einsum("nij,nkj->nki", turn, unit)
    found[::3] = found[::3, ::-1]
    return found.astype(np.float32)


def around(boxes: np.ndarray) -> np.ndarray:
    return np.concatenate([boxes.min(1), boxes.max(1)], 1)


def standup(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    boxes = [[shapely.box(*bounds) for bounds in around(one).tolist()] for one in (a, b)]
    quotients = [[x.intersection(y).area / x.union(y).area for y in boxes[1]] for x in boxes[0]]
    return np.array(quotients, np.float32).reshape(len(a), len(b))


@pytest.fixture
def utils(spconv: Any) -> Any:
    return importlib.import_module("spconv.utils")


@pytest.mark.parametrize("degrees", [None, 90.0, 45.0])
def test_overlaps(utils: Any, degrees: float | None) -> None:
    a, b = corners(30, 0, degrees), corners(25, 1, degrees)
    b[:3] = a[:3]
    near = standup(a, b)
    polygons = [[shapely.Polygon(box) for box in one.tolist()] for one in (a, b)]
    common = np.array([[x.intersection(y).area for y in polygons[1]] for x in polygons[0]])
    joint = np.array([[x.union(y).area for y in polygons[1]] for x in polygons[0]])
    assert 0.1 < np.count_nonzero(common) / common.size < 0.95
    np.testing.assert_allclose(utils.rbbox_intersection(a, b, near, 0.0), common, rtol=1e-5, atol=1e-5)
    found = utils.rbbox_iou(a, b, near, 0.0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, common / joint, rtol=1e-5, atol=1e-5)
    some = utils.rbbox_iou(a, b, near, 0.2)
    np.testing.assert_array_equal(some, np.where(near > 0.2, found, 0))
    assert utils.rbbox_iou(a[:0], b, near[:0], 0.0).shape == (0, 25)
    with pytest.raises(ValueError, match=r"rbbox_iou: standup_iou: expected shape \[30, 25\]"):
        utils.rbbox_iou(a, b, near.T, 0.0)
    with pytest.raises(ValueError, match=r"rbbox_iou: expected corners of shape \[N, 4, 2\]"):
        utils.rbbox_iou(a[:, :3], b, near, 0.0)


def kept_by_loop(overlaps: np.ndarray, order: np.ndarray, thresh: float) -> list[int]:
    keep: list[int] = []
    for number in order.tolist():
        if all(overlaps[other, number] < thresh or overlaps[other, number] == 0 for other in keep):
            keep.append(number)
    return keep


@pytest.mark.parametrize("thresh", [0.0, 0.1, 0.5, 1.0])
def test_suppression(utils: Any, thresh: float) -> None:
    boxes = corners(80, 2)
    order = np.random.default_rng(3).permutation(80).astype(np.int32)
    near = standup(boxes, boxes)
    overlaps = utils.rbbox_iou(boxes, boxes, near, 0.0)
    assert utils.rotate_non_max_suppression_cpu(boxes, order, near, thresh) == kept_by_loop(overlaps, order, thresh)
    flat = around(boxes).astype(np.float64)
    found = utils.non_max_suppression_cpu(flat, order, thresh)
    assert found == kept_by_loop(standup(boxes, boxes).astype(np.float64), order, thresh)
    assert utils.non_max_suppression_cpu(flat[:0], order[:0], thresh, 1.0) == []


def test_widths_that_count_both_ends(utils: Any) -> None:
    boxes = np.array([[0, 0, 9, 9], [5, 0, 14, 9], [10, 0, 19, 9]], np.float32)
    order = np.arange(3)
    assert utils.non_max_suppression_cpu(boxes, order, 1 / 3, 1.0) == [0, 2]
    assert utils.non_max_suppression_cpu(boxes, order, 0.34, 1.0) == [0, 1, 2]
    assert utils.non_max_suppression_cpu(boxes, order, 0.0, 0.0) == [0, 2]
