"""yolo_box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import yolo_box as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "anchors": st.integers(1, 4),
        "classes": st.integers(1, 7),
        "height": st.integers(1, 6),
        "width": st.integers(1, 40),
        "threshold": st.sampled_from([-1.0, 0.0, 0.3, 0.9, 2.0]),
        "clip": st.booleans(),
        "scale": st.sampled_from([1.0, 1.05, 2.0, 0.0]),
        "aware": st.booleans(),
        "factor": st.sampled_from([0.0, 0.4, 1.0]),
        "spread": st.sampled_from([1.0, 8.0]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any]) -> tuple[list[np.ndarray], tuple[Any, ...]]:
    """Arrays and numbers of a call."""
    rng = np.random.default_rng(s["seed"])
    channels = s["anchors"] * ((6 if s["aware"] else 5) + s["classes"])
    x = rng.normal(0, s["spread"], (s["batch"], channels, s["height"], s["width"])).astype(np.float32)
    sizes = rng.integers(1, 900, (s["batch"], 2)).astype(np.int32)
    anchors = rng.integers(1, 300, 2 * s["anchors"]).astype(np.int32)
    numbers = (s["classes"], s["threshold"], 8, s["clip"], s["scale"], s["aware"], s["factor"])
    return [x, sizes, anchors], numbers


@examples(150)
@given(s=SHAPES)
def test_values_of_the_formula(s: dict[str, Any]) -> None:
    check_values(s)


@pytest.mark.parametrize(("height", "width"), [(40, 37), (1500, 1), (3, 700), (400, 3)])
def test_maps_of_several_blocks(height: int, width: int) -> None:
    numbers = {"batch": 1, "anchors": 2, "classes": 2, "threshold": 0.3, "clip": False, "scale": 1.0, "factor": 0.4}
    check_values({**numbers, "height": height, "width": width, "aware": True, "spread": 1.0, "seed": 5})


def check_values(s: dict[str, Any]) -> None:
    """Compare with the oracle."""
    arrays, numbers = problem(s)
    boxes, scores = pymluops.yolo_box(*arrays, *numbers)
    wanted, wanted_scores, confidence = oracle.boxes(*arrays, *numbers)
    sure = np.abs(confidence - s["threshold"]) > 1e-5 * max(s["threshold"], 0)  # rounding decides about the others
    for found, expected in ((boxes, wanted), (scores, wanted_scores)):
        places = np.broadcast_to(sure[:, :, None], found.shape)
        np.testing.assert_allclose(found[places], expected[places], rtol=3e-5, atol=2e-3)


def test_numbers_that_are_not_finite() -> None:
    x = np.zeros((1, 7, 1, 12), np.float32)
    odd = [np.nan, np.inf, -np.inf, 200, -200, 0]
    x[0, 4, 0, :6] = odd  # confidence
    x[0, 2, 0, 6:] = odd  # width
    arrays = (x, np.array([[10, 20]], np.int32), np.array([8, 4], np.int32))
    boxes, scores = pymluops.yolo_box(*arrays, 2, 0.25, 16)
    wanted, wanted_scores, _ = oracle.boxes(*arrays, 2, 0.25, 16, True, 1.0, False, 0.5)
    np.testing.assert_allclose(boxes, wanted, rtol=1e-5)
    np.testing.assert_allclose(scores, wanted_scores, rtol=1e-5)
    assert np.isnan(scores[0, 0, :, 0]).all()
    assert boxes[0, 0, 2:, 0].all()  # a confidence that is no number is kept
    assert not scores[0, 0, :, 2].any()


@pytest.mark.parametrize("factor", [0.0, 0.3, 0.5, 1.0])
def test_infinite_overlaps_and_confidences(factor: float) -> None:
    odd = np.array([0.7, np.inf, -np.inf, 3e38, -3e38, np.nan, 100, -100], np.float32)
    x = np.zeros((1, 7, 8, 8), np.float32)
    x[0, 0], x[0, 5], x[0, 6] = odd[:, None], odd, 3
    arrays = (x, np.array([[10, 20]], np.int32), np.array([8, 4], np.int32))
    settings = (1, -1.0, 16, True, 1.0, True, factor)
    boxes, scores = pymluops.yolo_box(*arrays, *settings)
    wanted, wanted_scores, _ = oracle.boxes(*arrays, *settings)
    np.testing.assert_allclose(scores, wanted_scores, rtol=3e-5, atol=1e-37)
    np.testing.assert_allclose(boxes, wanted, rtol=3e-5)


def test_the_vendors_shape() -> None:
    rng = np.random.default_rng(23)
    arrays = [
        rng.uniform(0, 10, (3, 35, 16, 16)).astype(np.float32),
        rng.integers(100, 1000, (3, 2)).astype(np.int32),
        rng.integers(1, 10, 10).astype(np.int32),
    ]
    found = pymluops.yolo_box(*arrays, 2, 0.1, 8)
    for one, expected in zip(found, oracle.boxes(*arrays, 2, 0.1, 8, True, 1.0, False, 0.5)[:2], strict=True):
        np.testing.assert_allclose(one, expected, rtol=3e-5, atol=1e-3)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    arrays, numbers = problem(
        {"batch": 2, "anchors": 3, "classes": 9, "height": 40, "width": 37, "threshold": 0.4, "clip": True,
         "scale": 1.1, "aware": True, "factor": 0.3, "spread": 2.0, "seed": 1}
    )  # fmt: skip
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            found.append(pymluops.yolo_box(*arrays, *numbers))
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- zero elements and refusals ------------------------------------------------------------------


def _arrays(aware: bool = False) -> dict[str, Any]:
    return {
        "x": np.zeros((2, (6 if aware else 5) * 3 + 3 * 2, 4, 5), np.float32),
        "img_size": np.ones((2, 2), np.int32),
        "anchors": np.ones(6, np.int32),
        "boxes": canary((2, 3, 4, 20), "float32"),
        "scores": canary((2, 3, 2, 20), "float32"),
    }


def _status(raw: Raw, arrays: dict[str, Any], **numbers: Any) -> int:
    given = {"class_num": 2, "conf_thresh": 0.1, "downsample_ratio": 8, "clip": True, "scale": 1.0, "aware": False}
    values = list(({**given, "factor": 0.5} | numbers).values())
    tensors = [Tensor(one) if isinstance(one, np.ndarray) else one for one in arrays.values()]
    return raw.status("mluOpYoloBox", *tensors[:3], *values, *tensors[3:])


def test_nothing_to_do(raw: Raw) -> None:
    assert _status(raw, _arrays()) == SUCCESS
    assert _status(raw, _arrays(True), aware=True) == SUCCESS
    shapes = {"x": (2, 21, 0, 5), "boxes": (2, 3, 4, 0), "scores": (2, 3, 2, 0)}
    null = {name: Descriptor(shape, "float32", pair=True) for name, shape in shapes.items()}
    assert _status(raw, {**_arrays(), **null}) == SUCCESS


REFUSED: list[tuple[str, Any, int, str]] = [
    ("x", np.zeros((2, 20, 4, 5), np.float32), BAD_PARAM, "x_desc"),
    ("x", np.zeros((2, 24, 4, 5), np.float32), BAD_PARAM, "x_desc"),
    ("x", np.zeros((2, 21, 20), np.float32), BAD_PARAM, "x_desc"),
    ("x", np.zeros((2, 21, 4, 5), np.float16), BAD_PARAM, "x_desc"),
    ("img_size", np.ones((2, 3), np.int32), BAD_PARAM, "img_size_desc"),
    ("img_size", np.ones((2, 2), np.float32), BAD_PARAM, "img_size_desc"),
    ("anchors", np.ones(5, np.int32), BAD_PARAM, "anchors_desc"),
    ("anchors", np.ones(0, np.int32), BAD_PARAM, "anchors_desc"),
    ("boxes", np.ones((2, 3, 5, 20), np.float32), BAD_PARAM, "boxes_desc"),
    ("scores", np.ones((2, 3, 3, 20), np.float32), BAD_PARAM, "scores_desc"),
    ("scores", np.ones((2, 3, 2, 40), np.float32)[..., ::2], NOT_SUPPORTED, "scores_desc"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int, told: str) -> None:
    arrays = {**_arrays(), name: array}
    assert _status(raw, arrays) == wanted
    assert f"mluOpYoloBox: {told}: expected" in raw.reason()
    assert all(is_canary(arrays[one]) for one in ("boxes", "scores") if one != name)


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"class_num": 0}, "class_num"),
        ({"downsample_ratio": 0}, "downsample_ratio"),
        ({"aware": True, "factor": 1.5}, "iou_aware_factor"),
        ({"aware": True, "factor": -0.5}, "iou_aware_factor"),
        ({"aware": True}, "x_desc"),
    ],
)
def test_refused_numbers(raw: Raw, numbers: dict[str, Any], told: str) -> None:
    assert _status(raw, _arrays(), **numbers) == BAD_PARAM
    assert f"mluOpYoloBox: {told}: expected" in raw.reason()


def test_a_factor_counts_with_overlaps_only(raw: Raw) -> None:
    assert _status(raw, _arrays(), factor=7.0) == SUCCESS
    assert _status(raw, _arrays(True), aware=True, factor=float("nan")) == SUCCESS
