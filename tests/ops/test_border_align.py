"""border_align forward and backward."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._double import double_of
from pymluops.oracle import border_align
from support import families
from support.arrays import canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.data_files import facts
from support.selection import examples
from support.signatures import assert_signature

FACTS = facts("acceptance_shapes.json")
ROWS = FACTS["border_align_backward"]
ACCEPTED = [row for row in ROWS if row["status"] == SUCCESS]
REFUSED = [row for row in ROWS if row["status"] != SUCCESS]

both_dtypes = pytest.mark.parametrize("dtype", ["float16", "float32"])


def _by_id(row: dict[str, Any]) -> str:
    return row["id"]


def random_boxes(rng: np.random.Generator, batch: int, count: int, height: int, width: int) -> np.ndarray:
    """Boxes inside the map and a little over its rim."""
    return rng.uniform(-1.5, (width + 0.5, height + 0.5) * 2, (batch, count, 4)).astype(np.float32)


@functools.lru_cache(maxsize=2)
def _data(grad_shape: tuple[int, ...], map_shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(7)
    features = rng.normal(size=map_shape).astype(dtype)
    grad = rng.normal(size=grad_shape).astype(dtype)
    return features, grad, random_boxes(rng, *grad_shape[:2], *map_shape[1:3]).astype(dtype)


def raw_forward(raw: Raw, features: np.ndarray, boxes: np.ndarray, pool: int, out: np.ndarray, arg: np.ndarray) -> int:
    """Status of the C function, all tensors in the layout it asks for."""
    outputs = Tensor(out, NHWC), Tensor(arg, NHWC)
    return raw.status("mluOpBorderAlignForward", Tensor(features, NHWC), Tensor(boxes), pool, *outputs)


def raw_backward(raw: Raw, grad: np.ndarray, boxes: np.ndarray, arg: np.ndarray, pool: int, out: np.ndarray) -> int:
    """Status of the C function, all tensors in the layout it asks for."""
    inputs = Tensor(grad, NHWC), Tensor(boxes), Tensor(arg, NHWC)
    return raw.status("mluOpBorderAlignBackward", *inputs, pool, Tensor(out, NHWC))


# ---- shapes of the design document ---------------------------------------------------------------


@both_dtypes
@pytest.mark.parametrize("row", ACCEPTED, ids=_by_id)
def test_backward_of_the_named_shapes(raw: Raw, row: dict[str, Any], dtype: str) -> None:
    _, grad, boxes = _data(tuple(row["grad_output"]), tuple(row["grad_input"]), dtype)
    pool, size = row["pool_size"], tuple(row["grad_input"][1:3])
    argmax = np.random.default_rng(8).integers(0, pool + 1, grad.shape, np.int32)
    out = canary(row["grad_input"], dtype)
    assert raw_backward(raw, grad, boxes, argmax, pool, out) == SUCCESS, raw.reason()
    result = pymluops.border_align_backward(grad, boxes, argmax, pool, size)
    assert_same_bits(result, out)
    assert_close(result, border_align.backward(grad, boxes, argmax, pool, size))


@pytest.mark.sampled("row", "dtype")
@both_dtypes
@pytest.mark.parametrize("row", ACCEPTED, ids=_by_id)
def test_forward_of_the_named_shapes(raw: Raw, row: dict[str, Any], dtype: str) -> None:
    features, grad, boxes = _data(tuple(row["grad_output"]), tuple(row["grad_input"]), dtype)
    out, argmax = canary(grad.shape, dtype), canary(grad.shape, "int32")
    assert raw_forward(raw, features, boxes, row["pool_size"], out, argmax) == SUCCESS, raw.reason()
    result = pymluops.border_align_forward(features, boxes, row["pool_size"])
    assert_same_bits(result[0], out)
    assert_same_bits(result[1], argmax)
    expected = border_align.forward(features, boxes, row["pool_size"])
    assert_same_bits(argmax, expected[1])
    assert_same_bits(out, expected[0])


@pytest.mark.parametrize("row", REFUSED, ids=_by_id)
def test_refused_shapes(raw: Raw, row: dict[str, Any]) -> None:
    grad, boxes = np.ones(row["grad_output"], np.float32), np.ones(row["boxes"], np.float32)
    argmax = np.zeros(row.get("argmax_idx", row["grad_output"]), np.int32)
    out = canary(row["grad_input"], np.float32)
    assert raw_backward(raw, grad, boxes, argmax, row["pool_size"], out) == row["status"]
    with pytest.raises(pymluops.BadParamError):
        pymluops.border_align_backward(grad, boxes, argmax, row["pool_size"], out.shape[1:3], out=out)
    assert is_canary(out)


@both_dtypes
def test_worked_example_of_the_design_document(raw: Raw, dtype: str) -> None:
    example = FACTS["border_align_example"]
    grad = np.array(example["grad_output"], dtype)[None, :, :, None]
    argmax = np.array(example["argmax_idx"], np.int32)[None, :, :, None]
    boxes = np.array(example["boxes"], dtype)[None]
    size = example["height"], example["width"]
    expected = np.array(example["grad_input_of_border"], dtype)
    result = pymluops.border_align_backward(grad, boxes, argmax, example["pool_size"], size)
    np.testing.assert_array_equal(result[0].transpose(2, 0, 1), expected)
    out = canary((1, *size, 4), dtype)
    assert raw_backward(raw, grad, boxes, argmax, example["pool_size"], out) == SUCCESS
    assert_same_bits(out, result)


# ---- values --------------------------------------------------------------------------------------

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 2),
        "height": st.integers(1, 6),
        "width": st.integers(1, 6),
        "channels": st.integers(1, 9),
        "count": st.integers(1, 8),
        "pool": st.integers(1, 7),
        "seed": st.integers(0, 2**32 - 1),
    }
)
ODD_COORDINATES = (
    np.nan,
    np.inf,
    -np.inf,
    1e30,
    -1e30,
    6e4,
    -1.0,
    0.0,
    -0.0,
    2**31,
    -(2**31),
    2.0**63,
    1e-40,
    5.0,
    6.0,
)


def _odd_boxes(rng: np.random.Generator, s: dict[str, int], dtype: str) -> np.ndarray:
    boxes = random_boxes(rng, s["batch"], s["count"], s["height"], s["width"])
    odd = rng.random(boxes.shape) < 0.3
    with np.errstate(over="ignore"):
        return np.where(odd, rng.choice(np.array(ODD_COORDINATES, np.float32), boxes.shape), boxes).astype(dtype)


@both_dtypes
@examples(150)
@given(s=SHAPES)
def test_forward_follows_the_documented_order_of_operations(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    features = rng.normal(0, 10, (s["batch"], s["height"], s["width"], 4 * s["channels"])).astype(dtype)
    boxes = random_boxes(rng, s["batch"], s["count"], s["height"], s["width"]).astype(dtype)
    expected = border_align.forward(features, boxes, s["pool"])
    out, argmax = canary(expected[0].shape, dtype), canary(expected[1].shape, "int32")
    returned = pymluops.border_align_forward(features, boxes, s["pool"], out=out, argmax_idx=argmax)
    assert returned[0] is out
    assert returned[1] is argmax
    assert_same_bits(argmax, expected[1])
    assert_same_bits(out, expected[0])


@both_dtypes
@examples(200)
@given(s=SHAPES)
def test_forward_survives_nan_inf_and_huge_numbers(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    features = rng.normal(0, 10, (s["batch"], s["height"], s["width"], 4 * s["channels"]))
    odd = rng.random(features.shape) < 0.2
    features = np.where(odd, rng.choice([np.nan, np.inf, -np.inf, -0.0, 3e38, 1e-40], features.shape), features)
    with np.errstate(over="ignore"):
        features = features.astype(dtype)
    boxes = _odd_boxes(rng, s, dtype)
    output, argmax = pymluops.border_align_forward(features, boxes, s["pool"])
    expected = border_align.forward(features, boxes, s["pool"])
    assert_same_bits(argmax, expected[1])
    assert_same_values(output, expected[0])


@both_dtypes
@pytest.mark.parametrize(("channels", "pool"), [(1, 100), (63, 15), (64, 16), (65, 17), (130, 33), (256, 3)])
def test_many_channels_and_many_samples(dtype: str, channels: int, pool: int) -> None:
    features, grad, boxes = _data((2, 7, 4, channels), (2, 9, 11, 4 * channels), dtype)
    output, argmax = pymluops.border_align_forward(features, boxes, pool)
    expected = border_align.forward(features, boxes, pool)
    assert_same_bits(argmax, expected[1])
    assert_same_bits(output, expected[0])
    anywhere = np.random.default_rng(9).integers(-1, pool + 2, argmax.shape, np.int32)
    for chosen in (argmax, anywhere):
        got = pymluops.border_align_backward(grad, boxes, chosen, pool, (9, 11))
        assert_close(got, border_align.backward(grad, boxes, chosen, pool, (9, 11), np.float32))


@both_dtypes
@pytest.mark.parametrize(
    ("size", "count", "channels", "pool"),
    [
        ((2, 2), 200, 33, 3),
        ((3, 130), 110, 70, 40),
        ((60, 3), 60, 150, 10),
        ((250, 2), 60, 40, 9),
        ((2, 1100), 70, 3, 20),
    ],
)
def test_many_boxes_between_the_same_lines(
    dtype: str, size: tuple[int, int], count: int, channels: int, pool: int
) -> None:
    features, grad, boxes = _data((1, count, 4, channels), (1, *size, 4 * channels), dtype)
    output, argmax = pymluops.border_align_forward(features, boxes, pool)
    expected = border_align.forward(features, boxes, pool)
    assert_same_bits(argmax, expected[1])
    assert_same_bits(output, expected[0])
    got = pymluops.border_align_backward(grad, boxes, argmax, pool, size)
    exact = border_align.backward(grad, boxes, argmax, pool, size)
    # Up to 4 * count numbers near 1 add up.
    np.testing.assert_allclose(got, exact, rtol=tolerance_of(dtype), atol=count * tolerance_of(dtype) / 4)


def test_forward_adds_the_step_again_and_again() -> None:
    # Ten times 0.1 is not 1 in float32: the last point falls just past the rim, where
    # multiplication would stay on it.
    boxes = np.array([[[0, 0, 1, 0]]], np.float32)
    x = np.float32(0)
    for _ in range(10):
        x += np.float32(1) / np.float32(10)
    assert x > 1
    features = np.zeros((1, 1, 1, 4), np.float32) - 1
    output, argmax = pymluops.border_align_forward(features, boxes, 10)
    assert output.ravel().tolist()[0] == 0
    assert argmax.ravel().tolist()[0] == 10
    grad, top = np.ones((1, 1, 4, 1), np.float32), np.full((1, 1, 4, 1), 10, np.int32)
    assert pymluops.border_align_backward(grad, boxes, top, 10, (1, 1))[0, 0, 0, 0] == 1


def test_forward_takes_the_first_of_equal_maxima_and_zero_outside() -> None:
    features = np.full((1, 3, 3, 4), -5, np.float32)
    inside = np.array([[[0, 0, 2, 2]]], np.float32)
    output, argmax = pymluops.border_align_forward(features, inside, 4)
    assert (output == -5).all()
    assert (argmax == 0).all()
    outside = np.array([[[-9, 0, 2, 2]]], np.float32)
    output, argmax = pymluops.border_align_forward(features, outside, 1)
    assert output[0, 0, :, 0].tolist() == [0, 0, 0, -5]
    assert argmax[0, 0, :, 0].tolist() == [0, 0, 1, 0]


def test_forward_a_nan_first_stays_and_a_nan_later_never_wins() -> None:
    features = np.zeros((1, 1, 3, 4), np.float32)
    features[0, 0, :, 0] = [np.nan, 1, 2]
    features[0, 0, :, 2] = [1, np.nan, 2]
    output, argmax = pymluops.border_align_forward(features, np.array([[[0, 0, 2, 0]]], np.float32), 2)
    assert np.isnan(output[0, 0, 0, 0])
    assert argmax[0, 0, 0, 0] == 0
    assert output[0, 0, 2, 0] == 2
    assert argmax[0, 0, 2, 0] == 0


@both_dtypes
@examples(200)
@given(s=SHAPES)
def test_backward_is_exact_where_the_numbers_are(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    pool = 1 << (s["pool"] % 3)
    # Quarters: positions, weights and sums are exact in every type, so the order of addition cannot
    # matter.
    quarters = rng.integers(-8, 4 * max(s["height"], s["width"]) + 8, (s["batch"], s["count"], 4))
    boxes = (quarters / 4).astype(dtype)
    grad = rng.integers(-4, 5, (s["batch"], s["count"], 4, s["channels"])).astype(dtype)
    argmax = rng.integers(-2, pool + 3, grad.shape, np.int32)
    argmax[rng.random(argmax.shape) < 0.1] = rng.choice([2**31 - 1, -(2**31)])
    out = canary((s["batch"], s["height"], s["width"], 4 * s["channels"]), dtype)
    assert pymluops.border_align_backward(grad, boxes, argmax, pool, (s["height"], s["width"]), out=out) is out
    expected = border_align.backward(grad, boxes, argmax, pool, (s["height"], s["width"]))
    if dtype == "float16":
        # Up to 8 boxes with weights in 1/256: exact in float32, rounded once to half.
        expected = expected.astype(np.float32).astype(np.float16)
    np.testing.assert_array_equal(out, expected.astype(dtype))


@both_dtypes
@examples(150)
@given(s=SHAPES)
def test_backward_survives_nan_inf_and_huge_numbers(dtype: str, s: dict[str, int]) -> None:
    rng = np.random.default_rng(s["seed"])
    grad = rng.integers(-4, 5, (s["batch"], s["count"], 4, s["channels"])).astype(dtype)
    odd = rng.random(grad.shape) < 0.2
    grad = np.where(odd, rng.choice(np.array([np.nan, np.inf, -np.inf], dtype), grad.shape), grad)
    argmax = rng.integers(-1, s["pool"] + 2, grad.shape, np.int32)
    boxes, size = _odd_boxes(rng, s, dtype), (s["height"], s["width"])
    got = pymluops.border_align_backward(grad, boxes, argmax, s["pool"], size)
    expected = border_align.backward(grad, boxes, argmax, s["pool"], size, np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(got), np.isposinf(expected))
    np.testing.assert_allclose(got, expected, rtol=tolerance_of(dtype), atol=tolerance_of(dtype))


def tolerance_of(dtype: str) -> float:
    """Error of one element: a dozen additions of small numbers."""
    return 4e-3 if dtype == "float16" else 1e-5


@both_dtypes
def test_backward_of_forwards_own_argmax(dtype: str) -> None:
    features, grad, boxes = _data((2, 90, 4, 24), (2, 11, 13, 96), dtype)
    _, argmax = pymluops.border_align_forward(features, boxes, 6)
    got = pymluops.border_align_backward(grad, boxes, argmax, 6, (11, 13))
    assert_close(got, border_align.backward(grad, boxes, argmax, 6, (11, 13), np.float32))


def test_backward_ignores_argmax_outside_the_samples() -> None:
    boxes = np.array([[[0, 0, 1, 1]]], np.float32)
    grad = np.ones((1, 1, 4, 1), np.float32)
    for index in (-1, 2, 2**31 - 1, -(2**31)):
        argmax = np.full(grad.shape, index, np.int32)
        assert not pymluops.border_align_backward(grad, boxes, argmax, 1, (2, 2)).any()


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", [0, -1, -(2**31)])
def test_pool_size_must_be_positive(raw: Raw, pool: int) -> None:
    features, boxes = np.ones((1, 2, 2, 4), np.float32), np.zeros((1, 4, 4), np.float32)
    out, argmax = canary((1, 4, 4, 1), "float32"), canary((1, 4, 4, 1), "int32")
    assert raw_forward(raw, features, boxes, pool, out, argmax) == BAD_PARAM
    assert (
        raw_backward(raw, np.ones((1, 4, 4, 1), np.float32), boxes, np.zeros_like(argmax), pool, features) == BAD_PARAM
    )
    with pytest.raises(pymluops.BadParamError, match="pool_size"):
        pymluops.border_align_forward(features, boxes, pool, out=out, argmax_idx=argmax)
    assert is_canary(out)
    assert is_canary(argmax)


@pytest.mark.parametrize("count", [1, 3, 5, 100])
def test_any_number_of_boxes_will_do(raw: Raw, count: int) -> None:
    features, boxes = np.ones((1, 2, 2, 4), np.float32), np.zeros((1, count, 4), np.float32)
    out, argmax = canary((1, count, 4, 1), "float32"), canary((1, count, 4, 1), "int32")
    assert raw_forward(raw, features, boxes, 1, out, argmax) == SUCCESS
    assert (out == 1).all()
    assert not argmax.any()


@pytest.mark.parametrize("shape", [(0, 2, 2, 4, 3), (1, 0, 2, 4, 3), (1, 2, 0, 4, 3), (1, 2, 2, 0, 3), (1, 2, 2, 4, 0)])
def test_empty_tensors_are_refused(raw: Raw, shape: tuple[int, ...]) -> None:
    batch, height, width, channels, count = shape
    features, boxes = np.ones((batch, height, width, channels), np.float32), np.zeros((batch, count, 4), np.float32)
    out, argmax = (
        np.empty((batch, count, 4, channels // 4), np.float32),
        np.zeros((batch, count, 4, channels // 4), np.int32),
    )
    assert raw_forward(raw, features, boxes, 1, out, argmax) == BAD_PARAM
    assert raw_backward(raw, out, boxes, argmax, 1, features) == BAD_PARAM
    with pytest.raises(pymluops.BadParamError):
        pymluops.border_align_forward(features, boxes, 1)
    with pytest.raises(pymluops.BadParamError):
        pymluops.border_align_backward(out, boxes, argmax, 1, (height, width))


def test_strided_tensors_are_not_supported_in_c_and_refused_in_python(raw: Raw) -> None:
    grad, boxes = np.ones((1, 3, 4, 4), np.float32)[..., ::2], np.ones((1, 3, 4), np.float32)
    argmax, out = np.zeros((1, 3, 4, 2), np.int32), canary((1, 2, 2, 8), "float32")
    assert raw_backward(raw, grad, boxes, argmax, 1, out) == NOT_SUPPORTED
    with pytest.raises(pymluops.BadParamError, match="grad_output"):
        pymluops.border_align_backward(grad, boxes, argmax, 1, (2, 2), out=out)
    assert is_canary(out)


def test_every_tensor_with_a_layout_needs_nhwc(raw: Raw) -> None:
    grad, boxes = np.ones((1, 3, 4, 2), np.float32), np.ones((1, 3, 4), np.float32)
    argmax, out = np.zeros((1, 3, 4, 2), np.int32), canary((1, 2, 2, 8), "float32")
    for wrong in range(3):
        layouts = [ARRAY if i == wrong else NHWC for i in range(3)]
        tensors = [Tensor(a, layout) for a, layout in zip((grad, argmax, out), layouts, strict=True)]
        function, inputs = "mluOpBorderAlignBackward", (tensors[0], Tensor(boxes), tensors[1])
        assert raw.status(function, *inputs, 1, tensors[2]) == BAD_PARAM
    assert is_canary(out)
    assert raw_backward(raw, grad, boxes, argmax, 1, out) == SUCCESS


def test_dtypes_must_agree(raw: Raw) -> None:
    out = canary((1, 2, 2, 8), "float32")
    grad, boxes, argmax = (
        np.ones((1, 3, 4, 2), np.float32),
        np.ones((1, 3, 4), np.float32),
        np.zeros((1, 3, 4, 2), np.int32),
    )
    wrong = [
        (grad.astype(np.float64), boxes, argmax),
        (grad.astype(np.int32), boxes, argmax),
        (grad, boxes.astype(np.float16), argmax),
        (grad, boxes, argmax.astype(np.int64)),
        (grad, boxes, argmax.view(np.uint32)),
        (grad.astype(np.float16), boxes.astype(np.float16), argmax),
    ]
    for arguments in wrong:
        assert raw_backward(raw, *arguments, 1, out) == BAD_PARAM
        with pytest.raises(pymluops.BadParamError):
            pymluops.border_align_backward(*arguments, 1, (2, 2), out=out)
    assert is_canary(out)


def test_more_than_int32_elements_are_not_supported(raw: Raw) -> None:
    def nhwc(*shape: int) -> Descriptor:
        return Descriptor(shape, layout=NHWC, pair=True)

    boxes, argmax = Descriptor((1, 1, 4), pair=True), Descriptor((1, 1, 4, 1), "int32", NHWC, pair=True)
    arguments = nhwc(1, 2**15, 2**15, 4), boxes, 1, nhwc(1, 1, 4, 1), argmax
    assert raw.status("mluOpBorderAlignForward", *arguments) == NOT_SUPPORTED


def test_double_outside_of_the_map_and_with_nan() -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(1, 4, 5, 8))
    boxes = np.array([[[-9, -9, -5, -5], [-0.5, -0.5, 4.5, 3.5], [np.nan, 0, 2, 2], [3, 3, 1, 1]]])
    forward = double_of(families.OPERATORS["border_align_forward"])
    found = forward(None, (features, boxes, None, None), (7,))
    wanted = border_align.forward(features, boxes, 7, real=np.float64)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    grad = rng.normal(size=found[0].shape)
    backward = double_of(families.OPERATORS["border_align_backward"])
    np.testing.assert_allclose(
        backward(None, (grad, boxes, found[1], None), (7, 4, 5)),
        border_align.backward(grad, boxes, found[1], 7, (4, 5)),
        rtol=1e-12,
        atol=1e-13,
    )


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("border_align_forward", "(input, boxes, pool_size, *, out=None, argmax_idx=None, handle=None)"),
        (
            "border_align_backward",
            "(grad_output, boxes, argmax_idx, pool_size, feature_size, *, out=None, handle=None)",
        ),
    ],
)
def test_signatures_keep_the_contract(name: str, contract: str) -> None:
    assert_signature(name, contract)
