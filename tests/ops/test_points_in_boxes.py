"""points_in_boxes, points_in_boxes_part and points_in_boxes_all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import points_in_boxes as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples

PROBLEMS = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "points": st.integers(1, 20) | st.integers(240, 530),
        "boxes": st.integers(1, 30),
        "turned": st.sampled_from([0.0, 1.0, 1000.0]),
        "special": st.sampled_from([0.0, 0.05]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any], kind: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """Boxes and points, some of them on faces where boxes are not turned, a few of them not finite."""
    rng = np.random.default_rng(s["seed"])
    boxes = rng.integers(-8, 9, (s["batch"], s["boxes"], 7)) / 4
    boxes[..., 6] = rng.uniform(-4, 4, boxes.shape[:2]) * s["turned"]
    points = rng.integers(-12, 13, (s["batch"], s["points"], 3)) / 8
    arrays = []
    for array in (boxes, points):
        odd = rng.choice(np.array([np.nan, np.inf, -np.inf, 1e30, -0.0]), array.shape)
        with np.errstate(over="ignore"):
            arrays.append(np.where(rng.random(array.shape) < s["special"], odd, array).astype(kind))
    return arrays[0], arrays[1]


@examples(150)
@given(s=PROBLEMS, margin=st.sampled_from([0.0, 1e-5, 1e-2, 0.5, -0.25]), centred=st.booleans())
def test_pairs_are_those_of_the_rule(s: dict[str, Any], margin: float, centred: bool) -> None:
    for kind in ("float32", "float16", "float64"):
        boxes, points = problem(s, kind)
        for name, wanted in (("points_in_boxes_part", oracle.first), ("points_in_boxes_all", oracle.every)):
            known = described(name)
            operator = double_of(known) if kind == "float64" else known
            found = operator(None, (boxes, points, None), (margin, centred))
            assert_same_bits(found, wanted(boxes, points, margin, centred))


@examples(100)
@given(s=PROBLEMS)
def test_the_function_of_the_abi_has_a_margin_and_centres(s: dict[str, Any]) -> None:
    boxes, points = problem(s)
    found = pymluops.points_in_boxes(points, boxes)
    assert_same_bits(found, oracle.first(boxes, points, 1e-5, True))
    assert_same_bits(found, pymluops.points_in_boxes_part(boxes, points, 1e-5, True))


@examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes, points = any_bits(rng, (1, 9, 7), np.float32), any_bits(rng, (1, 40, 3), np.float32)
    boxes[..., 6] = np.where(np.abs(boxes[..., 6]) < 1e6, boxes[..., 6], 0.5)
    assert_same_bits(pymluops.points_in_boxes(points, boxes), oracle.first(boxes, points, 1e-5, True))


#: Batch, points and boxes of the vendor's cases and of networks, the latter with fewer points.
NAMED = [(1, 100, 20), (7, 100, 20), (1, 27241, 66), (1, 27369, 75)]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[int, int, int]) -> None:
    batch, count, number = case
    rng = np.random.default_rng(4)
    points = rng.uniform(0, 100, (batch, count, 3)).astype(np.float32)
    boxes = rng.uniform(0, 100, (batch, number, 7)).astype(np.float32)
    assert_same_bits(pymluops.points_in_boxes(points, boxes), oracle.first(boxes, points, 1e-5, True))


def test_faces_margins_and_heights() -> None:
    boxes = np.array([[[0, 0, 0, 2, 4, 6, 0]]], np.float32)
    places = [(1, 0, 0), (1.000009, 0, 0), (1.00002, 0, 0), (0, 2, 0), (0, 0, 3), (0, 0, -3), (0, 0, 3.0001)]
    places += [(0, 0, np.nan), (np.nan, 0, 0), (0, 0, 6)]
    points = np.array([places], np.float32)
    assert pymluops.points_in_boxes(points, boxes)[0].tolist() == [0, 0, -1, 0, 0, 0, -1, 0, -1, -1]
    assert pymluops.points_in_boxes_part(boxes, points)[0].tolist() == [-1, -1, -1, -1, 0, -1, 0, 0, -1, 0]


def test_boxes_that_are_empty_and_boxes_that_overlap() -> None:
    points = np.zeros((1, 1, 3), np.float32)
    for size in ((0, 2, 2), (2, -2, 2), (2, 2, -2), (-1, -1, -1)):
        boxes = np.array([[[0, 0, 0, *size, 0.3]]], np.float32)
        assert pymluops.points_in_boxes_part(boxes, points).tolist() == [[-1]]
    boxes = np.array([[[0, 0, 0, 1e-6, 1e-6, 0, 0], [0, 0, 0, 1, 1, 1, 0]]], np.float32)
    assert pymluops.points_in_boxes(points, boxes).tolist() == [[0]]
    assert pymluops.points_in_boxes_all(boxes[:, ::-1].copy(), points).tolist() == [[[1, 1]]]


def test_boxes_are_turned_from_x_towards_y() -> None:
    boxes = np.array([[[0, 0, 0, 4, 0.5, 1, np.pi / 4]]], np.float32)
    points = np.array([[[1, 1, 0], [1, -1, 0]]], np.float32)
    assert pymluops.points_in_boxes(points, boxes).tolist() == [[0, -1]]


def test_nothing_to_find(raw: Raw) -> None:
    shapes = {"points": (2, 4, 3), "boxes": (2, 5, 7), "out": (2, 4)}
    for symbol in ("batch", "points", "boxes"):
        dims = {name: list(shape) for name, shape in shapes.items()}
        for name in shapes if symbol == "batch" else ("points", "out") if symbol == "points" else ("boxes",):
            dims[name][0 if symbol == "batch" else 1] = 0
        out = canary(tuple(dims["out"]), "int32")
        null = [Descriptor(tuple(dims[name]), "float32", pair=True) for name in ("points", "boxes")]
        assert raw.status("mluOpPointsInBoxes", *null, Tensor(out)) == SUCCESS, raw.reason()
        assert is_canary(out)


def test_other_layouts_are_refused(raw: Raw) -> None:
    arrays = [np.ones((1, 2, 3), np.float32), np.ones((1, 2, 7), np.float32), canary((1, 2), "int32")]
    for place in range(3):
        tensors = [Tensor(array, 1 if i == place else 4) for i, array in enumerate(arrays)]
        assert raw.status("mluOpPointsInBoxes", *tensors) == BAD_PARAM
        assert "expected layout ARRAY" in raw.reason()
    assert is_canary(arrays[2])


@pytest.mark.parametrize("margin", [np.nan, np.inf, -np.inf, 1e39])
def test_margins_are_finite(margin: float) -> None:
    boxes, points = np.ones((1, 1, 7), np.float32), np.ones((1, 1, 3), np.float32)
    for function in (pymluops.points_in_boxes_part, pymluops.points_in_boxes_all):
        with pytest.raises(pymluops.BadParamError, match="margin"):
            function(boxes, points, margin)
