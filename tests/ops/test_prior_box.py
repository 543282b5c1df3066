"""prior_box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import prior_box as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

NONE = np.zeros(0, np.float32)
VARIANCES = np.float32([0.1, 0.1, 0.2, 0.2])


def same(arrays: list[np.ndarray], numbers: tuple[Any, ...]) -> None:
    """The function gives the bits of the oracle."""
    found, wanted = pymluops.prior_box(*arrays, *numbers), oracle.boxes(*arrays, *numbers)
    for one, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, expected)


@examples(150)
@given(
    sizes=st.integers(1, 4),
    ratios=st.integers(1, 5),
    ones=st.integers(0, 2),
    maxima=st.booleans(),
    height=st.integers(1, 6),
    width=st.integers(1, 9),
    clip=st.booleans(),
    squares_first=st.booleans(),
    odd=st.sampled_from([0.0, 0.2]),
    seed=st.integers(0, 2**32 - 1),
)
def test_values_of_the_formula(
    sizes: int, ratios: int, ones: int, maxima: bool, height: int, width: int, clip: bool, squares_first: bool,
    odd: float, seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    least = rng.uniform(1, 200, sizes).astype(np.float32)
    shapes = rng.uniform(0.1, 9, ratios).astype(np.float32)
    shapes[:ones] = 1
    most = least * 2 if maxima else NONE
    for array in (least, shapes, most):
        places = rng.random(array.shape) < odd
        array[places] = rng.choice(np.float32([np.nan, np.inf, -np.inf, 0, -2, 1e38]), places.sum())
    numbers = (height, width, 300, 200, 7.5, 9.25, float(rng.choice([0.5, 0, -3])), clip, squares_first)
    same([least, shapes, VARIANCES, most], numbers)


def test_the_vendors_shapes() -> None:
    arrays = [
        np.float32([7.86546, 147.885]), np.float32([1, 8.51718, 0.11741]),
        np.float32([0.431075, 0.590221, 0.258366, 0.276392]), np.float32([222.036, 235.476]),
    ]  # fmt: skip
    for side in (1, 39):
        same(arrays, (side, side, 300, 300, 300.0, 300.0, 0.5, True, True))


def test_boxes_without_room_are_left_out_and_room_without_boxes_is_zero() -> None:
    size = np.float32([4])
    fixed = (1, 1, 8, 8, 8.0, 8.0)
    # No ratio is 1: three boxes, room for two.
    boxes, _ = pymluops.prior_box(size, np.float32([4, 0.25]), VARIANCES, NONE, *fixed)
    assert boxes[0, 0].tolist() == [[0.25, 0.25, 0.75, 0.75], [0, 0.375, 1, 0.625]]
    # Two are: one box, and room for two.
    boxes, variances = pymluops.prior_box(size, np.float32([1, 1]), VARIANCES, NONE, *fixed)
    assert boxes[0, 0].tolist() == [[0.25, 0.25, 0.75, 0.75], [0, 0, 0, 0]]
    np.testing.assert_array_equal(variances[0, 0], [VARIANCES, VARIANCES])


def test_images_without_an_area_and_extreme_numbers() -> None:
    arrays = [np.float32([4, 8]), np.float32([1, 2]), VARIANCES, NONE]
    for sides in ((0, 0), (-1, -(2**31)), (2**31 - 1, 1)):
        for clip in (False, True):
            same(arrays, (2, 2, *sides, 1.0, float("inf"), 0.5, clip, True))
    same(arrays, (2, 2, 8, 8, 1.0, 1.0, float("nan"), True, False))


def test_any_number_of_threads_gives_the_same_bits() -> None:
    rng = np.random.default_rng(3)
    arrays = [rng.uniform(1, 9, 7).astype(np.float32) for _ in range(2)]
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            found.append(pymluops.prior_box(*arrays, VARIANCES, arrays[0], 41, 37, 300, 300, 8.0, 8.0))
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    same([*arrays, VARIANCES, arrays[0]], (41, 37, 300, 300, 8.0, 8.0))


# ---- zero elements and refusals ------------------------------------------------------------------


def _arrays(maxima: bool = True) -> dict[str, Any]:
    boxes = 2 * 3 + (2 if maxima else 0)
    return {
        "min_sizes": np.float32([4, 8]),
        "aspect_ratios": np.float32([1, 2, 3]),
        "variances": VARIANCES.copy(),
        "max_sizes": np.float32([8, 16]) if maxima else NONE,
        "output": canary((2, 5, boxes, 4), "float32"),
        "var": canary((2, 5, boxes, 4), "float32"),
    }


def _status(raw: Raw, arrays: dict[str, Any], **numbers: Any) -> int:
    given = {"height": 2, "width": 5, "im_height": 9, "im_width": 9, "step_h": 4.0, "step_w": 4.0, "offset": 0.5}
    values = [*({**given, **numbers}).values(), False, True]
    tensors = [Tensor(one) if isinstance(one, np.ndarray) else one for one in arrays.values()]
    return raw.status("mluOpPriorBox", *tensors[:4], *values, *tensors[4:])


def test_nothing_to_do(raw: Raw) -> None:
    assert _status(raw, _arrays()) == SUCCESS
    assert _status(raw, _arrays(False)) == SUCCESS
    null = {name: Descriptor((0, 5, 8, 4), "float32", pair=True) for name in ("output", "var")}
    assert _status(raw, {**_arrays(), **null}, height=0) == SUCCESS
    one = np.ones(1, np.float32)
    boxes, variances = pymluops.prior_box(one, one, VARIANCES, NONE, 3, 0, 1, 1, 1.0, 1.0)
    assert boxes.shape == variances.shape == (3, 0, 1, 4)


REFUSED: list[tuple[str, Any, int, str]] = [
    ("min_sizes", np.ones(3, np.float32), BAD_PARAM, "max_sizes_desc"),
    ("min_sizes", np.ones((2, 1), np.float32), BAD_PARAM, "min_sizes_desc"),
    ("min_sizes", np.ones(2, np.float16), BAD_PARAM, "min_sizes_desc"),
    ("min_sizes", np.ones(4, np.float32)[::2], NOT_SUPPORTED, "min_sizes_desc"),
    ("aspect_ratios", np.ones(4, np.float32), BAD_PARAM, "output_desc"),
    ("variances", np.ones(3, np.float32), BAD_PARAM, "variances_desc"),
    ("max_sizes", np.ones(1, np.float32), BAD_PARAM, "max_sizes_desc"),
    ("max_sizes", NONE, BAD_PARAM, "output_desc"),
    ("output", np.ones((3, 5, 8, 4), np.float32), BAD_PARAM, "output_desc"),
    ("output", np.ones((2, 5, 8, 5), np.float32), BAD_PARAM, "output_desc"),
    ("output", np.ones((2, 5, 8), np.float32), BAD_PARAM, "output_desc"),
    ("var", np.ones((2, 5, 7, 4), np.float32), BAD_PARAM, "var_desc"),
    ("var", np.ones((2, 5, 8, 4), np.int32), BAD_PARAM, "var_desc"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int, told: str) -> None:
    arrays = {**_arrays(), name: array}
    assert _status(raw, arrays) == wanted
    assert f"mluOpPriorBox: {told}: expected" in raw.reason()
    assert all(is_canary(arrays[one]) for one in ("output", "var") if one != name)


@pytest.mark.parametrize("name", ["min_sizes", "aspect_ratios"])
def test_sizes_and_ratios_are_needed(raw: Raw, name: str) -> None:
    arrays = {**_arrays(False), name: NONE}
    arrays["output"] = arrays["var"] = canary((2, 5, 0, 4), "float32")
    assert _status(raw, arrays) == BAD_PARAM
    assert f"mluOpPriorBox: {name}_desc: expected" in raw.reason()


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"height": 3}, "output_desc"), ({"height": -1}, "output_desc"), ({"width": 4}, "output_desc"),
        ({"step_h": 0.0}, "step_h"), ({"step_w": -1.0}, "step_w"), ({"step_w": float("nan")}, "step_w"),
    ],
)  # fmt: skip
def test_refused_numbers(raw: Raw, numbers: dict[str, Any], told: str) -> None:
    arrays = _arrays()
    assert _status(raw, arrays, **numbers) == BAD_PARAM
    assert f"mluOpPriorBox: {told}: expected" in raw.reason()
    assert is_canary(arrays["output"])
    assert is_canary(arrays["var"])
