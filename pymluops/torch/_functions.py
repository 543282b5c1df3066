"""Functions with the names, the argument order and the layouts of mmcv.ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops import _arguments
from pymluops.torch import _formulas
from pymluops.torch._modes import exporting_to_onnx, is_overridden, override, sizes, traced_only
from pymluops.torch._operators import (
    BALL_QUERY,
    BORDER_ALIGN,
    MS_DEFORM_ATTN,
    PSA_MASK,
    THREE_INTERPOLATE,
    THREE_NN,
    TIN_SHIFT,
    TIN_SHIFT_AS_MMCV,
)

__all__ = [
    "ball_query",
    "border_align",
    "mask_sizes",
    "ms_deform_attn",
    "psa_mask",
    "three_interpolate",
    "three_nn",
    "tin_shift",
]

_PSA_TYPES = {"collect": 0, "distribute": 1}
_BALL_NAMES = _arguments.Names("ball_query", "mluOpBallQuery")
_PSA_NAMES = _arguments.Names("psa_mask", "mluOpPsamaskForward")

_compiling = torch.compiler.is_compiling
# Small tensors go to the library at once, which has other layouts: each of these calls does what the rest of its
# function does for tensors of any size, or returns None.
_CHANNELS_LAST = (0, 2, 3, 1)
_tin_shift: Any = TIN_SHIFT.direct()
_psa_mask: Any = PSA_MASK.direct({"x": _CHANNELS_LAST}, {"out": "N H*W H W"})
_border_align: Any = BORDER_ALIGN.direct({"input": _CHANNELS_LAST, "out": (0, 3, 1, 2)}, {"argmax_idx": None})
_ms_deform_attn: Any = MS_DEFORM_ATTN.direct(shapes={"out": "B Q M*C"})
_three_interpolate: Any = THREE_INTERPOLATE.direct()
_three_nn: Any = THREE_NN.direct(roots=("dist2",))
_ball_query: Any = BALL_QUERY.direct()


@traced_only("tin_shift_forward")
def tin_shift(input: Tensor, shift: Tensor, *, gradient: str = "true") -> Tensor:
    """Shift groups of channels along time.

    With ``s = shift[b, c // (C // G)]``::

        output[b, t, c, p] = input[b, t - s, c, p]   if 0 <= t - s < T, else 0

    Parameters
    ----------
    input : Tensor, shape [B, T, C, HW]
        A clip: T time steps, C channels, HW positions; any floating type.
    shift : Tensor, shape [B, G], int32 or int64
        Time steps that each of the G groups of channels moves; positive is towards later.
    gradient : {"true", "mmcv"}
        ``"true"`` is the gradient of what is computed: the gradient moves back. ``"mmcv"`` is what mmcv and mlu-ops
        compute, which move it on in the direction of `shift`; a network trained with them is only trained further
        alike with this.

    Returns
    -------
    Tensor
        Like `input`. The values are copied bit by bit, also those of bfloat16.

    Raises
    ------
    ValueError
        If batches differ, or G does not divide C; all that the library refuses is a `BadParamError`, a ValueError too.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> clip = torch.tensor([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)
    >>> pymluops.torch.tin_shift(clip, torch.tensor([[1]])).flatten().tolist()
    [0.0, 1.0, 2.0]
    """
    if gradient not in ("true", "mmcv"):
        raise ValueError(f"tin_shift: gradient: expected 'true' or 'mmcv', got {gradient!r}")
    if not _compiling():
        found = _tin_shift(input, shift)
        if found is not None:
            return found
        if is_overridden((input, shift)):
            return override(tin_shift, (input, shift), input, shift, gradient=gradient)
    if exporting_to_onnx():
        return _formulas.tin_shift(input, shift)
    return (TIN_SHIFT if gradient == "true" else TIN_SHIFT_AS_MMCV).through_torch(input, shift)


@traced_only("psamask_forward")
def psa_mask(input: Tensor, psa_type: int | str, mask_size: int | Sequence[int]) -> Tensor:
    """Spread the mask of every position over the whole feature map.

    A mask is centred on its position. With ``h2 = i + h - (h_mask - 1) // 2``, and w2 alike, every mask cell (i, j)
    that falls on the map goes to::

        collect:     output[n, h2*W + w2, h,  w ] = input[n, i*w_mask + j, h, w]
        distribute:  output[n, h*W  + w,  h2, w2] = input[n, i*w_mask + j, h, w]

    Parameters
    ----------
    input : Tensor, shape [N, h_mask*w_mask, H, W]
        One mask for each position; any floating type.
    psa_type : {0, 1} or {"collect", "distribute"}
        Which way attention flows.
    mask_size : int or (int, int)
        Height and width of a mask.

    Returns
    -------
    Tensor, shape [N, H*W, H, W]
        Like `input`, contiguous.

    Raises
    ------
    AssertionError
        If the shape of `input` does not fit `mask_size`, or `psa_type` is unknown.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> x = torch.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]).reshape(1, 3, 1, 2)  # a map of 1 x 2, masks of 1 x 3
    >>> pymluops.torch.psa_mask(x, 0, (1, 3))[0, :, 0].tolist()
    [[2.0, 4.0], [3.0, 5.0]]
    """
    distribute = _is_distribute(psa_type)
    if type(mask_size) is int and mask_size > 0:
        h_mask = w_mask = mask_size
    else:
        h_mask, w_mask = mask_sizes(mask_size)
    # What the library lets targets collect, with channels last, is what positions distribute with channels first.
    if not _compiling():
        found = _psa_mask(input, 1 - distribute, h_mask, w_mask)
        if found is not None:
            return found
        if is_overridden((input,)):
            return override(psa_mask, (input,), input, psa_type, mask_size)
    assert input.ndim == 4, f"psa_mask: input: expected 4 dims, got {input.ndim}"
    batch, _, height, width = input.shape
    given = sizes(input)[1]
    assert given == h_mask * w_mask, f"psa_mask: input: expected {h_mask * w_mask} channels, got {given}"
    if exporting_to_onnx():
        return _formulas.psa_mask(input, bool(distribute), h_mask, w_mask)
    spread = PSA_MASK.through_torch(input.permute(0, 2, 3, 1).contiguous(), 1 - distribute, h_mask, w_mask)
    return spread.view(batch, height * width, height, width)


def _is_distribute(psa_type: Any) -> int:
    """Return 1 for the type "distribute" and 0 for "collect"."""
    found: Any = _PSA_TYPES.get(psa_type) if isinstance(psa_type, str) else psa_type
    if type(found) is not int and _arguments.is_integer(found):
        found = int(found)
    fits = type(found) is int and found in (0, 1)
    assert fits, f"psa_mask: psa_type: expected 0 (collect) or 1 (distribute), got {psa_type!r}"
    return found


def mask_sizes(mask_size: Any) -> tuple[int, int]:
    """Return the height and the width of masks: one integer for both or two, of Python, NumPy or a tensor."""
    if _compiling():  # integers may be symbols
        if isinstance(mask_size, int):
            return mask_size, mask_size
        if isinstance(mask_size, (tuple, list)) and len(mask_size) == 2:
            return mask_size[0], mask_size[1]
    height, width = _arguments.integers(_PSA_NAMES, "mask_size", mask_size, 2, 1)
    return height, width


@traced_only("border_align_forward")
def border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tensor:
    """Take the largest of ``pool_size + 1`` samples along each border of each box.

    Border e (0 top, 1 left, 2 bottom, 3 right) samples channels ``e*C`` to ``(e+1)*C`` by bilinear interpolation, as
    `pymluops.border_align_forward` describes. The gradient flows to `input` only.

    Parameters
    ----------
    input : Tensor, shape [N, 4*C, H, W]
        Feature map, C channels for each border; any floating type.
    boxes : Tensor, shape [N, K, 4], like `input`
        x1, y1, x2, y2 in pixels of the feature map.
    pool_size : int
        Number of steps along a border, > 0.

    Returns
    -------
    Tensor, shape [N, C, K, 4]
        Like `input`, contiguous.

    Raises
    ------
    AssertionError
        If a shape is not as described.
    ValueError
        If the library refuses an argument.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(9.0).reshape(1, 1, 3, 3).repeat(1, 4, 1, 1)
    >>> pymluops.torch.border_align(features, torch.tensor([[[0.0, 0.0, 2.0, 2.0]]]), 2).flatten().tolist()
    [2.0, 6.0, 8.0, 8.0]
    """
    if not _compiling():
        found = _border_align(input, boxes, pool_size)
        if found is not None:
            return found
        if is_overridden((input, boxes)):
            return override(border_align, (input, boxes), input, boxes, pool_size)
    shape, map_shape = sizes(boxes), sizes(input)
    assert [*shape][2:] == [4], f"border_align: boxes: expected [N, K, 4], got {[*shape]}"
    fits = len(map_shape) == 4 and map_shape[1] % 4 == 0
    assert fits, f"border_align: input: expected [N, 4*C, H, W], got {[*map_shape]}"
    if exporting_to_onnx():
        return _formulas.border_align(input, boxes, pool_size)
    largest, _ = BORDER_ALIGN.through_torch(input.permute(0, 2, 3, 1).contiguous(), boxes, pool_size)
    return largest.permute(0, 3, 1, 2).contiguous()


@traced_only("three_interpolate_forward")
def three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Interpolate features at n points as weighted sums over three of m points each.

    ::

        output[b, c, n] = sum over i of weight[b, n, i] * features[b, c, indices[b, n, i]]

    As in mmcv, the gradient flows to `features` only.

    Parameters
    ----------
    features : Tensor, shape [B, C, m]
        C features at each of m points; any floating type.
    indices : Tensor, shape [B, n, 3], int32 or int64
        For each of n points the numbers of its three neighbours, 0 to m-1.
    weight : Tensor, shape [B, n, 3], like `features`
        Their weights.

    Returns
    -------
    Tensor, shape [B, C, n]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described; an index out of range is named.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[[10.0, 20.0, 40.0]]])
    >>> indices, weight = torch.tensor([[[0, 1, 2]]]), torch.tensor([[[0.5, 0.25, 0.25]]])
    >>> pymluops.torch.three_interpolate(features, indices, weight).item()
    20.0
    """
    if not _compiling():
        found = _three_interpolate(features, indices, weight)
        if found is not None:
            return found
        if is_overridden((features, indices, weight)):
            return override(three_interpolate, (features, indices, weight), features, indices, weight)
    if exporting_to_onnx():
        return _formulas.three_interpolate(features, indices, weight)
    return THREE_INTERPOLATE.through_torch(features, indices, weight)


