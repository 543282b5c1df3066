"""bbox_overlaps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import bbox_overlaps as oracle
from pymluops.oracle.plane_boxes import random_boxes
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

FIRST = np.float32([[0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42]])
SECOND = np.float32([[0, 0, 10, 20], [0, 10, 10, 19], [10, 10, 20, 20]])


def test_values_that_the_vendor_prints() -> None:
    assert pymluops.bbox_overlaps(FIRST, SECOND).tolist() == [[0.5, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert pymluops.bbox_overlaps(FIRST, SECOND, aligned=True).tolist() == [0.5, 0, 0]


@examples(80)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    dtype=st.sampled_from(["float32", "float16"]),
    of_first=st.booleans(),
    offset=st.integers(0, 1),
    odd=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 2**32 - 1),
)
def test_values_of_the_formula(
    rows: int, columns: int, dtype: str, of_first: bool, offset: int, odd: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    first, second = (random_boxes(rng, count).astype(dtype) for count in (rows, columns))
    places = rng.random(first.shape) < odd
    first[places] = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0, 60000], dtype), places.sum())
    found = pymluops.bbox_overlaps(first, second, int(of_first), offset=offset)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, oracle.pairs(first, second, of_first, offset))
    least = min(rows, columns)
    found = pymluops.bbox_overlaps(first[:least], second[:least], "iof" if of_first else "iou", True, offset)
    np.testing.assert_array_equal(found, oracle.aligned(first[:least], second[:least], of_first, offset))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_tiles_are_put_together(dtype: str) -> None:
    rng = np.random.default_rng(2)
    first, second = (random_boxes(rng, count).astype(dtype) for count in (150, 601))
    found = pymluops.bbox_overlaps(first, second)
    np.testing.assert_array_equal(found, oracle.pairs(first, second))
    many = random_boxes(rng, 3001).astype(dtype)
    np.testing.assert_array_equal(
        pymluops.bbox_overlaps(many, many[::-1].copy(), aligned=True), oracle.aligned(many, many[::-1])
    )


def test_boxes_without_an_area() -> None:
    none, box = np.float32([[1, 1, 1, 1]]), np.float32([[0, 0, 4, 4]])
    assert math.isnan(pymluops.bbox_overlaps(none, none).item())
    assert pymluops.bbox_overlaps(none, none, offset=1).item() == 1
    assert math.isnan(pymluops.bbox_overlaps(none, box, "iof").item())
    assert pymluops.bbox_overlaps(box, none).item() == 0
    reversed_box = np.float32([[4, 4, 0, 0]])
    assert pymluops.bbox_overlaps(reversed_box, box).item() == 0


# ---- zero elements and refusals ------------------------------------------------------------------


def _status(raw: Raw, first: Any, second: Any, ious: Any, mode: int = 0, aligned: bool = False, offset: int = 0) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    tensors = [Tensor(a) if isinstance(a, np.ndarray) else a for a in (first, second, ious)]
    return raw.status("mluOpBboxOverlaps", mode, aligned, offset, *tensors)


def test_without_boxes_there_is_nothing_to_do(raw: Raw) -> None:
    none = np.ones((0, 4), np.float32)
    assert pymluops.bbox_overlaps(none, FIRST).shape == (0, 3)
    assert pymluops.bbox_overlaps(FIRST, none).shape == (3, 0)
    assert pymluops.bbox_overlaps(none, none, aligned=True).shape == (0,)
    # Without boxes the number of columns does not matter.
    assert _status(raw, np.ones((0, 3), np.float32), FIRST, np.ones((0, 3), np.float32)) == SUCCESS
    null = Descriptor((0, 4), "float32", pair=True)
    assert _status(raw, null, null, Descriptor((0, 1), "float32", pair=True), aligned=True) == SUCCESS
    assert _status(raw, null, null, Descriptor((0,), "float32", pair=True), aligned=True) == BAD_PARAM
    assert "last dimension of 1" in raw.reason()


#: What replaces one array, the status, and the name that the reason tells.
REFUSED: list[tuple[str, Any, int, str]] = [
    ("first", np.ones((3, 5), np.float32), BAD_PARAM, "bbox1_desc"),
    ("first", np.ones((4, 4), np.float32), BAD_PARAM, "ious_desc"),
    ("first", np.ones(4, np.float32), BAD_PARAM, "bbox1_desc"),
    ("first", np.ones((3, 4), np.float64), BAD_PARAM, "bbox1_desc"),
    ("first", np.ones((3, 8), np.float32)[:, ::2], NOT_SUPPORTED, "bbox1_desc"),
    ("second", np.ones((2, 3), np.float32), BAD_PARAM, "bbox2_desc"),
    ("second", np.ones((3, 4), np.float32), BAD_PARAM, "ious_desc"),
    ("second", np.ones((2, 4), np.float16), BAD_PARAM, "bbox2_desc"),
    ("ious", np.ones(6, np.float32), BAD_PARAM, "ious_desc"),
    ("ious", np.ones((3, 2), np.int32), BAD_PARAM, "ious_desc"),
    ("ious", np.ones((3, 4), np.float32)[:, ::2], NOT_SUPPORTED, "ious_desc"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int, told: str) -> None:
    arrays = {"first": FIRST.copy(), "second": SECOND[:2].copy(), "ious": canary((3, 2), "float32"), name: array}
    assert _status(raw, *arrays.values()) == wanted
    assert f"mluOpBboxOverlaps: {told}: expected" in raw.reason()
    assert name == "ious" or is_canary(arrays["ious"])


def test_refused_numbers(raw: Raw) -> None:
    ious = canary((3, 2), "float32")
    for numbers, told in (({"mode": -1}, "mode"), ({"mode": 2}, "mode"), ({"offset": 2}, "offset")):
        assert _status(raw, FIRST, SECOND[:2].copy(), ious, **numbers) == BAD_PARAM
        assert f"{told}: expected" in raw.reason()
    assert _status(raw, FIRST, SECOND[:2].copy(), canary((3,), "float32"), aligned=True) == BAD_PARAM
    assert _status(raw, FIRST, SECOND, ious, aligned=True) == BAD_PARAM
    assert is_canary(ious)
    with pytest.raises(pymluops.BadParamError, match="bbox_overlaps: mode: "):
        pymluops.bbox_overlaps(FIRST, SECOND, "giou")
    with pytest.raises(pymluops.BadParamError, match="bbox_overlaps: bbox2: "):
        pymluops.bbox_overlaps(FIRST, SECOND[:2].copy(), aligned=True)
