"""nms, nms2d, soft_nms and nms_match."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import box_nms as oracle
from pymluops.oracle import boxes3d
from pymluops.oracle.plane_boxes import random_boxes
from support.arrays import canary, is_canary
from support.comparison import assert_same_bits
from support.selection import examples

THRESHOLDS = [-0.1, 0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 2.0, math.nan, math.inf]


def _drawn(
    rng: np.random.Generator, count: int, spread: float, digits: int, odd: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    boxes = random_boxes(rng, count, spread).astype(np.float32)
    scores = np.round(rng.normal(size=count), digits).astype(np.float32)
    strange = np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0])
    for array in (boxes, scores):
        places = rng.random(array.shape) < odd
        array[places] = rng.choice(strange, places.sum())
    return boxes, scores


drawn = given(
    count=st.integers(1, 70),
    spread=st.sampled_from([0.5, 5.0, 40.0]),
    digits=st.sampled_from([1, 6]),
    odd=st.sampled_from([0.0, 0.05]),
    threshold=st.sampled_from(THRESHOLDS),
    offset=st.integers(0, 1),
    seed=st.integers(0, 2**32 - 1),
)


@examples(100)
@drawn
def test_kept_boxes(
    count: int, spread: float, digits: int, odd: float, threshold: float, offset: int, seed: int
) -> None:
    boxes, scores = _drawn(np.random.default_rng(seed), count, spread, digits, odd)
    found = pymluops.nms2d(boxes, scores, threshold, offset)
    assert found.dtype == np.int32
    assert found.tolist() == oracle.suppression(boxes, scores, threshold, offset)


@examples(60)
@drawn
def test_groups(count: int, spread: float, digits: int, odd: float, threshold: float, offset: int, seed: int) -> None:
    boxes, scores = _drawn(np.random.default_rng(seed), count, spread, digits, odd)
    dets = np.column_stack([boxes, scores])
    matches, order = pymluops.nms_match(dets, threshold)
    assert (matches.tolist(), order.tolist()) == oracle.match(dets, threshold)


@examples(80)
@drawn
def test_lowered_scores(
    count: int, spread: float, digits: int, odd: float, threshold: float, offset: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    boxes, scores = _drawn(rng, count, spread, digits, odd)
    method, sigma = int(rng.integers(3)), float(rng.choice([0.0, 0.1, 0.5, 3.0]))
    least = float(rng.choice([-math.inf, 0.0, 1e-3, 0.4]))
    dets, numbers = pymluops.soft_nms(boxes, scores, threshold, sigma, least, method, offset)
    rows, wanted = oracle.soft(boxes, scores, threshold, sigma, least, method, offset)
    assert numbers.tolist() == wanted
    np.testing.assert_array_equal(dets, rows)
    assert dets.dtype == np.float32


@examples(80)
@drawn
def test_picks(count: int, spread: float, digits: int, odd: float, threshold: float, offset: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    threshold = 0.5 if math.isnan(threshold) else threshold
    boxes, scores = _drawn(rng, count, spread, digits, odd)
    types = [("float32", "float32"), ("float32", "float16"), ("float16", "float16")][rng.integers(3)]
    boxes, scores = boxes.astype(types[0]), scores.astype(types[1])
    boxes = boxes[:, rng.permutation(4)].copy()  # opposite corners in any order
    most, least, centred = int(rng.integers(0, count + 3)), float(rng.choice([0.0, 0.3])), bool(rng.integers(2))
    compared = oracle.corners(boxes, centred)
    wanted = oracle.suppression(
        compared, scores.astype(np.float32), np.float32(threshold), offset, np.float32(least), most
    )
    options: dict[str, Any] = {"box_mode": int(centred), "offset": offset}
    assert pymluops.nms(boxes, scores, threshold, most, least, **options).tolist() == wanted
    rows = pymluops.nms(boxes, scores, threshold, most, least, output_mode="rows", **options)
    assert rows.dtype == boxes.dtype
    np.testing.assert_array_equal(rows, np.column_stack([scores.astype(types[0]), boxes])[wanted])
    planes = pymluops.nms(boxes, scores, threshold, most, least, output_mode="planes", **options)
    np.testing.assert_array_equal(planes, rows.T)


@pytest.mark.parametrize("spread", [3.0, 60.0])
def test_more_boxes_than_a_block(spread: float) -> None:
    rng = np.random.default_rng(8)
    boxes, scores = _drawn(rng, 3000, spread, 2)
    wanted = oracle.suppression(boxes, scores, 0.3)
    dets = np.column_stack([boxes, scores])
    groups = oracle.match(dets, 0.3)
    before = pymluops.get_num_threads()
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            assert pymluops.nms2d(boxes, scores, 0.3).tolist() == wanted
            matches, order = pymluops.nms_match(dets, 0.3)
            assert (matches.tolist(), order.tolist()) == groups
    finally:
        pymluops.set_num_threads(before)


def test_known_boxes() -> None:
    boxes = np.float32([[0, 0, 4, 4], [0, 0, 4, 2], [0, 0, 4, 4], [3, 3, 3, 3], [np.nan, 0, 4, 4]])
    scores = np.float32([3, 2, 3, 4, 5])
    # Half of one box is another one; equal scores; a box without area; one that is no box.
    assert pymluops.nms2d(boxes, scores, 0.5).tolist() == [4, 3, 0, 1]
    assert pymluops.nms2d(boxes, scores, 0.49999997).tolist() == [4, 3, 0]
    assert pymluops.nms2d(boxes, scores, -1e-30).tolist() == [4, 3]
    assert pymluops.nms2d(boxes, scores, math.nan).tolist() == [4, 3, 0, 2, 1]
    assert pymluops.nms2d(boxes, np.full(5, -np.inf, np.float32), 0.5).tolist() == []
    touching = np.float32([[0, 0, 1, 1], [1, 0, 2, 1]])
    assert pymluops.nms2d(touching, scores[:2].copy(), 0.1).tolist() == [0, 1]
    assert pymluops.nms2d(touching, scores[:2].copy(), 0.1, offset=1).tolist() == [0]
    dets = np.column_stack([boxes, scores])[:3]
    assert pymluops.nms_match(dets, 0.5)[0].tolist() == [0, 0, 0]  # the threshold itself suffices


def test_many_boxes_need_no_table_of_pairs() -> None:
    """Of 20,000 boxes, four in each of 5,000 places, the best in each place is kept."""
    rng = np.random.default_rng(3)
    place = rng.permutation(20_000) % 5000
    corner = np.column_stack([place % 100, place // 100]) * 10 + rng.random((20_000, 2)) / 9
    boxes = np.column_stack([corner, corner + 4]).astype(np.float32)
    scores = rng.permutation(20_000).astype(np.float32)
    kept = pymluops.nms2d(boxes, scores, 0.5)
    best = np.zeros(5000, np.float32)
    np.maximum.at(best, place, scores)
    assert scores[kept].tolist() == sorted(best.tolist(), reverse=True)


# ---- the other forms of mluOpNms -----------------------------------------------------------------


def _mlu_op_nms(
    boxes: np.ndarray, confidence: np.ndarray | None, output: np.ndarray, most: int = 10, **settings: Any
) -> int:
    """The number of picks."""
    values = {
        "box_mode": 0, "output_mode": 0, "algo": 0, "method_mode": 0, "iou_threshold": 0.5, "soft_nms_sigma": 0.0,
        "max_output_size": most, "confidence_threshold": 0.0, "offset": 0.0, "input_layout": 0,
        "pad_to_max_output_size": False, **settings,
    }  # fmt: skip
    size = np.full(1, 77, np.int32)
    with pymluops.NmsDescriptor(**values) as desc:
        pymluops.functions.mluOpNms(desc, boxes, confidence, output, size)
    return int(size[0])


@pytest.mark.parametrize("layout", [0, 1])
def test_batches_and_classes(layout: int) -> None:
    rng = np.random.default_rng(5)
    boxes = np.stack([random_boxes(rng, 30) for _ in range(2)]).astype(np.float32)
    confidence = rng.uniform(-0.2, 1, (2, 3, 30)).astype(np.float32)
    wanted = [
        [batch, of_class, number]
        for batch in range(2)
        for of_class in range(3)
        for number in oracle.suppression(oracle.corners(boxes[batch], False), confidence[batch, of_class], 0.5, 0, 0, 7)
    ]
    given_boxes = boxes if layout == 0 else boxes.transpose(0, 2, 1).copy()
    output = canary((50, 3), np.int32)
    count = _mlu_op_nms(given_boxes, confidence, output, 7, output_mode=3, input_layout=layout)
    assert output[:count].tolist() == wanted
    assert is_canary(output[count:])
    count = _mlu_op_nms(
        given_boxes, confidence, output, 7, output_mode=3, input_layout=layout, pad_to_max_output_size=True
    )
    assert output[:count].tolist() == wanted and not output[count : 2 * 3 * 7].any() and is_canary(output[42:])
    one = boxes[:1] if layout == 0 else given_boxes[:1].copy()
    numbers = np.zeros(30, np.uint32)
    count = _mlu_op_nms(one, confidence[:1, :1].copy(), numbers, 30, input_layout=layout)
    assert numbers[:count].tolist() == oracle.suppression(oracle.corners(boxes[0], False), confidence[0, 0], 0.5, 0, 0)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_padding_and_columns(mode: int, dtype: str) -> None:
    rng = np.random.default_rng(6)
    boxes, scores = random_boxes(rng, 20).astype(dtype), rng.random(20).astype(dtype)
    wanted = oracle.suppression(oracle.corners(boxes, False), scores.astype(np.float32), 0.5, 0, 0, 15)
    shape = {0: (18,), 1: (18, 5), 2: (5, 18)}[mode]
    output = canary(shape, "int32" if mode == 0 else dtype)
    count = _mlu_op_nms(
        boxes.T.copy(), scores, output, 15, output_mode=mode, input_layout=1, pad_to_max_output_size=True
    )
    rows = output.T if mode == 2 else output
    values = np.array(wanted) if mode == 0 else np.column_stack([scores, boxes])[wanted]
    assert count == len(wanted) < 15
    np.testing.assert_array_equal(rows[:count], values)
    assert not rows[count:15].any() and is_canary(np.ascontiguousarray(rows[15:]))


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("threshold", [-0.1, 0.0, 0.3])
def test_boxes_in_space_keep_their_order(layout: int, threshold: float) -> None:
    rng = np.random.default_rng(7)
    boxes = boxes3d.random_boxes(rng, 25).astype(np.float32)
    wanted = boxes3d.suppression("nms3d", boxes, np.arange(25, 0, -1), threshold)
    output = canary((25,), np.int32)
    given_boxes = boxes if layout == 0 else boxes.T.copy()
    count = _mlu_op_nms(given_boxes, None, output, 3, iou_threshold=threshold, input_layout=layout)
    assert output[:count].tolist() == wanted
    assert is_canary(output[count:])


def test_nothing_to_pick() -> None:
    boxes, scores = np.ones((3, 4), np.float32), np.ones(3, np.float32)
    output = canary((0,), np.int32)
    assert _mlu_op_nms(boxes, scores, output, 0) == 0
    assert _mlu_op_nms(boxes[:0], scores[:0], output) == 0
    assert (
        _mlu_op_nms(
            np.ones((2, 0, 4), np.float32), np.ones((2, 3, 0), np.float32), output[:, None].repeat(3, 1), output_mode=3
        )
        == 0
    )
    apart = np.zeros(9, np.uint8)[1:].view(np.int32)
    with pytest.raises(pymluops.BadParamError, match="output: expected data aligned"):
        _mlu_op_nms(boxes, scores, apart, 0)
    padded = canary((4,), np.int32)
    assert _mlu_op_nms(boxes, scores, padded, 4, confidence_threshold=1.0, pad_to_max_output_size=True) == 0
    assert not padded.any()
    for function in (pymluops.nms, pymluops.nms2d):
        assert function(boxes[:0], scores[:0], 0.5).shape == (0,)
    assert pymluops.nms(boxes[:0], scores[:0], 0.5, output_mode="planes").shape == (5, 0)
    assert pymluops.soft_nms(boxes[:0], scores[:0])[0].shape == (0, 5)
    assert pymluops.nms_match(np.ones((0, 5), np.float32), 0.5)[0].shape == (0,)


#: Boxes, scores and output of a refused call, settings, and what its reason tells.
_REFUSED: list[tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...], str, dict[str, Any], str]] = [
    ((3, 4), None, (3,), "int32", {}, "confidence_desc: expected"),
    ((3, 7), (3,), (3,), "int32", {}, "confidence_desc: expected NULL"),
    ((3, 7), None, (3,), "int32", {"output_mode": 1}, "nms_desc: expected output_mode=0"),
    ((3, 7), None, (2,), "int32", {}, "output_desc: expected room for 3 picks"),
    ((3, 4), (3,), (3,), "int32", {"input_layout": 1}, "boxes_desc: expected"),
    ((3, 4), (3,), (3, 4), "float32", {"output_mode": 1}, "output_desc"),
    ((3, 4), (3,), (3, 5), "float16", {"output_mode": 1}, "output_desc"),
    ((3, 4), (3,), (3, 5), "float32", {"output_mode": 2}, "output_desc"),
    ((2, 3, 4), (2, 1, 3), (6,), "int32", {}, "nms_desc: expected output_mode=3"),
    ((2, 3, 4), (1, 1, 3), (6, 3), "int32", {"output_mode": 3}, "confidence_desc"),
    ((2, 3, 4), (2, 2, 3), (11, 3), "int32", {"output_mode": 3}, "output_desc: expected room for 12 picks"),
    ((3, 4), (3,), (9,), "int32", {"pad_to_max_output_size": True}, "output_desc: expected room for 10 picks"),
]


@pytest.mark.parametrize(("boxes", "confidence", "output", "dtype", "settings", "told"), _REFUSED)
def test_refused_forms(
    boxes: Any, confidence: Any, output: Any, dtype: str, settings: dict[str, Any], told: str
) -> None:
    scores = None if confidence is None else np.ones(confidence, np.float32)
    written = canary(output, dtype)
    with pytest.raises(pymluops.BadParamError, match=told):
        _mlu_op_nms(np.ones(boxes, np.float32), scores, written, **settings)
    assert is_canary(written)


def test_refused_arguments_in_python() -> None:
    boxes, scores = np.ones((4, 4), np.float32), np.ones(4, np.float32)
    for arguments, options, text in (
        ((boxes[:, :3].copy(), scores, 0.5), {}, "nms: boxes: "),
        ((boxes, scores[:3].copy(), 0.5), {}, "nms: confidence: "),
        ((boxes, scores, math.nan), {}, "iou_threshold"),
        ((boxes, scores, 0.5, -1), {}, "nms: max_output_size: "),
        ((boxes, scores, 0.5, 3, 1.5), {}, "confidence_threshold"),
        ((boxes, scores, 0.5), {"offset": 2}, "nms: offset: "),
        ((boxes, scores, 0.5), {"output_mode": 3}, "nms: output_mode: "),
        ((boxes, scores, 0.5), {"box_mode": "sides"}, "nms: box_mode: "),
    ):
        with pytest.raises(pymluops.BadParamError, match=text):
            pymluops.nms(*arguments, **options)  # type: ignore[arg-type]
    with pytest.raises(pymluops.BadParamError, match="soft_nms: method: "):
        pymluops.soft_nms(boxes, scores, method="hard")
    with pytest.raises(pymluops.BadParamError, match="nms2d: offset: "):
        pymluops.nms2d(boxes, scores, 0.5, 2)


def test_results_are_of_the_type_of_the_boxes() -> None:
    boxes, scores = np.float16([[0, 0, 4, 4], [8, 0, 9, 1]]), np.float16([0.25, 0.5])
    rows = pymluops.nms(boxes, scores, 0.5, output_mode="rows")
    assert_same_bits(rows, np.float16([[0.5, 8, 0, 9, 1], [0.25, 0, 0, 4, 4]]))
