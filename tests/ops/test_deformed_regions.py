"""deform_roi_pool: means of bilinear samples in bins that offsets move, and the gradients of maps and offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import deformed_regions as oracle
from pymluops.oracle.deformed_regions import Settings
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 9), st.integers(1, 9)),
        "channels": st.sampled_from([1, 3, 8, 21, 40]),
        "bins": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "regions": st.integers(1, 6),
        "scale": st.sampled_from([0.0625, 0.25, 0.7941938638687134, 1.0]),
        "ratio": st.integers(0, 3),
        "gamma": st.sampled_from([0.1, 0.6350110173225403, -1.0, 0.0]),
        "dtype": st.sampled_from([np.float32, np.float16]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some inside out, some without an area."""
    corners = rng.uniform(-0.6, 1.5, (count, 4)) * (np.array([*size[::-1]] * 2) / scale)
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    return np.column_stack([image, np.round(corners * 2) / 2])


def _compare(
    s: dict[str, Any], maps: np.ndarray, rois: np.ndarray, offset: np.ndarray, rng: np.random.Generator, same: Any
) -> None:
    settings = Settings(s["bins"], s["scale"], s["ratio"], s["gamma"])
    shape = (len(rois), *s["bins"], maps.shape[3])
    grad = np.where(rng.random(shape) < 0.2, 0, rng.normal(size=shape)).astype(s["dtype"])
    for own in (None, offset):
        found = pymluops.deform_roi_pool_forward(maps, rois, own, *settings)
        same(found, oracle.forward(maps, rois, own, settings))
        back = pymluops.deform_roi_pool_backward(grad, maps, rois, own, *settings)
        with np.errstate(over="ignore"):
            wanted = oracle.backward(grad, rois, own, settings, maps.shape[:3]).astype(s["dtype"])
        same(back.grad_input, wanted)
        assert (back.grad_offset is None) == (own is None)
    exact = pymluops.deform_roi_pool_exact_backward(grad, maps, rois, offset, *settings[1:])
    same(exact.grad_input, wanted)
    for one, is_exact in ((back.grad_offset, False), (exact.grad_offset, True)):
        _assert_sums(one, *oracle.offset_backward(grad, maps, rois, offset, settings, is_exact))


def _assert_sums(found: np.ndarray, wanted: np.ndarray, sizes: np.ndarray) -> None:
    """Sums of terms of a size, in some order."""
    finite = np.isfinite(wanted) & (sizes < min(float(np.finfo(found.dtype).max), 1e30) / 8)
    share = np.finfo(found.dtype).eps + 16 * np.finfo(np.float32).eps
    assert (abs(found[finite].astype(np.float64) - wanted[finite]) <= share * sizes[finite] + 1e-7).all()


def _offset(rng: np.random.Generator, s: dict[str, Any]) -> np.ndarray:
    return rng.normal(size=(s["regions"], 2, *s["bins"])).astype(s["dtype"])


@examples(100)
@given(s=SHAPES)
def test_all_have_the_values_of_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = rng.normal(size=(s["batch"], *s["size"], s["channels"])).astype(s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"])
    _compare(s, maps, rois, _offset(rng, s), rng, assert_same_bits)


@examples(100)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = any_bits(rng, (s["batch"], *s["size"], s["channels"]), s["dtype"])
    if s["dtype"] is np.float32:  # so that no sum overflows
        maps[np.isfinite(maps) & (abs(maps) > 1e30)] = 1
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"])
    offset = _offset(rng, s)
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, -6e4], (2, *rois.shape, offset.size))[..., 0]
    rois = np.where(rng.random(rois.shape) < 0.1, odd[0], rois).astype(s["dtype"])
    strange = rng.choice([np.nan, np.inf, -np.inf, -0.0, 6e4], offset.shape)
    offset = np.where(rng.random(offset.shape) < 0.1, strange, offset).astype(s["dtype"])
    _compare(s, maps, rois, offset, rng, assert_same_values)


#: Maps, regions, bins, scale, ratio, gamma: the dumped cases, and the regions of a detector.
NAMED = [
    ((2, 64, 50, 304), [[0, 0, 0, 2, 2]], (7, 7), 1.0, 2, 1.0),
    ((1, 9, 9, 1), [[0, 0, 0, 2, 2]], (4, 1), 0.7941938638687134, 5, 0.6350110173225403),
    ((2, 25, 38, 16), 2, (7, 7), 0.03125, 0, 0.1),
    ((2, 50, 76, 16), 11, (7, 7), 0.0625, 0, 0.1),
    ((1, 5, 4, 1030), 3, (1, 2), 0.5, 1, 0.1),
]


