"""bezier_align: means of bilinear samples between two curves, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import bezier_regions as oracle
from pymluops.oracle.bezier_regions import Settings
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 9), st.integers(1, 9)),
        "channels": st.sampled_from([1, 3, 8, 21, 40]),
        "bins": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "regions": st.integers(1, 6),
        "scale": st.sampled_from([0.0625, 0.25, 0.3081299960613251, 1.0]),
        "ratio": st.integers(0, 3),
        "aligned": st.booleans(),
        "dtype": st.sampled_from([np.float32, np.float16]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some inside out, some without an area."""
    corners = rng.uniform(-0.3, 1.3, (count, 4)) * (np.array([*size[::-1]] * 2) / scale)
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    found = oracle.bent(np.column_stack([image, corners]), rng)
    found[:, 1:] = np.round(found[:, 1:] * 4) / 4
    found[rng.random(count) < 0.1, 1:] = 1.5
    return found


def _compare(s: dict[str, Any], maps: np.ndarray, rois: np.ndarray, rng: np.random.Generator, same: Any) -> None:
    settings = Settings(s["bins"], s["scale"], s["ratio"], s["aligned"])
    found = pymluops.bezier_align_forward(maps, rois, *settings)
    same(found, oracle.forward(maps, rois, settings))
    grad = rng.normal(size=found.shape).astype(s["dtype"])
    shape = maps.shape[:3]
    back = pymluops.bezier_align_backward(grad, rois, *settings[1:], shape[0], shape[1:])
    with np.errstate(over="ignore"):
        same(back, oracle.backward(grad, rois, settings, shape).astype(s["dtype"]))


@examples(100)
@given(s=SHAPES)
def test_both_have_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = rng.normal(size=(s["batch"], *s["size"], s["channels"])).astype(s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"])
    _compare(s, maps, rois, rng, assert_same_bits)


@examples(100)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = any_bits(rng, (s["batch"], *s["size"], s["channels"]), s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"])
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, -6e4], rois.shape)
    rois = np.where(rng.random(rois.shape) < 0.03, odd, rois).astype(s["dtype"])
    _compare(s, maps, rois, rng, assert_same_values)


@pytest.mark.parametrize("u", [0.0, 0.2, 0.5, 0.9])
def test_a_curve_is_what_lines_between_its_points_make(u: float) -> None:
    """De Casteljau: three times, points a part of the way from each point to the next one."""
    points = np.random.default_rng(1).normal(size=(4, 2))
    rest = points
    while len(rest) > 1:
        rest = (1 - u) * rest[:-1] + u * rest[1:]
    np.testing.assert_allclose(oracle.curve(points, np.float64(u)), rest[0], atol=1e-14)


#: Maps, regions, bins, scale, ratio, aligned: those of a text spotter, and extremes.
NAMED = [
    ((1, 64, 80, 32), 6, (8, 32), 0.25, 1, True),
    ((2, 32, 40, 16), 4, (8, 32), 0.125, 0, True),
    ((1, 9, 7, 1030), 2, (1, 2), 0.5, 2, False),
    ((1, 1, 1, 1), 1, (1, 1), 1.0, 1, False),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    shape, count, *numbers = case
    rng = np.random.default_rng(3)
    maps, settings = rng.random(shape, np.float32), Settings(*numbers)
    rois = regions(rng, count, shape[0], shape[1:3], settings.scale).astype(np.float32)
    output = pymluops.bezier_align_forward(maps, rois, *settings)
    assert_close(output, oracle.forward(maps, rois, settings))
    found = pymluops.bezier_align_backward(output, rois, *settings[1:], shape[0], shape[1:3])
    assert_close(found, oracle.backward(output, rois, settings, shape[:3]))


FOUR = [[1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]]
SQUARE = [[0, 0, 0, 1, 0, 2, 0, 3, 0, 3, 3, 2, 3, 1, 3, 0, 3]]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_worked_example(dtype: Any) -> None:
    """Bins of three quarters of a pixel around the places between straight curves."""
    maps, rois = np.array(FOUR, dtype)[None, :, :, None], np.array(SQUARE, dtype)
    found = pymluops.bezier_align_forward(maps, rois, 4, 1.0, 1, False)
    wanted = [[1, 1.75, 3.5, 5.25], [2.5, 3.25, 5, 6.75], [6, 6.75, 8.5, 10.25], [9.5, 10.25, 12, 13.75]]
    np.testing.assert_allclose(found[0, :, :, 0], wanted, atol=1e-3)
    back = pymluops.bezier_align_backward(np.ones_like(found), rois, 1.0, 1, False, 1, (4, 4))
    sides = [1.25, 1.25, 1.25, 0.25]
    np.testing.assert_allclose(back[0, :, :, 0], np.outer(sides, sides), atol=1e-3)


def test_the_lower_curve_goes_from_right_to_left() -> None:
    """On a map that rises by 1 along x and by 10 along y."""
    maps = (np.arange(12)[:, None] * 10 + np.arange(12)).astype(np.float32)[None, :, :, None]
    upper, lower = [[1, 2], [3, 2], [5, 2], [7, 2]], [[9, 6], [7, 6], [5, 6], [3, 6]]
    rois = np.array([[0, *np.ravel([upper, lower])]], np.float32)
    found = pymluops.bezier_align_forward(maps, rois, 2, 1.0, 1, False)[0, :, :, 0]
    np.testing.assert_allclose(found, [[21, 24], [42, 45]], rtol=1e-6)


def test_a_region_of_a_point_has_no_samples_if_aligned() -> None:
    maps, rois = np.ones((1, 4, 4, 2), np.float32), np.array([[0, *[1.0] * 16]], np.float32)
    assert not pymluops.bezier_align_forward(maps, rois, 2, 1.0, 0, True).any()
    assert pymluops.bezier_align_forward(maps, rois, 2, 1.0, 0, False).all()
    assert pymluops.bezier_align_forward(maps, rois, 2, 1.0, 1, True).all()


def test_regions_that_reach_far_beside_the_map_take_no_longer() -> None:
    maps = np.ones((1, 4, 4, 4), np.float32)
    square = np.array(SQUARE, np.float32)[0, 1:]
    rois = np.array([[0, *(square * 1e8 - 5e7)], [0, *(square * 1e30)], [0, *(square * 1e38)]], np.float32)
    for aligned in (True, False):
        found = pymluops.bezier_align_forward(maps, rois, 1, 1.0, 0, aligned)
        assert np.isfinite(found).all()
        assert abs(found).max() < 1e-3
        assert np.isfinite(pymluops.bezier_align_backward(found, rois, 1.0, 0, aligned, 1, (4, 4))).all()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 4, 8, 16])
