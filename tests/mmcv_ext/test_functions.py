"""The functions for dense tensors against the oracles: every type, any strides, results in place, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle.ball_query
import oracle.border_align
import oracle.ms_deform_attn
import oracle.psamask
import oracle.three_interpolate
import oracle.three_nn
import oracle.tin_shift
import pymluops
from selection import examples

from .values import DTYPES, exact, near, tensor, views

pytest.importorskip("torch")

every_dtype = pytest.mark.parametrize("dtype", DTYPES)
any_strides = pytest.mark.parametrize("strided", [False, True])


def laid(torch: Any, values: Any, strided: bool) -> Any:
    return views(torch, values) if strided else values


# ---- tin_shift -------------------------------------------------------------------------------------------------------


@every_dtype
@any_strides
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_tin_shift(torch: Any, ext: ModuleType, dtype: str, strided: bool, direction: str) -> None:
    rng = np.random.default_rng(1)
    values = tensor(torch, rng.standard_normal((2, 5, 6, 3)), dtype)
    shift = torch.tensor([[1, -2, 0], [7, 3, -1]], dtype=torch.int32)
    output = laid(torch, torch.full_like(values, 9), strided)
    getattr(ext, f"tin_shift_{direction}")(laid(torch, values, strided), shift, output)
    expected = oracle.tin_shift.shift(exact(values), shift.numpy())
    np.testing.assert_array_equal(exact(output), expected)


@every_dtype
def test_tin_shift_of_an_expanded_gradient(torch: Any, ext: ModuleType, dtype: str) -> None:
    grad = torch.ones(1, dtype=getattr(torch, dtype)).expand(2, 4, 6, 5)
    shift = torch.tensor([[1], [-1]], dtype=torch.int32)
    output = torch.zeros(2, 4, 6, 5, dtype=grad.dtype)
    ext.tin_shift_backward(grad, shift, output)
    assert output[0, 0].sum() == 0 and output[0, 1:].min() == 1 and output[1, 3].sum() == 0


def test_tensors_with_a_pending_negation(torch: Any, ext: ModuleType) -> None:
    """The imaginary part of a conjugate is one."""

    def negated() -> Any:
        return torch.complex(torch.zeros(1, 2, 4, 3), torch.arange(24.0).reshape(1, 2, 4, 3)).conj().imag

    values, output, shift = negated(), negated(), torch.tensor([[1]], dtype=torch.int32)
    assert values.is_neg()
    ext.tin_shift_forward(values, shift, output)
    assert not output[0, 0].any() and torch.equal(output[0, 1], values[0, 0])


# ---- psamask ---------------------------------------------------------------------------------------------------------


@every_dtype
@any_strides
@pytest.mark.parametrize("psa_type", [0, 1])
@pytest.mark.parametrize("mask", [(3, 3), (4, 4), (1, 5), (7, 2)])
def test_psamask(torch: Any, ext: ModuleType, dtype: str, strided: bool, psa_type: int, mask: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    batch, height, width = 2, 3, 4
    keywords = {"psa_type": psa_type, "num_": batch, "h_feature": height, "w_feature": width, "h_mask": mask[0]}
    keywords |= {"w_mask": mask[1], "half_h_mask": (mask[0] - 1) // 2, "half_w_mask": (mask[1] - 1) // 2}
    values = tensor(torch, rng.standard_normal((batch, mask[0] * mask[1], height, width)), dtype)
    output = laid(torch, torch.full((batch, height * width, height, width), 9, dtype=values.dtype), strided)
    ext.psamask_forward(laid(torch, values, strided), output, **keywords)
    expected = oracle.psamask.forward(exact(values).transpose(0, 2, 3, 1), psa_type, *mask)
    np.testing.assert_array_equal(exact(output), expected.transpose(0, 3, 1, 2))

    grad = tensor(torch, rng.standard_normal(tuple(output.shape)), dtype)
    result = laid(torch, torch.full_like(values, 9), strided)
    ext.psamask_backward(laid(torch, grad, strided), result, **keywords)
    expected = oracle.psamask.backward(exact(grad).transpose(0, 2, 3, 1), psa_type, *mask)
    np.testing.assert_array_equal(exact(result), expected.transpose(0, 3, 1, 2))


# ---- border_align ----------------------------------------------------------------------------------------------------


def border_problem(torch: Any, dtype: str, seed: int = 3) -> tuple[Any, Any]:
    """Features of small integers, so that samples are exact in most types, and boxes that leave the map."""
    rng = np.random.default_rng(seed)
    corner = rng.integers(-3, 6, (2, 6, 2))
    size = rng.integers(0, 7, (2, 6, 2))
    boxes = np.concatenate((corner, corner + size), 2)
    return tensor(torch, rng.integers(-8, 9, (2, 12, 5, 4)), dtype), tensor(torch, boxes, dtype)


@every_dtype
@any_strides
def test_border_align(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    features, boxes = border_problem(torch, dtype)
    pool_size = 4
    output = laid(torch, torch.full((2, 3, 6, 4), 9, dtype=features.dtype), strided)
    argmax = laid(torch, torch.full((2, 3, 6, 4), 9, dtype=torch.int32), strided)
    ext.border_align_forward(
        laid(torch, features, strided), laid(torch, boxes, strided), output, argmax, pool_size=pool_size
    )
    last = exact(features).transpose(0, 2, 3, 1)
    expected, number = oracle.border_align.forward(last, exact(boxes), pool_size, np.float64)
    near(torch, output, expected.transpose(0, 3, 1, 2), dtype)
    np.testing.assert_array_equal(argmax.numpy(), number.transpose(0, 3, 1, 2))

    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, tuple(output.shape)), dtype)
    grad_input = laid(torch, torch.full_like(features, 9), strided)
    ext.border_align_backward(laid(torch, grad, strided), boxes, argmax, grad_input, pool_size=pool_size)
    expected = oracle.border_align.backward(
        exact(grad).transpose(0, 2, 3, 1), exact(boxes), number, pool_size, (5, 4), np.float64
    )
    near(torch, grad_input, expected.transpose(0, 3, 1, 2), dtype)


def test_border_align_of_values_that_are_not_finite(torch: Any, ext: ModuleType) -> None:
    """In float64 as in float32: a NaN at the first sample stays, later it never wins; a NaN box samples zeros."""
    results = []
    for dtype in ("float32", "float64"):
        features = torch.ones(1, 4, 3, 3, dtype=getattr(torch, dtype))
        features[0, 0, 0, 0], features[0, 1, 2, 0], features[0, 2, 2, 2] = torch.nan, torch.nan, torch.inf
        boxes = torch.tensor([[[0, 0, 2, 2], [torch.nan, 0, 2, 2], [0, 0, torch.inf, 2]]], dtype=features.dtype)
        output = torch.empty(1, 1, 3, 4, dtype=features.dtype)
        argmax = torch.empty(1, 1, 3, 4, dtype=torch.int32)
        ext.border_align_forward(features, boxes, output, argmax, 2)
        grad = torch.empty_like(features)
        ext.border_align_backward(torch.ones_like(output), boxes, argmax, grad, 2)
        results.append((exact(output), argmax.numpy(), exact(grad)))
    for single, double in zip(*results, strict=True):
        np.testing.assert_array_equal(single, double)
    assert np.isnan(results[0][0][0, 0, 0, 0])


# ---- three_interpolate, three_nn, ball_query -------------------------------------------------------------------------


@every_dtype
@any_strides
def test_three_interpolate(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(5)
    points = tensor(torch, rng.uniform(-1, 1, (2, 3, 5)), dtype)
    idx = torch.from_numpy(rng.integers(0, 5, (2, 7, 3), np.int32))
    weight = tensor(torch, rng.uniform(-0.5, 0.5, (2, 7, 3)), dtype)
    out = laid(torch, torch.full((2, 3, 7), 9, dtype=points.dtype), strided)
    ext.three_interpolate_forward(
        laid(torch, points, strided), laid(torch, idx, strided), weight, out, b=2, c=3, m=5, n=7
    )
    near(torch, out, oracle.three_interpolate.forward(exact(points), idx.numpy(), exact(weight)), dtype)

    grad = tensor(torch, rng.uniform(-1, 1, (2, 3, 7)), dtype)
    result = laid(torch, torch.full((2, 3, 5), 9, dtype=points.dtype), strided)
    ext.three_interpolate_backward(laid(torch, grad, strided), idx, weight, result, b=2, c=3, n=7, m=5)
    near(torch, result, oracle.three_interpolate.backward(exact(grad), idx.numpy(), exact(weight), 5), dtype)


@every_dtype
@any_strides
@pytest.mark.parametrize("known_points", [0, 1, 2, 30])
def test_three_nn(torch: Any, ext: ModuleType, dtype: str, strided: bool, known_points: int) -> None:
    rng = np.random.default_rng(6)
    unknown = tensor(torch, rng.integers(-4, 5, (2, 9, 3)), dtype)  # small integers: many equal distances
    known = tensor(torch, rng.integers(-4, 5, (2, known_points, 3)), dtype)
    if known_points > 2:
        known[0, 3, 1], known[1, 0, 0] = torch.nan, torch.inf
    dist2 = laid(torch, torch.full((2, 9, 3), 9, dtype=unknown.dtype), strided)
    idx = laid(torch, torch.full((2, 9, 3), 9, dtype=torch.int32), strided)
    ext.three_nn_forward(laid(torch, unknown, strided), known, dist2, idx, b=2, n=9, m=known_points)
    expected = oracle.three_nn.forward(exact(unknown), exact(known))
    np.testing.assert_array_equal(exact(dist2), expected[0])
    np.testing.assert_array_equal(idx.numpy(), expected[1])


@every_dtype
@any_strides
@pytest.mark.parametrize(("low", "high", "nsample"), [(0, 2, 4), (1, 2.5, 3), (0, 0.5, 40), (0, 100, 3), (0, 3, 0)])
def test_ball_query(
    torch: Any, ext: ModuleType, dtype: str, strided: bool, low: float, high: float, nsample: int
) -> None:
    rng = np.random.default_rng(7)
    centres = tensor(torch, rng.integers(-4, 5, (2, 6, 3)), dtype)
    points = tensor(torch, rng.integers(-4, 5, (2, 33, 3)), dtype)
    idx = torch.full((2, 6, nsample), 9, dtype=torch.int32)
    expected = oracle.ball_query.ball_query(exact(centres), exact(points), low, high, nsample, idx.numpy())
    idx = laid(torch, idx, strided)
    keywords = {"b": 2, "n": 33, "m": 6, "min_radius": low, "max_radius": high, "nsample": nsample}
    ext.ball_query_forward(laid(torch, centres, strided), laid(torch, points, strided), idx, **keywords)
    np.testing.assert_array_equal(idx.numpy(), expected)


@every_dtype
def test_stack_ball_query(torch: Any, ext: ModuleType, dtype: str) -> None:
    """Batches of different sizes, one of them without points, one without centres."""
    rng = np.random.default_rng(8)
    centres, points = (3, 2, 0, 4), (10, 0, 5, 7)
    new_xyz = tensor(torch, rng.integers(-3, 4, (sum(centres), 3)), dtype)
    xyz = tensor(torch, rng.integers(-3, 4, (sum(points), 3)), dtype)
    idx = torch.zeros(sum(centres), 3, dtype=torch.int32)
    counts = (torch.tensor(numbers, dtype=torch.int32) for numbers in (centres, points))
    new_count, count = counts
    ext.stack_ball_query_forward(new_xyz, new_count, xyz, count, idx, max_radius=2.5, nsample=3)
    row = 0
    for batch, number in enumerate(centres):
        first = sum(points[:batch])
        for centre in exact(new_xyz)[row : row + number]:
            d2 = ((exact(xyz)[first : first + points[batch]] - centre) ** 2).sum(1)
            hits = np.flatnonzero(d2 < 2.5**2)[:3].tolist()
            expected = (hits + [hits[0]] * 3)[:3] if hits else [-1, 0, 0]
            assert idx[row].tolist() == expected
            row += 1
    assert (idx[:, 0] == -1).any() and (idx[:, 0] > 0).any()


# ---- ms_deform_attn --------------------------------------------------------------------------------------------------


@every_dtype
@any_strides
@pytest.mark.parametrize("index_type", ["int64", "int32"])
def test_ms_deform_attn(torch: Any, ext: ModuleType, dtype: str, strided: bool, index_type: str) -> None:
    rng = np.random.default_rng(9)
    shapes = torch.tensor([[3, 2], [1, 4], [0, 5]], dtype=getattr(torch, index_type))
    starts = torch.tensor([0, 6, 10], dtype=shapes.dtype)
    value = tensor(torch, rng.uniform(-1, 1, (2, 10, 2, 3)), dtype)
    locations = rng.uniform(-0.3, 1.3, (2, 4, 2, 3, 2, 2))
    locations[0, 0, 0, 0, 0] = np.nan
    # Multiples of 1/64 are exact in every type, and so are the places of the samples.
    loc = tensor(torch, np.round(locations * 64) / 64, dtype)
    weight = tensor(torch, rng.uniform(0, 1, (2, 4, 2, 3, 2)), dtype)
    inputs = [laid(torch, array, strided) for array in (value, loc, weight)]
    result = ext.ms_deform_attn_forward(inputs[0], shapes, starts, *inputs[1:], im2col_step=64)
    problem = oracle.ms_deform_attn.Inputs(exact(value), shapes.numpy(), starts.numpy(), exact(loc), exact(weight))
    near(torch, result, oracle.ms_deform_attn.forward(problem).reshape(2, 4, 6), dtype)

    grad = tensor(torch, rng.uniform(-1, 1, (2, 4, 6)), dtype)
    gradients = [laid(torch, torch.full_like(array.contiguous(), 9), strided) for array in (value, loc, weight)]
    ext.ms_deform_attn_backward(inputs[0], shapes, starts, *inputs[1:], grad, *gradients, im2col_step=1)
    expected = oracle.ms_deform_attn.backward(problem, exact(grad).reshape(2, 4, 2, 3))
    for got, want in zip(gradients, expected, strict=True):
        near(torch, got, want, dtype)


# ---- properties ------------------------------------------------------------------------------------------------------


@examples(40)
@given(data=st.data())
def test_float64_is_what_float32_is(torch: Any, ext: ModuleType, data: st.DataObject) -> None:
    """On random shapes and small integers, with which float32 is exact, both types give the same."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    batch, channels, height, width, boxes = (data.draw(st.integers(1, 4)) for _ in range(5))
    pool_size = 2 ** data.draw(st.integers(0, 2))
    found = []
    for dtype in ("float32", "float64"):
        rng = np.random.default_rng(seed)
        features = tensor(torch, rng.integers(-4, 5, (batch, 4 * channels, height, width)), dtype)
        corners = rng.integers(-2, 6, (batch, boxes, 4))
        output = torch.empty(batch, channels, boxes, 4, dtype=features.dtype)
        argmax = torch.empty(output.shape, dtype=torch.int32)
        ext.border_align_forward(features, tensor(torch, corners, dtype), output, argmax, pool_size=pool_size)
        grad = torch.empty_like(features)
        ext.border_align_backward(output, tensor(torch, corners, dtype), argmax, grad, pool_size=pool_size)
        points = tensor(torch, rng.integers(-4, 5, (batch, height, 3)), dtype)
        others = tensor(torch, rng.integers(-4, 5, (batch, width, 3)), dtype)
        dist2 = torch.empty(batch, height, 3, dtype=features.dtype)
        idx = torch.empty(batch, height, 3, dtype=torch.int32)
        ext.three_nn_forward(points, others, dist2, idx, b=batch, n=height, m=width)
        query = torch.zeros(batch, height, channels, dtype=torch.int32)
        ext.ball_query_forward(points, others, query, batch, width, height, 1.0, 5.0, channels)
        found.append([exact(array) for array in (output, argmax, grad, dist2, idx, query)])
    for single, double in zip(*found, strict=True):
        np.testing.assert_array_equal(single, double)