@pytest.mark.parametrize("case", NAMED, ids=lambda case: str(case[0]))
def test_named_shapes(case: tuple[Any, ...]) -> None:
    shape, rows, bins, *numbers = case
    rng = np.random.default_rng(3)
    maps = rng.random(shape, np.float32)
    drawn = regions(rng, rows, shape[0], shape[1:3], numbers[0]) if isinstance(rows, int) else rows
    rois, settings = np.array(drawn, np.float32), Settings(bins, *numbers)
    offset = rng.uniform(-1, 1, (len(rois), 2, *bins)).astype(np.float32)
    for own in (offset, None):
        output = pymluops.deform_roi_pool_forward(maps, rois, own, *settings)
        assert_close(output, oracle.forward(maps, rois, own, settings))
        found = pymluops.deform_roi_pool_backward(output, maps, rois, own, *settings)
        assert_close(found.grad_input, oracle.backward(output, rois, own, settings, shape[:3]))
    found = pymluops.deform_roi_pool_backward(output, maps, rois, offset, *settings)
    _assert_sums(found.grad_offset, *oracle.offset_backward(output, maps, rois, offset, settings, False))


TWO = [[1, 2], [3, 4]]
FOUR = [[1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]]


@pytest.mark.parametrize(
    ("image", "end", "wanted"),
    [(TWO, 1, [[1, 1.25], [1.5, 1.75]]), (FOUR, 3, [[1.9375, 4.75], [7.5625, 10.375]])],
)
def test_worked_examples(image: Any, end: int, wanted: Any) -> None:
    """Two by two bins of a region from the first pixel's centre to the last one's; offsets of 0 change nothing."""
    maps, rois = np.array(image, np.float32)[None, :, :, None], np.array([[0, 0, 0, end, end]], np.float32)
    for offset in (None, np.zeros((1, 2, 2, 2), np.float32)):
        found = pymluops.deform_roi_pool_forward(maps, rois, offset, 2, 1.0, 2, 0.1)
        np.testing.assert_allclose(found[0, :, :, 0], wanted)


def test_offsets_move_bins_by_parts_of_the_region() -> None:
    """Along x first: on a map that rises by 1 along x and by 10 along y."""
    maps = (np.arange(12)[:, None] * 10 + np.arange(12)).astype(np.float32)[None, :, :, None]
    rois = np.array([[0, 4.5, 4.5, 6.5, 8.5]], np.float32)  # 2 wide, 4 high
    offset = np.zeros((1, 2, 2, 1), np.float32)
    still = pymluops.deform_roi_pool_forward(maps, rois, offset, (2, 1), 1.0, 2, 0.5)
    offset[0, :, 0, 0] = 0.5, 0.25  # by 0.5 * 2 * 0.5 to the right, and 0.5 * 4 * 0.25 down
    moved = pymluops.deform_roi_pool_forward(maps, rois, offset, (2, 1), 1.0, 2, 0.5)
    np.testing.assert_allclose((moved - still).ravel(), [5.5, 0], rtol=1e-5)
    grad = np.ones((1, 2, 1, 1), np.float32)
    for found in (
        pymluops.deform_roi_pool_backward(grad, maps, rois, offset, (2, 1), 1.0, 2, 0.5),
        pymluops.deform_roi_pool_exact_backward(grad, maps, rois, offset, 1.0, 2, 0.5),
    ):
        np.testing.assert_allclose(found.grad_offset[0, :, :, 0], [[1, 1], [20, 20]], rtol=1e-5)


def test_the_exact_gradient_is_that_of_the_values() -> None:
    """Also where samples lie beside the outermost pixels, of which the vendor's formula makes something else."""
    rng = np.random.default_rng(4)
    maps = rng.normal(size=(1, 4, 5, 3))
    rois = np.array([[0, -0.3, 0.2, 5.2, 4.4], [0, 1.3, 1.1, 3.4, 2.9]])
    offset = rng.normal(size=(2, 2, 2, 3))
    grad = rng.normal(size=(2, 2, 3, 3))
    settings = Settings((2, 3), 1.0, 2, 0.3)

    def value(offset: np.ndarray) -> float:
        return float(np.sum(grad * oracle.forward(maps, rois, offset, settings)))

    numeric = np.zeros_like(offset)
    for place in np.ndindex(*offset.shape):
        step = np.zeros_like(offset)
        step[place] = 1e-6
        numeric[place] = (value(offset + step) - value(offset - step)) / 2e-6
    single = [array.astype(np.float32) for array in (grad, maps, rois, offset)]
    found = pymluops.deform_roi_pool_exact_backward(*single, *settings[1:])
    np.testing.assert_allclose(found.grad_offset, numeric, rtol=1e-4, atol=1e-4)
    vendor = pymluops.deform_roi_pool_backward(*single, *settings)
    assert abs(vendor.grad_offset - numeric).max() > 0.01


