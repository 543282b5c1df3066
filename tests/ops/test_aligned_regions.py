"""roi_align: means and maxima of bilinear samples, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import aligned_regions as oracle
from pymluops.oracle.aligned_regions import Settings
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "size": st.tuples(st.integers(1, 9), st.integers(1, 9)),
        "channels": st.sampled_from([1, 3, 8, 21, 300]),
        "bins": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "regions": st.integers(1, 6),
        "scale": st.sampled_from([0.0625, 0.25, 0.3081299960613251, 1.0, 2.5]),
        "ratio": st.integers(0, 3),
        "aligned": st.booleans(),
        "dtype": st.sampled_from([np.float32, np.float16, np.float64]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def regions(rng: np.random.Generator, count: int, batch: int, size: tuple[int, int], scale: float) -> np.ndarray:
    """Rows of regions on the maps and beside them, some of no image, some inside out."""
    corners = rng.uniform(-0.6, 1.5, (count, 4)) * (np.array([*size[::-1]] * 2) / scale)
    image = rng.integers(-1, batch + 1, count) if batch > 1 else np.zeros(count)
    return np.column_stack([image, np.round(corners * 4) / 4])


def settings_of(s: dict[str, Any]) -> Settings:
    """The numbers of a call."""
    return Settings(s["bins"], s["scale"], s["ratio"], s["aligned"])


def operators(dtype: Any) -> Any:
    """The four functions for arrays of a type; those in float64 are reached by the descriptions."""
    names = ("roi_align_forward", "roi_align_max_forward", "roi_align_backward", "roi_align_max_backward")
    if dtype != np.float64:
        return [getattr(pymluops, name) for name in names]
    from pymluops.ops._described import described
    from pymluops.ops._double import double_of

    def wide(name: str) -> Any:
        known = double_of(described(name))
        outputs = (None,) * sum(tensor.output for tensor in known.tensors)

        def call(*arguments: Any) -> Any:
            flat: list[Any] = []
            for one in arguments:
                flat += one if isinstance(one, tuple) else [one]
            arrays = [one for one in flat if isinstance(one, np.ndarray)]
            return known(None, (*arrays, *outputs), tuple(flat[len(arrays) :]))

        return call

    return [wide(name) for name in names]


def _problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(s["seed"])
    maps = rng.normal(size=(s["batch"], *s["size"], s["channels"])).astype(s["dtype"])
    return maps, regions(rng, s["regions"], s["batch"], s["size"], s["scale"]).astype(s["dtype"]), rng


def _compare(s: dict[str, Any], maps: np.ndarray, rois: np.ndarray, rng: np.random.Generator, same: Any) -> None:
    settings = settings_of(s)
    numbers = (s["scale"], s["ratio"], s["aligned"])
    forward, largest, backward, largest_backward = operators(s["dtype"])
    found, wanted = forward(maps, rois, s["bins"], *numbers), oracle.forward(maps, rois, settings)
    same(found, wanted)
    maxima, best = largest(maps, rois, s["bins"], *numbers), oracle.max_forward(maps, rois, settings)
    for one, other in zip(maxima, best, strict=True):
        same(one, other)
    grad = rng.normal(size=wanted.shape).astype(s["dtype"])
    shape = maps.shape[:3]
    where = (shape[0], shape[1:])
    with np.errstate(over="ignore"):
        same(backward(grad, rois, *numbers, *where), oracle.backward(grad, rois, settings, shape).astype(s["dtype"]))
        wanted = oracle.max_backward(grad, rois, best[1:], settings, shape).astype(s["dtype"])
    same(largest_backward(grad, rois, *best[1:], *numbers, *where), wanted)


# ---- values --------------------------------------------------------------------------------------


@examples(100)
@given(s=SHAPES)
def test_all_have_the_bits_of_the_formula(s: dict[str, Any]) -> None:
    _compare(s, *_problem(s), same=assert_same_bits)


@examples(100)
@given(s=SHAPES)
def test_any_bits(s: dict[str, Any]) -> None:
    maps, rois, rng = _problem(s)
    maps = any_bits(rng, maps.shape, s["dtype"])
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], rois.shape)
    _compare(s, maps, np.where(rng.random(rois.shape) < 0.1, odd, rois).astype(s["dtype"]), rng, assert_same_values)


#: Shapes of networks: maps, regions, bins, scale, ratio.
NAMED = [
    ((1, 50, 76, 16), 13, (7, 7), 0.0625, 0),
    ((2, 25, 38, 16), 11, (14, 14), 0.03125, 2),
    ((1, 38, 63, 1030), 3, (1, 2), 0.0625, 1),
    ((1, 1, 1, 1), 1, (1, 1), 1.0, 2),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    shape, count, bins, scale, ratio = case
    rng = np.random.default_rng(3)
    maps, rois = rng.random(shape, np.float32), regions(rng, count, shape[0], shape[1:3], scale).astype(np.float32)
    settings = Settings(bins, scale, ratio, True)
    output = pymluops.roi_align_forward(maps, rois, bins, scale, ratio)
    assert_close(output, oracle.forward(maps, rois, settings))
    found = pymluops.roi_align_backward(output, rois, scale, ratio, True, shape[0], shape[1:3])
    assert_close(found, oracle.backward(output, rois, settings, shape[:3]))


def test_the_example_of_the_header() -> None:
    image, rois = np.ones((1, 1, 1, 1), np.float32), np.array([[0, 0, 0, 1, 1]], np.float32)
    found = pymluops.roi_align_max_forward(image, rois, 1, 1.0, 0, False)
    assert [one.item() for one in found] == [1, 0.5, 0.5]


def test_examples_of_mmcv() -> None:
    """One channel, two by two bins, two samples along an axis: values and the gradient of their sum."""
    two = np.array([[1, 2], [3, 4]], np.float32)[None, :, :, None]
    four = np.array([[1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]], np.float32)[None, :, :, None]
    for maps, rois, values, gradient in (
        (two, [[0, 0, 0, 1, 1]], [[1.0, 1.25], [1.5, 1.75]], [[3.0625, 0.4375], [0.4375, 0.0625]]),
        (four, [[0, 0, 0, 3, 3]], [[1.9375, 4.75], [7.5625, 10.375]], None),
    ):
        boxes = np.array(rois, np.float32)
        found = pymluops.roi_align_forward(maps, boxes, 2, 1.0, 2, True)
        np.testing.assert_allclose(found[0, :, :, 0], values, atol=1e-6)
        if gradient is not None:
            back = pymluops.roi_align_backward(np.ones_like(found), boxes, 1.0, 2, True, 1, maps.shape[1:3])
            np.testing.assert_allclose(back[0, :, :, 0], gradient, atol=1e-6)


def test_regions_that_reach_far_beside_the_map_take_no_longer() -> None:
    """Their samples are counted, and those beside the map are not looked at one by one."""
    maps = np.ones((1, 4, 4, 2), np.float32)
    rois = np.array([[0, -1e6, -1e6, 1e6, 1e6], [0, 0, 0, 3e9, 1], [0, 3e38, 3e38, 3e38, 3e38]], np.float32)
    means = pymluops.roi_align_forward(maps, rois, 1, 1.0)
    assert (means >= 0).all()
    assert means.max() < 1e-5
    best, y, x = pymluops.roi_align_max_forward(maps, rois, 1, 1.0)
    assert best[0].ravel().tolist() == [1, 1]
    assert -1 <= y[0].min() <= 4
    assert -1 <= x[0].min() <= 4
    assert best[2].ravel().tolist() == [float(np.finfo(np.float32).min)] * 2


def test_maxima_below_zero_lose_against_a_sample_beside_the_map() -> None:
    maps = np.full((1, 2, 2, 1), -5, np.float32)
    rois = np.array(
        [[0, -4, 0, 2, 2], [0, 0, 0, 6, 2], [0, 0, -4, 2, 2], [0, 0, 0, 2, 60], [0, 0, 0, 2, 2]], np.float32
    )
    for ratio in (0, 4, 50):
        found = pymluops.roi_align_max_forward(maps, rois, 1, 1.0, ratio)
        wanted = oracle.max_forward(maps, rois, Settings((1, 1), 1.0, ratio, True))
        for one, other in zip(found, wanted, strict=True):
            assert_same_bits(one, other)
        assert found[0].ravel()[:4].tolist() == [0, 0, 0, 0]
        assert found[0].ravel()[4] < -4


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2, 3, 4])
def test_regions_that_are_not_finite_are_empty(odd: float, place: int) -> None:
    maps, rois = np.ones((1, 4, 4, 3), np.float32), np.array([[0, 0, 0, 3, 3]], np.float32)
    rois[0, place] = odd
    assert not pymluops.roi_align_forward(maps, rois, 2, 1.0).any()
    output, y, x = pymluops.roi_align_max_forward(maps, rois, 2, 1.0)
    assert not output.any()
    assert (y == -1).all()
    assert (x == -1).all()
    assert not pymluops.roi_align_backward(output + 1, rois, 1.0, 0, True, 1, (4, 4)).any()
    assert not pymluops.roi_align_max_backward(output + 1, rois, y, x, 1.0, 0, True, 1, (4, 4)).any()


def test_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    maps, rois = rng.normal(size=(2, 5, 4, 3)), regions(rng, 12, 2, (5, 4), 0.5)
    forward, _, backward, _ = operators(np.float64)
    samples = forward(maps, rois, (3, 2), 0.5, 0, True)
    grad = rng.normal(size=samples.shape)
    moved_back = backward(grad, rois, 0.5, 0, True, 2, (5, 4))
    assert (samples * grad).sum() == pytest.approx((maps * moved_back).sum(), rel=1e-12)


# ---- the functions of the header -----------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "map": rng.normal(size=(2, 4, 3, 8)).astype(np.float32),
        "rois": regions(rng, 5, 2, (4, 3), 1.0).astype(np.float32),
        "pooled": rng.normal(size=(5, 2, 3, 8)).astype(np.float32),
        "x": rng.uniform(-2, 4, (5, 2, 3, 8)).astype(np.float32),
        "y": rng.uniform(-2, 5, (5, 2, 3, 8)).astype(np.float32),
    }


def _tensors(raw: Raw, arrays: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    found: list[Any] = []
    for name in names:
        value = arrays[name]
        if value is None:
            found += [raw.ffi.NULL, raw.ffi.NULL]
        elif isinstance(value, np.ndarray):
            found.append(Tensor(value) if name == "rois" else Tensor(value, NHWC))
        else:
            found.append(value)
    return found


def raw_forward(raw: Raw, arrays: dict[str, Any], mode: int = 1, *, bins: tuple[int, int] = (2, 3)) -> int:
    """Status of mluOpRoiAlignForward_v2."""
    slot = raw.ffi.new("mluOpRoiAlignForwardDescriptor_t *")
    assert raw.lib.mluOpCreateRoiAlignForwardDescriptor(slot) == SUCCESS
    try:
        assert raw.lib.mluOpSetRoiAlignForwardDescriptor_v2(slot[0], *bins, 2, 0.5, mode, True) == SUCCESS
        tensors = _tensors(raw, arrays, ("map", "rois", "pooled", "x", "y"))
        return raw.status("mluOpRoiAlignForward_v2", slot[0], *tensors)
    finally:
        raw.lib.mluOpDestroyRoiAlignForwardDescriptor(slot[0])


def raw_backward(raw: Raw, arrays: dict[str, Any], mode: int = 1, *, scale: float = 0.5, ratio: int = 2) -> int:
    """Status of mluOpRoiAlignBackward_v2."""
    tensors = _tensors(raw, arrays, ("pooled", "rois", "x", "y"))
    return raw.status("mluOpRoiAlignBackward_v2", *tensors, scale, ratio, True, mode, *_tensors(raw, arrays, ("map",)))


def raw_mean_backward(raw: Raw, arrays: dict[str, Any], *, scale: float = 0.5, ratio: int = 2) -> int:
    """Status of mluOpRoiAlignBackward."""
    return raw.status("mluOpRoiAlignBackward", scale, ratio, True, *_tensors(raw, arrays, ("pooled", "rois", "map")))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_functions_of_the_header_write_the_same(raw: Raw, dtype: Any) -> None:
    arrays = {name: array.astype(dtype) for name, array in _arrays().items()}
    settings, shape = Settings((2, 3), 0.5, 2, True), arrays["map"].shape[:3]
    written = {name: canary(arrays["pooled"].shape, dtype) for name in ("pooled", "x", "y")}
    assert raw_forward(raw, {**arrays, **written}, 0) == SUCCESS, raw.reason()
    best, y, x = oracle.max_forward(arrays["map"], arrays["rois"], settings)
    for name, wanted in (("pooled", best), ("y", y), ("x", x)):
        assert_same_bits(written[name], wanted)
    mean = canary(best.shape, dtype)
    # Without descriptors and data of the places, which a mean does not have.
    assert raw_forward(raw, {**arrays, "pooled": mean, "x": None, "y": None}) == SUCCESS, raw.reason()
    assert_same_bits(mean, oracle.forward(arrays["map"], arrays["rois"], settings))
    wanted = oracle.backward(arrays["pooled"], arrays["rois"], settings, shape).astype(dtype)
    for call in (lambda a: raw_backward(raw, {**a, "x": None, "y": None}), lambda a: raw_mean_backward(raw, a)):
        gradient = canary(arrays["map"].shape, dtype)
        assert call({**arrays, "map": gradient}) == SUCCESS, raw.reason()
        assert_same_bits(gradient, wanted)
    gradient = canary(arrays["map"].shape, dtype)
    assert raw_backward(raw, {**arrays, "x": x, "y": y, "map": gradient}, 0) == SUCCESS, raw.reason()
    wanted = oracle.max_backward(arrays["pooled"], arrays["rois"], (y, x), settings, shape).astype(dtype)
    assert_same_bits(gradient, wanted)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("map", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.int32), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 8), np.float64), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 7), np.float32), BAD_PARAM),
    ("map", np.ones((0, 4, 3, 8), np.float32), BAD_PARAM),
    ("map", np.ones((2, 4, 0, 8), np.float32), BAD_PARAM),
    ("map", Tensor(np.ones((2, 4, 3, 8), np.float32)), BAD_PARAM),
    ("map", np.ones((2, 4, 3, 16), np.float32)[..., ::2], NOT_SUPPORTED),
    ("map", Descriptor((2**10, 2**10, 2**9, 8), layout=NHWC, pair=True), BAD_PARAM),
    ("map", None, BAD_PARAM),
    ("rois", np.ones((5, 4), np.float32), BAD_PARAM),
    ("rois", np.ones((4, 5), np.float32), BAD_PARAM),
    ("rois", np.ones((5, 5), np.float16), BAD_PARAM),
    ("rois", np.ones((5, 10), np.float32)[:, ::2], NOT_SUPPORTED),
    ("rois", None, BAD_PARAM),
    ("pooled", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("pooled", np.ones((4, 2, 3, 8), np.float32), BAD_PARAM),
    ("pooled", np.ones((5, 2, 3), np.float32), BAD_PARAM),
    ("pooled", None, BAD_PARAM),
    ("x", np.ones((5, 2, 3, 7), np.float32), BAD_PARAM),
    ("x", np.ones((5, 2, 3, 8), np.float16), BAD_PARAM),
    ("y", np.ones((5, 3, 2, 8), np.float32), BAD_PARAM),
    ("y", None, BAD_PARAM),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for call, written in ((raw_forward, ("pooled", "x", "y")), (raw_backward, ("map",))):
        arrays = {**_arrays(), name: array}
        outputs = [one for one in written if one != name]
        for output in outputs:
            arrays[output] = canary(arrays[output].shape, arrays[output].dtype)
        assert call(raw, arrays, 0) == wanted
        assert raw.reason()
        assert all(is_canary(arrays[output]) for output in outputs)


def test_refused_numbers(raw: Raw) -> None:
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        assert raw_backward(raw, _arrays(), scale=scale) == BAD_PARAM
        assert "spatial_scale" in raw.reason()
        assert raw_mean_backward(raw, _arrays(), scale=scale) == BAD_PARAM
    for mode in (-1, 2):
        assert raw_backward(raw, _arrays(), mode) == BAD_PARAM
        assert "pool_mode" in raw.reason()
    for ratio in (-1, 257):
        assert raw_backward(raw, _arrays(), ratio=ratio) == BAD_PARAM
        assert "sampling_ratio" in raw.reason()
    assert raw_forward(raw, _arrays(), bins=(3, 3)) == BAD_PARAM
    assert "pooled_height" in raw.reason()


def test_a_descriptor_that_was_never_set_is_refused(raw: Raw) -> None:
    slot = raw.ffi.new("mluOpRoiAlignForwardDescriptor_t *")
    assert raw.lib.mluOpCreateRoiAlignForwardDescriptor(slot) == SUCCESS
    tensors = _tensors(raw, _arrays(), ("map", "rois", "pooled", "x", "y"))
    assert raw.status("mluOpRoiAlignForward_v2", slot[0], *tensors) == BAD_PARAM
    assert "roialign_desc" in raw.reason()
    raw.lib.mluOpDestroyRoiAlignForwardDescriptor(slot[0])
    assert raw.status("mluOpRoiAlignForward_v2", raw.ffi.NULL, *tensors) == BAD_PARAM


def test_without_regions(raw: Raw) -> None:
    """Forward has nothing to write, backward writes zeros."""
    arrays = {**_arrays(), "rois": np.ones((0, 5), np.float32), "pooled": np.ones((0, 2, 3, 8), np.float32)}
    arrays |= {name: arrays["pooled"].copy() for name in ("x", "y")}
    for mode in (0, 1):
        assert raw_forward(raw, arrays, mode) == SUCCESS, raw.reason()
        arrays["map"] = canary((2, 4, 3, 8), np.float32)
        assert raw_backward(raw, arrays, mode) == SUCCESS, raw.reason()
        assert not arrays["map"].any()
