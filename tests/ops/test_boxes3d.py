"""Overlaps of boxes in space, and suppression by them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import boxes3d as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

#: The C function of each Python function.
PAIRS = {
    "boxes_overlap_bev": "mluopsExtBoxesOverlapBev",
    "boxes_iou_bev": "mluopsExtBoxesIouBev",
    "boxes_iou3d": "mluopsExtBoxesIou3d",
}
SUPPRESSION = {"nms3d": "mluopsExtNms3d", "nms3d_normal": "mluopsExtNms3dNormal"}


def _boxes(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, np.float32).reshape(len(rows), 7)


@examples(40)
@given(
    name=st.sampled_from(sorted(PAIRS)),
    rows=st.integers(1, 8),
    columns=st.integers(1, 8),
    spread=st.sampled_from([0.0, 2.0, 5.0, 60.0]),
    centre=st.sampled_from([0.0, 70.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_values(name: str, rows: int, columns: int, spread: float, centre: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (oracle.random_boxes(rng, count, spread) for count in (rows, columns))
    for boxes in (first, second):
        boxes[:, :2] += centre
    wanted = oracle.pairs(name, first, second)
    found = double_of(described(name))(None, (first, second, None), (False,))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    first, second = first.astype(np.float32), second.astype(np.float32)
    found = getattr(pymluops, name)(first, second)
    np.testing.assert_allclose(found, oracle.pairs(name, first, second), rtol=2e-7, atol=2e-7)
    least = min(rows, columns)
    aligned = getattr(pymluops, name)(first[:least], second[:least], True)
    np.testing.assert_array_equal(aligned, np.diagonal(found)[:least])


@pytest.mark.parametrize("name", PAIRS)
def test_tiles_are_put_together(name: str) -> None:
    rng = np.random.default_rng(2)
    first, second = oracle.random_boxes(rng, 150, 9), oracle.random_boxes(rng, 131, 9)
    found = double_of(described(name))(None, (first, second, None), (False,))
    for i, j in rng.integers(0, 130, (80, 2)):
        assert found[i, j] == pytest.approx(oracle.VALUES[name](first[i], second[j]), rel=1e-9, abs=1e-9)


_UNIT = (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0)
#: Pairs of boxes, the area that they have in common from above, and the part of volumes.
KNOWN: list[tuple[tuple[float, ...], tuple[float, ...], float, float]] = [
    (_UNIT, _UNIT, 4, 1),
    (_UNIT, (1, 1, 1, 2, 2, 2, math.pi / 2), 4, 1),
    (_UNIT, (1, 1, 1, 2, 2, 2, math.pi / 4), (8 + 8 * math.sqrt(2)) / (3 + 2 * math.sqrt(2)), 0.7071),
    (_UNIT, (1, 1, 2, 2, 2, 2, 0), 4, 1 / 3),
    (_UNIT, (1, 1, 3, 2, 2, 2, 0), 4, 0),
    (_UNIT, (2, 1, 1, 2, 2, 2, 0), 2, 1 / 3),
    (_UNIT, (4, 1, 1, 2, 2, 2, 0), 0, 0),
    (_UNIT, (1, 1, 1, 0, 0, 0, 0), 0, 0),
    (_UNIT, (math.nan, 1, 1, 2, 2, 2, 0), 0, 0),
    (_UNIT, (1, 1, 1, math.inf, 2, 2, 0), 0, 0),
    (_UNIT, (1, 1, 1, 2, 2, 2, math.inf), 0, 0),
    (_UNIT, (1, 1, math.nan, 2, 2, 2, 0), 4, 0),
    ((0, 0, 0, 3e30, 3e30, 1, 0), (0, 0, 0, 3e30, 3e30, 1, 0), math.inf, 1),  # the area is no float
    ((0, 0, 0, 1e-20, 1e-20, 1e-20, 0), (0, 0, 0, 1e-20, 1e-20, 1e-20, 0), 0, 1),
    ((0, 0, 0, 1e-5, 1e-5, 1e-5, 0.3), (0, 0, 5e-6, 1e-5, 1e-5, 1e-5, 0.3), 0, 1 / 3),
    ((0, 0, 1e7, 4, 2, 2, 0), (0, 0, 1e7 + 1, 4, 2, 2, 0), 8, 1 / 3),
    (_UNIT, (1, 1, 1, -2, 2, 2, 0), 0, 0),
]


@pytest.mark.parametrize(("first", "second", "area", "part"), KNOWN)
def test_known_boxes(first: tuple[float, ...], second: tuple[float, ...], area: float, part: float) -> None:
    for one, other in ((first, second), (second, first)):
        found = pymluops.boxes_overlap_bev(_boxes(one), _boxes(other)).item()
        assert found == pytest.approx(area, abs=1e-4)
        assert pymluops.boxes_iou3d(_boxes(one), _boxes(other)).item() == pytest.approx(part, abs=1e-3)


def test_boxes_that_touch_or_lie_beside_each_other_have_nothing_in_common() -> None:
    boxes = _boxes(
        (0, 0, 0, 2, 2, 2, 0), (2.005, 0, 0, 2, 1, 2, 0), (2.02, 0, 0, 2, 1, 2, 0), (1.99, 0.5, 0, 2, 2, 2, 0)
    )
    found = pymluops.boxes_overlap_bev(boxes[:1], boxes)[0]
    assert found[1:3].tolist() == [0, 0]
    wanted = [oracle.overlap_bev(boxes[0], box) for box in boxes]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(PAIRS)))
def test_any_bits(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    boxes = np.where(rng.random((6, 7)) < 0.2, any_bits(rng, (6, 7), np.float32), oracle.random_boxes(rng, 6))
    boxes = boxes.astype(np.float32)
    found = getattr(pymluops, name)(boxes, boxes)
    assert not np.isnan(found).any()
    wild = ~(np.abs(boxes[:, [0, 1, 3, 4, 6]]) < 1e6).all(1)
    dead = ~np.isfinite(boxes[:, [0, 1, 3, 4, 6]]).all(1)
    assert not found[dead].any()
    assert not found[:, dead].any()
    tame = ~wild
    if name == "boxes_iou3d":
        tame &= (np.abs(boxes[:, [2, 5]]) < 1e6).all(1)
    wanted = oracle.pairs(name, boxes, boxes)
    with np.errstate(all="ignore"):
        close = np.isclose(found, wanted, rtol=1e-3, atol=1e-3)
    assert close[np.ix_(tame, tame)].mean() > 0.8 if tame.any() else True


@examples(60)
@given(
    name=st.sampled_from(sorted(SUPPRESSION)),
    count=st.integers(1, 24),
    threshold=st.sampled_from([-0.1, 0.0, 0.1, 0.3, 0.7, 1.5]),
    spread=st.sampled_from([1.0, 4.0, 50.0]),
    digits=st.sampled_from([1, 6]),
    seed=st.integers(0, 2**32 - 1),
)
def test_kept_boxes(name: str, count: int, threshold: float, spread: float, digits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes, scores = oracle.random_boxes(rng, count, spread), np.round(rng.normal(size=count), digits)
    odd = rng.random(count) < 0.1
    scores[odd] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], odd.sum())
    kept, number = double_of(described(name))(None, (boxes, scores, None, None), (threshold,))
    assert kept[: number[0]].tolist() == oracle.suppression(name, boxes, scores, threshold)


@pytest.mark.parametrize("name", SUPPRESSION)
def test_kept_boxes_in_float(name: str) -> None:
    """Boxes on a grid, whose overlaps are far from the threshold."""
    rng = np.random.default_rng(4)
    for count in (1, 5, 70, 300):
        boxes = oracle.random_boxes(rng, count).astype(np.float32)
        boxes[:, :2] = rng.integers(0, 6, (count, 2)) * 3
        boxes[:, 3:5], boxes[:, 6] = 2, rng.integers(0, 2, count) * 0.01
        scores = np.round(rng.random(count), 2).astype(np.float32)
        assert getattr(pymluops, name)(boxes, scores, 0.5).tolist() == oracle.suppression(name, boxes, scores, 0.5)


def test_values_that_mmcv_expects() -> None:
    boxes = _boxes(
        (1, 1, 1, 2, 2, 2, 0), (2, 2, 2, 2, 2, 2, 0), (3, 3, 3, 3, 2, 2, 0.3), (3, 3, 3, 3, 2, 2, 0),
        (3, 3.2, 3.2, 3, 2, 2, 0.3),
    )  # fmt: skip
    assert pymluops.nms3d(boxes, np.float32([0.6, 0.9, 0.1, 0.2, 0.15]), 0.3).tolist() == [1, 0, 3]


@pytest.mark.parametrize("name", SUPPRESSION)
def test_many_boxes_need_no_table_of_pairs(name: str) -> None:
    """Of 20,000 boxes, four in each of 5,000 places, the best in each place is kept."""
    rng = np.random.default_rng(3)
    place = rng.permutation(20_000) % 5000
    boxes = np.zeros((20_000, 7), np.float32)
    boxes[:, 0], boxes[:, 1], boxes[:, 3:6] = place % 100 * 10, place // 100 * 10, 4
    boxes[:, 6] = rng.random(20_000) / 9
    scores = rng.permutation(20_000).astype(np.float32)
    kept = getattr(pymluops, name)(boxes, scores, 0.5)
    best = np.zeros(5000, np.float32)
    np.maximum.at(best, place, scores)
    assert scores[kept].tolist() == sorted(best, reverse=True)


def test_headings_count_in_one_of_them_only() -> None:
    boxes = _boxes((0, 0, 0, 8, 1, 1, 0), (0, 0, 0, 8, 1, 1, math.pi / 2), (0, 0, 5, 8, 1, 1, 0))
    scores = np.float32([3, 2, 1])
    assert pymluops.nms3d(boxes, scores, 0.5).tolist() == [0, 1]
    assert pymluops.nms3d_normal(boxes, scores, 0.5).tolist() == [0]


@pytest.mark.parametrize("name", SUPPRESSION)
def test_odd_thresholds_scores_and_boxes(name: str) -> None:
    suppress = getattr(pymluops, name)
    boxes = _boxes(*[(0, 0, 0, 4, 4, 4, 0)] * 4, (9, 9, 0, 0, 0, 0, 0), (math.nan, 0, 0, 4, 4, 4, 0))
    scores = np.float32([1, 2, 3, 4, 5, 6])
    assert suppress(boxes, scores, math.nan).tolist() == [5, 4, 3, 2, 1, 0]
    assert suppress(boxes, scores, 0.5).tolist() == [5, 4, 3]
    assert suppress(boxes, scores, -1e-30).tolist() == [5]
    assert suppress(boxes, np.full(6, np.nan, np.float32), 0.5).tolist() == []
    assert suppress(boxes[:0], scores[:0], 0.5).tolist() == []


# ---- zero elements and refusals ------------------------------------------------------------------


def _pair_status(raw: Raw, name: str, *tensors: Any, aligned: bool = False) -> int:
    return raw.status(PAIRS[name], aligned, *(Tensor(a) if isinstance(a, np.ndarray) else a for a in tensors))


def _nms_status(raw: Raw, name: str, boxes: Any, scores: Any, out: Any, count: Any) -> int:
    tensors = [Tensor(a) if isinstance(a, np.ndarray) else a for a in (boxes, scores, out)]
    number = raw.ffi.NULL if count is None else raw.ffi.cast("int32_t *", count.ctypes.data)
    return raw.status(SUPPRESSION[name], 0.5, *tensors, number)


#: What replaces one array of a call of pairs, and the status.
REFUSED_PAIRS: list[tuple[int, Any, int]] = [
    (0, np.ones((3, 6), np.float32), BAD_PARAM),
    (0, np.ones((4, 7), np.float32), BAD_PARAM),
    (0, np.ones((3, 7), np.float16), BAD_PARAM),
    (0, np.ones((3, 7), np.float64), BAD_PARAM),
    (0, np.ones((3, 14), np.float32)[:, ::2], NOT_SUPPORTED),
    (1, np.ones((2, 7, 1), np.float32), BAD_PARAM),
    (1, np.ones((3, 7), np.float32), BAD_PARAM),
    (1, Descriptor((2, 7), "float32", pair=True), BAD_PARAM),
    (2, np.ones(6, np.float32), BAD_PARAM),
    (2, np.ones((3, 2), np.float64), BAD_PARAM),
    (2, np.ones((3, 4), np.float32)[:, ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize("name", PAIRS)
def test_refused_pairs(raw: Raw, name: str) -> None:
    for place, array, wanted in REFUSED_PAIRS:
        arrays: list[Any] = [np.ones((3, 7), np.float32), np.ones((2, 7), np.float32), canary((3, 2), "float32")]
        arrays[place] = array
        assert _pair_status(raw, name, *arrays) == wanted
        assert f"{PAIRS[name]}: " in raw.reason()
        assert place == 2 or is_canary(arrays[2])
    boxes = np.ones((3, 7), np.float32)
    assert _pair_status(raw, name, boxes, boxes[:2].copy(), canary((3,), "float32"), aligned=True) == BAD_PARAM
    assert _pair_status(raw, name, boxes, boxes, canary((3, 3), "float32"), aligned=True) == BAD_PARAM
    assert _pair_status(raw, name, boxes, boxes, boxes.reshape(-1)[:9].reshape(3, 3)) == BAD_PARAM
    null, none = Descriptor((0, 7), "float32", pair=True), np.ones((3, 0), np.float32)
    assert _pair_status(raw, name, boxes, null, none) == SUCCESS
    large = Descriptor((46341, 7), "float32", pair=True)
    values = Descriptor((46341, 46341), "float32", pair=True)
    assert _pair_status(raw, name, large, large, values) == NOT_SUPPORTED


#: What replaces one array of a call of suppression, the status, and the name that the reason tells.
REFUSED: list[tuple[str, Any, int, str]] = [
    ("boxes", np.ones((4, 6), np.float32), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((3, 7), np.float32), BAD_PARAM, "scores_desc"),
    ("boxes", np.ones((4, 7), np.float16), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((4, 14), np.float32)[:, ::2], NOT_SUPPORTED, "boxes_desc"),
    ("scores", np.ones(4, np.float64), BAD_PARAM, "scores_desc"),
    ("scores", np.ones((4, 1), np.float32), BAD_PARAM, "scores_desc"),
    ("out", np.ones(4, np.int64), BAD_PARAM, "output_desc"),
    ("out", np.ones(5, np.int32), BAD_PARAM, "output_desc"),
    ("count", None, BAD_PARAM, "result_num"),
]


@pytest.mark.parametrize("name", SUPPRESSION)
def test_refused_suppression(raw: Raw, name: str) -> None:
    for which, array, wanted, told in REFUSED:
        arrays = {
            "boxes": np.ones((4, 7), np.float32), "scores": np.ones(4, np.float32),
            "out": canary((4,), np.int32), "count": np.full(1, 77, np.int32), which: array,
        }  # fmt: skip
        assert _nms_status(raw, name, *arrays.values()) == wanted
        assert f"{SUPPRESSION[name]}: {told}: expected" in raw.reason()
        assert which == "out" or is_canary(arrays["out"])
        assert which == "count" or arrays["count"][0] == 77


def test_without_boxes_none_is_kept(raw: Raw) -> None:
    for name in SUPPRESSION:
        count = np.full(1, 77, np.int32)
        none = [Descriptor(shape, "float32", pair=True) for shape in ((0, 7), (0,))]
        assert _nms_status(raw, name, *none, Descriptor((0,), "int32", pair=True), count) == SUCCESS
        assert count[0] == 0


def test_devices_do_not_have_them() -> None:
    for function in (*PAIRS.values(), *SUPPRESSION.values()):
        assert not pymluops.load("sim").implements(function)
        assert pymluops.load("cpu").implements(function)