def test_regions_that_are_not_finite_are_empty(odd: float, place: int) -> None:
    maps, rois = np.ones((1, 4, 4, 3), np.float32), np.array(SQUARE, np.float32)
    rois[0, place] = odd
    output = pymluops.bezier_align_forward(maps, rois, 2, 1.0, 1)
    assert not output.any()
    assert not pymluops.bezier_align_backward(output + 1, rois, 1.0, 1, True, 1, (4, 4)).any()


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "map": rng.normal(size=(2, 4, 3, 8)).astype(np.float32),
        "rois": regions(rng, 5, 2, (4, 3), 1.0).astype(np.float32),
        "pooled": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
    }


#: Each function with its arrays in order, the last of which is written.
FUNCTIONS = {
    "mluopsExtBezierAlignForward": ("map", "rois", "pooled"),
    "mluopsExtBezierAlignBackward": ("pooled", "rois", "map"),
}


def raw_call(raw: Raw, function: str, arrays: dict[str, Any], scale: float = 0.5, ratio: int = 2) -> int:
    """Status of a C function; arrays stand for packed tensors in the layout that it asks for."""
    given = [
        Tensor(arrays[name], *(() if name == "rois" else (NHWC,)))
        if isinstance(arrays[name], np.ndarray)
        else arrays[name]
        for name in FUNCTIONS[function]
    ]
    return raw.status(function, *given[:2], scale, ratio, True, given[2])


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.int32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.float16), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("map", np.ones((0, 4, 3, 8), np.float32), BAD_PARAM),
    ("map", np.ones((2, 0, 3, 8), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("rois", np.ones((5, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 18), np.float32), BAD_PARAM),
    ("rois", np.ones((0, 17), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 17), np.float16), BAD_PARAM),
    ("rois", np.ones((5, 34), np.float32)[:, ::2], NOT_SUPPORTED),
    ("pooled", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("pooled", np.ones((5, 0, 3, 8), np.float32), BAD_PARAM),
    ("pooled", np.ones((4, 2, 3, 8), np.float32), BAD_PARAM),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, function: str, name: str, array: Any, wanted: int) -> None:
    arrays, written = {**_arrays(), name: array}, FUNCTIONS[function][-1]
    if name != written:
        arrays[written] = canary(arrays[written].shape, arrays[written].dtype)
    assert raw_call(raw, function, arrays) == wanted
    assert raw.reason()
    assert name == written or is_canary(arrays[written])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_refused_numbers(raw: Raw, function: str) -> None:
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        assert raw_call(raw, function, _arrays(), scale=scale) == BAD_PARAM
        assert "spatial_scale" in raw.reason()
    for ratio in (-1, 257):
        assert raw_call(raw, function, _arrays(), ratio=ratio) == BAD_PARAM
        assert "sampling_ratio" in raw.reason()
