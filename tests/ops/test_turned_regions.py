"""roi_align_rotated and riroi_align_rotated: means of bilinear samples of turned regions, and their gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import turned_regions as oracle
from pymluops.oracle.turned_regions import Settings
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 9), st.integers(1, 9)),
        "channels": st.sampled_from([4, 8, 24, 40]),
        "bins": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "regions": st.integers(1, 6),
        "scale": st.sampled_from([0.0625, 0.25, 0.3081299960613251, 1.0]),
        "ratio": st.integers(0, 3),
        "aligned": st.booleans(),
        "clockwise": st.booleans(),
        "orientations": st.sampled_from([1, 2, 4]),
        "dtype": st.sampled_from([np.float32, np.float16]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some of negative size."""
    extent = np.array(size[::-1]) / scale
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    angle = rng.choice([0, math.pi / 2, -math.pi, 1.0, -7.3, 0.4], count)
    centre, sizes = rng.uniform(-0.3, 1.3, (count, 2)) * extent, rng.uniform(-0.1, 1, (count, 2)) * extent
    return np.column_stack([image, np.round(centre * 4) / 4, np.round(sizes * 4) / 4, angle])


def _compare(s: dict[str, Any], maps: np.ndarray, rois: np.ndarray, rng: np.random.Generator, same: Any) -> None:
    settings = Settings(s["bins"], s["scale"], s["ratio"], s["aligned"], s["clockwise"])
    numbers, shape = settings[1:], maps.shape[:3]
    found = pymluops.roi_align_rotated_forward(maps, rois, s["bins"], *numbers)
    same(found, oracle.forward(maps, rois, settings))
    grad = rng.normal(size=found.shape).astype(s["dtype"])
    back = pymluops.roi_align_rotated_backward(grad, rois, s["bins"], *numbers, shape[0], shape[1:])
    same(back, oracle.backward(grad, rois, settings, shape).astype(s["dtype"]))
    maps, rois, grad = (array.astype(np.float32) for array in (maps, rois, grad))
    settings, turning = settings._replace(aligned=False), (s["scale"], s["ratio"], s["orientations"], s["clockwise"])
    found = pymluops.riroi_align_rotated_forward(maps, rois, s["bins"], *turning)
    same(found, oracle.turning_forward(maps, rois, settings, s["orientations"]))
    back = pymluops.riroi_align_rotated_backward(grad, rois, *turning, shape[0], shape[1:])
    same(back, oracle.turning_backward(grad, rois, settings, s["orientations"], shape))


@examples(60)
@given(s=SHAPES)
def test_all_have_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = rng.normal(size=(s["batch"], *s["size"], s["channels"])).astype(s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"])
    _compare(s, maps, rois, rng, assert_same_bits)


@examples(60)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = any_bits(rng, (s["batch"], *s["size"], s["channels"]), s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"])
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], rois.shape)
    rois = np.where(rng.random(rois.shape) < 0.1, odd, rois).astype(s["dtype"])
    _compare(s, maps, rois, rng, assert_same_values)


