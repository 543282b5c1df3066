"""diff_iou_rotated_sort_vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import diff_iou_rotated_sort_vertices as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

_FUNCTION = "mluOpDiffIouRotatedSortVerticesForward"


def _sort(vertices: np.ndarray, mask: np.ndarray, count: np.ndarray) -> np.ndarray:
    result: np.ndarray = pymluops.diff_iou_rotated_sort_vertices_forward(vertices, mask, count)
    return result


@examples(100)
@given(
    batch=st.integers(1, 3),
    polygons=st.integers(1, 9),
    density=st.sampled_from([0.1, 0.3, 0.6, 1.0]),
    grid=st.booleans(),
    special=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 2**32 - 1),
)
def test_order(batch: int, polygons: int, density: float, grid: bool, special: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vertices = rng.uniform(-2, 2, (batch, polygons, 24, 2)).astype(np.float32)
    vertices = np.round(vertices) if grid else vertices  # on an axis, at one place
    vertices = np.where(rng.random(vertices.shape) < special, any_bits(rng, vertices.shape, np.float32), vertices)
    mask = rng.random((batch, polygons, 24)) < density
    count = np.where(rng.random(mask.shape[:2]) < 0.2, rng.integers(-3, 12, mask.shape[:2]), mask.sum(-1))
    count = count.astype(np.int32)
    found = _sort(vertices, mask, count)
    np.testing.assert_array_equal(found, oracle.forward(vertices, mask, count))
    assert found.min() >= 0
    assert found.max() < 24


@pytest.mark.parametrize(("batch", "polygons"), [(1, 211), (2, 300), (70, 5)])
def test_named_and_larger_shapes(batch: int, polygons: int) -> None:
    rng = np.random.default_rng(5)
    arguments = {
        "vertices": rng.normal(size=(batch, polygons, 24, 2)).astype(np.float32),
        "mask": np.zeros((batch, polygons, 24), np.bool_),
        "num_valid": np.zeros((batch, polygons), np.int32),
    }
    oracle.prepare(arguments, rng)
    np.testing.assert_array_equal(_sort(*arguments.values()), oracle.forward(*arguments.values()))


def _polygon(*points: tuple[int, float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One polygon with these vertices: number, x, y."""
    vertices, mask = np.zeros((1, 1, 24, 2), np.float32), np.zeros((1, 1, 24), np.bool_)
    for number, x, y in points:
        vertices[0, 0, number], mask[0, 0, number] = (x, y), True
    return vertices, mask, mask.sum(-1, dtype=np.int32)


def test_a_walk_goes_from_the_right_over_the_top() -> None:
    square = _polygon((0, 1, 1), (5, -1, -1), (10, -1, 1), (23, 1, -1))
    assert _sort(*square).tolist() == [[[0, 10, 5, 23, 0, 8, 8, 8, 8]]]


def test_equal_boxes_have_their_corners_once() -> None:
    corners = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    both = _polygon(*((i, *corners[i % 4]) for i in range(8)))
    assert _sort(*both).tolist() == [[[0, 1, 2, 3, 0, 8, 8, 8, 8]]]


def test_fewer_than_three_vertices_are_no_polygon() -> None:
    for points in ([], [(8, 1.0, 1.0)], [(8, 1.0, 1.0), (9, -1.0, -1.0)]):
        found = _sort(*_polygon(*points))
        assert set(found.ravel()) == {8 + len(points)}
    vertices, mask, count = _polygon((8, 1, 1), (9, -1, 1), (10, 0, -1))
    assert _sort(vertices, mask, count - 9).tolist() == [[[11] * 9]]
    assert set(_sort(vertices, np.ones_like(mask), np.zeros_like(count)).ravel()) == {0}


def test_more_than_eight_vertices_count_as_eight() -> None:
    angles = np.linspace(0.1, 6.1, 24)
    vertices = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32).reshape(1, 1, 24, 2)
    mask = np.ones((1, 1, 24), np.bool_)
    for count in (8, 9, 24, 2**31 - 1):
        found = _sort(vertices, mask, np.array([[count]], np.int32))
        assert found.tolist() == [[[*range(8), 0]]]


def _status(raw: Raw, *tensors: Any) -> int:
    return raw.status(_FUNCTION, *(Tensor(a) if isinstance(a, np.ndarray) else a for a in tensors))


def _shapes(batch: int, polygons: int) -> list[tuple[tuple[int, ...], str]]:
    shapes = (batch, polygons, 24, 2), (batch, polygons, 24), (batch, polygons), (batch, polygons, 9)
    return list(zip(shapes, ("float32", "bool", "int32", "int32"), strict=True))


def test_zero_elements(raw: Raw) -> None:
    null = [Descriptor(shape, kind, pair=True) for shape, kind in _shapes(1, 0)]
    assert _status(raw, *null) == SUCCESS
    assert _status(raw, *(np.ones(shape, kind) for shape, kind in _shapes(0, 0))) == SUCCESS
    assert _status(raw, *(np.ones(shape, kind) for shape, kind in _shapes(0, 211))) == BAD_PARAM
    assert "vertices_desc" in raw.reason()


#: What replaces one array, and the status.
REFUSED: list[tuple[int, Any, int]] = [
    (0, np.ones((2, 3, 24), np.float32), BAD_PARAM),
    (0, np.ones((2, 3, 23, 2), np.float32), BAD_PARAM),
    (0, np.ones((2, 3, 24, 3), np.float32), BAD_PARAM),
    (0, np.ones((2, 3, 24, 2), np.float16), BAD_PARAM),
    (0, np.ones((2, 3, 24, 4), np.float32)[..., ::2], NOT_SUPPORTED),
    (1, np.ones((2, 3, 24), np.uint8), BAD_PARAM),
    (1, np.ones((2, 4, 24), np.bool_), BAD_PARAM),
    (1, np.ones((2, 3, 48), np.bool_)[..., ::2], NOT_SUPPORTED),
    (2, np.ones((3, 3), np.int32), BAD_PARAM),
    (2, np.ones((2, 3), np.int64), BAD_PARAM),
    (2, np.ones((2, 6), np.int32)[:, ::2], NOT_SUPPORTED),
    (3, np.ones((2, 3, 8), np.int32), BAD_PARAM),
    (3, np.ones((2, 3, 9), np.int64), BAD_PARAM),
    (3, np.ones((2, 3, 18), np.int32)[..., ::2], NOT_SUPPORTED),
    *((place, Descriptor(shape, kind, pair=True), BAD_PARAM) for place, (shape, kind) in enumerate(_shapes(2, 3))),
]


@pytest.mark.parametrize(("place", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, place: int, array: Any, wanted: int) -> None:
    arrays: list[Any] = [np.ones(shape, kind) for shape, kind in _shapes(2, 3)]
    arrays[3] = canary((2, 3, 9), np.int32)
    arrays[place] = array
    assert _status(raw, *arrays) == wanted
    assert f"{_FUNCTION}: " in raw.reason()
    assert place == 3 or is_canary(arrays[3])
