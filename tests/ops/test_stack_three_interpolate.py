"""stack_three_interpolate forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import stack_three_interpolate as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)
SHAPES = st.fixed_dictionaries(
    {
        "sources": st.integers(1, 30),
        "targets": st.integers(1, 60),
        "channels": st.integers(1, 20) | st.integers(250, 520),
        "outside": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _neighbours(s: dict[str, Any], dtype: str) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    """Indices, some of which may be no rows, and weights."""
    rng = np.random.default_rng(s["seed"])
    low, high = (-2, s["sources"] + 2) if s["outside"] else (0, s["sources"])
    indices = rng.integers(low, high, (s["targets"], 3)).astype(np.int32)
    if s["outside"]:
        indices[0] = (2**31 - 1, -(2**31), -1)
    return rng, indices, rng.normal(size=indices.shape).astype(dtype)


@both_dtypes
@examples(100)
@given(s=SHAPES)
def test_values(dtype: str, s: dict[str, Any]) -> None:
    rng, indices, weights = _neighbours(s, dtype)
    features = rng.normal(size=(s["sources"], s["channels"])).astype(dtype)
    found = pymluops.stack_three_interpolate_forward(features, indices, weights, validate=False)
    assert_same_bits(found, oracle.forward(features, indices, weights))
    grad = rng.normal(size=found.shape).astype(dtype)
    found = pymluops.stack_three_interpolate_backward(grad, indices, weights, s["sources"], validate=False)
    assert_same_bits(found, oracle.backward(grad, indices, weights, s["sources"]))


@both_dtypes
@examples(40)
@given(s=SHAPES)
def test_any_bits(dtype: str, s: dict[str, Any]) -> None:
    rng, indices, _ = _neighbours(s, dtype)
    features, weights = (any_bits(rng, (n, m), np.dtype(dtype)) for n, m in ((s["sources"], 5), (s["targets"], 3)))
    found = pymluops.stack_three_interpolate_forward(features, indices, weights, validate=False)
    assert_same_values(found, oracle.forward(features, indices, weights))
    found = pymluops.stack_three_interpolate_backward(found, indices, weights, s["sources"], validate=False)
    assert_same_values(
        found, oracle.backward(oracle.forward(features, indices, weights), indices, weights, s["sources"])
    )


@both_dtypes
def test_an_exact_case(dtype: str) -> None:
    features, indices = np.array([[10, 1], [20, 2], [40, 4]], dtype), np.array([[0, 1, 2], [2, 2, 0]], np.int32)
    weights = np.array([[0.5, 0.25, 0.25], [1, -1, 2]], dtype)
    assert pymluops.stack_three_interpolate_forward(features, indices, weights).tolist() == [[20, 2], [20, 2]]
    grad = np.array([[8, 4], [1, 2]], dtype)
    found = pymluops.stack_three_interpolate_backward(grad, indices, weights, 4)
    assert found.tolist() == [[6, 6], [2, 1], [2, 1], [0, 0]]


@pytest.mark.parametrize("wrong", [-1, 4, 2**31 - 1])
def test_an_index_that_is_no_row_is_named(wrong: int) -> None:
    features, weights, out = np.ones((4, 2), np.float32), np.ones((3, 3), np.float32), canary((3, 2), "float32")
    indices = np.zeros((3, 3), np.int32)
    indices[2, 1] = wrong
    text = rf"indices: expected 0 <= value < M=4, got {wrong} at position 2, neighbour 1"
    with pytest.raises(pymluops.BadParamError, match=text):
        pymluops.stack_three_interpolate_forward(features, indices, weights, out=out)
    with pytest.raises(pymluops.BadParamError, match="indices"):
        pymluops.stack_three_interpolate_backward(np.ones((3, 2), np.float32), indices, weights, 4)
    assert is_canary(out)


REFUSED: list[tuple[str, np.ndarray, int]] = [
    ("features", np.ones((4, 2, 1), np.float32), BAD_PARAM),
    ("features", np.ones((4, 3), np.float32), BAD_PARAM),
    ("features", np.ones((4, 2), np.int32), BAD_PARAM),
    ("features", np.ones((4, 4), np.float32)[:, ::2], NOT_SUPPORTED),
    ("indices", np.zeros((3, 2), np.int32), BAD_PARAM),
    ("indices", np.zeros((3, 3), np.int64), BAD_PARAM),
    ("indices", np.zeros((2, 3), np.int32), BAD_PARAM),
    ("weights", np.ones((3, 3), np.float64), BAD_PARAM),
    ("weights", np.ones((3, 2), np.float32), BAD_PARAM),
    ("points", np.ones((3, 3), np.float32), BAD_PARAM),
    ("points", np.ones((2, 2), np.float32), BAD_PARAM),
    ("points", np.ones((3, 2), np.float16), BAD_PARAM),
]


@pytest.mark.parametrize(("name", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: np.ndarray, wanted: int) -> None:
    for function, output in (("Forward", "points"), ("Backward", "features")):
        arrays = {
            "features": canary((4, 2), "float32"),
            "indices": np.zeros((3, 3), np.int32),
            "weights": np.ones((3, 3), np.float32),
            "points": canary((3, 2), "float32"),
            name: array,
        }
        order = ["features", "indices", "weights", "points"]
        if function == "Backward":
            order[0], order[3] = order[3], order[0]
        tensors = (Tensor(arrays[key]) for key in order)
        assert raw.status(f"mluopsExtStackThreeInterpolate{function}", *tensors) == wanted
        if name != output:
            assert is_canary(arrays[output])


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    s = {"sources": 5, "targets": 7, "channels": 3, "outside": False, "seed": 4}
    rng, indices, weights = _neighbours(s, "float32")
    features, out, grad = (
        rng.normal(size=(5, 3)).astype(np.float32),
        canary((7, 3), "float32"),
        canary((5, 3), "float32"),
    )
    given_arrays = map(Tensor, (features, indices, weights, out))
    assert raw.status("mluopsExtStackThreeInterpolateForward", *given_arrays) == SUCCESS, raw.reason()
    assert_same_bits(out, pymluops.stack_three_interpolate_forward(features, indices, weights))
    given_arrays = map(Tensor, (out, indices, weights, grad))
    assert raw.status("mluopsExtStackThreeInterpolateBackward", *given_arrays) == SUCCESS, raw.reason()
    assert_same_bits(grad, pymluops.stack_three_interpolate_backward(out, indices, weights, 5))


def test_any_number_of_threads_gives_the_same_bits() -> None:
    rng, before, found = np.random.default_rng(3), pymluops.get_num_threads(), []
    grad, weights = rng.normal(size=(3000, 40)).astype(np.float32), rng.normal(size=(3000, 3)).astype(np.float32)
    indices = rng.integers(0, 90, (3000, 3)).astype(np.int32)
    try:
        for threads in (1, 2, 7):
            pymluops.set_num_threads(threads)
            found.append(pymluops.stack_three_interpolate_backward(grad, indices, weights, 90).tobytes())
    finally:
        pymluops.set_num_threads(before)
    assert found[0] == found[1] == found[2]
