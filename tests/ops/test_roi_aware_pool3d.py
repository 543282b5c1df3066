"""roi_aware_pool3d forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import roi_aware_pool3d as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

METHODS = ("max", "avg")

PROBLEMS = st.fixed_dictionaries(
    {
        "boxes": st.integers(1, 5),
        "points": st.integers(1, 40) | st.integers(280, 520),
        "channels": st.integers(1, 6) | st.just(260),
        "slots": st.integers(1, 6) | st.just(60),
        "out": st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 2)),
        "kind": st.sampled_from(["float32", "float16", "float64"]),
        "special": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Boxes, points and features, small whole numbers, so that many features are equal; and what drew them."""
    rng = np.random.default_rng(s["seed"])
    rois = np.concatenate([rng.integers(-4, 5, (s["boxes"], 3)) / 4, rng.integers(1, 9, (s["boxes"], 3)) / 2], 1)
    rois = np.concatenate([rois, rng.choice([0.0, 0.7, -2.5], (s["boxes"], 1))], 1)
    pts = rng.integers(-16, 17, (s["points"], 3)) / 8
    feats = rng.integers(-5, 6, (s["points"], s["channels"])).astype(s["kind"])
    if s["special"]:
        feats = np.where(rng.random(feats.shape) < 0.2, any_bits(rng, feats.shape, s["kind"]), feats)
        pts[rng.random(pts.shape) < 0.02] = np.nan
        rois[rng.random(rois.shape) < 0.02] = np.inf
        with np.errstate(invalid="ignore"):  # infinity times 0
            rois[:, 3:6] *= rng.choice([1, 0, -1], (s["boxes"], 3), p=[0.9, 0.05, 0.05])
    return rois.astype(s["kind"]), pts.astype(s["kind"]), feats, rng


def pool(rois: np.ndarray, pts: np.ndarray, feats: np.ndarray, method: str, slots: int, out: Any) -> Any:
    known = described("roi_aware_pool3d_forward")
    operator = double_of(known) if rois.dtype == np.float64 else known
    sizes = (method, len(rois), len(pts), feats.shape[1], slots, *out)
    return operator(None, (rois, pts, feats, None, None, None), sizes)


def gradient(lists: np.ndarray, argmax: np.ndarray, grad: np.ndarray, method: str, points: int) -> Any:
    known = described("roi_aware_pool3d_backward")
    operator = double_of(known) if grad.dtype == np.float64 else known
    boxes, *out, channels = grad.shape
    return operator(None, (lists, argmax, grad, None), (method, boxes, *out, channels, lists.shape[4], points))


# ---- values --------------------------------------------------------------------------------------


@examples(150)
@given(s=PROBLEMS, method=st.sampled_from(METHODS))
def test_voxels_have_the_values_of_the_rule(s: dict[str, Any], method: str) -> None:
    rois, pts, feats, _ = problem(s)
    found = pool(rois, pts, feats, method, s["slots"], s["out"])
    pooled, argmax, lists = oracle.forward(rois, pts, feats, method, s["slots"], s["out"])
    assert_same_bits(found[2], lists)
    assert_same_bits(found[1], argmax)
    assert_same_values(found[0], pooled)


@examples(150)
@given(s=PROBLEMS, method=st.sampled_from(METHODS), spoilt=st.booleans())
def test_gradients_have_the_values_of_the_rule(s: dict[str, Any], method: str, spoilt: bool) -> None:
    rois, pts, feats, rng = problem(s)
    pooled, argmax, lists = oracle.forward(rois, pts, feats, method, s["slots"], s["out"])
    grad = rng.normal(size=pooled.shape).astype(s["kind"])
    if spoilt:
        wrong = np.array([-7, 2**31 - 1, len(pts), -(2**31)])
        lists = np.where(rng.random(lists.shape) < 0.1, rng.choice(wrong, lists.shape), lists).astype(np.int32)
        argmax = np.where(rng.random(argmax.shape) < 0.1, rng.choice(wrong, argmax.shape), argmax).astype(np.int32)
    found = gradient(lists, argmax, grad, method, len(pts))
    assert_same_values(found, oracle.backward(lists, argmax, grad, method, len(pts)))


#: Boxes, points, channels, voxels along an axis, slots: of the vendor's cases and of a network.
NAMED = [(32, 1024, 1, 2, 32), (2, 100, 3, 2, 10), (8, 1600, 16, 12, 128), (2, 15, 4, 4, 128)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[int, ...], method: str) -> None:
    boxes, points, channels, voxels, slots = case
    rng = np.random.default_rng(8)
    rois = rng.uniform(-20, 20, (boxes, 7)).astype(np.float32)
    pts = rng.uniform(-20, 20, (points, 3)).astype(np.float32)
    feats = rng.uniform(-20, 20, (points, channels)).astype(np.float32)
    found = pool(rois, pts, feats, method, slots, (voxels,) * 3)
    wanted = oracle.forward(rois, pts, feats, method, slots, (voxels,) * 3)
    for array, values in zip(found, wanted, strict=True):
        assert_same_values(array, values)
    grad = rng.uniform(-100, 100, found[0].shape).astype(np.float32)
    assert_same_values(
        gradient(found[2], found[1], grad, method, points), oracle.backward(found[2], found[1], grad, method, points)
    )


