"""rotated_feature_align forward and backward."""

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
from pymluops.oracle import rotated_feature_align as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 7), st.integers(1, 7)),
        "channels": st.sampled_from([1, 3, 8, 17, 40]),
        "scale": st.sampled_from([0.125, 0.3081299960613251, 1.0, 2.5]),
        "points": st.sampled_from([1, 5]),
        "dtype": st.sampled_from([np.float32, np.float16]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def boxes(rng: np.random.Generator, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """A box for each pixel, on the map and beside it, some of them at its rim, some of negative size."""
    shape, extent = (batch, *size), np.array(size) / scale
    centre, sizes = rng.uniform(-0.3, 1.3, (*shape, 2)) * extent, rng.uniform(-0.2, 0.8, (*shape, 2)) * extent
    centre = np.where(rng.random(centre.shape) < 0.1, -1 / scale, centre)
    centre = np.where(rng.random(centre.shape) < 0.1, extent, centre)
    angle = rng.choice([0, math.pi / 2, -math.pi, 1.0, -7.3, 0.4], (*shape, 1))
    return np.concatenate([centre, sizes, angle], -1)


def _compare(s: dict[str, Any], maps: np.ndarray, at: np.ndarray, grad: np.ndarray, same: Any) -> None:
    numbers = s["scale"], s["points"]
    same(pymluops.rotated_feature_align_forward(maps, at, *numbers), oracle.forward(maps, at, *numbers))
    found = pymluops.rotated_feature_align_backward(grad, at, *numbers)
    with np.errstate(over="ignore"):
        same(found, oracle.backward(grad, at, *numbers).astype(grad.dtype))


@examples(100)
@given(s=SHAPES)
def test_both_have_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    shape = (s["batch"], *s["size"], s["channels"])
    maps, grad = (rng.normal(size=shape).astype(s["dtype"]) for _ in range(2))
    _compare(s, maps, boxes(rng, s["batch"], s["size"], s["scale"]).astype(s["dtype"]), grad, assert_same_bits)


@examples(100)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    shape = (s["batch"], *s["size"], s["channels"])
    maps, grad = (any_bits(rng, shape, s["dtype"]) for _ in range(2))
    at = boxes(rng, s["batch"], s["size"], s["scale"])
    odd = rng.choice([np.nan, np.inf, -np.inf, 3e38, -3e38, 0.0, -0.0], at.shape)
    with np.errstate(over="ignore"):
        at = np.where(rng.random(at.shape) < 0.2, odd, at).astype(s["dtype"])
    _compare(s, maps, at, grad, assert_same_values)


#: Maps, scale, points, type: shapes of networks and of the dumped cases, these with fewer channels.
NAMED = [
    ((2, 40, 4, 30), 0.5, 1, np.float16),
    ((10, 30, 20, 10), 0.5, 5, np.float32),
    ((2, 4, 4, 3), 0.25, 1, np.float32),
    ((2, 4, 4, 3), 0.25, 5, np.float32),
    ((2, 4, 4, 30), 0.25, 5, np.float32),
    ((2, 4, 40, 30), 0.25, 1, np.float32),
    ((2, 20, 25, 256), 0.125, 5, np.float32),
    ((2, 100, 50, 2), 0.125, 1, np.float32),
    ((1, 1, 1, 3000), 0.5, 5, np.float16),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    shape, scale, points, dtype = case
    rng = np.random.default_rng(3)
    maps, grad = (rng.uniform(-10, 10, shape).astype(dtype) for _ in range(2))
    at = rng.uniform(0, 10, (*shape[:3], 5)).astype(dtype)
    found = pymluops.rotated_feature_align_forward(maps, at, scale, points)
    assert_same_bits(found, oracle.forward(maps, at, scale, points))
    found = pymluops.rotated_feature_align_backward(grad, at, scale, points)
    assert_close(found, oracle.backward(grad, at, scale, points))


def _one(box: Any, points: Any, size: int = 7) -> np.ndarray:
    """What the first of the pixels of a map that counts them gets from its box; the others' are far away."""
    maps = np.arange(size * size, dtype=np.float32).reshape(1, size, size, 1)
    at = np.full((1, size, size, 5), -100, np.float32)
    at[0, 0, 0] = box
    found: np.ndarray = pymluops.rotated_feature_align_forward(maps, at, 1.0, points)[0, ..., 0]
    assert_same_bits(found.ravel()[1:], maps.ravel()[1:])
    return found[0, 0]


def test_y_comes_first() -> None:
    assert _one([2, 3, 0, 0, 0], 1) == 2 * 7 + 3
    assert _one([2.5, 3, 0, 0, 0], 1) == 2.5 * 7 + 3


def test_corners_of_an_upright_and_of_a_turned_box() -> None:
    # Squares make a sample at row y and column x of a map that is y * y + x the same whatever the
    # order of the corners, but not whatever the axis.
    y, x = np.mgrid[:9.0, :9.0].astype(np.float32)
    maps = (y * y + x)[None, ..., None]
    at = np.full((1, 9, 9, 5), -100, np.float32)
    for angle, half in ((0, (1, 2)), (math.pi / 2, (2, 1))):
        at[0, 0, 0] = [4, 3, 4, 2, angle]
        found = pymluops.rotated_feature_align_forward(maps, at, 1.0, "corners")[0, 0, 0, 0]
        ends = [(4 + a * half[0]) ** 2 + 3 + b * half[1] for a in (-1, 1) for b in (-1, 1)]
        assert found == pytest.approx(4 * 4 + 3 + sum(ends), abs=1e-4)


def test_the_angle_goes_from_x_to_y() -> None:
    # Width 4 and no height: all corners lie at the ends of the half axis (cos, sin), 2 long.
    found = _one([3, 3, 4, 0, math.pi / 6], 5)
    assert found == pytest.approx(5 * (3 * 7 + 3), abs=1e-4)
    maps = np.zeros((1, 7, 7, 1), np.float32)
    maps[0, 4, 5] = maps[0, 4, 4] = maps[0, 5, 4] = maps[0, 5, 5] = 1  # below and to the right
    at = np.full((1, 7, 7, 5), -100, np.float32)
    at[0, 0, 0] = [3, 3, 4, 0, math.pi / 4]
    assert pymluops.rotated_feature_align_forward(maps, at, 1.0, 5)[0, 0, 0, 0] == 2
    at[0, 0, 0, 4] = -math.pi / 4
    assert pymluops.rotated_feature_align_forward(maps, at, 1.0, 5)[0, 0, 0, 0] == 0


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 3e38, -3e38, -1.001, 7.001])
def test_places_that_are_nowhere_add_nothing(odd: float) -> None:
    for box in ([odd, 3, 0, 0, 0], [3, odd, 0, 0, 0]):
        assert _one(box, 1) == 0
        at = np.tile(np.array(box, np.float32), (1, 7, 7, 1))
        grad = np.arange(49.0, dtype=np.float32).reshape(1, 7, 7, 1)
        assert_same_bits(pymluops.rotated_feature_align_backward(grad, at, 1.0, 5), grad)
    if not np.isfinite(odd):
        for box in ([3, 3, odd, 1, 0], [3, 3, 1, odd, 0], [3, 3, 1, 1, odd]):
            assert _one(box, 5) == 3 * 7 + 3  # the centre counts


def test_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    maps, grad = (rng.normal(size=(2, 5, 4, 7)) for _ in range(2))
    at = boxes(rng, 2, (5, 4), 0.5)
    for points in (1, 5):
        forward = double_of(described("rotated_feature_align_forward"))(None, (maps, at, None), (0.5, points))
        back = double_of(described("rotated_feature_align_backward"))(None, (grad, at, None), (0.5, points))
        assert (forward * grad).sum() == pytest.approx((maps * back).sum(), rel=1e-12)


# ---- refusals ------------------------------------------------------------------------------------


def raw_call(raw: Raw, arrays: dict[str, Any], forward: bool, *, scale: float = 0.5, points: int = 5) -> int:
    """Status of a C function; arrays stand for packed tensors in the layout that it asks for."""
    first, at, last = (
        Tensor(one, *(() if name == "boxes" else (NHWC,))) if isinstance(one, np.ndarray) else one
        for name, one in ((name, arrays[name]) for name in ("first", "boxes", "last"))
    )
    name = "mluOpRotatedFeatureAlignForward" if forward else "mluOpRotatedFeatureAlignBackward"
    return raw.status(name, first, at, scale, points, last)


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    maps = rng.normal(size=(2, 4, 3, 8)).astype(np.float32)
    at = boxes(rng, 2, (4, 3), 0.5).astype(np.float32)
    return {"first": maps, "boxes": at, "last": canary(maps.shape, np.float32)}


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    for forward, name in ((True, "forward"), (False, "backward")):
        arrays = _arrays()
        assert raw_call(raw, arrays, forward) == SUCCESS, raw.reason()
        ours: Any = getattr(pymluops, f"rotated_feature_align_{name}")
        assert_same_bits(arrays["last"], ours(arrays["first"], arrays["boxes"], 0.5, 5))


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("first", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("first", np.ones((2, 4, 3, 8), np.float64), BAD_PARAM),
    ("first", np.ones((2, 4, 3, 8), np.float16), BAD_PARAM),
    ("first", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("first", np.ones((2, 4, 0, 8), np.float32), BAD_PARAM),
    ("first", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("first", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("boxes", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("boxes", np.ones((2, 4, 3, 4), np.float32), BAD_PARAM),
    ("boxes", np.ones((2, 3, 4, 5), np.float32), BAD_PARAM),
    ("boxes", np.ones((1, 4, 3, 5), np.float32), BAD_PARAM),
    ("boxes", np.ones((2, 4, 3, 5), np.float16), BAD_PARAM),
    ("boxes", np.ones((2, 4, 3, 10), np.float32)[..., ::2], NOT_SUPPORTED),
    ("last", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("last", np.ones((2, 4, 3, 9), np.float32), BAD_PARAM),
    ("last", np.ones((2, 4, 3, 8), np.float16), BAD_PARAM),
    ("last", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("last", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for forward in (True, False):
        arrays = {**_arrays(), name: array}
        assert raw_call(raw, arrays, forward) == wanted
        assert raw.reason()
        assert name == "last" or is_canary(arrays["last"])


def test_refused_numbers(raw: Raw) -> None:
    for forward in (True, False):
        arrays = _arrays()
        for scale in (0.0, -1.0, float("nan"), float("inf")):
            assert raw_call(raw, arrays, forward, scale=scale) == BAD_PARAM
            assert "spatial_scale: expected a positive finite number" in raw.reason()
        for points in (0, 2, 4, 6, -5, 2**31 - 1, -(2**31)):
            assert raw_call(raw, arrays, forward, points=points) == BAD_PARAM
            assert "points: expected 1 or 5" in raw.reason()
        assert is_canary(arrays["last"])


def test_which_check_comes_first(raw: Raw) -> None:
    """Forward looks at sizes before numbers, backward at numbers before sizes."""
    none = {name: np.ones((2, 0, 3, 5 if name == "boxes" else 8), np.float32) for name in ("first", "boxes", "last")}
    for forward, word in ((True, "input_desc"), (False, "points")):
        assert raw_call(raw, none, forward, points=2) == BAD_PARAM
        assert word in raw.reason()
