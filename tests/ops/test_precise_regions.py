"""prroi_pool: means of integrals, and the gradients of maps and regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import precise_regions as oracle
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
        "dtype": st.sampled_from([np.float32, np.float16]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some inside out, some without an area."""
    corners = rng.uniform(-0.6, 1.5, (count, 4)) * (np.array([*size[::-1]] * 2) / scale)
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    return np.column_stack([image, np.round(corners * 2) / 2])


def _compare(s: dict[str, Any], maps: np.ndarray, rois: np.ndarray, rng: np.random.Generator, same: Any) -> None:
    found = pymluops.prroi_pool_forward(maps, rois, s["bins"], s["scale"])
    same(found, oracle.forward(maps, rois, s["bins"], s["scale"]))
    grad = np.where(rng.random(found.shape) < 0.2, 0, rng.normal(size=found.shape)).astype(s["dtype"])
    shape = maps.shape[:3]
    back = pymluops.prroi_pool_backward(grad, rois, s["scale"], shape[0], shape[1:])
    with np.errstate(all="ignore"):
        same(back, oracle.backward(grad, rois, s["scale"], shape).astype(s["dtype"]))
    corners = pymluops.prroi_pool_coor_backward(grad, maps, rois, found, s["scale"])
    with np.errstate(all="ignore"):
        wanted, sizes = oracle.coor_backward(grad, maps, rois, found, s["scale"])
    _assert_sums(corners, wanted, sizes)


def _assert_sums(found: np.ndarray, wanted: np.ndarray, sizes: np.ndarray) -> None:
    """Sums of terms of a size, in some order."""
    exact = np.isfinite(wanted) & np.isfinite(sizes)
    limit = float(np.finfo(found.dtype).max)
    share = np.finfo(found.dtype).eps + 4 * np.finfo(np.float32).eps
    for one, value, size in zip(found[exact].astype(float), wanted[exact], sizes[exact], strict=True):
        if size < min(limit, float(np.finfo(np.float32).max)) / 8:
            assert abs(one - value) <= share * size + 1e-7, (one, value, size)
    assert not found[:, 0].any()


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
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"])
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, -6e4], rois.shape)
    _compare(s, maps, np.where(rng.random(rois.shape) < 0.1, odd, rois).astype(s["dtype"]), rng, assert_same_values)


def test_the_share_of_a_pixel_is_the_difference_of_an_antiderivative() -> None:
    def antiderivative(t: float) -> float:
        return 0.0 if t <= -1 else (t + 1) ** 2 / 2 if t <= 0 else 0.5 + t - t * t / 2 if t <= 1 else 1.0

    rng = np.random.default_rng(1)
    for low, length, pixel in zip(
        rng.uniform(-3, 5, 300), rng.uniform(0, 3, 300), rng.integers(0, 4, 300), strict=True
    ):
        wanted = antiderivative(low + length - pixel) - antiderivative(low - pixel)
        assert float(oracle.share(low, low + length, int(pixel))) == pytest.approx(wanted, abs=1e-14)


TWO = [[1, 2], [3, 4]]
FOUR = [[1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]]


@pytest.mark.parametrize(
    ("image", "end", "wanted", "gradient", "corners"),
    [
        (TWO, 1, [[1.75, 2.25], [2.75, 3.25]], np.ones((2, 2)), [0, 2, 4, 2, 4]),
        (FOUR, 3, [[3.75, 6.91667], [10.08333, 13.25]], np.outer([1, 2, 2, 1], [1, 2, 2, 1]) / 9,
         [0, 3.33333, 6.66667, 3.33333, 6.66667]),
    ],
)  # fmt: skip
def test_worked_examples(image: Any, end: int, wanted: Any, gradient: np.ndarray, corners: Any) -> None:
    """Two by two bins of a region from the first pixel to the last one, and the gradients of their sum."""
    maps, rois = np.array(image, np.float32)[None, :, :, None], np.array([[0, 0, 0, end, end]], np.float32)
    found = pymluops.prroi_pool_forward(maps, rois, 2, 1.0)
    np.testing.assert_allclose(found[0, :, :, 0], wanted, rtol=1e-5)
    back = pymluops.prroi_pool_backward(np.ones_like(found), rois, 1.0, 1, maps.shape[1:3])
    np.testing.assert_allclose(back[0, :, :, 0], gradient, rtol=1e-5)
    moved = pymluops.prroi_pool_coor_backward(np.ones_like(found), maps, rois, found, 1.0)
    np.testing.assert_allclose(moved[0], corners, rtol=1e-5, atol=1e-5)


