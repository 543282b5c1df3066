"""roi_point_pool3d."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import roi_point_pool3d as oracle
from support.arrays import any_bits
from support.comparison import assert_same_bits
from support.selection import examples

PROBLEMS = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "points": st.integers(1, 40) | st.integers(250, 600),
        "boxes": st.integers(1, 6),
        "channels": st.integers(1, 5) | st.just(40),
        "samples": st.integers(1, 9) | st.just(300),
        "kind": st.sampled_from(["float32", "float16", "float64"]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, features of any bits, and boxes with many points, few and none."""
    rng = np.random.default_rng(s["seed"])
    points = rng.integers(-16, 17, (s["batch"], s["points"], 3)) / 8
    points[rng.random(points.shape) < 0.01] = np.nan
    features = any_bits(rng, (s["batch"], s["points"], s["channels"]), s["kind"])
    boxes = rng.uniform(-2, 2, (s["batch"], s["boxes"], 7))
    boxes[..., 3:6] = rng.integers(-1, 9, boxes[..., 3:6].shape) / 2
    return points.astype(s["kind"]), features, boxes.astype(s["kind"])


def pool(points: np.ndarray, features: np.ndarray, boxes: np.ndarray, samples: int) -> tuple[Any, Any]:
    known = described("roi_point_pool3d")
    operator = double_of(known) if points.dtype == np.float64 else known
    sizes = (len(points), points.shape[1], boxes.shape[1], features.shape[2], samples)
    result: tuple[Any, Any] = operator(None, (points, features, boxes, None, None), sizes)
    return result


@examples(150)
@given(s=PROBLEMS)
def test_rows_have_the_bits_of_the_points(s: dict[str, Any]) -> None:
    points, features, boxes = problem(s)
    pooled, empty = pool(points, features, boxes, s["samples"])
    wanted = oracle.pool(points, features, boxes, s["samples"])
    assert_same_bits(pooled, wanted[0])
    assert_same_bits(empty, wanted[1])


#: Batch, points, channels, boxes and samples; the vendor's case with an eighth of the points.
NAMED = [(1, 2048, 128, 128, 64), (1, 15, 3, 2, 4), (16, 256, 8, 16, 32)]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[int, ...]) -> None:
    batch, count, channels, number, samples = case
    rng = np.random.default_rng(6)
    points, boxes = rng.uniform(-10, 10, (batch, count, 3)), rng.uniform(-10, 10, (batch, number, 7))
    features = rng.uniform(-100, 100, (batch, count, channels))
    given_arrays = [array.astype(np.float32) for array in (points, features, boxes)]
    for found, wanted in zip(pool(*given_arrays, samples), oracle.pool(*given_arrays, samples), strict=True):
        assert_same_bits(found, wanted)


def test_fewer_points_are_repeated_and_empty_boxes_are_zeros() -> None:
    points = np.array([[[0, 0, 1], [9, 9, 9], [0.5, 0, 1]]], np.float32)
    features = np.array([[[1], [2], [3]]], np.float32)
    boxes = np.array([[[0, 0, 0, 2, 2, 2, 0], [5, 5, 5, 1, 1, 1, 0], [0, 0, 0, 2, 2, -2, 0]]], np.float32)
    pooled, empty = pool(points, features, boxes, 5)
    assert pooled[0, 0, :, 3].tolist() == [1, 3, 1, 3, 1] and empty.tolist() == [[0, 1, 1]]
    assert not pooled[0, 1:].any()
    assert pool(points, features, boxes, 1)[0][0, 0].tolist() == [[0, 0, 1, 1]]


def test_more_boxes_than_the_vendors_first_kernel_takes() -> None:
    rng = np.random.default_rng(1)
    points, features = rng.normal(size=(1, 20, 3)).astype(np.float32), rng.normal(size=(1, 20, 1)).astype(np.float32)
    boxes = rng.uniform(-1, 3, (1, 10300, 7)).astype(np.float32)
    pooled, empty = pool(points, features, boxes, 2)
    some = np.r_[:50, 10200:10300]
    wanted = oracle.pool(points, features, boxes[:, some], 2)
    assert_same_bits(pooled[:, some].copy(), wanted[0])
    assert_same_bits(empty[:, some].copy(), wanted[1])


@pytest.mark.parametrize("place", range(5))
def test_nothing_may_be_empty(place: int) -> None:
    sizes = [1, 2, 2, 2, 2]
    sizes[place] = 0
    batch, count, number, channels, samples = sizes
    arrays = [np.ones(shape, np.float32) for shape in ((batch, count, 3), (batch, count, channels), (batch, number, 7))]
    with pytest.raises(pymluops.BadParamError):
        pymluops.roi_point_pool3d(*arrays, *sizes[:2], number, channels, samples)