def test_float64_does_not_need_a_device_with_it(torch: Any, ext: ModuleType) -> None:
    """The simulated MLU has no kernels in double; the CPU computes then."""
    values, shift = torch.arange(24.0).double().reshape(1, 2, 4, 3), torch.tensor([[1]], dtype=torch.int32)
    output, expected = torch.empty_like(values), torch.empty_like(values)
    ext.tin_shift_forward(values, shift, expected)
    with pymluops.use("sim"):
        ext.tin_shift_forward(values, shift, output)
    assert torch.equal(output, expected) and torch.equal(output[:, 1], values[:, 0])


# ---- nothing to do ---------------------------------------------------------------------------------------------------


@every_dtype
def test_empty_tensors(torch: Any, ext: ModuleType, dtype: str) -> None:
    real = getattr(torch, dtype)

    def zeros(*shape: int) -> Any:
        return torch.full(shape, 9, dtype=real)

    def numbers(*shape: int) -> Any:
        return torch.full(shape, 9, dtype=torch.int32)

    ext.tin_shift_forward(zeros(0, 2, 4, 3), numbers(0, 2), zeros(0, 2, 4, 3))
    ext.tin_shift_forward(zeros(1, 0, 4, 3), numbers(1, 2), zeros(1, 0, 4, 3))
    ext.psamask_forward(zeros(0, 9, 2, 2), zeros(0, 4, 2, 2), 0, 0, 2, 2, 3, 3, 1, 1)
    ext.psamask_backward(zeros(2, 0, 0, 3), zeros(2, 9, 0, 3), 1, 2, 0, 3, 3, 3, 1, 1)
    ext.border_align_forward(zeros(1, 4, 2, 2), zeros(1, 0, 4), zeros(1, 1, 0, 4), numbers(1, 1, 0, 4), pool_size=2)
    gradient = zeros(1, 4, 2, 2)
    ext.border_align_backward(zeros(1, 1, 0, 4), zeros(1, 0, 4), numbers(1, 1, 0, 4), gradient, pool_size=2)
    assert not gradient.any()
    ext.three_interpolate_forward(zeros(2, 3, 4), numbers(2, 0, 3), zeros(2, 0, 3), zeros(2, 3, 0), 2, 3, 4, 0)
    gradient = zeros(2, 3, 4)
    ext.three_interpolate_backward(zeros(2, 3, 0), numbers(2, 0, 3), zeros(2, 0, 3), gradient, b=2, c=3, n=0, m=4)
    assert not gradient.any()
    ext.three_nn_forward(zeros(1, 0, 3), zeros(1, 4, 3), zeros(1, 0, 3), numbers(1, 0, 3), b=1, n=0, m=4)
    untouched = numbers(1, 2, 3)
    ext.ball_query_forward(zeros(1, 2, 3), zeros(1, 0, 3), untouched, 1, 0, 2, 0.0, 1.0, 3)
    assert (untouched == 9).all()
    shapes, starts = torch.tensor([[0, 3]]), torch.tensor([0])
    empty = zeros(1, 0, 2, 3), shapes, starts, zeros(1, 4, 2, 1, 2, 2), zeros(1, 4, 2, 1, 2)
    assert not ext.ms_deform_attn_forward(*empty, im2col_step=1).any()
    gradients = [torch.full_like(empty[i], 9) for i in (0, 3, 4)]
    ext.ms_deform_attn_backward(*empty, zeros(1, 4, 6), *gradients, im2col_step=1)
    assert not any(gradient.any() for gradient in gradients)