#: Maps, regions, bins, scale of detectors.
NAMED = [
    ((1, 50, 76, 16), 13, (7, 7), 0.0625),
    ((2, 25, 38, 16), 11, (5, 5), 0.03125),
    ((1, 38, 63, 1030), 3, (1, 2), 0.0625),
    ((1, 1, 1, 1), 1, (1, 1), 1.0),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    shape, count, bins, scale = case
    rng = np.random.default_rng(3)
    maps = rng.random(shape, np.float32)
    rois = regions(rng, count, shape[0], shape[1:3], scale).astype(np.float32)
    output = pymluops.prroi_pool_forward(maps, rois, bins, scale)
    assert_close(output, oracle.forward(maps, rois, bins, scale))
    found = pymluops.prroi_pool_backward(output, rois, scale, shape[0], shape[1:3])
    assert_close(found, oracle.backward(output, rois, scale, shape[:3]))
    moved = pymluops.prroi_pool_coor_backward(output, maps, rois, output, scale)
    _assert_sums(moved, *oracle.coor_backward(output, maps, rois, output, scale))


def test_a_region_that_covers_the_map_takes_no_longer_the_farther_it_reaches() -> None:
    maps = np.ones((1, 4, 4, 2), np.float32)
    rois = np.array([[0, -1e6, -1e6, 1e6, 1e6], [0, 1e30, 0, 2e30, 1], [0, -3e38, -3e38, 3e38, 3e38]], np.float32)
    means = pymluops.prroi_pool_forward(maps, rois, 1, 1.0)
    assert means[0].ravel() == pytest.approx([4e-12] * 2)
    assert not means[1:].any()
    assert not pymluops.prroi_pool_coor_backward(means, maps, rois, means, 1.0)[1:].any()


def test_small_bins_keep_their_digits() -> None:
    maps = np.array([[1, 3], [5, 7]], np.float32).reshape(1, 2, 2, 1)
    rois = np.array([[0, 0.5, 0.5, 0.500001, 0.500001]], np.float32)
    assert pymluops.prroi_pool_forward(maps, rois, 1, 1.0).item() == pytest.approx(4, rel=1e-5)


def test_a_gradient_of_zero_hides_a_pixel_that_is_not_finite() -> None:
    maps = np.full((1, 2, 2, 2), 3, np.float32)
    maps[..., 1] = np.nan
    rois = np.array([[0, 0, 0, 1, 0.5]], np.float32)
    output = pymluops.prroi_pool_forward(maps, rois, 1, 1.0)
    grad = np.array([1, 0], np.float32).reshape(output.shape)
    assert np.isfinite(pymluops.prroi_pool_coor_backward(grad, maps, rois, output, 1.0)).all()
    assert not np.isfinite(pymluops.prroi_pool_coor_backward(grad + 1, maps, rois, output, 1.0)).any(0)[1:].any()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2, 3, 4])
def test_regions_that_are_not_finite_are_empty(odd: float, place: int) -> None:
    maps, rois = np.ones((1, 4, 4, 3), np.float32), np.array([[0, 0, 0, 3, 3]], np.float32)
    rois[0, place] = odd
    output = pymluops.prroi_pool_forward(maps, rois, 2, 1.0)
    assert not output.any()
    assert not pymluops.prroi_pool_backward(output + 1, rois, 1.0, 1, (4, 4)).any()
    assert not pymluops.prroi_pool_coor_backward(output + 1, maps, rois, output, 1.0).any()


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "map": rng.normal(size=(2, 4, 3, 8)).astype(np.float32),
        "rois": regions(rng, 5, 2, (4, 3), 1.0).astype(np.float32),
        "pooled": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
        "output": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
        "grad_rois": np.zeros((5, 5), np.float32),
    }


#: Each function with the arguments in its order, the last of which is written.
FUNCTIONS = {
    "mluopsExtPrRoiPoolForward": ("map", "rois", "scale", "pooled"),
    "mluopsExtPrRoiPoolBackward": ("pooled", "rois", "scale", "map"),
    "mluopsExtPrRoiPoolCoorBackward": ("pooled", "map", "rois", "output", "scale", "grad_rois"),
}


def raw_call(raw: Raw, name: str, arrays: dict[str, Any], scale: float = 0.5) -> int:
    """Status of a C function; arrays stand for packed tensors in the layout that it asks for."""
    given: list[Any] = []
    for key in FUNCTIONS[name]:
        value = scale if key == "scale" else arrays[key]
        if isinstance(value, np.ndarray):
            value = Tensor(value) if "rois" in key else Tensor(value, NHWC)
        given.append(value)
    return raw.status(name, *given)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.int32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.float64), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("map", np.ones((0, 4, 3, 8), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("rois", np.ones((5, 4), np.float32), BAD_PARAM),
    ("rois", np.ones((4, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 5), np.float16), BAD_PARAM),
    ("rois", np.ones((5, 10), np.float32)[:, ::2], NOT_SUPPORTED),
    ("pooled", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("pooled", np.ones((4, 2, 3, 8), np.float32), BAD_PARAM),
    ("pooled", np.ones((5, 2, 3), np.float32), BAD_PARAM),
    ("output", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("output", np.ones((5, 2, 3, 8), np.float16), BAD_PARAM),
    ("grad_rois", np.ones((5, 4), np.float32), BAD_PARAM),
    ("grad_rois", np.ones((5, 5), np.float16), BAD_PARAM),
    ("grad_rois", np.ones((5, 10), np.float32)[:, ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize(("argument", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, argument: str, array: Any, wanted: int) -> None:
    for name, arguments in FUNCTIONS.items():
        if argument not in arguments:
            continue
        arrays, written = {**_arrays(), argument: array}, arguments[-1]
        if argument != written:
            arrays[written] = canary(arrays[written].shape, arrays[written].dtype)
        assert raw_call(raw, name, arrays) == wanted
        assert raw.reason()
        assert argument == written or is_canary(arrays[written])


def test_refused_numbers(raw: Raw) -> None:
    for name in FUNCTIONS:
        for scale in (0.0, -1.0, float("nan"), float("inf")):
            assert raw_call(raw, name, _arrays(), scale) == BAD_PARAM
            assert "spatial_scale" in raw.reason()
