"""three_interpolate forward and backward."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import three_interpolate
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits, tolerance
from support.data_files import facts
from support.selection import examples
from support.signatures import assert_signature

ROWS = facts("acceptance_shapes.json")["three_interpolate_backward"]
ACCEPTED = [row for row in ROWS if row["status"] == SUCCESS]
REFUSED = [row for row in ROWS if row["status"] != SUCCESS]
#: Rows whose forward is checked as well; the largest result has 100 MB.
FORWARD = [row for row in ACCEPTED if row["id"] in {"1", "5", "8", "16", "17", "19", "usage example"}]

#: Rows with more elements than these are for --thorough.
LARGE = 12 << 20

both_dtypes = pytest.mark.parametrize("dtype", ["float16", "float32"])


def _by_id(row: dict[str, Any]) -> str:
    return f"case {row['id']}"


def by_size(rows: list[dict[str, Any]]) -> list[object]:
    """The rows as parameters; the large ones are for ``--thorough``."""
    large = [math.prod(row["grad_features"]) + math.prod(row["grad_output"]) > LARGE for row in rows]
    return [
        pytest.param(row, id=f"case {row['id']}", marks=pytest.mark.thorough if is_large else ())
        for row, is_large in zip(rows, large)
    ]


def raw_forward(raw: Raw, *arrays: np.ndarray) -> int:
    """Status of the C function for (features, indices, weights, output)."""
    return raw.status("mluOpThreeInterpolateForward", *map(Tensor, arrays))


def raw_backward(raw: Raw, *arrays: np.ndarray) -> int:
    """Status of the C function for (grad_output, indices, weights, grad_features)."""
    return raw.status("mluOpThreeInterpolateBackward", *map(Tensor, arrays))


def _inputs(row: dict[str, Any], dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    grad = rng.random(row["grad_output"], np.float32).astype(dtype)
    indices = rng.integers(0, row["grad_features"][2], row["indices"], np.int32)
    return grad, indices, rng.random(row["indices"], np.float32).astype(dtype)


# ---- shapes of the design document ---------------------------------------------------------------


@both_dtypes
@pytest.mark.parametrize("row", by_size(ACCEPTED))
def test_backward_of_the_named_shapes(raw: Raw, row: dict[str, Any], dtype: str) -> None:
    inputs = _inputs(row, dtype)
    result = pymluops.three_interpolate_backward(*inputs, row["grad_features"][2])
    out = canary(row["grad_features"], dtype)
    assert raw_backward(raw, *inputs, out) == SUCCESS, raw.reason()
    assert out.tobytes() == result.tobytes() if out.nbytes < 1 << 24 else np.array_equal(out, result)
    del out
    # Batch by batch: the largest case has 120 million results, a gigabyte in float64.
    sums = np.zeros(4)
    for b in range(len(result)):
        baseline = three_interpolate.backward_one(*(a[b] for a in inputs), row["grad_features"][2])
        error = result[b] - baseline
        sums += [np.abs(error).sum(), np.abs(baseline).sum(), np.square(error).sum(), np.square(baseline).sum()]
    assert sums[0] / (sums[1] + 1e-9) <= tolerance(dtype)
    assert np.sqrt(sums[2] / (sums[3] + 1e-9)) <= tolerance(dtype)


@both_dtypes
@pytest.mark.parametrize("row", by_size(FORWARD))
def test_forward_of_named_shapes(raw: Raw, row: dict[str, Any], dtype: str) -> None:
    _, indices, weights = _inputs(row, dtype)
    features = np.random.default_rng(4).normal(size=row["grad_features"]).astype(dtype)
    result = pymluops.three_interpolate_forward(features, indices, weights)
    out = canary(row["grad_output"], dtype)
    assert raw_forward(raw, features, indices, weights, out) == SUCCESS, raw.reason()
    assert_same_bits(out, result)
    expected = three_interpolate.forward(features, indices, weights, np.float32)
    assert np.array_equal(result, expected.astype(dtype))


@both_dtypes
@pytest.mark.parametrize("row", REFUSED, ids=_by_id)
def test_refused_shapes(raw: Raw, row: dict[str, Any], dtype: str) -> None:
    grad, indices = np.ones(row["grad_output"], dtype), np.zeros(row["indices"], np.int32)
    weights, out = np.ones(row["indices"], dtype), canary(row["grad_features"], dtype)
    assert raw_backward(raw, grad, indices, weights, out) == row["status"]
    with pytest.raises(pymluops.BadParamError):
        pymluops.three_interpolate_backward(grad, indices, weights, row["grad_features"][2], out=out)
    with pytest.raises(pymluops.BadParamError):
        pymluops.three_interpolate_backward(grad, indices, weights, row["grad_features"][2], validate=False)
    assert is_canary(out)


@pytest.mark.parametrize("shape", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0), (0, 0, 0, 0)])
def test_no_size_may_be_zero(raw: Raw, shape: tuple[int, int, int, int]) -> None:
    batch, channels, features, points = shape
    long, short = np.ones((batch, channels, features), np.float32), np.ones((batch, channels, points), np.float32)
    indices, weights = np.zeros((batch, points, 3), np.int32), np.ones((batch, points, 3), np.float32)
    assert raw_forward(raw, long, indices, weights, short) == BAD_PARAM
    assert raw_backward(raw, short, indices, weights, long) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError):
        pymluops.three_interpolate_forward(long, indices, weights)


# ---- values --------------------------------------------------------------------------------------

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "channels": st.integers(1, 20),
        "points": st.integers(1, 40),
        "features": st.integers(1, 12),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _random_indices(rng: np.random.Generator, s: dict[str, int]) -> np.ndarray:
    """Indices of which some lie outside, a little or as far as they can."""
    indices = rng.integers(-1, s["features"] + 1, (s["batch"], s["points"], 3), np.int32)
    far = rng.choice(np.array([2**31 - 1, -(2**31), 2**24, -5], np.int32), indices.shape)
    return np.where(rng.random(indices.shape) < 0.1, far, indices)


@both_dtypes
@examples(200)
@given(s=SHAPES)
def test_forward_follows_the_documented_order_of_operations(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    features = any_bits(rng, (s["batch"], s["channels"], s["features"]), dtype)
    indices, weights = _random_indices(rng, s), any_bits(rng, (s["batch"], s["points"], 3), dtype)
    out = canary((s["batch"], s["channels"], s["points"]), dtype)
    assert pymluops.three_interpolate_forward(features, indices, weights, out=out, validate=False) is out
    with np.errstate(over="ignore"):
        expected = three_interpolate.forward(features, indices, weights, np.float32).astype(dtype)
    np.testing.assert_array_equal(out, expected)


@both_dtypes
@examples(200)
@given(s=SHAPES)
def test_backward_is_exact_where_the_numbers_are(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    grad = rng.integers(-4, 5, (s["batch"], s["channels"], s["points"])).astype(dtype)
    indices, weights = _random_indices(rng, s), rng.integers(-4, 5, (s["batch"], s["points"], 3)).astype(dtype)
    out = canary((s["batch"], s["channels"], s["features"]), dtype)
    returned = pymluops.three_interpolate_backward(grad, indices, weights, s["features"], out=out, validate=False)
    assert returned is out
    expected = three_interpolate.backward(grad, indices, weights, s["features"])
    np.testing.assert_array_equal(out, expected.astype(dtype))


@both_dtypes
@examples(100)
@given(s=SHAPES)
def test_backward_carries_nan_and_inf_to_where_they_belong(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    values = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, 2, -3, 4, 5, 6, 7], dtype)
    grad = rng.choice(values, (s["batch"], s["channels"], s["points"]))
    indices, weights = _random_indices(rng, s), rng.choice(values, (s["batch"], s["points"], 3))
    got = pymluops.three_interpolate_backward(grad, indices, weights, s["features"], validate=False)
    expected = three_interpolate.backward(grad, indices, weights, s["features"])
    np.testing.assert_array_equal(got, expected.astype(dtype))


@both_dtypes
@pytest.mark.parametrize(
    ("batch", "channels", "features", "points"),
    [
        (1, 5, 100_000, 20_000),
        (2, 40, 3, 5000),
        (1, 1, 50_000, 7),
        (3, 17, 1, 1000),
        (1, 33, 2000, 65),
        (4, 200, 60, 100),
    ],
)
def test_unusual_proportions(dtype: str, batch: int, channels: int, features: int, points: int) -> None:
    rng = np.random.default_rng(5)
    indices = rng.integers(-1, features + 1, (batch, points, 3), np.int32)
    weights = rng.integers(-4, 5, (batch, points, 3)).astype(dtype)
    values = rng.normal(size=(batch, channels, features)).astype(dtype)
    result = pymluops.three_interpolate_forward(values, indices, weights, validate=False)
    expected = three_interpolate.forward(values, indices, weights, np.float32).astype(dtype)
    np.testing.assert_array_equal(result, expected)
    grad = rng.integers(-4, 5, (batch, channels, points)).astype(dtype)
    result = pymluops.three_interpolate_backward(grad, indices, weights, features, validate=False)
    expected = three_interpolate.backward(grad, indices, weights, features)
    # The sums are whole numbers below 2**24; in half they are rounded once.
    np.testing.assert_array_equal(result, expected.astype(np.float32).astype(dtype))


def test_rounding_of_half_happens_once() -> None:
    # 2048 + 1 - 2048 in halves would be 0 if each sum were rounded.
    features = np.array([[[2048, 1, -2048]]], np.float16)
    indices, ones = np.array([[[0, 1, 2]]], np.int32), np.ones((1, 1, 3), np.float16)
    assert pymluops.three_interpolate_forward(features, indices, ones).item() == 1
    grad = np.array([[[2048, 1, -2048]]], np.float16)
    indices, weights = np.zeros((1, 3, 3), np.int32), np.array([[[1, 0, 0]] * 3], np.float16)
    assert pymluops.three_interpolate_backward(grad, indices, weights, 1).item() == 1


def test_unreferenced_features_get_a_zero_gradient() -> None:
    out = canary((1, 2, 1000), "float32")
    grad, weights = np.ones((1, 2, 1), np.float32), np.ones((1, 1, 3), np.float32)
    pymluops.three_interpolate_backward(grad, np.array([[[7, 7, 999]]], np.int32), weights, 1000, out=out)
    assert out[0, :, 7].tolist() == [2, 2]
    assert out[0, :, 999].tolist() == [1, 1]
    assert np.count_nonzero(out) == 4


# ---- indices outside -----------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1, 6, 77, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_an_index_outside_is_named(direction: str, bad: int) -> None:
    indices = np.zeros((3, 9, 3), np.int32)
    indices[1, 4, 2] = indices[2, 0, 0] = bad
    weights = np.ones((3, 9, 3), np.float32)
    if direction == "forward":
        function, source, size, out = pymluops.three_interpolate_forward, (3, 2, 6), (), canary((3, 2, 9), "float32")
    else:
        function, source, size, out = pymluops.three_interpolate_backward, (3, 2, 9), (6,), canary((3, 2, 6), "float32")
    with pytest.raises(pymluops.BadParamError, match="indices") as caught:
        function(np.ones(source, np.float32), indices, weights, *size, out=out)
    numbers = re.findall(r"-?\d+", str(caught.value))
    assert str(bad) in numbers
    assert "1" in numbers
    assert "4" in numbers
    assert is_canary(out)
    function(np.ones(source, np.float32), indices, weights, *size, out=out, validate=False)
    assert not is_canary(out)


@pytest.mark.parametrize("place", [*range(15), 4095, 4096, 4097, 12_000, 14_998, 14_999])
@pytest.mark.parametrize("bad", [-1, 6])
def test_one_index_outside_is_found_wherever_it_is(place: int, bad: int) -> None:
    points = 5 if place < 15 else 5000
    indices, weights = np.full((1, points, 3), 5, np.int32), np.ones((1, points, 3), np.float32)
    indices.reshape(-1)[place] = bad
    with pytest.raises(pymluops.BadParamError, match=rf"got {bad} .*{place // 3}\b.*{place % 3}"):
        pymluops.three_interpolate_forward(np.ones((1, 2, 6), np.float32), indices, weights)


def test_without_validation_an_index_outside_adds_nothing_not_even_nan() -> None:
    features = np.array([[[1, 2, 3]]], np.float32)
    indices = np.array([[[0, 3, -1]]], np.int32)
    weights = np.array([[[2, np.nan, np.inf]]], np.float32)
    assert pymluops.three_interpolate_forward(features, indices, weights, validate=False).item() == 2
    grad = np.array([[[5]]], np.float32)
    assert pymluops.three_interpolate_backward(grad, indices, weights, 3, validate=False).ravel().tolist() == [10, 0, 0]


# ---- refusals in C -------------------------------------------------------------------------------


def test_every_layout_must_be_array(raw: Raw) -> None:
    arrays = (
        np.ones((1, 2, 3), np.float32),
        np.zeros((1, 4, 3), np.int32),
        np.ones((1, 4, 3), np.float32),
        np.ones((1, 2, 4), np.float32),
    )
    for function in ("mluOpThreeInterpolateForward", "mluOpThreeInterpolateBackward"):
        for wrong in range(4):
            tensors = [Tensor(a, NHWC if i == wrong else 4) for i, a in enumerate(arrays)]
            assert raw.status(function, *tensors) == BAD_PARAM


def test_strides_and_size_are_not_supported(raw: Raw) -> None:
    indices, weights = np.zeros((1, 4, 3), np.int32), np.ones((1, 4, 3), np.float32)
    strided, out = np.ones((1, 2, 6), np.float32)[..., ::2], canary((1, 2, 4), "float32")
    assert raw_forward(raw, strided, indices, weights, out) == NOT_SUPPORTED
    huge = Descriptor((1, 2**16, 2**15), pair=True)
    tail = Tensor(indices), Tensor(weights), Descriptor((1, 2**16, 4), pair=True)
    assert raw.status("mluOpThreeInterpolateForward", huge, *tail) == NOT_SUPPORTED
    assert is_canary(out)


@pytest.mark.parametrize("bad", range(5))
def test_dtypes_must_agree(raw: Raw, bad: int) -> None:
    features, indices = np.ones((1, 2, 3), np.float32), np.zeros((1, 4, 3), np.int32)
    weights, out = np.ones((1, 4, 3), np.float32), canary((1, 2, 4), "float32")
    wrong = [
        (features.astype(np.float16), indices, weights, out),
        (features, indices.astype(np.int64), weights, out),
        (features, indices, weights.astype(np.float16), out),
        (features, indices, weights, canary((1, 2, 4), "float16")),
        (features.astype(np.float64), indices, weights.astype(np.float64), canary((1, 2, 4), "float64")),
    ][bad]
    assert raw_forward(raw, *wrong) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError):
        pymluops.three_interpolate_forward(*wrong[:3], out=wrong[3])
    assert is_canary(wrong[3])


def test_three_interpolate_by_hand() -> None:
    features = np.array([[[1, 10, 100]]], np.float32)
    indices = np.array([[[0, 1, 2], [2, 2, -1], [3, 0, 0]]], np.int32)
    weights = np.array([[[1, 2, 3], [1, 1, np.nan], [np.nan, 1, 4]]], np.float32)
    assert three_interpolate.forward(features, indices, weights)[0, 0].tolist() == [321, 200, 5]
    grad = np.array([[[1, 10, 100]]], np.float32)
    assert three_interpolate.backward(grad, indices, weights, 3)[0, 0].tolist() == [501, 2, 23]


def test_three_interpolate_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    features, grad = rng.integers(-9, 9, (2, 3, 5)), rng.integers(-9, 9, (2, 3, 7))
    indices, weights = rng.integers(-1, 6, (2, 7, 3)), rng.integers(-9, 9, (2, 7, 3))
    there = (three_interpolate.forward(features, indices, weights) * grad).sum()
    assert there == (three_interpolate.backward(grad, indices, weights, 5) * features).sum()


def test_num_features_must_be_that_of_out() -> None:
    grad, indices = np.ones((1, 2, 4), np.float32), np.zeros((1, 4, 3), np.int32)
    weights, out = np.ones((1, 4, 3), np.float32), canary((1, 2, 5), "float32")
    with pytest.raises(pymluops.BadParamError):
        pymluops.three_interpolate_backward(grad, indices, weights, 6, out=out)
    for number in (0, -1, 2**31):
        with pytest.raises(pymluops.BadParamError):
            pymluops.three_interpolate_backward(grad, indices, weights, number)
    assert is_canary(out)


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("three_interpolate_forward", "(features, indices, weights, *, out=None, validate=True, handle=None)"),
        (
            "three_interpolate_backward",
            "(grad_output, indices, weights, num_features, *, out=None, validate=True, handle=None)",
        ),
    ],
)
def test_signatures_keep_the_contract(name: str, contract: str) -> None:
    assert_signature(name, contract)