#: Maps, regions, bins, scale, ratio, aligned, clockwise: the dumped cases.
NAMED = [
    ((9, 27, 24, 1), 1, (2, 5), 0.41744283, 0, True, True),
    ((1, 4, 7, 1), 1, (2, 3), 0.6123321652412415, 8, False, False),
    ((9, 58, 65, 9), 16, (5, 5), 1.0, 3, False, True),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    shape, count, bins, *numbers = case
    rng = np.random.default_rng(3)
    maps = rng.random(shape, np.float32)
    rois = regions(rng, count, shape[0], shape[1:3], numbers[0]).astype(np.float32)
    settings = Settings(bins, *numbers)
    output = pymluops.roi_align_rotated_forward(maps, rois, bins, *numbers)
    assert_close(output, oracle.forward(maps, rois, settings))
    found = pymluops.roi_align_rotated_backward(output, rois, bins, *numbers, shape[0], shape[1:3])
    assert_close(found, oracle.backward(output, rois, settings, shape[:3]))


TWO = [[1, 2], [3, 4]]
FOUR = [[1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]]
GRADIENT = [[3.0625, 0.4375], [0.4375, 0.0625]]


@pytest.mark.parametrize(
    ("image", "roi", "wanted", "gradient"),
    [
        (TWO, [0, 0.5, 0.5, 1, 1, 0], [[1, 1.25], [1.5, 1.75]], GRADIENT),
        (TWO, [0, 0.5, 0.5, 1, 1, math.pi / 2], [[1.5, 1], [1.75, 1.25]], GRADIENT),
        (FOUR, [0, 1.5, 1.5, 3, 3, 0], [[1.9375, 4.75], [7.5625, 10.375]], None),
        (FOUR, [0, 1.5, 1.5, 3, 3, math.pi / 2], [[7.5625, 1.9375], [10.375, 4.75]], None),
    ],
)
def test_worked_examples(image: Any, roi: Any, wanted: Any, gradient: Any) -> None:
    maps, rois = np.array(image, np.float32)[None, :, :, None], np.array([roi], np.float32)
    found = pymluops.roi_align_rotated_forward(maps, rois, 2, 1.0, 2, True, False)
    np.testing.assert_allclose(found[0, :, :, 0], wanted, atol=1e-5)
    if gradient is not None:
        back = pymluops.roi_align_rotated_backward(np.ones_like(found), rois, 2, 1.0, 2, True, False, 1, (2, 2))
        np.testing.assert_allclose(back[0, :, :, 0], gradient, atol=1e-5)


def test_worked_example_with_orientations() -> None:
    planes = [TWO, [[1, 2], [4, 3]], [[4, 3], [2, 1]], [[1, 2], [5, 6]], [[3, 4], [7, 8]], [[9, 10], [13, 14]],
              [[11, 12], [15, 16]], [[1, 1], [2, 2]]]  # fmt: skip
    maps = np.ascontiguousarray(np.array(planes, np.float32).transpose(1, 2, 0))[None]
    rois = np.array([[0, 0.5, 0.5, 1, 1, math.pi / 3], [0, 1, 1, 3, 3, math.pi / 2]], np.float32)
    found = pymluops.riroi_align_rotated_forward(maps, rois, 2, 1.0, 2, 8, False)
    wanted = [[[1.8425, 1.3516], [2.3151, 1.8241]], [[7.6562, 12.5625], [4.0, 6.625]]]
    np.testing.assert_allclose(found[..., 0], wanted, atol=1e-3)
    back = pymluops.riroi_align_rotated_backward(np.ones_like(found), rois, 1.0, 2, 8, False, 1, (2, 2))
    for channel in range(8):
        np.testing.assert_allclose(back[0, ..., channel], [[1.4727, 1.5586], [1.5586, 1.6602]], atol=1e-3)


def test_regions_that_reach_far_beside_the_map_take_no_longer() -> None:
    maps = np.ones((1, 4, 4, 4), np.float32)
    rows = [[0, 2, 2, 1e8, 1e8, 0.7], [0, 1e7, 0, 3e9, 1, 0.3], [0, 1e30, 1e30, 1e30, 1e30, 1]]
    found = pymluops.roi_align_rotated_forward(maps, np.array(rows, np.float32), 1, 1.0)
    assert (found >= 0).all()
    assert found.max() < 1e-3


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "map": rng.normal(size=(2, 4, 3, 8)).astype(np.float32),
        "rois": regions(rng, 5, 2, (4, 3), 1.0).astype(np.float32),
        "pooled": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
    }


def _tensor(name: str, value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return Tensor(value) if name == "rois" else Tensor(value, NHWC)


def raw_call(
    raw: Raw, arrays: dict[str, Any], forward: bool, *, bins: Any = (2, 3), ratio: int = 2, scale: float = 0.5
) -> int:
    """Status of a C function; arrays stand for packed tensors in the layout that it asks for."""
    first, rois, last = (_tensor(name, arrays[name]) for name in ("map", "rois", "pooled"))
    given, written = (first, last) if forward else (last, first)
    name = "mluOpRoiAlignRotatedForward" if forward else "mluOpRoiAlignRotatedBackward"
    return raw.status(name, given, rois, *bins, ratio, scale, True, False, written)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.float64), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("rois", np.ones((5, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((0, 6), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 6), np.float16), BAD_PARAM),
    ("rois", np.ones((5, 12), np.float32)[:, ::2], NOT_SUPPORTED),
    ("pooled", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("pooled", np.ones((5, 3, 3, 8), np.float32), BAD_PARAM),
    ("pooled", np.ones((4, 2, 3, 8), np.float32), BAD_PARAM),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for forward, written in ((True, "pooled"), (False, "map")):
        arrays = {**_arrays(), name: array}
        if name != written:
            arrays[written] = canary(arrays[written].shape, arrays[written].dtype)
        assert raw_call(raw, arrays, forward) == wanted
        assert raw.reason()
        assert name == written or is_canary(arrays[written])


def test_refused_numbers(raw: Raw) -> None:
    for forward in (True, False):
        for scale in (-1.0, float("nan"), float("inf")):
            assert raw_call(raw, _arrays(), forward, scale=scale) == BAD_PARAM
            assert "spatial_scale" in raw.reason()
        for ratio in (-1, 257):
            assert raw_call(raw, _arrays(), forward, ratio=ratio) == BAD_PARAM
            assert "sample_ratio" in raw.reason()
        for bins in ((3, 3), (2, 0), (-2, 3)):
            assert raw_call(raw, _arrays(), forward, bins=bins) == BAD_PARAM


def test_maps_without_pixels(raw: Raw) -> None:
    for shape in ((0, 4, 3, 8), (2, 0, 3, 8), (2, 4, 0, 8)):
        for forward in (True, False):
            assert raw_call(raw, {**_arrays(), "map": np.ones(shape, np.float32)}, forward) == SUCCESS
        found = pymluops.roi_align_rotated_forward(np.ones(shape, np.float32), _arrays()["rois"], (2, 3), 0.5)
        assert found.shape == (5, 2, 3, 8)
        assert not found.any()