def test_one_slot_keeps_no_point_and_full_voxels_keep_the_first() -> None:
    rois, pts = np.array([[0, 0, 0, 2, 2, 2, 0]], np.float32), np.full((5, 3), 0.5, np.float32)
    feats = np.arange(1.0, 6.0, dtype=np.float32)[:, None]
    pooled, argmax, lists = pool(rois, pts, feats, "max", 1, (1, 1, 1))
    assert (pooled.item(), argmax.item(), lists.item()) == (0, -1, 0)
    pooled, argmax, lists = pool(rois, pts, feats, "avg", 3, (1, 1, 1))
    assert (pooled.item(), argmax.item(), lists.ravel().tolist()) == (1.5, 0, [2, 0, 1])
    assert gradient(lists, argmax, pooled, "avg", 5).ravel().tolist() == [0.75, 0.75, 0, 0, 0]


def test_infinite_and_missing_numbers_are_no_maxima() -> None:
    rois, pts = np.array([[0, 0, 0, 2, 2, 2, 0]], np.float32), np.full((3, 3), 0.5, np.float32)
    feats = np.array([[-np.inf, np.nan, np.nan, -0.0], [-np.inf, 3, np.nan, 0], [-np.inf, 3, np.nan, 0]], np.float32)
    pooled, argmax, _ = pool(rois, pts, feats, "max", 9, (1, 1, 1))
    assert pooled.ravel().tolist() == [0, 3, 0, 0] and argmax.ravel().tolist() == [-1, 1, -1, 0]
    assert np.signbit(pooled.ravel()[3])


def test_any_number_of_threads_gives_the_same() -> None:
    s = {"boxes": 9, "points": 2000, "channels": 40, "slots": 20, "out": (3, 4, 5), "kind": "float32"}
    rois, pts, feats, rng = problem({**s, "special": False, "seed": 2})
    grad = rng.normal(size=(9, 3, 4, 5, 40)).astype(np.float32)
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            for method in METHODS:
                results = pool(rois, pts, feats, method, s["slots"], s["out"])
                found.append([*results, gradient(results[2], results[1], grad, method, 2000)])
    finally:
        pymluops.set_num_threads(before)
    for i, results in enumerate(found):
        for one, other in zip(results, found[i % 2], strict=True):
            assert_same_bits(one, other)


# ---- the functions of the ABI --------------------------------------------------------------------


def _tensors(boxes: int = 2, points: int = 3, channels: int = 2) -> list[Any]:
    shapes = [(boxes, 7), (points, 3), (points, channels)]
    outputs = [((boxes, 1, 1, 1, channels), "int32"), ((boxes, 1, 1, 1, 4), "int32")]
    outputs.append(((boxes, 1, 1, 1, channels), "float32"))
    return [np.ones(shape, np.float32) for shape in shapes] + [canary(*output) for output in outputs]


def _forward(raw: Raw, spelling: str, arrays: list[Any], method: int = 0, sizes: Any = (2, 3, 2)) -> int:
    tensors = [Tensor(array) if isinstance(array, np.ndarray) else array for array in arrays]
    null = raw.ffi.NULL
    return raw.status(f"mluOp{spelling}Forward", method, *sizes, *tensors[:3], null, 0, 4, 1, 1, 1, *tensors[3:])


def test_both_spellings_do_the_same(raw: Raw) -> None:
    found = []
    for spelling in ("RoiAwarePool3d", "RoiawarePool3d"):
        arrays = _tensors()
        assert _forward(raw, spelling, arrays) == SUCCESS, raw.reason()
        gradient = canary((3, 2), "float32")
        tensors = [Tensor(array) for array in (arrays[4], arrays[3], arrays[5], gradient)]
        assert raw.status(f"mluOp{spelling}Backward", 0, 2, 1, 1, 1, 2, 4, *tensors) == SUCCESS, raw.reason()
        size = raw.ffi.new("size_t *", 9)
        descs = [raw.ffi.NULL, raw.ffi.NULL, Descriptor((3, 2))]
        assert raw.status(f"mluOpGet{spelling}ForwardWorkspaceSize", *descs, size) == SUCCESS
        found.append([*arrays[3:], gradient, np.array(size[0])])
        assert _forward(raw, spelling, _tensors(), 2) == BAD_PARAM
        assert raw.reason().startswith(f"mluOp{spelling}Forward: pool_method: expected")
    for one, other in zip(*found, strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("sizes", [(65536, 3, 2), (2, 3, 65536)])
def test_too_many_boxes_or_channels(raw: Raw, sizes: tuple[int, int, int]) -> None:
    boxes, points, channels = sizes
    shapes = [(boxes, 7), (points, 3), (points, channels), (boxes, 1, 1, 1, channels), (boxes, 1, 1, 1, 4)]
    kinds = ["float32"] * 3 + ["int32"] * 2 + ["float32"]
    tensors = [Descriptor(shape, kind, pair=True) for shape, kind in zip([*shapes, shapes[3]], kinds, strict=True)]
    assert _forward(raw, "RoiAwarePool3d", tensors, 0, sizes) == NOT_SUPPORTED
    assert "expected less than 65536, got 65536" in raw.reason()


def test_means_need_argmax_too(raw: Raw) -> None:
    arrays: list[Any] = _tensors()
    arrays[3] = Descriptor((2, 1, 1, 1, 2), "int32", pair=True)
    assert _forward(raw, "RoiAwarePool3d", arrays, 1) == BAD_PARAM
    assert ": argmax: expected a pointer" in raw.reason()
    assert is_canary(arrays[4]) and is_canary(arrays[5])
