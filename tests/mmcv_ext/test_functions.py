"""The functions for dense tensors against the oracles: every type, any strides, results in place, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.selection import examples

from .values import DTYPES, every_dtype, exact, tensor

pytest.importorskip("torch")


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
        "tin_shift_forward: input: expected a dense tensor, got sparse_coo": (
            ext.tin_shift_forward,
            (clip.to_sparse(), shift, clip.clone()),
        ),
        "indice_maxpool_forward: features: expected a dense tensor, got sparse_coo": (
            ext.indice_maxpool_forward,
            (torch.zeros(1, 2).to_sparse(), torch.zeros(1, 2, 1, dtype=i32), torch.zeros(1, dtype=i32), 1),
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
        "psamask_backward: grad_output: expected shape [1, 6, 2, 3], got shape [1, 4, 2, 2]": (
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
        "border_align_backward: grad_input: expected shape [1, 4, any, any], got shape [1, 3, 2, 2]": (
            ext.border_align_backward,
            (border, boxes, argmax, features[:, :3], 2),
        ),
        "border_align_forward: input: expected shape [N, H, W, 4*C] with H > 0": (
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
        "ms_deform_attn_forward: im2col_step: expected at least 1, got 0": (
            ext.ms_deform_attn_forward,
            (value, shapes, starts, loc, weight, 0),
        ),
        "ms_deform_attn_forward: value_spatial_shapes: expected maps within the 4 keys of value, got a map of 2 x 2 "
        "that begins at key 1": (ext.ms_deform_attn_forward, (value, shapes, starts + 1, loc, weight, 2)),
        "ms_deform_attn_backward: grad_output: expected shape [2, 1, 1], got shape [2, 1, 2]": (
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
        assert all(
            a.device.type == "meta" or torch.equal(a.to_dense(), b.to_dense())
            for a, b in zip(after, before, strict=True)
        )


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
