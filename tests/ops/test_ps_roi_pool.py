"""ps_roi_pool forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import ps_roi_pool as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 9), st.integers(1, 9)),
        "bins": st.integers(1, 4),
        "depth": st.integers(1, 20),
        "regions": st.integers(1, 8) | st.integers(60, 80),
        "scale": st.sampled_from([0.0625, 0.25, 0.3081299960613251, 1.0, 2.5]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some inside out."""
    corners = rng.uniform(-0.4, 1.3, (count, 4)) * (np.array([*size[::-1]] * 2) / scale)
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    return np.column_stack([image, np.round(corners * 2) / 2]).astype(np.float32)


def _problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(s["seed"])
    maps = rng.normal(size=(s["batch"], *s["size"], s["bins"] ** 2 * s["depth"])).astype(np.float32)
    return maps, regions(rng, s["regions"], s["batch"], s["size"], s["scale"]), rng


def _forward(maps: np.ndarray, rois: np.ndarray, bins: int, scale: float, **outputs: Any) -> tuple[Any, Any]:
    return pymluops.ps_roi_pool_forward(maps, rois, bins, bins, scale, bins, maps.shape[3] // bins**2, **outputs)


def _backward(grad: np.ndarray, rois: np.ndarray, mapping: np.ndarray, scale: float, shape: Any) -> np.ndarray:
    bins, depth = grad.shape[1], grad.shape[3]
    found = pymluops.ps_roi_pool_backward(grad, rois, mapping, bins, bins, scale, depth, shape[0], shape[1:])
    assert isinstance(found, np.ndarray)
    return found


# ---- values --------------------------------------------------------------------------------------


@examples(150)
@given(s=SHAPES)
def test_forward_has_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    maps, rois, _ = _problem(s)
    found = _forward(maps, rois, s["bins"], s["scale"])
    wanted = oracle.forward(maps, rois, s["scale"], s["bins"], s["depth"])
    assert_same_bits(found[0], wanted[0])
    assert_same_bits(found[1], wanted[1])


@examples(150)
@given(s=SHAPES)
def test_backward_has_the_bits_of_sums_in_order(s: dict[str, Any]) -> None:
    maps, rois, rng = _problem(s)
    grad = rng.normal(size=(s["regions"], s["bins"], s["bins"], s["depth"])).astype(np.float32)
    mapping = oracle.forward(maps, rois, s["scale"], s["bins"], s["depth"])[1]
    if s["seed"] % 2:  # any channels, some of which do not exist
        mapping = rng.integers(-3, maps.shape[3] + 3, mapping.shape, np.int32)
    found = _backward(grad, rois, mapping, s["scale"], maps.shape[:3])
    assert_same_bits(found, oracle.backward(grad, rois, mapping, s["scale"], maps.shape[:3], np.float32))


@examples(150)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    maps, rois, rng = _problem(s)
    maps = any_bits(rng, maps.shape, np.float32)
    rois = np.where(rng.random(rois.shape) < 0.1, any_bits(rng, rois.shape, np.float32), rois)
    found = _forward(maps, rois, s["bins"], s["scale"])
    wanted = oracle.forward(maps, rois, s["scale"], s["bins"], s["depth"])
    assert_same_values(found[0], wanted[0])
    assert_same_bits(found[1], wanted[1])
    grad = any_bits(rng, wanted[0].shape, np.float32)
    gradient = _backward(grad, rois, wanted[1], s["scale"], maps.shape[:3])
    expected = oracle.backward(grad, rois, wanted[1], s["scale"], maps.shape[:3], np.float32)
    assert_same_values(gradient, expected)


#: Shapes of networks and of the dumped cases: maps, regions, bins, scale.
NAMED = [
    ((4, 10, 10, 90), 2, 3, 0.0625),
    ((2, 5, 5, 27), 2, 3, 0.3081299960613251),
    ((1, 14, 14, 392), 320, 7, 0.0625),
    ((2, 14, 14, 189), 493, 3, 0.0625),
    ((1, 38, 63, 49), 30, 7, 0.0625),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[tuple[int, int, int, int], int, int, float]) -> None:
    shape, count, bins, scale = case
    rng = np.random.default_rng(3)
    maps, rois = rng.random(shape, np.float32), regions(rng, count, shape[0], shape[1:3], scale)
    output, mapping = _forward(maps, rois, bins, scale)
    wanted = oracle.forward(maps, rois, scale, bins, shape[3] // bins**2)
    assert_same_bits(output, wanted[0])
    assert_same_bits(mapping, wanted[1])
    grad = rng.random(output.shape, np.float32)
    found = _backward(grad, rois, mapping, scale, shape[:3])
    assert_close(found, oracle.backward(grad, rois, mapping, scale, shape[:3], np.float64))


def test_worked_example() -> None:
    # Both regions name image 0 and touch its first pixel alone, with all four bins.
    rois = np.array([[0, 1, 2, 2, 3], [0, 1, 2, 2, 3]], np.float32)
    mapping = np.broadcast_to(np.arange(4, dtype=np.int32).reshape(1, 2, 2, 1), (2, 2, 2, 1)).copy()
    found = _backward(np.ones((2, 2, 2, 1), np.float32), rois, mapping, 0.25, (2, 2, 3))
    expected = np.zeros((2, 2, 3, 4), np.float32)
    expected[0, 0, 0] = 2
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("corner", "first"), [(0.49999997, 0), (0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-1.5, -2)])
def test_corners_are_rounded_half_away_from_zero(corner: float, first: int) -> None:
    maps = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 1, 8, 1)
    rois = np.array([[0, corner, 0, corner, 0]], np.float32)
    found = _forward(maps, rois, 1, 1.0)[0].ravel()[0]
    assert found == (maps[0, 0, first, 0] if first >= 0 else 0)