# ---- refusals --------------------------------------------------------------------------------------------------------


def refusals(torch: Any, ext: ModuleType) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Calls that are refused, by what the message says."""
    f32, f16, i32 = torch.float32, torch.float16, torch.int32
    clip, shift = torch.zeros(1, 2, 4, 3), torch.zeros(1, 2, dtype=i32)
    features, boxes = torch.zeros(1, 4, 2, 2), torch.zeros(1, 3, 4)
    border, argmax = torch.zeros(1, 1, 3, 4), torch.zeros(1, 1, 3, 4, dtype=i32)
    points, idx = torch.zeros(1, 2, 5), torch.full((1, 3, 3), 5, dtype=i32)
    masks, spread = torch.zeros(1, 9, 2, 2), torch.zeros(1, 4, 2, 2)
    value, loc, weight = torch.zeros(2, 4, 1, 1), torch.zeros(2, 1, 1, 1, 1, 2), torch.zeros(2, 1, 1, 1, 1)
    shapes, starts = torch.tensor([[2, 2]]), torch.tensor([0])
    return {
        "tin_shift_forward: shift: expected int32, got int64": (
            ext.tin_shift_forward,
            (clip, shift.long(), clip.clone()),
        ),
        "tin_shift_forward: output: expected float32, like input, got float16": (
            ext.tin_shift_forward,
            (clip, shift, clip.to(f16)),
        ),
        "tin_shift_forward: output: expected shape [1, 2, 4, 3], got shape [1, 2, 4]": (
            ext.tin_shift_forward,
            (clip, shift, clip[..., 0].clone()),
        ),
        "tin_shift_backward: shift: expected shape [1, any], got shape [2]": (
            ext.tin_shift_backward,
            (clip, shift[0], clip.clone()),
        ),
        "tin_shift_forward: shifts: expected shape": (
            ext.tin_shift_forward,
            (clip, torch.zeros(1, 3, dtype=i32), clip.clone()),
        ),
        "tin_shift_forward: input: expected a CPU tensor, got one on meta": (
            ext.tin_shift_forward,
            (clip.to("meta"), shift, clip.clone()),
        ),
        "tin_shift_forward: input: expected a tensor, got ndarray": (
            ext.tin_shift_forward,
            (clip.numpy(), shift, clip.clone()),
        ),
        "tin_shift_forward: input: expected float32 or float64 or float16 or bfloat16, got int32": (
            ext.tin_shift_forward,
            (clip.int(), shift, clip.int()),
        ),
        "psamask_forward: psa_type: expected 0 (collect) or 1 (distribute), got 2": (
            ext.psamask_forward,
            (masks, spread, 2, 1, 2, 2, 3, 3, 1, 1),
        ),
        "psamask_forward: half_w_mask: expected 1 for w_mask=3, got 0": (
            ext.psamask_forward,
            (masks, spread, 1, 1, 2, 2, 3, 3, 1, 0),
        ),
        "psamask_backward: h_mask: expected at least 1, got 0": (
            ext.psamask_backward,
            (spread, masks, 1, 1, 2, 2, 0, 3, 1, 1),
        ),
        "psamask_backward: grad_input: expected shape [1, 9, 2, 3], got shape [1, 9, 2, 2]": (
            ext.psamask_backward,
            (spread, masks, 1, 1, 2, 3, 3, 3, 1, 1),
        ),
        "border_align_forward: boxes: expected float32, like input, got float16": (
            ext.border_align_forward,
            (features, boxes.to(f16), border, argmax, 2),
        ),
        "border_align_forward: pool_size: expected at least 1, got 0": (
            ext.border_align_forward,
            (features, boxes, border, argmax, 0),
        ),
        "border_align_backward: grad_input: expected a multiple of 4 channels, got 3": (
            ext.border_align_backward,
            (border, boxes, argmax, features[:, :3], 2),
        ),
        "border_align_forward: input: expected pixels to sample": (
            ext.border_align_forward,
            (features[:, :, :0], boxes, border, argmax, 2),
        ),
        "three_interpolate_forward: idx_tensor: expected values from 0 to 4, got 5": (
            ext.three_interpolate_forward,
            (points, idx, torch.zeros(1, 3, 3), torch.zeros(1, 2, 3), 1, 2, 5, 3),
        ),
        "three_interpolate_backward: grad_points_tensor: expected shape [1, 2, 6], got shape [1, 2, 5]": (
            ext.three_interpolate_backward,
            (torch.zeros(1, 2, 3), idx, torch.zeros(1, 3, 3), points, 1, 2, 3, 6),
        ),
        "three_nn_forward: known_tensor: expected shape [1, 4, 3], got shape [1, 5, 3]": (
            ext.three_nn_forward,
            (
                torch.zeros(1, 2, 3),
                torch.zeros(1, 5, 3),
                torch.zeros(1, 2, 3),
                torch.zeros(1, 2, 3, dtype=i32),
                1,
                2,
                4,
            ),
        ),
        "ball_query_forward: min_radius: expected a number of at least 0, got -1.0": (
            ext.ball_query_forward,
            (torch.zeros(1, 2, 3), torch.zeros(1, 5, 3), torch.zeros(1, 2, 4, dtype=i32), 1, 5, 2, -1.0, 1.0, 4),
        ),
        "stack_ball_query_forward: xyz_tensor: expected shape [3, 3], got shape [4, 3]": (
            ext.stack_ball_query_forward,
            (
                torch.zeros(2, 3),
                torch.tensor([1, 1], dtype=i32),
                torch.zeros(4, 3),
                torch.tensor([1, 2], dtype=i32),
                torch.zeros(2, 4, dtype=i32),
                1.0,
                4,
            ),
        ),
        "ms_deform_attn_forward: im2col_step: expected at least 2, or a divisor of it, got 0": (
            ext.ms_deform_attn_forward,
            (value, shapes, starts, loc, weight, 0),
        ),
        "ms_deform_attn_forward: value_spatial_shapes: expected maps within the 4 keys of value, got a map of 2 x 2 "
        "that begins at key 1": (ext.ms_deform_attn_forward, (value, shapes, starts + 1, loc, weight, 2)),
        "ms_deform_attn_backward: grad_output: expected shape [2, 1, 1], got [2, 1, 2]": (
            ext.ms_deform_attn_backward,
            (value, shapes, starts, loc, weight, torch.zeros(2, 1, 2), value, loc, weight, 2),
        ),
        "ms_deform_attn_forward: value_spatial_shapes: expected int64 or int32, got float32": (
            ext.ms_deform_attn_forward,
            (value, shapes.to(f32), starts, loc, weight, 2),
        ),
    }


def test_refusals(torch: Any, ext: ModuleType) -> None:
    for text, (function, arguments) in refusals(torch, ext).items():
        before = [argument.clone() for argument in arguments if isinstance(argument, torch.Tensor)]
        with pytest.raises(RuntimeError) as caught:
            function(*arguments)
        assert str(caught.value).startswith(text), str(caught.value)
        after = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        assert all(a.device.type == "meta" or torch.equal(a, b) for a, b in zip(after, before, strict=True))


def test_refusals_do_not_depend_on_the_type(torch: Any, ext: ModuleType) -> None:
    idx = torch.full((1, 3, 3), -1, dtype=torch.int32)
    shift, query = torch.zeros(1, 3, dtype=torch.int32), torch.zeros(1, 2, 4, dtype=torch.int32)
    for dtype in DTYPES:
        points = torch.zeros(1, 2, 5, dtype=getattr(torch, dtype))
        weight, out = points.new_zeros(1, 3, 3), points.new_zeros(1, 2, 3)
        with pytest.raises(RuntimeError, match="expected values from 0 to 4, got -1"):
            ext.three_interpolate_forward(points, idx, weight, out, b=1, c=2, m=5, n=3)
        with pytest.raises(RuntimeError, match="shifts: expected shape"):
            ext.tin_shift_forward(points.new_zeros(1, 2, 4, 3), shift, points.new_zeros(1, 2, 4, 3))
        with pytest.raises(RuntimeError, match="min_radius: expected a number of at least 0"):
            ext.ball_query_forward(out, out, query, 1, 2, 2, -1.0, 1.0, 4)