@traced_only("three_nn_forward")
def three_nn(target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Find the three nearest source points of each target point.

    Neither result has a gradient, as in mmcv.

    Parameters
    ----------
    target : Tensor, shape [B, N, 3]
        The points to find neighbours for; any floating type.
    source : Tensor, shape [B, M, 3], like `target`
        The points among which they are found.

    Returns
    -------
    dist : Tensor, shape [B, N, 3]
        Distances to the three nearest points, ascending; infinity where there are fewer. Not squared.
    idx : Tensor, shape [B, N, 3], int32
        Their numbers; of equal distances the first.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> source = torch.tensor([[[5.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]]])
    >>> dist, idx = pymluops.torch.three_nn(torch.zeros(1, 1, 3), source)
    >>> dist.tolist(), idx.tolist()
    ([[[1.0, 1.0, 2.0]]], [[[1, 3, 2]]])
    """
    if not _compiling():
        found = _three_nn(target, source)
        if found is not None:
            return found
        if is_overridden((target, source)):
            return override(three_nn, (target, source), target, source)
    if exporting_to_onnx():
        return _formulas.three_nn(target, source)
    dist2, idx = THREE_NN.through_torch(target, source)
    # Roots of float32 that torch computes itself may be off by one place.
    return torch.sqrt(dist2.double()).to(dist2.dtype), idx


@traced_only("ball_query")
def ball_query(min_radius: float, max_radius: float, sample_num: int, xyz: Tensor, center_xyz: Tensor) -> Tensor:
    """Find the first points that lie in a shell around each centre.

    A point counts for a centre if its squared distance is 0, or at least ``min_radius**2`` and below
    ``max_radius**2``. Where fewer than `sample_num` points count, the first one fills the other places; a centre
    without a point has zeros. mmcv's form for batches of different lengths (``xyz_batch_cnt``) is not there.

    Parameters
    ----------
    min_radius, max_radius : float
        Radii of the shell, ``0 <= min_radius < max_radius``.
    sample_num : int
        Number of indices for each centre.
    xyz : Tensor, shape [B, N, 3]
        The points; any floating type.
    center_xyz : Tensor, shape [B, M, 3], like `xyz`
        The centres.

    Returns
    -------
    Tensor, shape [B, M, sample_num], int32
        Numbers of points, ascending.

    Raises
    ------
    AssertionError
        If ``min_radius >= max_radius``.
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[[9.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    >>> pymluops.torch.ball_query(0, 2, 3, points, torch.zeros(1, 1, 3)).tolist()
    [[[1, 2, 1]]]
    """
    if type(min_radius) is not float or type(max_radius) is not float:
        min_radius, max_radius = _radius("min_radius", min_radius), _radius("max_radius", max_radius)
    assert min_radius < max_radius, f"ball_query: expected min_radius < max_radius, got {min_radius} and {max_radius}"
    if not _compiling():
        found = _ball_query(center_xyz, xyz, min_radius, max_radius, sample_num)
        if found is not None:
            return found
        if is_overridden((xyz, center_xyz)):
            return override(ball_query, (xyz, center_xyz), min_radius, max_radius, sample_num, xyz, center_xyz)
    if exporting_to_onnx():
        return _formulas.ball_query(min_radius, max_radius, sample_num, xyz, center_xyz)
    return BALL_QUERY.through_torch(center_xyz, xyz, min_radius, max_radius, sample_num)


def _radius(name: str, radius: Any) -> Any:
    """Return a radius as Python's number, but one that stands for others, to a compiler."""
    return radius if isinstance(radius, (torch.SymInt, torch.SymFloat)) else _arguments.real(_BALL_NAMES, name, radius)


@traced_only("ms_deform_attn_forward")
def ms_deform_attn(
    value: Tensor,
    value_spatial_shapes: Tensor,
    value_level_start_index: Tensor,
    sampling_locations: Tensor,
    attention_weights: Tensor,
    im2col_step: int = 64,
) -> Tensor:
    """Sum samples of several maps, weighted, for each query and head: `MultiScaleDeformableAttnFunction` of mmcv.

    `pymluops.ms_deform_attn_forward` has the formulas. Gradients flow to `value`, `sampling_locations` and
    `attention_weights`.

    Parameters
    ----------
    value : Tensor, shape [B, K, M, C]
        K keys of M heads with C channels each: the pixels of L maps, row by row; any floating type.
    value_spatial_shapes : Tensor, shape [L, 2], int32 or int64
        Height and width of each map.
    value_level_start_index : Tensor, shape [L], int32 or int64
        The key with which each map begins.
    sampling_locations : Tensor, shape [B, Q, M, L, P, 2], like `value`
        For each query, head and map the x and y of P samples; 0 and 1 are the edges of the map.
    attention_weights : Tensor, shape [B, Q, M, L, P], like `value`
        Weights of the samples.
    im2col_step : int
        At least B, or a divisor of B. The result does not depend on it.

    Returns
    -------
    Tensor, shape [B, Q, M*C]
        Like `value`.

    Raises
    ------
    ValueError
        If an argument is not as described, or a map does not lie within the K keys.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> value = torch.tensor([1.0, 2, 3, 4]).reshape(1, 4, 1, 1)  # a map of 2 x 2
    >>> shapes, starts = torch.tensor([[2, 2]]), torch.tensor([0])
    >>> places, weights = torch.full((1, 1, 1, 1, 1, 2), 0.5), torch.ones(1, 1, 1, 1, 1)
    >>> pymluops.torch.ms_deform_attn(value, shapes, starts, places, weights).item()
    2.5
    """
    tensors = value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights
    if not _compiling():
        direct = _ms_deform_attn(*tensors, im2col_step)
        if direct is not None:
            return direct
        if is_overridden(tensors):
            return override(ms_deform_attn, tensors, *tensors, im2col_step)
    if exporting_to_onnx():
        return _formulas.ms_deform_attn(*tensors)
    found: Tensor = MS_DEFORM_ATTN.through_torch(*tensors, im2col_step)
    return found.flatten(2)