def test_a_region_is_a_tenth_of_a_pixel_wide_at_least() -> None:
    maps = np.arange(1.0, 10.0, dtype=np.float32).reshape(1, 3, 3, 1)
    found = _forward(maps, np.array([[0, 2, 2, -7, -7]], np.float32), 1, 1.0)[0]
    assert found.ravel().tolist() == [9]


def test_empty_bins_are_zero_and_have_their_channels() -> None:
    maps = np.full((1, 2, 2, 8), np.nan, np.float32)
    rois = np.array([[0, 50, 50, 60, 60], [1, 0, 0, 1, 1], [-1, 0, 0, 1, 1], [np.nan, 0, 0, 1, 1]], np.float32)
    output, mapping = _forward(maps, rois, 2, 1.0)
    assert not output.any()
    assert mapping[0].ravel().tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert (mapping == mapping[0]).all()
    assert not _backward(np.ones_like(output), rois, mapping, 1.0, (1, 2, 2)).any()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_regions_that_are_not_finite_are_empty(odd: float, place: int) -> None:
    rois = np.array([[0, 0, 0, 3, 3]], np.float32)
    rois[0, place] = odd
    output, mapping = _forward(np.ones((1, 4, 4, 9), np.float32), rois, 3, 1.0)
    assert not output.any()
    assert not _backward(np.ones_like(output), rois, mapping, 1.0, (1, 4, 4)).any()


def test_maps_without_pixels() -> None:
    rois = np.array([[0, 0, 0, 3, 3]], np.float32)
    for shape in ((0, 4, 4, 4), (1, 0, 4, 4), (1, 4, 0, 4)):
        output, mapping = _forward(np.ones(shape, np.float32), rois, 2, 1.0)
        assert output.shape == mapping.shape == (1, 2, 2, 1)
        assert not output.any()
        assert not mapping.any()
        assert _backward(output, rois, mapping, 1.0, shape[:3]).shape == shape


def test_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    maps, rois = rng.normal(size=(2, 5, 4, 18)), regions(rng, 12, 2, (5, 4), 0.5).astype(np.float64)
    samples, mapping = double_of(described("ps_roi_pool_forward"))(None, (maps, rois, None, None), (3, 3, 0.5, 3, 2))
    grad = rng.normal(size=samples.shape)
    scalars = (3, 3, 0.5, 2, 2, 5, 4)
    moved_back = double_of(described("ps_roi_pool_backward"))(None, (grad, rois, mapping, None), scalars)
    assert (samples * grad).sum() == pytest.approx((maps * moved_back).sum(), rel=1e-12)


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    return {
        "map": np.ones((2, 4, 3, 8), np.float32),
        "rois": np.ones((5, 5), np.float32),
        "pooled": np.ones((5, 2, 2, 2), np.float32),
        "mapping": np.zeros((5, 2, 2, 2), np.int32),
    }


