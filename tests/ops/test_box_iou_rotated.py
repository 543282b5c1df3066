"""box_iou_rotated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import box_iou_rotated as oracle
from pymluops.oracle.rotated_rectangles import random_rectangles
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples


def _boxes(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, np.float32).reshape(len(rows), 5)


#: Boxes of the dumped cases, and the values that mmcv's tests expect.
FIRST = _boxes((1, 1, 3, 4, 0.5), (2, 2, 3, 4, 0.6), (7, 7, 8, 8, 0.4))
SECOND = _boxes((0, 2, 2, 5, 0.3), (2, 1, 3, 3, 0.5), (5, 5, 6, 7, 0.4))
IOUS = [[0.3708, 0.4351, 0], [0.1104, 0.4487, 0.0424], [0, 0, 0.3622]]


def test_values_that_mmcv_expects() -> None:
    np.testing.assert_allclose(pymluops.box_iou_rotated(FIRST, SECOND), IOUS, atol=1e-4)
    np.testing.assert_allclose(pymluops.box_iou_rotated(FIRST, SECOND, aligned=True), np.diagonal(IOUS), atol=1e-4)
    mirrored = [boxes * np.float32([1, 1, 1, 1, -1]) for boxes in (FIRST, SECOND)]
    np.testing.assert_allclose(pymluops.box_iou_rotated(*mirrored)[1, 1], 0.4487, atol=1e-4)


@examples(60)
@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
    of_first=st.booleans(),
    spread=st.sampled_from([0.0, 1.0, 4.0, 300.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_values_are_those_of_the_oracle(rows: int, columns: int, of_first: bool, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (random_rectangles(rng, count, spread).astype(np.float32) for count in (rows, columns))
    found = pymluops.box_iou_rotated(first, second, int(of_first))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, oracle.pairs(first, second, of_first), rtol=0, atol=2e-7)
    least = min(rows, columns)
    found = pymluops.box_iou_rotated(first[:least], second[:least], "iof" if of_first else "iou", True)
    np.testing.assert_allclose(found, oracle.aligned(first[:least], second[:least], of_first), rtol=0, atol=2e-7)


@examples(40)
@given(count=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_any_bits_give_a_part(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (random_rectangles(rng, count).astype(np.float32) for _ in range(2))
    odd = rng.random(first.shape) < 0.15
    first[odd] = any_bits(rng, first.shape, np.float32)[odd]
    found = pymluops.box_iou_rotated(first, second)
    assert ((found >= 0) & (found <= 1)).all()
    assert_same_bits(found, np.ascontiguousarray(pymluops.box_iou_rotated(second, first).T))
    sides = np.abs(first[:, 2:4])
    usual = np.isfinite(first).all(1) & (sides > 1e-6).all(1) & (sides < 1e6).all(1)
    np.testing.assert_allclose(found[usual], oracle.pairs(first[usual], second), rtol=0, atol=2e-7)


def test_tiles_are_put_together() -> None:
    rng = np.random.default_rng(2)
    first, second = (random_rectangles(rng, count, 6.0).astype(np.float32) for count in (150, 131))
    found = pymluops.box_iou_rotated(first, second)
    for i, j in rng.integers(0, 130, (60, 2)):
        assert found[i, j] == pytest.approx(oracle.overlap(first[i], second[j]), abs=2e-7)
    aligned = pymluops.box_iou_rotated(first[:131], second, aligned=True)
    assert_same_bits(aligned, np.ascontiguousarray(np.diagonal(found)))


#: Pairs of boxes, and what they have in common by what both cover.
KNOWN: list[tuple[tuple[float, ...], tuple[float, ...], float]] = [
    ((0, 0, 4, 2, 0), (0, 0, 4, 2, 0), 1),
    ((3, -2, 4, 2, 0.7), (3, -2, 4, 2, 0.7), 1),
    ((0, 0, 4, 2, 0), (0, 0, 2, 4, math.pi / 2), 1),
    ((0, 0, 4, 2, 0), (0, 0, 4, 2, math.pi), 1),
    ((0, 0, 4, 4, 0), (0, 0, 2, 2, 0), 0.25),
    ((0, 0, 2, 2, 0), (0, 0, 2, 2, math.pi / 4), 1 / math.sqrt(2)),
    ((0, 0, 4, 2, 0), (4, 0, 4, 2, 0), 0),  # they share an edge
    ((0, 0, 4, 2, 0), (4, 2, 4, 2, 0), 0),  # they share a corner
    ((0, 0, 4, 2, 0), (50, 0, 4, 2, 0), 0),
    ((0, 0, 0, 2, 0), (0, 0, 4, 2, 0), 0),
    ((0, 0, -4, 2, 0), (0, 0, 4, 2, 0), 0),
    ((0, 0, -4, -2, 0), (0, 0, 4, 2, 0), 1),
    ((0, 0, 1e-30, 1e-30, 0), (0, 0, 1e-30, 1e-30, 0.3), 0.7994521),
    ((0, 0, 1e-45, 1e-45, 0.5), (0, 0, 1e-45, 1e-45, 0.5), 1),
    ((1e6, 1e6, 4, 2, 0), (1e6 + 1, 1e6, 4, 2, 0), 0.6),
    ((0, 0, 1e8, 1e8, 0), (0, 0, 1e8, 1e8, 0), 1),
    ((0, 0, 3e38, 3e38, 0), (0, 0, 3e38, 3e38, 0), 1),  # the area is no float
    ((0, 0, 3e38, 3e38, 0), (0, 0, 1.5e38, 3e38, 0), 0.5),
    # One rounding apart.
    ((0, 0, 0.61662, 29.052486, -1.1486285), (0, 0, 0.61662, 29.052484, -1.1486285), 1),
    ((2, 2, 4, 4, math.pi / 4), (0, 0, 4, 4, math.pi / 4), 0.17157288),  # they share parts of edges
    ((0, 0, 4, 2, math.nan), (0, 0, 4, 2, 0), 0),
    ((math.inf, 0, 4, 2, 0), (math.inf, 0, 4, 2, 0), 0),
]


@pytest.mark.parametrize(("first", "second", "wanted"), KNOWN)
def test_known_boxes(first: tuple[float, ...], second: tuple[float, ...], wanted: float) -> None:
    for one, other in ((first, second), (second, first)):
        assert pymluops.box_iou_rotated(_boxes(one), _boxes(other)).item() == pytest.approx(wanted, abs=1e-5)


def test_all_angles_agree_with_the_area_of_a_regular_polygon() -> None:
    """Two equal squares around one centre have an octagon in common, whose area has a short formula."""
    angles = np.linspace(-7, 7, 400)
    boxes = np.column_stack([np.ones((400, 2)), np.full((400, 2), 2.0), angles]).astype(np.float32)
    turned = np.abs((angles + np.pi / 4) % (np.pi / 2) - np.pi / 4)
    common = 4 * np.where(turned < 1e-3, 1, 2 / (1 + np.cos(turned) + np.sin(turned)) / 1)
    found = pymluops.box_iou_rotated(boxes, _boxes((1, 1, 2, 2, 0)), "iof")[:, 0]
    np.testing.assert_allclose(found * 4, common, atol=4e-3)  # the formula leaves out angles below 1e-3
    assert_same_bits(found, np.ascontiguousarray(pymluops.box_iou_rotated(_boxes((1, 1, 2, 2, 0)), boxes, "iof")[0]))


# ---- zero elements and refusals ------------------------------------------------------------------


def _status(raw: Raw, first: Any, second: Any, ious: Any, mode: int = 0, aligned: bool = False) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    tensors = [Tensor(a) if isinstance(a, np.ndarray) else a for a in (first, second, ious)]
    return raw.status("mluOpBoxIouRotated", mode, aligned, *tensors)


def test_without_boxes_there_is_nothing_to_do(raw: Raw) -> None:
    none = np.ones((0, 5), np.float32)
    assert pymluops.box_iou_rotated(none, FIRST).shape == (0, 3)
    assert pymluops.box_iou_rotated(FIRST, none).shape == (3, 0)
    assert pymluops.box_iou_rotated(none, none, aligned=True).shape == (0,)
    # Without boxes the number of columns does not matter.
    assert _status(raw, np.ones((0, 4), np.float32), FIRST, np.ones((0, 3), np.float32)) == SUCCESS
    null = Descriptor((0, 5), "float32", pair=True)
    assert _status(raw, null, null, Descriptor((0,), "float32", pair=True), aligned=True) == SUCCESS


#: What replaces one array, the status, and the name that the reason tells.
REFUSED: list[tuple[str, Any, int, str]] = [
    ("first", np.ones((3, 4), np.float32), BAD_PARAM, "bbox1_desc"),
    ("first", np.ones((4, 5), np.float32), BAD_PARAM, "ious_desc"),
    ("first", np.ones(5, np.float32), BAD_PARAM, "bbox1_desc"),
    ("first", np.ones((3, 5), np.float16), BAD_PARAM, "bbox1_desc"),
    ("first", np.ones((3, 10), np.float32)[:, ::2], NOT_SUPPORTED, "bbox1_desc"),
    ("second", np.ones((2, 6), np.float32), BAD_PARAM, "bbox2_desc"),
    ("second", np.ones((3, 5), np.float32), BAD_PARAM, "ious_desc"),
    ("second", np.ones((2, 5, 1), np.float32), BAD_PARAM, "bbox2_desc"),
    ("second", np.ones((2, 5), np.float64), BAD_PARAM, "bbox2_desc"),
    ("ious", np.ones(6, np.float32), BAD_PARAM, "ious_desc"),
    ("ious", np.ones((3, 2), np.int32), BAD_PARAM, "ious_desc"),
    ("ious", np.ones((3, 4), np.float32)[:, ::2], NOT_SUPPORTED, "ious_desc"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int, told: str) -> None:
    arrays = {"first": FIRST.copy(), "second": SECOND[:2].copy(), "ious": canary((3, 2), "float32"), name: array}
    assert _status(raw, *arrays.values()) == wanted
    assert f"mluOpBoxIouRotated: {told}: expected" in raw.reason()
    assert name == "ious" or is_canary(arrays["ious"])


def test_refused_numbers(raw: Raw) -> None:
    ious = canary((3, 2), "float32")
    for mode in (-1, 2):
        assert _status(raw, FIRST, SECOND[:2].copy(), ious, mode) == BAD_PARAM
        assert "mode: expected" in raw.reason()
    assert _status(raw, FIRST, SECOND[:2].copy(), canary((3,), "float32"), aligned=True) == BAD_PARAM
    assert _status(raw, FIRST, SECOND, ious, aligned=True) == BAD_PARAM
    assert is_canary(ious)
    with pytest.raises(pymluops.BadParamError, match="box_iou_rotated: mode: "):
        pymluops.box_iou_rotated(FIRST, SECOND, "giou")
    with pytest.raises(pymluops.BadParamError, match="box_iou_rotated: aligned: expected a bool"):
        pymluops.box_iou_rotated(FIRST, SECOND, aligned=2)  # type: ignore[call-overload]
    with pytest.raises(pymluops.BadParamError, match="box_iou_rotated: bbox2: "):
        pymluops.box_iou_rotated(FIRST, SECOND[:2].copy(), aligned=True)


def test_results_have_memory_of_their_own(raw: Raw) -> None:
    memory = FIRST.copy()
    assert _status(raw, memory, SECOND, memory.reshape(-1)[:9].reshape(3, 3)) == BAD_PARAM
    assert "memory of its own" in raw.reason()
    assert_same_bits(memory, FIRST)


def test_values_are_indexable(raw: Raw) -> None:
    boxes = Descriptor((46341, 5), "float32", pair=True)
    assert _status(raw, boxes, boxes, Descriptor((46341, 46341), "float32", pair=True)) == NOT_SUPPORTED
    assert "fewer than 2^31" in raw.reason()
