"""box_iou_quadri, nms_quadri and poly_nms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import quadri_boxes as oracle
from support.comparison import assert_same_bits
from support.selection import examples

BENT = np.float32([[1, 1, 3, 4, 4, 4, 4, 1]])


def test_true_values_and_those_that_mmcv_expects() -> None:
    other = np.float32([[2, 1, 2, 4, 4, 4, 4, 1]])
    values = {"iou": 7 / 9, "iof": 7 / 8, "mmcv_iou": 1, "mmcv_iof": 1}
    for mode, value in values.items():
        assert pymluops.box_iou_quadri(BENT, other, mode).item() == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("mode", ["mmcv_iou", "iou"])
@pytest.mark.parametrize("shape", [[1, 1, 3, 4, 4, 4, 4, 1], [0, 0, 4, 1, 3, 4, -1, 3], [0, 0, 4, 0, 1, 1, 0, 4]])
def test_quadrilaterals_one_rounding_apart_coincide(mode: str, shape: list[float]) -> None:
    rng = np.random.default_rng(6)
    boxes = np.float32(shape) * np.float32(12.5) + np.float32(300)
    others = np.nextafter(boxes, rng.choice(np.float32([-np.inf, np.inf]), (200, 8)))
    ious = pymluops.box_iou_quadri(np.repeat(boxes[None], 200, 0), others, mode, True)
    assert ious.min() > 1 - 1e-5
    assert pymluops.box_iou_quadri(boxes[None], boxes[None], mode).item() == 1


@examples(60)
@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
    mode=st.integers(0, 3),
    spread=st.sampled_from([0.0, 1.0, 4.0, 300.0]),
    odd=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 2**32 - 1),
)
def test_values_are_those_of_the_oracle(
    rows: int, columns: int, mode: int, spread: float, odd: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    first, second = (oracle.random_quadrilaterals(rng, count, spread).astype(np.float32) for count in (rows, columns))
    places = rng.random(first.shape) < odd
    first[places] = rng.choice(np.float32([np.nan, np.inf, 0, 1e30, -0.0]), places.sum())
    wanted = oracle.pairs(first, second, mode)
    found = pymluops.box_iou_quadri(first, second, mode)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)
    least = min(rows, columns)
    aligned = pymluops.box_iou_quadri(first[:least], second[:least], mode, True)
    assert_same_bits(aligned, np.ascontiguousarray(np.diagonal(found))[:least])


@examples(60)
@given(
    count=st.integers(1, 24),
    threshold=st.sampled_from([-0.1, 0.0, 0.1001, 0.3003, 0.7, 1.0]),
    spread=st.sampled_from([0.5, 4.0, 50.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_kept_boxes(count: int, threshold: float, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = oracle.random_quadrilaterals(rng, count, spread).astype(np.float32)
    scores = np.round(rng.normal(size=count), 1).astype(np.float32)
    odd = rng.random(count) < 0.1
    scores[odd] = rng.choice(np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0]), odd.sum())
    found = pymluops.nms_quadri(boxes, scores, threshold)
    assert found.dtype == np.int32
    assert found.tolist() == oracle.suppression(boxes, scores, np.float32(threshold))


@examples(80)
@given(
    count=st.integers(1, 24),
    threshold=st.sampled_from([0.05, 0.1001, 0.3003, 0.7]),
    spread=st.sampled_from([0.5, 4.0, 50.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_boxes_that_poly_nms_keeps(count: int, threshold: float, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = np.zeros((count, 9), np.float32)
    boxes[:, :8] = oracle.random_quadrilaterals(rng, count, spread)
    turned = rng.random(count) < 0.5
    boxes[turned, :8] = boxes[turned, :8].reshape(-1, 4, 2)[:, ::-1].reshape(-1, 8)  # the other way around
    boxes[:, 8] = np.round(rng.normal(size=count), 1)
    odd = rng.random(count) < 0.1
    boxes[odd, 8] = rng.choice(np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0]), odd.sum())
    assert pymluops.poly_nms(boxes, threshold).tolist() == oracle.poly_suppression(boxes, np.float32(threshold))


def _scored(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_boxes_of_the_design_document() -> None:
    square = (0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0)
    half = (0.5, 0.0, 1.5, 0.0, 1.5, 1.0, 0.5, 1.0)
    apart = (5.0, 0.0, 6.0, 0.0, 6.0, 1.0, 5.0, 1.0)
    assert pymluops.poly_nms(_scored((*square, 3)), 0.1).tolist() == [0]
    assert pymluops.poly_nms(_scored((*square, 3), (*half, 2), (*apart, 1)), 0.1).tolist() == [0, 2]
    assert pymluops.poly_nms(_scored((*square, math.nan), (*half, 2), (*apart, 1)), 0.1).tolist() == [0, 2]
    assert pymluops.poly_nms(_scored((*square, -math.inf), (*half, 2), (*apart, 1)), 0.1).tolist() == [1, 2]
    assert pymluops.poly_nms(_scored((*square, 1), (*square, 1), (*square, 0)), 0.1).tolist() == [0, 1]
    strange = (math.nan, *square[1:])
    assert pymluops.poly_nms(_scored((*strange, 3), (*square, 2), (*strange, 1)), 0.1).tolist() == [0, 1, 2]
    concave = _scored((0, 0, 2, 0, 2, 5, 1, 1, 5.55), (3, 0, 1, 1, 0, 5, 0, 0, 2.2))
    assert pymluops.poly_nms(concave, 0.1).tolist() == oracle.poly_suppression(concave, 0.1)


@pytest.mark.thorough
def test_more_boxes_than_a_block() -> None:
    rng = np.random.default_rng(8)
    boxes = oracle.random_quadrilaterals(rng, 400, 20.0).astype(np.float32)
    scores = np.round(rng.random(400), 2).astype(np.float32)
    wanted = oracle.suppression(boxes, scores, np.float32(0.3))
    before = pymluops.get_num_threads()
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            assert pymluops.nms_quadri(boxes, scores, 0.3).tolist() == wanted
    finally:
        pymluops.set_num_threads(before)


def test_empty_and_refused() -> None:
    none, boxes = np.ones((0, 8), np.float32), np.ones((3, 8), np.float32)
    assert pymluops.box_iou_quadri(none, boxes).shape == (0, 3)
    assert pymluops.box_iou_quadri(none, none, aligned=True).shape == (0,)
    assert pymluops.nms_quadri(none, none[:, 0].copy(), 0.5).shape == (0,)
    assert pymluops.poly_nms(np.ones((0, 9), np.float32), 0.5).shape == (0,)
    with pytest.raises(pymluops.BadParamError, match="box_iou_quadri: mode: "):
        pymluops.box_iou_quadri(boxes, boxes, 4)
    with pytest.raises(pymluops.BadParamError, match="box_iou_quadri: bbox2: "):
        pymluops.box_iou_quadri(boxes, boxes[:2].copy(), aligned=True)
    with pytest.raises(pymluops.BadParamError, match="poly_nms: boxes: "):
        pymluops.poly_nms(boxes, 0.5)
    with pytest.raises(pymluops.BadParamError, match="nms_quadri: scores: "):
        pymluops.nms_quadri(boxes, np.ones(2, np.float32), 0.5)