def _tensor(name: str, value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return Tensor(value) if name == "rois" else Tensor(value, NHWC)


def raw_forward(
    raw: Raw, arrays: dict[str, Any], *, bins: Any = (2, 2), scale: float = 1, group: int = 2, depth: int = 2
) -> int:
    """Status of the C function; arrays stand for packed tensors in the layout that it asks for."""
    tensors = [_tensor(name, arrays[name]) for name in ("map", "rois", "pooled", "mapping")]
    return raw.status("mluOpPsRoiPoolForward", *bins, scale, group, depth, *tensors)


def raw_backward(raw: Raw, arrays: dict[str, Any], *, bins: Any = (2, 2), scale: float = 1, depth: int = 2) -> int:
    """Status of the C function; arrays stand for packed tensors in the layout that it asks for."""
    tensors = [_tensor(name, arrays[name]) for name in ("pooled", "rois", "mapping", "map")]
    return raw.status("mluOpPsRoiPoolBackward", *bins, scale, depth, *tensors)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.float16), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 8), np.float32), ARRAY), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("map", Descriptor((2, 4, 3, 8), layout=NHWC, pair=True), BAD_PARAM),
    ("rois", np.ones((5, 4), np.float32), BAD_PARAM),
    ("rois", np.ones((4, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((0, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 5, 1), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 5), np.float64), BAD_PARAM),
    ("rois", np.ones((5, 10), np.float32)[:, ::2], NOT_SUPPORTED),
    ("pooled", np.ones((5, 2, 2, 1), np.float32), BAD_PARAM),
    ("pooled", np.ones((5, 2, 3, 2), np.float32), BAD_PARAM),
    ("pooled", Tensor(np.ones((5, 2, 2, 2), np.float32), ARRAY), BAD_PARAM),
    ("pooled", np.ones((5, 2, 2, 4), np.float32)[..., ::2], NOT_SUPPORTED),
    ("mapping", np.zeros((5, 2, 2, 2), np.float32), BAD_PARAM),
    ("mapping", np.zeros((5, 2, 2, 1), np.int32), BAD_PARAM),
    ("mapping", np.zeros((5, 2, 2, 2), np.int64), BAD_PARAM),
    ("mapping", np.zeros((5, 2, 2, 4), np.int32)[..., ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for call, outputs in ((raw_forward, ("pooled", "mapping")), (raw_backward, ("map",))):
        arrays = {**_arrays(), name: array}
        for output in {*outputs} - {name}:
            arrays[output] = canary(arrays[output].shape, arrays[output].dtype)
        assert call(raw, arrays) == wanted
        assert raw.reason()
        assert all(is_canary(arrays[output]) for output in {*outputs} - {name})


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"bins": (3, 2)}, "pooled_height"),
        ({"bins": (2, 3)}, "pooled_width"),
        ({"bins": (0, 0)}, "pooled_height"),
        ({"bins": (-2, -2)}, "pooled_height"),
        ({"depth": 3}, "output_dim"),
        ({"depth": 0}, "output_dim"),
        ({"scale": 0.0}, "spatial_scale"),
        ({"scale": -1.0}, "spatial_scale"),
        ({"scale": float("nan")}, "spatial_scale"),
    ],
)
def test_refused_numbers(raw: Raw, numbers: dict[str, Any], told: str) -> None:
    for call in (raw_forward, raw_backward):
        assert call(raw, _arrays(), **numbers) == BAD_PARAM
        assert told in raw.reason()


@pytest.mark.parametrize("group", [0, 1, 3, -2])
def test_groups_are_bins(raw: Raw, group: int) -> None:
    assert raw_forward(raw, _arrays(), group=group) == BAD_PARAM
    assert "group_size: expected pooled_height=2" in raw.reason()
    with pytest.raises(pymluops.BadParamError, match="group_size"):
        pymluops.ps_roi_pool_forward(_arrays()["map"], _arrays()["rois"], 2, 2, 1.0, group, 2)


def test_two_to_the_31_bytes_are_not_supported(raw: Raw) -> None:
    arrays = {**_arrays(), "map": Descriptor((1, 2**13, 2**13, 8), layout=NHWC, pair=True)}
    for call in (raw_forward, raw_backward):
        assert call(raw, arrays) == NOT_SUPPORTED
        assert "expected less than 2^31 bytes" in raw.reason()


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    rng = np.random.default_rng(6)
    arrays = {
        "map": rng.normal(size=(2, 4, 3, 8)).astype(np.float32),
        "rois": regions(rng, 5, 2, (4, 3), 1.0),
        "pooled": canary((5, 2, 2, 2), np.float32),
        "mapping": canary((5, 2, 2, 2), np.int32),
    }
    assert raw_forward(raw, arrays) == SUCCESS, raw.reason()
    output, mapping = _forward(arrays["map"], arrays["rois"], 2, 1.0)
    assert_same_bits(arrays["pooled"], output)
    assert_same_bits(arrays["mapping"], mapping)
    gradient = canary(arrays["map"].shape, np.float32)
    assert raw_backward(raw, {**arrays, "map": gradient}) == SUCCESS, raw.reason()
    assert_same_bits(gradient, _backward(output, arrays["rois"], mapping, 1.0, (2, 4, 3)))
