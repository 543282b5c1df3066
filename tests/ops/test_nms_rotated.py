"""nms_rotated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import nms_rotated as oracle
from pymluops.oracle.rotated_rectangles import random_rectangles
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples


def _status(raw: Raw, boxes: Any, scores: Any, out: Any, count: Any, threshold: float = 0.5, workspace: int = 0) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    boxes, scores, out = (Tensor(a) if isinstance(a, np.ndarray) else a for a in (boxes, scores, out))
    memory = np.zeros(workspace + 1, np.uint8)
    room = raw.ffi.cast("void *", memory[1:].ctypes.data) if workspace else raw.ffi.NULL
    number = raw.ffi.NULL if count is None else raw.ffi.cast("int32_t *", count.ctypes.data)
    return raw.status("mluOpNmsRotated", threshold, boxes, scores, room, workspace, out, number)


@examples(80)
@given(
    count=st.integers(1, 24),
    columns=st.sampled_from([5, 6]),
    threshold=st.sampled_from([-0.1, 0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 2.0]),
    spread=st.sampled_from([0.5, 4.0, 50.0]),
    digits=st.sampled_from([1, 6]),
    seed=st.integers(0, 2**32 - 1),
)
def test_kept_boxes(count: int, columns: int, threshold: float, spread: float, digits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = np.zeros((count, columns), np.float32)
    boxes[:, :5] = random_rectangles(rng, count, spread)
    boxes[:, 5:] = rng.integers(0, 3, (count, columns - 5))
    scores = np.round(rng.normal(size=count), digits).astype(np.float32)
    odd = rng.random(count) < 0.1
    scores[odd] = rng.choice(np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0]), odd.sum())
    found = pymluops.nms_rotated(boxes, scores, threshold)
    assert found.dtype == np.int32
    assert found.tolist() == oracle.nms_rotated(boxes, scores, np.float32(threshold))


@pytest.mark.parametrize("spread", [3.0, 40.0])
def test_more_boxes_than_a_block(spread: float) -> None:
    rng = np.random.default_rng(8)
    boxes = random_rectangles(rng, 400, spread).astype(np.float32)
    scores = np.round(rng.random(400), 2).astype(np.float32)
    wanted = oracle.nms_rotated(boxes, scores, np.float32(0.3))
    before = pymluops.get_num_threads()
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            assert pymluops.nms_rotated(boxes, scores, 0.3).tolist() == wanted
    finally:
        pymluops.set_num_threads(before)


def test_many_boxes_need_no_table_of_pairs() -> None:
    """Of 20,000 boxes, four in each of 5,000 places, the best in each place is kept."""
    rng = np.random.default_rng(3)
    place = rng.permutation(20_000) % 5000
    boxes = np.column_stack([place % 100 * 10, place // 100 * 10, *np.full((2, 20_000), 4.0), rng.random(20_000) / 9])
    scores = rng.permutation(20_000).astype(np.float32)
    kept = pymluops.nms_rotated(boxes.astype(np.float32), scores, 0.5)
    assert len(kept) == 5000
    best = np.zeros(5000, np.float32)
    np.maximum.at(best, place, scores)
    assert sorted(scores[kept], reverse=True) == scores[kept].tolist()
    assert set(scores[kept]) == set(best)


def test_order_of_equal_scores_is_that_of_the_boxes() -> None:
    boxes = np.zeros((5, 5), np.float32)
    boxes[:, 2:4] = 2
    boxes[:, 0] = [0, 10, 0, 10, 20]
    assert pymluops.nms_rotated(boxes, np.ones(5, np.float32), 0.5).tolist() == [0, 1, 4]
    assert pymluops.nms_rotated(boxes, np.float32([0.0, 1, -0.0, 1, 1]), 0.5).tolist() == [1, 4, 0]


def test_suppression_is_above_the_threshold() -> None:
    boxes = np.float32([[0, 0, 4, 4, 0], [0, 0, 4, 2, 0]])  # exactly a half
    assert pymluops.nms_rotated(boxes, np.float32([2, 1]), 0.5).tolist() == [0, 1]
    assert pymluops.nms_rotated(boxes, np.float32([2, 1]), math.nextafter(0.5, 0)).tolist() == [0, 1]  # a float
    assert pymluops.nms_rotated(boxes, np.float32([2, 1]), 0.49999997).tolist() == [0]


def test_odd_thresholds_scores_and_boxes() -> None:
    boxes = np.float32([[0, 0, 4, 4, 0]] * 4 + [[0, 0, 0, 4, 0], [math.nan, 0, 4, 4, 0]])
    scores = np.float32([1, 2, 3, 4, 5, 6])
    assert pymluops.nms_rotated(boxes, scores, math.nan).tolist() == [5, 4, 3, 2, 1, 0]
    assert pymluops.nms_rotated(boxes, scores, math.inf).tolist() == [5, 4, 3, 2, 1, 0]
    assert pymluops.nms_rotated(boxes, scores, 0.5).tolist() == [5, 4, 3]
    assert pymluops.nms_rotated(boxes, scores, -1e-30).tolist() == [5]
    assert pymluops.nms_rotated(boxes, scores, -0.0).tolist() == [5, 4, 3]
    none = np.full(6, -np.inf, np.float32)
    assert pymluops.nms_rotated(boxes, none, 0.5).tolist() == []
    none[2], none[3] = np.nan, -3e38
    assert pymluops.nms_rotated(boxes, none, 0.5).tolist() == [3]


def test_a_small_workspace_is_not_used(raw: Raw) -> None:
    rng = np.random.default_rng(1)
    boxes, scores = random_rectangles(rng, 30).astype(np.float32), rng.random(30, np.float32)
    wanted = pymluops.nms_rotated(boxes, scores, 0.5).tolist()
    size = raw.ffi.new("size_t *", 0)
    assert raw.status("mluOpGetNmsRotatedWorkspaceSize", Descriptor((30, 5), "float32"), size) == SUCCESS
    assert 0 < size[0] < 30 * 100 + 1000
    for workspace in (0, 1, size[0] - 1, size[0], 2 * size[0]):
        out, count = canary((30,), np.int32), np.zeros(1, np.int32)
        assert _status(raw, boxes, scores, out, count, 0.5, workspace) == SUCCESS
        assert out[: count[0]].tolist() == wanted
        assert is_canary(out[count[0] :])


# ---- zero elements and refusals ------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    return {
        "boxes": np.ones((4, 5), np.float32),
        "scores": np.ones(4, np.float32),
        "out": canary((4,), np.int32),
        "count": np.full(1, 77, np.int32),
    }


def test_without_boxes_nothing_is_written(raw: Raw) -> None:
    count = np.full(1, 77, np.int32)
    none = [Descriptor(shape, kind, pair=True) for shape, kind in (((0, 5), "float32"), ((0,), "float32"))]
    assert _status(raw, *none, Descriptor((0,), "int32", pair=True), count) == SUCCESS
    assert count[0] == 77
    assert _status(raw, *none, Descriptor((0,), "int32", pair=True), None) == SUCCESS
    assert pymluops.nms_rotated(np.ones((0, 6), np.float32), np.ones(0, np.float32), 0.5).tolist() == []


#: What replaces one array, the status, and the name that the reason tells.
REFUSED: list[tuple[str, Any, int, str]] = [
    ("boxes", np.ones((4, 4), np.float32), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((4, 7), np.float32), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((3, 5), np.float32), BAD_PARAM, "scores_desc"),
    ("boxes", np.ones((4, 5), np.float16), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((4, 5), np.float64), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((4, 5, 1), np.float32), BAD_PARAM, "boxes_desc"),
    ("boxes", np.ones((4, 10), np.float32)[:, ::2], NOT_SUPPORTED, "boxes_desc"),
    ("boxes", Descriptor((4, 5), "float32", pair=True), BAD_PARAM, "boxes"),
    ("scores", np.ones(3, np.float32), BAD_PARAM, "scores_desc"),
    ("scores", np.ones((4, 1), np.float32), BAD_PARAM, "scores_desc"),
    ("scores", np.ones(4, np.float64), BAD_PARAM, "scores_desc"),
    ("scores", np.ones(8, np.float32)[::2], NOT_SUPPORTED, "scores_desc"),
    ("out", np.ones(3, np.int32), BAD_PARAM, "output_desc"),
    ("out", np.ones(4, np.int64), BAD_PARAM, "output_desc"),
    ("count", None, BAD_PARAM, "result_num"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int, told: str) -> None:
    arrays = {**_arrays(), name: array}
    assert _status(raw, *arrays.values()) == wanted
    assert f"mluOpNmsRotated: {told}: expected" in raw.reason()
    assert name == "out" or is_canary(arrays["out"])
    assert name == "count" or arrays["count"][0] == 77


def test_results_have_memory_of_their_own(raw: Raw) -> None:
    a = _arrays()
    assert _status(raw, a["boxes"], a["scores"], a["scores"].view(np.int32), a["count"]) == BAD_PARAM
    assert _status(raw, a["boxes"], a["scores"], a["out"], a["boxes"].view(np.int32)) == BAD_PARAM
    assert _status(raw, a["boxes"], a["scores"], a["out"], a["out"][3:]) == BAD_PARAM
    assert "result_num: expected memory of its own" in raw.reason()
    assert is_canary(a["out"])


def test_refused_arguments_in_python() -> None:
    boxes, scores = np.ones((4, 5), np.float32), np.ones(4, np.float32)
    with pytest.raises(pymluops.BadParamError, match="nms_rotated: boxes: "):
        pymluops.nms_rotated(boxes[:, :4].copy(), scores, 0.5)
    with pytest.raises(pymluops.BadParamError, match="nms_rotated: scores: "):
        pymluops.nms_rotated(boxes, scores[:3].copy(), 0.5)
    with pytest.raises(pymluops.BadParamError, match="nms_rotated: iou_threshold: "):
        pymluops.nms_rotated(boxes, scores, "much")  # type: ignore[call-overload]