def test_regions_that_reach_far_beside_the_map_take_no_longer() -> None:
    maps = np.ones((1, 4, 4, 4), np.float32)
    rows = [[0, -1e8, -1e8, 1e8, 1e8], [0, 1e7, 0, 3e9, 1], [0, 1e30, 1e30, 2e30, 2e30]]
    rois, offset = np.array(rows, np.float32), np.zeros((3, 2, 1, 1), np.float32)
    found = pymluops.deform_roi_pool_forward(maps, rois, offset, 1)
    assert (found >= 0).all()
    assert found.max() < 1e-3
    back = pymluops.deform_roi_pool_backward(found, maps, rois, offset, 1, 1.0, 0, 0.1)
    assert np.isfinite(back.grad_offset).all()


def test_regions_without_an_area_are_empty() -> None:
    maps, rois = np.ones((1, 4, 4, 3), np.float32), np.array([[0, 1, 1, 1, 1], [0, 3, 3, 1, 1]], np.float32)
    output = pymluops.deform_roi_pool_forward(maps, rois, None, 2)
    assert not output.any()
    back = pymluops.deform_roi_pool_backward(output + 1, maps, rois, np.ones((2, 2, 2, 2), np.float32), 2, 1.0, 0, 1.0)
    assert not back.grad_input.any()
    assert not back.grad_offset.any()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2, 3, 4])
def test_regions_that_are_not_finite_are_empty(odd: float, place: int) -> None:
    maps, rois = np.ones((1, 4, 4, 3), np.float32), np.array([[0, 0, 0, 3, 3]], np.float32)
    rois[0, place] = odd
    offset = np.zeros((1, 2, 2, 2), np.float32)
    output = pymluops.deform_roi_pool_forward(maps, rois, offset, 2)
    assert not output.any()
    back = pymluops.deform_roi_pool_backward(output + 1, maps, rois, offset, 2, 1.0, 2, 0.1)
    assert not back.grad_input.any()
    assert not back.grad_offset.any()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 3e38])
def test_a_bin_whose_offset_leads_nowhere_has_no_samples(odd: float) -> None:
    maps, rois = np.ones((1, 4, 4, 3), np.float32), np.array([[0, 1, 1, 3, 3]], np.float32)
    offset = np.zeros((1, 2, 1, 2), np.float32)
    offset[0, 1, 0, 1] = odd
    output = pymluops.deform_roi_pool_forward(maps, rois, offset, (1, 2), 1.0, 40)
    assert output[0, 0, :, 0].tolist() == [1, 0]
    back = pymluops.deform_roi_pool_exact_backward(output + 1, maps, rois, offset, 1.0, 40, 0.1)
    assert not back.grad_offset[..., 1].any()


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    maps, offset = rng.normal(size=(2, 4, 3, 8)).astype(np.float32), rng.normal(size=(5, 2, 2, 3)).astype(np.float32)
    return {
        "input": maps,
        "rois": regions(rng, 5, 2, (4, 3), 1.0).astype(np.float32),
        "offset": offset,
        "pooled": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
        "grad_input": maps.copy(),
        "grad_offset": offset.copy(),
    }


#: Each function with its arguments in order, and which of them are written.
FUNCTIONS = {
    "mluOpDeformRoiPoolForward": ("input rois offset 2 3 scale ratio gamma pooled", "pooled"),
    "mluOpDeformRoiPoolBackward": (
        "pooled input rois offset 2 3 scale ratio gamma grad_input grad_offset", "grad_input grad_offset",
    ),
    "mluopsExtDeformRoiPoolExactBackward": (
        "pooled input rois offset scale ratio gamma grad_input grad_offset", "grad_input grad_offset",
    ),
}  # fmt: skip
WITH_BINS = ("mluOpDeformRoiPoolForward", "mluOpDeformRoiPoolBackward")


