"""roi_pool: the largest pixel of each bin, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import pooled_regions as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 9), st.integers(1, 9)),
        "channels": st.sampled_from([1, 3, 8, 21, 40]),
        "bins": st.tuples(st.integers(1, 4), st.integers(1, 4)),
        "regions": st.integers(1, 6),
        "scale": st.sampled_from([0.0625, 0.25, 0.3081299960613251, 1.0]),
        "rounded": st.booleans(),
        "dtype": st.sampled_from([np.float32, np.float16]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some inside out."""
    corners = rng.uniform(-0.4, 1.3, (count, 4)) * (np.array([*size[::-1]] * 2) / scale)
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    return np.column_stack([image, np.round(corners * 2) / 2])


def _compare(s: dict[str, Any], maps: np.ndarray, rois: np.ndarray, rng: np.random.Generator, same: Any) -> None:
    found = pymluops.roi_pool_forward(maps, rois, s["bins"], s["scale"], s["rounded"])
    output, argmax = oracle.forward(maps, rois, s["bins"], s["scale"], s["rounded"])
    same(found.output, output)
    assert_same_bits(found.argmax, argmax)
    grad = rng.normal(size=output.shape).astype(s["dtype"])
    if s["seed"] % 2:  # any pixels, some of which do not exist
        argmax = rng.integers(-3, maps.shape[1] * maps.shape[2] + 3, argmax.shape, np.int32)
    back = pymluops.roi_pool_backward(grad, rois, argmax, len(maps), maps.shape[1:3])
    same(back, oracle.backward(grad, rois, argmax, maps.shape[:3]).astype(s["dtype"]))


@examples(100)
@given(s=SHAPES)
def test_both_have_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = rng.normal(size=(s["batch"], *s["size"], s["channels"])).round(1).astype(s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"])
    _compare(s, maps, rois, rng, assert_same_bits)


@examples(100)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps = any_bits(rng, (s["batch"], *s["size"], s["channels"]), s["dtype"])
    maps = np.where(rng.random(maps.shape) < 0.3, np.nan, maps).astype(s["dtype"])
    rois = regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"])
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], rois.shape)
    _compare(s, maps, np.where(rng.random(rois.shape) < 0.1, odd, rois).astype(s["dtype"]), rng, assert_same_values)


def test_a_nan_counts_until_a_number_follows() -> None:
    """The examples of the header: a NaN is taken after a number, and a number after a NaN."""
    region = np.array([[0, 0, 0, 1, 1]], np.float32)
    for values, largest, pixel in (([1, 2, 3, np.nan], np.nan, 3), ([1, np.nan, 3, 4], 4, 3)):
        maps = np.array(values, np.float32).reshape(1, 2, 2, 1)
        output, argmax = pymluops.roi_pool_forward(maps, region, 1, 1.0)
        np.testing.assert_array_equal(output.ravel(), np.float32([largest]))
        assert argmax.ravel().tolist() == [pixel]
        output, argmax = pymluops.roi_pool_forward(maps, region, 1, 1.0, False)
        assert output.ravel().tolist() == [np.nanmax(values)]


def test_regions_without_pixels() -> None:
    maps = np.full((1, 4, 4, 3), -7, np.float32)
    rows = [[0, 9, 9, 12, 12], [1, 0, 0, 3, 3], [-1, 0, 0, 3, 3], [np.nan, 0, 0, 3, 3], [0, 0, 0, np.inf, 3]]
    for rounded in (True, False):
        output, argmax = pymluops.roi_pool_forward(maps, np.array(rows, np.float32), 2, 1.0, rounded)
        assert not output.any()
        assert (argmax == -1).all()
    inside_out = np.array([[0, 3, 3, 1, 1]], np.float32)
    output, argmax = pymluops.roi_pool_forward(maps, inside_out, 1, 1.0, False)
    assert (output == 0).all()
    assert (argmax == -1).all()
    output, argmax = pymluops.roi_pool_forward(maps, inside_out, 1, 1.0, True)
    assert (output == -7).all()
    assert (argmax == 15).all()


def test_backward_moves_the_gradient_to_the_largest() -> None:
    rng = np.random.default_rng(4)
    maps = rng.normal(size=(2, 6, 5, 3)).astype(np.float32)
    rois = regions(rng, 9, 2, (6, 5), 0.5).astype(np.float32)
    output, argmax = pymluops.roi_pool_forward(maps, rois, (2, 3), 0.5)
    grad = rng.normal(size=output.shape).astype(np.float32)
    back = pymluops.roi_pool_backward(grad, rois, argmax, 2, (6, 5))
    assert float((back * maps).sum()) == pytest.approx(float((grad * output).sum()), rel=1e-4)


