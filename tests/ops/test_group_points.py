"""gather_points, group_points and stack_group_points, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import group_points as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)
SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "channels": st.integers(1, 20),
        "points": st.integers(1, 30),
        "groups": st.integers(1, 12) | st.integers(300, 1300),
        "samples": st.integers(1, 5),
        "outside": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _drawn(s: dict[str, Any], dtype: str, *shape: int) -> tuple[np.random.Generator, np.ndarray]:
    """Indices, some of which may be no points."""
    rng = np.random.default_rng(s["seed"])
    low, high = (-3, s["points"] + 3) if s["outside"] else (0, s["points"])
    idx = rng.integers(low, high, shape).astype(np.int32)
    if s["outside"]:
        idx.flat[:: max(1, idx.size // 3)] = rng.choice([2**31 - 1, -(2**31), -1])
    return rng, idx


@both_dtypes
@examples(100)
@given(s=SHAPES)
def test_gather_and_group(dtype: str, s: dict[str, Any]) -> None:
    batch, channels, points, groups, samples = (
        s[name] for name in ("batch", "channels", "points", "groups", "samples")
    )
    rng, idx = _drawn(s, dtype, batch, groups, samples)
    features = any_bits(rng, (batch, channels, points), np.dtype(dtype))
    found = pymluops.group_points_forward(features, idx, validate=False)
    assert_same_bits(found, oracle.pick(features, idx))
    flat = idx.reshape(batch, -1)
    assert_same_bits(pymluops.gather_points_forward(features, flat, validate=False), found.reshape(batch, channels, -1))

    grad = rng.normal(size=found.shape).astype(dtype)
    wanted = oracle.add(grad, idx, points)
    assert_same_bits(pymluops.group_points_backward(grad, idx, points, validate=False), wanted)
    flat_grad = grad.reshape(batch, channels, -1)
    assert_same_bits(pymluops.gather_points_backward(flat_grad, flat, points, validate=False), wanted)


@both_dtypes
@examples(100)
@given(s=SHAPES, counts=st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any))
def test_stacked(dtype: str, s: dict[str, Any], counts: list[int]) -> None:
    points, groups = np.array(counts, np.int32), np.random.default_rng(s["seed"]).permutation(counts).astype(np.int32)
    rng, idx = _drawn({**s, "points": max(counts), "outside": True}, dtype, int(groups.sum()), s["samples"])
    features = any_bits(rng, (int(points.sum()), s["channels"]), np.dtype(dtype))
    found = pymluops.stack_group_points_forward(features, points, idx, groups)
    assert_same_bits(found, oracle.pick_stack(features, points, idx, groups))
    grad = rng.normal(size=found.shape).astype(dtype)
    wanted = oracle.add_stack(grad, idx, groups, points, len(features))
    assert_same_bits(pymluops.stack_group_points_backward(grad, idx, groups, points, len(features)), wanted)


@both_dtypes
def test_gradients_that_are_no_numbers(dtype: str) -> None:
    grad = np.array([[[np.nan, np.inf, -np.inf, 1, -0.0, 2]]], dtype)
    idx = np.array([[0, 1, 1, 2, 3, 2]], np.int32)
    found = pymluops.gather_points_backward(grad, idx, 5)
    assert_same_values(found, oracle.add(grad, idx, 5))
    assert np.isnan(found[0, 0, :2]).all() and found[0, 0, 2:].tolist() == [3, 0, 0]


def test_half_is_rounded_once() -> None:
    grad = np.full((1, 1, 4096), 1, np.float16)
    assert pymluops.gather_points_backward(grad, np.zeros((1, 4096), np.int32), 1).item() == 4096


@both_dtypes
def test_large_calls(dtype: str) -> None:
    """Several tiles of indices, blocks of channels and threads."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(2, 19, 3000)).astype(dtype)
    idx = rng.integers(0, 3000, (2, 2500, 3)).astype(np.int32)
    picked = [one[:, numbers] for one, numbers in zip(features, idx, strict=True)]
    expected = np.ascontiguousarray(picked)
    assert_same_bits(pymluops.group_points_forward(features, idx), expected)
    summed = np.zeros(features.shape, np.float32 if dtype == "float16" else dtype)
    for b, c in np.ndindex(2, 19):
        np.add.at(summed[b, c], idx[b].ravel(), expected[b, c].ravel().astype(summed.dtype))
    assert_same_bits(pymluops.group_points_backward(expected, idx, 3000), summed.astype(dtype))


def test_mmcvs_shapes() -> None:
    rng = np.random.default_rng(2)
    features, idx = rng.normal(size=(2, 3, 10)).astype(np.float32), rng.integers(0, 10, (2, 6, 3)).astype(np.int32)
    assert pymluops.group_points_forward(features, idx).shape == (2, 3, 6, 3)
    counts, groups = np.array([3, 3], np.int32), np.array([6, 6], np.int32)
    stacked = pymluops.stack_group_points_forward(
        rng.normal(size=(6, 10)).astype(np.float32), counts, rng.integers(0, 3, (12, 3)).astype(np.int32), groups
    )
    assert stacked.shape == (12, 10, 3)