def raw_call(raw: Raw, function: str, arrays: dict[str, Any], **numbers: Any) -> int:
    """Status of a C function; arrays stand for packed tensors in the layout that it asks for."""
    numbers = {"scale": 0.5, "ratio": 2, "gamma": 0.1, "2": 2, "3": 3, **numbers}
    given: list[Any] = []
    for name in FUNCTIONS[function][0].split():
        value = numbers[name] if name in numbers else arrays[name]
        if value is None:  # no descriptor and no data
            given += [raw.ffi.NULL, raw.ffi.NULL]
            continue
        plain = name in ("rois", "offset", "grad_offset")
        given.append(Tensor(value, *(() if plain else (NHWC,))) if isinstance(value, np.ndarray) else value)
    return raw.status(function, *given)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("input", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("input", np.ones((2, 4, 3, 8), np.int32), BAD_PARAM),
    ("input", np.ones((2, 4, 3, 8), np.float16), BAD_PARAM),
    ("input", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("input", np.ones((0, 4, 3, 8), np.float32), BAD_PARAM),
    ("input", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("input", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("rois", np.ones((5, 6), np.float32), BAD_PARAM),
    ("rois", np.ones((0, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 5), np.float16), BAD_PARAM),
    ("rois", np.ones((5, 10), np.float32)[:, ::2], NOT_SUPPORTED),
    ("offset", np.ones((5, 2, 2), np.float32), BAD_PARAM),
    ("offset", np.ones((5, 2, 2, 3), np.float16), BAD_PARAM),
    ("offset", np.ones((4, 2, 2, 3), np.float32), BAD_PARAM),
    ("offset", np.ones((5, 3, 2, 3), np.float32), BAD_PARAM),
    ("offset", np.ones((5, 2, 3, 2), np.float32), BAD_PARAM),
    ("offset", np.ones((5, 2, 2, 6), np.float32)[..., ::2], NOT_SUPPORTED),
    ("pooled", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("pooled", np.ones((5, 3, 3, 8), np.float32), BAD_PARAM),
    ("pooled", np.ones((4, 2, 3, 8), np.float32), BAD_PARAM),
    ("grad_input", np.ones((2, 4, 4, 8), np.float32), BAD_PARAM),
    ("grad_input", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("grad_input", np.ones((2, 4, 3, 8), np.float16), BAD_PARAM),
    ("grad_offset", np.ones((5, 2, 2, 2), np.float32), BAD_PARAM),
    ("grad_offset", np.ones((5, 2, 2, 3), np.float16), BAD_PARAM),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, function: str, name: str, array: Any, wanted: int) -> None:
    arguments, written = (text.split() for text in FUNCTIONS[function])
    if name not in arguments:
        return
    arrays = {**_arrays(), name: array}
    for one in set(written) - {name}:
        arrays[one] = canary(arrays[one].shape, arrays[one].dtype)
    assert raw_call(raw, function, arrays) == wanted
    assert raw.reason()
    assert all(is_canary(arrays[one]) for one in set(written) - {name})


def test_refused_numbers(raw: Raw) -> None:
    for function in FUNCTIONS:
        for number in ("scale", "gamma"):
            for value in (float("nan"), float("inf")):
                assert raw_call(raw, function, _arrays(), **{number: value}) == BAD_PARAM
                assert {"scale": "spatial_scale"}.get(number, number) in raw.reason()
        for ratio in (-1, 257):
            assert raw_call(raw, function, _arrays(), ratio=ratio) == BAD_PARAM
            assert "sampling_ratio" in raw.reason()
    for function in WITH_BINS:
        for bins in ((3, 3), (2, 0), (-2, 3)):
            assert raw_call(raw, function, _arrays(), **{"2": bins[0], "3": bins[1]}) == BAD_PARAM


def test_an_offset_is_there_with_its_gradient_or_not_at_all(raw: Raw) -> None:
    function = "mluOpDeformRoiPoolBackward"
    assert raw_call(raw, function, {**_arrays(), "offset": None, "grad_offset": None}) == SUCCESS
    for missing in ("offset", "grad_offset"):
        assert raw_call(raw, function, {**_arrays(), missing: None}) == BAD_PARAM
        assert "offset" in raw.reason()
    assert raw_call(raw, "mluOpDeformRoiPoolForward", {**_arrays(), "offset": None}) == SUCCESS
    arrays, given = _arrays(), canary((5, 2, 2, 3), np.float32)
    with pytest.raises(pymluops.BadParamError, match="grad_offset: expected None like offset"):
        pymluops.deform_roi_pool_backward(
            arrays["pooled"], arrays["input"], arrays["rois"], None, (2, 3), 0.5, 2, 0.1, grad_offset=given
        )
    assert is_canary(given)


def test_maps_without_pixels(raw: Raw) -> None:
    arrays = _arrays()
    for shape in ((2, 0, 3, 8), (2, 4, 0, 8)):
        none = np.ones(shape, np.float32)
        for function in WITH_BINS:
            assert raw_call(raw, function, {**arrays, "input": none, "grad_input": none.copy()}) == SUCCESS
        found = pymluops.deform_roi_pool_forward(none, arrays["rois"], arrays["offset"], (2, 3), 0.5)
        assert found.shape == (5, 2, 3, 8)
        assert not found.any()
        back = pymluops.deform_roi_pool_backward(
            arrays["pooled"], none, arrays["rois"], arrays["offset"], (2, 3), 0.5, 2, 0.1
        )
        assert back.grad_input.shape == shape
        assert not back.grad_offset.any()