# ---- the functions of the header -----------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "map": rng.normal(size=(2, 4, 3, 8)).astype(np.float32),
        "rois": regions(rng, 5, 2, (4, 3), 1.0).astype(np.float32),
        "pooled": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
        "argmax": rng.integers(-1, 12, (5, 2, 3, 8), np.int32),
    }


def _tensor(raw: Raw, name: str, value: Any) -> list[Any]:
    if value is None:
        return [raw.ffi.NULL, raw.ffi.NULL]
    if not isinstance(value, np.ndarray):
        return [value]
    return [Tensor(value) if name == "rois" else Tensor(value, NHWC)]


def raw_forward(raw: Raw, arrays: dict[str, Any], *, mode: int = 0, scale: float = 0.5) -> int:
    """Status of mluOpRoiPoolingForward, whose argmax has no descriptor."""
    map_, rois, pooled = (_tensor(raw, name, arrays[name]) for name in ("map", "rois", "pooled"))
    argmax = arrays["argmax"]
    pointer = raw.ffi.NULL if argmax is None else raw.ffi.cast("int *", argmax.ctypes.data)
    return raw.status("mluOpRoiPoolingForward", mode, *map_, *rois, scale, *pooled, pointer)


def raw_backward(raw: Raw, arrays: dict[str, Any], *, mode: int = 0, scale: float = 0.5) -> int:
    """Status of mluOpRoiPoolingBackward."""
    given = [one for name in ("pooled", "rois", "argmax") for one in _tensor(raw, name, arrays[name])]
    return raw.status("mluOpRoiPoolingBackward", mode, *given, scale, *_tensor(raw, "map", arrays["map"]))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_functions_of_the_header_write_the_same(raw: Raw, dtype: Any) -> None:
    arrays = {name: array if name == "argmax" else array.astype(dtype) for name, array in _arrays().items()}
    written = {"pooled": canary(arrays["pooled"].shape, dtype), "argmax": canary(arrays["pooled"].shape, np.int32)}
    assert raw_forward(raw, {**arrays, **written}) == SUCCESS, raw.reason()
    output, argmax = oracle.forward(arrays["map"], arrays["rois"], (2, 3), 0.5, True)
    assert_same_bits(written["pooled"], output)
    assert_same_bits(written["argmax"], argmax)
    gradient = canary(arrays["map"].shape, dtype)
    assert raw_backward(raw, {**arrays, "map": gradient}) == SUCCESS, raw.reason()
    wanted = oracle.backward(arrays["pooled"], arrays["rois"], arrays["argmax"], (2, 4, 3)).astype(dtype)
    assert_same_bits(gradient, wanted)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.float64), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("map", np.ones((2, 0, 3, 8), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("map", None, BAD_PARAM),
    ("rois", np.ones((5, 4), np.float32), BAD_PARAM),
    ("rois", np.ones((4, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 5), np.float16), BAD_PARAM),
    ("rois", None, BAD_PARAM),
    ("pooled", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("pooled", None, BAD_PARAM),
    ("argmax", None, BAD_PARAM),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for call, written in ((raw_forward, ("pooled", "argmax")), (raw_backward, ("map",))):
        arrays = {**_arrays(), name: array}
        outputs = [one for one in written if one != name]
        for output in outputs:
            arrays[output] = canary(arrays[output].shape, arrays[output].dtype)
        assert call(raw, arrays) == wanted
        assert raw.reason()
        assert all(is_canary(arrays[output]) for output in outputs)


def test_refused_numbers(raw: Raw) -> None:
    for call in (raw_forward, raw_backward):
        for scale in (0.0, -1.0, float("nan"), float("inf")):
            assert call(raw, _arrays(), scale=scale) == BAD_PARAM
            assert "spatial_scale" in raw.reason()
        for mode in (1, 2, 3):
            assert call(raw, _arrays(), mode=mode) == BAD_PARAM
            assert "pooling_mode" in raw.reason()


def test_without_regions(raw: Raw) -> None:
    """Forward has nothing to write, backward writes zeros."""
    arrays = {**_arrays(), "rois": np.ones((0, 5), np.float32), "pooled": np.ones((0, 2, 3, 8), np.float32)}
    arrays["argmax"] = np.ones((0, 2, 3, 8), np.int32)
    assert raw_forward(raw, arrays) == SUCCESS, raw.reason()
    arrays["map"] = canary((2, 4, 3, 8), np.float32)
    assert raw_backward(raw, arrays) == SUCCESS, raw.reason()
    assert not arrays["map"].any()
