"""roi_crop forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import roi_crop as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "each": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 6), st.integers(1, 6)),
        "grid": st.tuples(st.integers(1, 4), st.integers(1, 4)),
        "channels": st.integers(1, 40),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _maps(s: dict[str, Any]) -> tuple[int, int, int, int]:
    return (s["batch"], *s["size"], s["channels"])


def _grids(s: dict[str, Any]) -> tuple[int, int, int, int]:
    return (s["batch"] * s["each"], *s["grid"], 2)


def raw_forward(raw: Raw, features: Any, grid: Any, out: Any) -> int:
    """Status of the C function; arrays stand for packed tensors in the layout that it asks for."""
    return raw.status("mluOpRoiCropForward", _nhwc(features), _plain(grid), _nhwc(out))


def raw_backward(raw: Raw, grad: Any, grid: Any, out: Any) -> int:
    """Status of the C function; arrays stand for packed tensors in the layout that it asks for."""
    return raw.status("mluOpRoiCropBackward", _nhwc(grad), _plain(grid), _nhwc(out))


def _nhwc(array: Any) -> Any:
    return Tensor(array, NHWC) if isinstance(array, np.ndarray) else array


def _plain(array: Any) -> Any:
    return Tensor(array) if isinstance(array, np.ndarray) else array


# ---- values --------------------------------------------------------------------------------------


@examples(150)
@given(s=SHAPES)
def test_forward_has_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    features = rng.normal(size=_maps(s)).astype(np.float32)
    grid = rng.uniform(-1.5, 1.5, _grids(s)).astype(np.float32)
    assert_same_bits(pymluops.roi_crop_forward(features, grid), oracle.forward(features, grid))


@examples(150)
@given(s=SHAPES)
def test_backward_has_the_bits_of_sums_in_the_order_of_points(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    grid = rng.uniform(-1.5, 1.5, _grids(s)).astype(np.float32)
    grad = rng.normal(size=(*grid.shape[:3], s["channels"])).astype(np.float32)
    found = pymluops.roi_crop_backward(grad, grid, s["batch"], s["size"])
    assert_same_bits(found, oracle.backward(grad, grid, s["batch"], s["size"], np.float32))


@examples(150)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    features, grid = any_bits(rng, _maps(s), np.float32), rng.uniform(-1.5, 1.5, _grids(s)).astype(np.float32)
    grid = np.where(rng.random(grid.shape) < 0.2, any_bits(rng, grid.shape, np.float32), grid)
    assert_same_values(pymluops.roi_crop_forward(features, grid), oracle.forward(features, grid))
    grad = any_bits(rng, (*grid.shape[:3], s["channels"]), np.float32)
    found = pymluops.roi_crop_backward(grad, grid, s["batch"], s["size"])
    assert_same_values(found, oracle.backward(grad, grid, s["batch"], s["size"], np.float32))


#: Shapes that networks and the dumped cases have: B, (H, W), R, (h, w), C.
NAMED = [
    (1, (32, 32), 2, (3, 5), 5000),
    (1, (32, 32), 1, (5, 5), 500),
    (1, (5, 5), 1, (5, 5), 500),
    (4, (32, 32), 16, (3, 5), 500),
    (4, (32, 32), 16, (13, 25), 50),
    (2, (1, 1), 4, (2, 2), 257),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    batch, size, regions, points, channels = case
    rng = np.random.default_rng(3)
    features = rng.uniform(-10, 10, (batch, *size, channels)).astype(np.float32)
    grid = rng.uniform(-1, 1, (regions, *points, 2)).astype(np.float32)
    assert_same_bits(pymluops.roi_crop_forward(features, grid), oracle.forward(features, grid))
    grad = rng.uniform(-10, 10, (regions, *points, channels)).astype(np.float32)
    found = pymluops.roi_crop_backward(grad, grid, batch, size)
    assert_close(found, oracle.backward(grad, grid, batch, size))


def test_corners_of_the_map_are_minus_one_and_one() -> None:
    features = np.arange(1.0, 13.0, dtype=np.float32).reshape(1, 3, 4, 1)
    grid = np.array([[[[-1, -1], [-1, 1]], [[1, -1], [1, 1]]]], np.float32)
    assert pymluops.roi_crop_forward(features, grid).ravel().tolist() == [1, 4, 9, 12]


def test_y_comes_first() -> None:
    features = np.arange(12.0, dtype=np.float32).reshape(1, 3, 4, 1)
    grid = np.array([[[[0, -1], [-1, 0]]]], np.float32)
    assert pymluops.roi_crop_forward(features, grid).ravel().tolist() == [4, 1.5]


def test_beside_the_map_values_fade_to_zero_within_a_pixel() -> None:
    features = np.full((1, 3, 3, 1), 8, np.float32)
    y = np.array([-2.5, -2, -1.75, -1.5, -1.25, 1.25, 1.5, 1.75, 2, 2.5], np.float32)
    grid = np.stack([y, np.zeros_like(y)], -1)[None, None]
    assert pymluops.roi_crop_forward(features, grid).ravel().tolist() == [0, 0, 2, 4, 6, 6, 4, 2, 0, 0]


def test_a_corner_with_weight_zero_takes_part() -> None:
    # The last row: the weight of the row below is 0, and there is none. On the first column the one
    # to its right counts.
    features = np.array([[[[1], [np.nan]], [[3], [4]]]], np.float32)
    grid = np.array([[[[1, 1], [-1, -1], [1, -1]]]], np.float32)
    found = pymluops.roi_crop_forward(features, grid).ravel()
    assert found[0] == 4
    assert np.isnan(found[1])
    assert found[2] == 3


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10])
def test_points_that_are_nowhere_sample_zero(odd: float) -> None:
    features = np.full((1, 3, 3, 5), np.nan, np.float32)
    for point in ((odd, 0), (0, odd), (odd, odd)):
        grid = np.array(point, np.float32).reshape(1, 1, 1, 2)
        assert_same_bits(pymluops.roi_crop_forward(features, grid), np.zeros((1, 1, 1, 5), np.float32))
        grad = np.ones((1, 1, 1, 5), np.float32)
        assert not pymluops.roi_crop_backward(grad, grid, 1, (3, 3)).any()


def test_regions_of_an_image_stand_together() -> None:
    features = np.array([1, 2, 3], np.float32).reshape(3, 1, 1, 1)
    grid = np.zeros((6, 1, 1, 2), np.float32)
    assert pymluops.roi_crop_forward(features, grid).ravel().tolist() == [1, 1, 2, 2, 3, 3]
    grad = np.arange(6, dtype=np.float32).reshape(6, 1, 1, 1)
    assert pymluops.roi_crop_backward(grad, grid, 3, (1, 1)).ravel().tolist() == [1, 5, 9]


def test_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    features, grid = rng.normal(size=(2, 5, 4, 7)), rng.uniform(-1.4, 1.4, (4, 3, 3, 2))
    grad = rng.normal(size=(4, 3, 3, 7))
    samples = double_of(described("roi_crop_forward"))(None, (features, grid, None), ())
    moved_back = double_of(described("roi_crop_backward"))(None, (grad, grid, None), (2, 5, 4))
    assert (samples * grad).sum() == pytest.approx((features * moved_back).sum(), rel=1e-12)


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    rng = np.random.default_rng(6)
    features = rng.normal(size=(2, 4, 3, 5)).astype(np.float32)
    grid = rng.uniform(-1.2, 1.2, (4, 2, 3, 2)).astype(np.float32)
    out = canary((4, 2, 3, 5), np.float32)
    assert raw_forward(raw, features, grid, out) == SUCCESS, raw.reason()
    assert_same_bits(out, pymluops.roi_crop_forward(features, grid))
    gradient = canary(features.shape, np.float32)
    assert raw_backward(raw, out, grid, gradient) == SUCCESS, raw.reason()
    assert_same_bits(gradient, pymluops.roi_crop_backward(out, grid, 2, (4, 3)))


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, np.ndarray]:
    return {
        "map": np.ones((2, 4, 3, 5), np.float32),
        "grid": np.zeros((4, 2, 3, 2), np.float32),
        "samples": np.ones((4, 2, 3, 5), np.float32),
    }


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 5), np.float16), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 5), np.float64), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 6), np.float32), BAD_PARAM),
    ("map", np.ones((3, 4, 3, 5), np.float32), BAD_PARAM),
    ("map", np.ones((0, 4, 3, 5), np.float32), BAD_PARAM),
    ("map", np.ones((2, 0, 3, 5), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 5), np.float32), ARRAY), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 10), np.float32)[..., ::2], NOT_SUPPORTED),
    ("map", Descriptor((2, 4, 3, 5), layout=NHWC, pair=True), BAD_PARAM),
    ("grid", np.zeros((4, 2, 6), np.float32), BAD_PARAM),
    ("grid", np.zeros((4, 2, 3, 3), np.float32), BAD_PARAM),
    ("grid", np.zeros((4, 2, 2, 2), np.float32), BAD_PARAM),
    ("grid", np.zeros((4, 2, 3, 2), np.float64), BAD_PARAM),
    ("grid", np.zeros((4, 2, 3, 4), np.float32)[..., ::2], NOT_SUPPORTED),
    ("samples", np.ones((4, 2, 3), np.float32), BAD_PARAM),
    ("samples", np.ones((4, 2, 3, 4), np.float32), BAD_PARAM),
    ("samples", np.ones((5, 2, 3, 5), np.float32), BAD_PARAM),
    ("samples", np.ones((4, 2, 3, 5), np.int32), BAD_PARAM),
    ("samples", Tensor(np.ones((4, 2, 3, 5), np.float32), ARRAY), BAD_PARAM),
    ("samples", np.ones((4, 2, 3, 10), np.float32)[..., ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for call, output in ((raw_forward, "samples"), (raw_backward, "map")):
        given_arrays: dict[str, Any] = {**_arrays(), name: array}
        order = ("map", "grid", "samples") if call is raw_forward else ("samples", "grid", "map")
        if name != output:
            given_arrays[output] = canary(given_arrays[output].shape, np.float32)
        assert call(raw, *(given_arrays[key] for key in order)) == wanted
        assert raw.reason()
        if name != output:
            assert is_canary(given_arrays[output])


def test_regions_are_shared_evenly(raw: Raw) -> None:
    features, grid, out = np.ones((2, 2, 2, 1), np.float32), np.zeros((3, 1, 1, 2), np.float32), np.ones((3, 1, 1, 1))
    assert raw_forward(raw, features, grid, out.astype(np.float32)) == BAD_PARAM
    assert "grid_desc: expected [R, h, w, 2] with B=2 divides R, got R=3" in raw.reason()
    with pytest.raises(pymluops.BadParamError, match="divide"):
        pymluops.roi_crop_forward(features, grid)
    with pytest.raises(pymluops.BadParamError, match="divide"):
        pymluops.roi_crop_backward(np.ones((3, 1, 1, 1), np.float32), grid, 2, (2, 2))


@pytest.mark.parametrize("size", [(3,), (3, 3, 3), (0, 3), (3, -1), "33", 3.5])
def test_refused_sizes(size: Any) -> None:
    grad, grid = np.ones((1, 1, 1, 1), np.float32), np.zeros((1, 1, 1, 2), np.float32)
    with pytest.raises((pymluops.BadParamError, TypeError), match="feature_size"):
        pymluops.roi_crop_backward(grad, grid, 1, size)