@pytest.mark.parametrize("wrong", [-1, 7, 2**31 - 1])
def test_an_index_that_is_no_point_is_named(wrong: int) -> None:
    features, idx = np.ones((2, 3, 7), np.float32), np.zeros((2, 4, 2), np.int32)
    idx[1, 2, 1] = wrong
    out = canary((2, 3, 4, 2), "float32")
    text = rf"idx: expected 0 <= value < N=7, got {wrong} at batch 1, group 2, sample 1"
    with pytest.raises(pymluops.BadParamError, match=text):
        pymluops.group_points_forward(features, idx, out=out)
    assert is_canary(out)
    with pytest.raises(pymluops.BadParamError, match="batch 1, position 5"):
        pymluops.gather_points_backward(np.ones((2, 3, 8), np.float32), idx.reshape(2, 8), 7)


@pytest.mark.parametrize(("counts", "groups"), [([2, 3], [1, 1]), ([-1, 7], [1, 1]), ([2, 9], [2, 1])])
def test_counts_that_do_not_fit(counts: list[int], groups: list[int]) -> None:
    features, idx = np.arange(12, dtype=np.float32).reshape(6, 2), np.array([[0, 1, 2], [3, 0, 4]], np.int32)
    points, numbers = np.array(counts, np.int32), np.array(groups, np.int32)
    found = pymluops.stack_group_points_forward(features, points, idx, numbers, validate=False)
    assert_same_bits(found, oracle.pick_stack(features, points, idx, numbers))
    added = pymluops.stack_group_points_backward(found, idx, numbers, points, 6, validate=False)
    assert_same_bits(added, oracle.add_stack(found, idx, numbers, points, 6))


REFUSED: list[tuple[str, Any, int]] = [
    ("features", np.ones((2, 7), np.float32), BAD_PARAM),
    ("features", np.ones((2, 3, 7), np.int32), BAD_PARAM),
    ("features", np.ones((1, 3, 7), np.float32), BAD_PARAM),
    ("features", np.ones((2, 4, 7), np.float32), BAD_PARAM),
    ("features", np.ones((2, 3, 0), np.float32), BAD_PARAM),
    ("features", np.ones((2, 3, 14), np.float32)[..., ::2], NOT_SUPPORTED),
    ("features", Descriptor((2, 3, 7), pair=True), BAD_PARAM),
    ("idx", np.zeros((2, 8), np.int32), BAD_PARAM),
    ("idx", np.zeros((2, 4, 2), np.int64), BAD_PARAM),
    ("idx", np.zeros((2, 4, 3), np.int32), BAD_PARAM),
    ("idx", np.zeros((2, 4, 4), np.int32)[..., ::2], NOT_SUPPORTED),
    ("out", np.ones((2, 3, 8), np.float32), BAD_PARAM),
    ("out", np.ones((2, 3, 4, 2), np.float64), BAD_PARAM),
    ("out", np.ones((2, 3, 4, 3), np.float32), BAD_PARAM),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int) -> None:
    for function, output in (("Forward", "out"), ("Backward", "features")):
        arrays: dict[str, Any] = {
            "features": canary((2, 3, 7), "float32"),
            "idx": np.zeros((2, 4, 2), np.int32),
            "out": canary((2, 3, 4, 2), "float32"),
            name: array,
        }
        order = ("features", "idx", "out") if function == "Forward" else ("out", "idx", "features")
        given_tensors = [Tensor(a) if isinstance(a, np.ndarray) else a for a in (arrays[key] for key in order)]
        assert raw.status(f"mluopsExtGroupPoints{function}", *given_tensors) == wanted
        assert raw.reason()
        if name != output:
            assert is_canary(arrays[output])


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    rng = np.random.default_rng(6)
    features, idx = rng.normal(size=(2, 3, 7)).astype(np.float32), rng.integers(0, 7, (2, 5)).astype(np.int32)
    out, grad = canary((2, 3, 5), "float32"), canary((2, 3, 7), "float32")
    assert raw.status("mluopsExtGatherPointsForward", *map(Tensor, (features, idx, out))) == SUCCESS, raw.reason()
    assert_same_bits(out, pymluops.gather_points_forward(features, idx))
    assert raw.status("mluopsExtGatherPointsBackward", *map(Tensor, (out, idx, grad))) == SUCCESS, raw.reason()
    assert_same_bits(grad, pymluops.gather_points_backward(out, idx, 7))


def test_any_number_of_threads_gives_the_same_bits() -> None:
    rng, before, found = np.random.default_rng(3), pymluops.get_num_threads(), []
    grad, idx = rng.normal(size=(2, 9, 4000)).astype(np.float32), rng.integers(0, 90, (2, 4000)).astype(np.int32)
    rows, counts = grad.reshape(8000, 9, 1), np.array([30, 60], np.int32)
    groups, own = np.array([4000, 4000], np.int32), idx.reshape(8000, 1)
    try:
        for threads in (1, 2, 7):
            pymluops.set_num_threads(threads)
            found.append(pymluops.gather_points_backward(grad, idx, 90).tobytes())
            found[-1] += pymluops.stack_group_points_backward(rows, own, groups, counts, 90).tobytes()
    finally:
        pymluops.set_num_threads(before)
    assert found[0] == found[1] == found[2]
