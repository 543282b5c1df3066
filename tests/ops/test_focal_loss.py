"""Focal losses of sigmoids and softmaxes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import focal_loss as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

ERRORS = {"float32": 3e-6, "float16": 1e-3}


def _close(found: np.ndarray, wanted: np.ndarray, dtype: str) -> None:
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=ERRORS[dtype], atol=ERRORS[dtype])


drawn = given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 60),
    dtype=st.sampled_from(["float32", "float16"]),
    scale=st.sampled_from([1.0, 8.0, 60.0]),
    alpha=st.sampled_from([0.25, 0.0, 1.0, -2.0]),
    gamma=st.sampled_from([0.0, 0.3, 1.0, 2.0, 4.5]),
    seed=st.integers(0, 2**32 - 1),
)


def _made(rng: np.random.Generator, rows: int, columns: int, dtype: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    target = rng.integers(-1, columns + 1, rows).astype(np.int32)
    target[rng.random(rows) < 0.05] = rng.choice([-(2**31), 2**31 - 1])
    return rng.normal(0, scale, (rows, columns)).astype(dtype), target


@examples(60)
@drawn
def test_sigmoids(rows: int, columns: int, dtype: str, scale: float, alpha: float, gamma: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, target = _made(rng, rows, columns, dtype, scale)
    weight = rng.uniform(0, 2, columns).astype(dtype)
    alpha, gamma = float(np.float32(alpha)), float(np.float32(gamma))
    for gradient, function in enumerate((pymluops.focal_loss_sigmoid_forward, pymluops.focal_loss_sigmoid_backward)):
        for weights in (None, weight):
            found = function(x, target, weights, alpha, gamma)
            _close(found, oracle.sigmoid(x, target, weights, alpha, gamma, bool(gradient)), dtype)
    _close(
        pymluops.sigmoid_focal_loss_forward(x, target, alpha, gamma),
        oracle.sigmoid(x, target, None, alpha, gamma),
        dtype,
    )
    grad = rng.normal(size=x.shape).astype(dtype)
    wanted = oracle.sigmoid(x, target, None, alpha, gamma, True) * grad.astype(np.float64)
    _close(pymluops.sigmoid_focal_loss_backward(grad, x, target, alpha, gamma), wanted, dtype)


@examples(60)
@drawn
def test_softmaxes(rows: int, columns: int, dtype: str, scale: float, alpha: float, gamma: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, target = _made(rng, rows, columns, dtype, min(scale, 8.0))
    grad = rng.normal(size=rows).astype(dtype)
    probabilities = rng.uniform(0.01, 0.99, x.shape).astype(dtype)
    for values, given_so in ((x, False), (probabilities, True)):
        arguments = values, target, given_so, alpha, gamma
        _close(pymluops.softmax_focal_loss_forward(*arguments), oracle.softmax(*arguments), dtype)
        found = pymluops.softmax_focal_loss_backward(grad, *arguments)
        wanted = oracle.softmax(*arguments, grad)
        if gamma != 0.3:  # else the derivative has no bound where p is 1
            _close(found, wanted, dtype)
        assert not found[(target < 0) | (target >= columns)].any()


def test_values_that_mmcv_expects() -> None:
    x, target = np.float32([[1, 0], [0, 1]]), np.int32([0, 1])
    assert pymluops.focal_loss_sigmoid_forward(x, target).sum() / 2 == pytest.approx(0.13562961, rel=1e-6)
    assert pymluops.softmax_focal_loss_forward(x, target).mean() == pytest.approx(0.00566451, rel=1e-5)
    gradient = pymluops.softmax_focal_loss_backward(np.full(2, 0.5, np.float32), x, target)
    np.testing.assert_allclose(gradient, np.float32([[-1, 1], [1, -1]]) * 0.00657264, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_scores_without_bounds(dtype: str, gamma: float) -> None:
    x = np.array([[np.inf, -np.inf, np.nan, 100, -100, 88, -88, 0]], dtype)
    for target in range(-1, 8):
        classes = np.full(1, target, np.int32)
        for gradient, function in enumerate(
            (pymluops.focal_loss_sigmoid_forward, pymluops.focal_loss_sigmoid_backward)
        ):
            found = function(x, classes, None, 0.25, gamma)
            wanted = oracle.sigmoid(x, classes, None, 0.25, gamma, bool(gradient))
            np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-3)
            assert np.isnan(found[0]).tolist() == [False, False, True] + [False] * 5
    certain = np.array([[1000.0, 0, -np.inf]], dtype)
    for target, wanted in ((0, 0.0), (1, -0.25 * oracle.LEAST_LOG), (2, -0.25 * oracle.LEAST_LOG), (3, 0.0)):
        loss = pymluops.softmax_focal_loss_forward(certain, np.full(1, target, np.int32), False, 0.25, 2.0)
        assert loss.item() == pytest.approx(wanted, rel=1e-3)
        gradient = pymluops.softmax_focal_loss_backward(
            np.ones(1, dtype), certain, np.full(1, target, np.int32), False, 0.25, gamma
        )
        assert np.isfinite(gradient).all()
    nan = pymluops.softmax_focal_loss_forward(np.array([[0, np.nan, 1]], dtype), np.zeros(1, np.int32))
    assert math.isnan(nan.item())


@pytest.mark.parametrize("columns", [1, 7, 80, 4001])
def test_large_calls_with_any_number_of_threads(columns: int) -> None:
    rng = np.random.default_rng(4)
    x, target = _made(rng, 90_000 // columns, columns, "float32", 3.0)
    weight = rng.uniform(0, 2, columns).astype(np.float32)
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            found.append(
                [
                    pymluops.focal_loss_sigmoid_forward(x, target, weight),
                    pymluops.focal_loss_sigmoid_backward(x, target),
                    pymluops.softmax_focal_loss_forward(x, target),
                    pymluops.softmax_focal_loss_backward(x[:, 0].copy(), x, target),
                ]
            )
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()
    _close(found[0][0], oracle.sigmoid(x, target, weight, 0.25, 2.0), "float32")
    _close(found[0][3], oracle.softmax(x, target, False, 0.25, 2.0, x[:, 0]), "float32")


# ---- zero elements and refusals ------------------------------------------------------------------


def _status(raw: Raw, backward: bool = False, **changes: Any) -> tuple[int, np.ndarray]:
    """Status of the C function of sigmoids with these changes of a legal call, and its output."""
    out = canary((3, 4), "float32")
    arguments: dict[str, Any] = {
        "prefer": 1, "reduction": 0, "input": np.ones((3, 4), np.float32), "target": np.zeros(3, np.int32),
        "weight": np.ones(4, np.float32), "alpha": 0.25, "gamma": 2.0, "output": out, **changes,
    }  # fmt: skip
    given = [Tensor(one) if isinstance(one, np.ndarray) else one for one in arguments.values()]
    if given[4] is None:
        given[4:5] = [raw.ffi.NULL, raw.ffi.NULL]
    return raw.status(f"mluOpFocalLossSigmoid{'Backward' if backward else 'Forward'}", *given), out


@pytest.mark.parametrize("backward", [False, True])
def test_statuses(raw: Raw, backward: bool) -> None:
    empty = Descriptor((0,), "float32", pair=True)
    for changes, wanted, told in (
        ({}, SUCCESS, ""),
        ({"weight": None}, SUCCESS, ""),
        ({"weight": empty}, SUCCESS, ""),
        ({"prefer": 2}, NOT_SUPPORTED, "prefer"),
        ({"prefer": 0}, NOT_SUPPORTED if backward else SUCCESS, "prefer"),
        ({"reduction": 1}, NOT_SUPPORTED, "reduction"),
        ({"gamma": -1.0}, NOT_SUPPORTED, "gamma"),
        ({"gamma": math.nan}, NOT_SUPPORTED if backward else SUCCESS, "gamma"),
        ({"gamma": 10001.0}, NOT_SUPPORTED if backward else SUCCESS, "gamma"),
        ({"weight": np.ones(3, np.float32)}, BAD_PARAM, "weight_desc"),
        ({"weight": np.ones(4, np.float16)}, BAD_PARAM, "weight_desc"),
        ({"weight": Descriptor((4,), "float32", pair=True)}, BAD_PARAM, "weight"),
        ({"weight": np.ones(8, np.float32)[::2]}, BAD_PARAM if backward else NOT_SUPPORTED, "weight_desc"),
        ({"target": np.zeros(3, np.int64)}, BAD_PARAM, "target_desc"),
        ({"target": np.zeros(2, np.int32)}, BAD_PARAM, "target_desc"),
        ({"input": np.ones((3, 8), np.float32)[:, ::2]}, BAD_PARAM if backward else NOT_SUPPORTED, "input_desc"),
        ({"input": np.ones((3, 4), np.float64)}, BAD_PARAM, "input_desc"),
    ):
        status, out = _status(raw, backward, **changes)
        assert status == wanted, (changes, raw.reason())
        assert is_canary(out) == (wanted != SUCCESS)
        assert wanted == SUCCESS or f"{told}: expected" in raw.reason()


def test_nothing_to_compute() -> None:
    for shape in ((0, 3), (3, 0)):
        x, target = np.ones(shape, np.float32), np.zeros(shape[0], np.int32)
        assert pymluops.focal_loss_sigmoid_forward(x, target).shape == shape
        assert pymluops.sigmoid_focal_loss_backward(x, x, target).shape == shape
    x, target = np.ones((0, 3), np.float32), np.zeros(0, np.int32)
    assert pymluops.softmax_focal_loss_forward(x, target).shape == (0,)
    with pytest.raises(pymluops.BadParamError, match="softmax_focal_loss_forward: input: "):
        pymluops.softmax_focal_loss_forward(np.ones((3, 0), np.float32), np.zeros(3, np.int32))
