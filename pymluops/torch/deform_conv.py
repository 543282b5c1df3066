"""Deformable convolution, without and with modulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops import _arguments
from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import is_overridden, sizes
from pymluops.torch._numbers import flag, whole

__all__ = ["deform_conv2d", "modulated_deform_conv2d"]

_NAMES = _arguments.Names("modulated_deform_conv2d", "mluopsExtDeformConvForward")
_SIZES = {
    "Co": 4, "kh": 2, "kw": 3, "Cg": 2, "H": 4, "W": 4, "Ho": 4, "Wo": 2, "conv_group": 2, "deformable_group": 2,
    "stride_h": 1, "stride_w": 1, "pad_h": 1, "pad_w": 0, "dilation_h": 2, "dilation_w": 1,
}  # fmt: skip
_FORWARD = TorchOperator(described("deform_conv_forward"), folds=False, sample=_SIZES)
_BACKWARD = TorchOperator(described("deform_conv_backward"), folds=False, autocast=False)
_FORWARD.differentiate(
    _BACKWARD,
    "grad_output",
    {"filter": "grad_filter", "input": "grad_input", "offset": "grad_offset", "mask": "grad_mask"},
    linear=("filter", "input", "mask"),
)
_BACKWARD.refuse_gradient("the gradient of a deformable convolution cannot be differentiated again")

_FIRST = (0, 3, 1, 2)  # channels come first
_LAST = (0, 2, 3, 1)


def _formula(
    filter: Tensor,
    input: Tensor,
    offset: Tensor,
    mask: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    conv_group: int,
    groups: int,
) -> Tensor:
    """Sample the columns between four pixels, and multiply them with the filter."""
    outputs, each, kh, kw = filter.shape
    batch, channels, height, width = input.shape
    rows, columns = offset.shape[2:]
    shifts = offset.reshape(batch, groups, kh, kw, 2, rows, columns)
    real = offset.dtype
    row, column = torch.arange(rows).to(real) * stride_h - pad_h, torch.arange(columns).to(real) * stride_w - pad_w
    down, right = torch.arange(kh).to(real) * dilation_h, torch.arange(kw).to(real) * dilation_w
    y = row[:, None] + down[:, None, None, None] + shifts[:, :, :, :, 0]
    x = column + right[:, None, None] + shifts[:, :, :, :, 1]
    inside = ((y > -1) & (x > -1) & (y < height) & (x < width)).to(real)
    weight = mask.reshape(batch, groups, kh, kw, rows, columns) * inside
    pixels = input.reshape(batch, groups, channels // groups, height * width)
    total = torch.zeros(())
    for r in (y.floor(), y.floor() + 1):
        for c in (x.floor(), x.floor() + 1):
            there = (r >= 0) & (r < height) & (c >= 0) & (c < width)
            number = torch.where(there, r * width + c, torch.zeros_like(r)).long().reshape(batch, groups, 1, -1)
            values = pixels.gather(3, number.expand(-1, -1, channels // groups, -1))
            share = (1 - (y - r).abs()) * (1 - (x - c).abs()) * weight * there.to(real)
            total = total + values * share.reshape(batch, groups, 1, -1)
    grouped = total.reshape(batch, conv_group, each * kh * kw, rows * columns)
    product = torch.matmul(filter.reshape(conv_group, outputs // conv_group, each * kh * kw), grouped)
    return product.reshape(batch, outputs, rows, columns)


def _of_public(
    filter: Tensor,
    input: Tensor,
    offset: Tensor,
    mask: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    group: int,
    deformable: int,
) -> tuple[Any, ...]:
    both = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    return input, offset, mask, filter, None, *both, group, deformable


_CONVOLVE = TensorFunction(
    _FORWARD,
    orders={"filter": _LAST, "input": _LAST, "offset": _LAST, "mask": _LAST, "out": _FIRST},
    formula=_formula,
    public=_of_public,
)


def _pair(name: str, value: Sequence[int] | int, least: int) -> tuple[int, int]:
    """Return a number along height and along width."""
    both: Any = (value, value) if not isinstance(value, (tuple, list)) else tuple(value)
    if len(both) != 2:
        raise _arguments.refusal(_NAMES, name, "an integer, or two", _arguments.shown(value))
    if compiling():
        return both[0], both[1]
    height, width = (_arguments.integer(_NAMES, name, one, least, _arguments.INT32_MAX) for one in both)
    return height, width


def _check_size(input: Tensor, offset: Tensor, weight: Tensor, numbers: tuple[Any, ...]) -> None:
    """Refuse offsets for another size than that of the result."""
    for axis in (0, 1):
        room = sizes(input)[2 + axis] + 2 * numbers[2 + axis] - numbers[4 + axis] * (sizes(weight)[2 + axis] - 1) - 1
        wanted = room // numbers[axis] + 1
        if room < 0 or sizes(offset)[2 + axis] != wanted:
            name, side = ("offset", "height") if axis == 0 else ("offset", "width")
            expected = f"a {side} of {wanted}" if room >= 0 else f"maps that the filter fits into along their {side}"
            raise _arguments.refusal(_NAMES, name, expected, f"shape {list(sizes(offset))}")


@_CONVOLVE
def modulated_deform_conv2d(
    input: Tensor,
    offset: Tensor,
    mask: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sequence[int] | int = 1,
    padding: Sequence[int] | int = 0,
    dilation: Sequence[int] | int = 1,
    groups: int = 1,
    deform_groups: int = 1,
) -> Tensor:
    """Convolve maps at places that offsets move, weighted by a mask: `modulated_deform_conv2d` of mmcv.

    `pymluops.deform_conv_forward` has the formula. Gradients flow to all tensors.

    Parameters
    ----------
    input : Tensor, shape [N, Ci, H, W]
        Maps of any floating type.
    offset : Tensor, shape [N, 2 * deform_groups * kh * kw, Ho, Wo], like `input`
        For each deformable group and cell of the filter y and x of its shift.
    mask : Tensor, shape [N, deform_groups * kh * kw, Ho, Wo], like `input`
        Weights of the places.
    weight : Tensor, shape [Co, Ci // groups, kh, kw], like `input`
        The filter.
    bias : Tensor, shape [Co], like `input`, optional
        Added to each output channel.
    stride, padding, dilation : int or (int, int)
        As in `torch.nn.functional.conv2d`.
    groups : int
        Groups of channels that are convolved by themselves.
    deform_groups : int
        Groups of channels with offsets of their own.

    Returns
    -------
    Tensor, shape [N, Co, Ho, Wo]
        Like `input`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> maps, offset = torch.arange(4.0).reshape(1, 1, 1, 4), torch.zeros(1, 2, 1, 4)
    >>> offset[:, 1] = 0.5
    >>> mask, weight = torch.ones(1, 1, 1, 4), torch.ones(1, 1, 1, 1)
    >>> pymluops.torch.modulated_deform_conv2d(maps, offset, mask, weight).flatten().tolist()
    [0.5, 1.5, 2.5, 1.5]
    """
    numbers = *_pair("stride", stride, 1), *_pair("padding", padding, 0), *_pair("dilation", dilation, 1)
    plain = not is_overridden((input, offset, mask, weight))
    if plain and all(getattr(one, "ndim", 0) == 4 for one in (input, offset, weight)):
        _check_size(input, offset, weight, numbers)
    convolve = _CONVOLVE.through_torch if compiling() else _CONVOLVE.direct
    found: Tensor = convolve(weight, input, offset, mask, *numbers, groups, deform_groups)
    return found if bias is None else found + bias[:, None, None]


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    stride: Sequence[int] | int = 1,
    padding: Sequence[int] | int = 0,
    dilation: Sequence[int] | int = 1,
    groups: int = 1,
    deform_groups: int = 1,
    bias: bool = False,
    im2col_step: int = 32,
) -> Tensor:
    """Convolve maps at places that offsets move: `deform_conv2d` of mmcv.

    Parameters
    ----------
    input, offset, weight : Tensor
        As in `modulated_deform_conv2d`.
    stride, padding, dilation : int or (int, int)
        As in `modulated_deform_conv2d`.
    groups, deform_groups : int
        As in `modulated_deform_conv2d`.
    bias : bool
        False: there is none, as in mmcv.
    im2col_step : int
        At least 1; no effect.

    Returns
    -------
    Tensor, shape [N, Co, Ho, Wo]
        What `modulated_deform_conv2d` computes with a mask of ones.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> maps, offset = torch.arange(4.0).reshape(1, 1, 1, 4), torch.full((1, 2, 1, 4), 0.5)
    >>> pymluops.torch.deform_conv2d(maps, offset, torch.ones(1, 1, 1, 1)).flatten().tolist()
    [0.25, 0.75, 1.25, 0.75]
    """
    if flag("deform_conv2d", "bias", bias):
        raise ValueError(f"deform_conv2d: bias: expected False, got {bias}")
    whole("deform_conv2d", "im2col_step", im2col_step, 1)
    batch, places, *rest = offset.shape
    mask = offset.new_ones((batch, places // 2, *rest))
    return modulated_deform_conv2d(input, offset, mask, weight, None, stride, padding, dilation, groups, deform_groups)
