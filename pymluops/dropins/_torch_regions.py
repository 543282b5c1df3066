"""The operators of ``torch.ops.torchvision`` on tensors of the CPU, as torchvision's documentation describes them."""

from __future__ import annotations

import math
from typing import Any

from pymluops.dropins._declarations import renamed
from pymluops.mmcv import aligned_regions, box_nms, deform_conv
from pymluops.mmcv import box_iou_rotated as overlaps
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, check_tensors, compute_type, dense, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = [
    "box_iou_rotated",
    "cuda_version",
    "deform_conv2d",
    "deform_conv2d_backward",
    "nms",
    "ps_roi_align",
    "ps_roi_align_backward",
    "ps_roi_pool",
    "ps_roi_pool_backward",
    "qnms",
    "qroi_align",
    "roi_align",
    "roi_align_backward",
    "roi_pool",
    "roi_pool_backward",
]

_FIRST, _LAST = (0, 3, 1, 2), (0, 2, 3, 1)
_AVERAGE = 1


def cuda_version() -> int:
    """Return -1: there is no CUDA."""
    return -1


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return the numbers of boxes [N, 4] that are kept, in the order of their scores."""
    check_floats("nms", dets=dets)
    check_shape("nms", "dets", dets, (None, 4))
    check_shape("nms", "scores", scores, (len(dets),))
    if not len(dets):
        return scores.new_empty(0, dtype=load_torch().int64)
    found: Tensor = box_nms.nms(dets, scores, iou_threshold, 0)
    return found


def qnms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return what `nms` does of integers, which stand for boxes and scores in steps of the same size."""
    return nms(dets.double(), scores.double(), iou_threshold)


def box_iou_rotated(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return the overlaps [N, M] of boxes of centre, size and an angle in degrees, which turns counterclockwise."""
    name = "box_iou_rotated"
    check_floats(name, boxes1=boxes1, boxes2=boxes2)
    check_shape(name, "boxes1", boxes1, (None, 5))
    check_shape(name, "boxes2", boxes2, (None, 5))
    found = boxes1.new_zeros(len(boxes1), len(boxes2))
    if found.numel():
        overlaps.box_iou_rotated(counterclockwise(boxes1), counterclockwise(boxes2), found, 0, False)
    return found


def counterclockwise(boxes: Tensor) -> Tensor:
    """Return the boxes of the operators for boxes whose last column has degrees and turns counterclockwise."""
    found = boxes.detach().clone()
    found[:, -1] = -load_torch().deg2rad(found[:, -1].fmod(360))
    return found


# ---- Regions -------------------------------------------------------------------------------------


def _check_regions(name: str, maps: str, given: Tensor, rois: Tensor, bins: tuple[int, int]) -> None:
    check_floats(name, **{maps: given, "rois": rois})
    check_shape(name, maps, given, (None,) * 4)
    check_shape(name, "rois", rois, (None, 5))
    for argument, number in zip(("pooled_height", "pooled_width"), bins, strict=True):
        if number < 1:
            raise refuse(name, argument, "at least 1", number)


def _depth(name: str, input: Tensor, bins: tuple[int, int]) -> int:
    """Return how many channels a position-sensitive pool has."""
    square = bins[0] * bins[1]
    if input.shape[1] % square:
        expected = f"channels that are a multiple of {bins[0]} x {bins[1]}"
        raise refuse(name, "input", expected, input.shape[1])
    return int(input.shape[1] // square)


_ALIGN = renamed(aligned_regions.roi_align_forward, "roi_align")
_ALIGN_BACKWARD = renamed(aligned_regions.roi_align_backward, "_roi_align_backward")


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Return the means of bilinear samples in the bins of regions, [R, C, ph, pw]."""
    _check_regions("roi_align", "input", input, rois, (pooled_height, pooled_width))
    output = input.new_zeros(len(rois), input.shape[1], pooled_height, pooled_width)
    if output.numel() and input.numel():
        none = input.new_empty(0)
        numbers = (pooled_height, pooled_width, spatial_scale, max(0, sampling_ratio), _AVERAGE, int(aligned))
        _ALIGN(input, rois, output, none, none, *numbers)
    return output


def qroi_align(
    input: Tensor,
    rois: Tensor,
    input_scale: float,
    input_zero_point: int,
    rois_scale: float,
    rois_zero_point: int,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Return `roi_align` of integers that stand for numbers, rounded to such integers again."""
    maps = (input.float() - input_zero_point) * input_scale
    regions = (rois.float() - rois_zero_point) * rois_scale
    found = roi_align(maps, regions, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)
    limits = load_torch().iinfo(input.dtype)
    rounded = (found / input_scale).round() + input_zero_point
    result: Tensor = rounded.clamp(limits.min, limits.max).to(input.dtype)
    return result


def roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Return the gradient of the maps, [B, C, H, W]."""
    name = "_roi_align_backward"
    _check_regions(name, "grad", grad, rois, (pooled_height, pooled_width))
    check_shape(name, "grad", grad, (len(rois), channels, pooled_height, pooled_width))
    result = grad.new_zeros(batch_size, channels, height, width)
    if grad.numel() and result.numel():
        none = grad.new_empty(0)
        numbers = (pooled_height, pooled_width, spatial_scale, max(0, sampling_ratio), _AVERAGE, int(aligned))
        _ALIGN_BACKWARD(grad, rois, none, none, result, *numbers)
    return result


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Return the largest pixels in the bins of regions, [R, C, ph, pw], and their places, -1 for none."""
    _check_regions("roi_pool", "input", input, rois, (pooled_height, pooled_width))
    shape, torch = (len(rois), input.shape[1], pooled_height, pooled_width), load_torch()
    if not (math.prod(shape) and input.numel()):
        return input.new_zeros(shape), input.new_full(shape, -1, dtype=torch.int32)
    kind = compute_type(input.dtype, torch.float32)
    given = (dense(input.permute(_LAST), kind), dense(rois, kind), None, None)
    out, places = run(described("roi_pool_forward"), given, (pooled_height, pooled_width, spatial_scale, True))
    return out.permute(_FIRST).to(input.dtype).contiguous(), places.permute(_FIRST).contiguous()


def roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    argmax: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """Return the gradient of the maps, [B, C, H, W]: that of a bin goes to its largest pixel."""
    name = "_roi_pool_backward"
    _check_regions(name, "grad", grad, rois, (pooled_height, pooled_width))
    check_tensors(name, ("int32",), {"argmax": argmax})
    check_shape(name, "grad", grad, (len(rois), channels, pooled_height, pooled_width))
    check_shape(name, "argmax", argmax, grad.shape)
    result = grad.new_zeros(batch_size, channels, height * width)
    images = rois[:, 0].long()
    there = (argmax >= 0) & (argmax < height * width) & ((images >= 0) & (images < batch_size))[:, None, None, None]
    places = argmax.long().where(there, 0)
    if result.numel():
        for row, image in enumerate(images.clamp(0, batch_size - 1).tolist()):
            values = grad[row].where(there[row], 0)
            result[image].scatter_add_(1, places[row].flatten(1), values.flatten(1))
    return result.view(batch_size, channels, height, width)


def _channels(depth: int, rows: int, bins: tuple[int, int]) -> Tensor:
    """Return the channel that each bin takes, [R, D, ph, pw]."""
    own = load_torch().arange(depth * bins[0] * bins[1], dtype=load_torch().int32)
    return own.view(1, depth, *bins).expand(rows, -1, -1, -1).contiguous()


#: Values of regions whose channels are pooled at once.
_MOST = 1 << 24


def ps_roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> tuple[Tensor, Tensor]:
    """Return the means of samples in the bins of regions, [R, D, ph, pw], and the channel that each is of."""
    name, bins = "ps_roi_align", (pooled_height, pooled_width)
    _check_regions(name, "input", input, rois, bins)
    depth = _depth(name, input, bins)
    output = input.new_zeros(len(rois), depth, *bins)
    part = max(1, _MOST // max(1, input.shape[1] * bins[0] * bins[1]))
    for first in range(0, len(rois), part):
        numbers = (spatial_scale, *bins, sampling_ratio, True)
        pooled = roi_align(input, rois[first : first + part], *numbers).view(-1, depth, *bins, *bins)
        output[first : first + part] = pooled.diagonal(dim1=2, dim2=4).diagonal(dim1=2, dim2=3)
    return output, _channels(depth, len(rois), bins)


def ps_roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """Return the gradient of the maps, [B, C, H, W]."""
    name, bins = "_ps_roi_align_backward", (pooled_height, pooled_width)
    _check_regions(name, "grad", grad, rois, bins)
    depth = channels // (bins[0] * bins[1])
    check_shape(name, "grad", grad, (len(rois), depth, *bins))
    result = grad.new_zeros(batch_size, channels, height, width)
    part = max(1, _MOST // max(1, channels * bins[0] * bins[1]))
    for first in range(0, len(rois), part):
        own = grad[first : first + part]
        spread = own.new_zeros(len(own), depth, *bins, *bins)
        spread.diagonal(dim1=2, dim2=4).diagonal(dim1=2, dim2=3).copy_(own)
        sizes = (batch_size, channels, height, width)
        numbers = (spatial_scale, *bins, *sizes, sampling_ratio, True)
        result += roi_align_backward(spread.view(len(own), channels, *bins), rois[first : first + part], *numbers)
    return result


def _edges(rois: Tensor, spatial_scale: float, bins: tuple[int, int], size: tuple[int, int]) -> tuple[Any, Any]:
    """Return [R, ph] twice and [R, pw] twice: the first pixel of each bin and the one after its last.

    Corners are rounded after they are scaled, a region is at least a pixel wide and high, and bin i
    of n reaches from i / n of it, rounded down, to (i + 1) / n, rounded up.
    """
    torch = load_torch()
    scaled = rois[:, 1:].double() * spatial_scale
    corners = (scaled.sign() * (scaled.abs() + 0.5).floor()).nan_to_num(0).clamp(-(2**40), 2**40).long()
    found: list[Any] = []
    for axis, count, most in ((1, bins[0], size[0]), (0, bins[1], size[1])):
        start, length = corners[:, axis, None], (corners[:, axis + 2] - corners[:, axis]).clamp(min=1)[:, None]
        number = torch.arange(count)
        low = torch.div(number * length, count, rounding_mode="floor") + start
        high = -torch.div(-(number + 1) * length, count, rounding_mode="floor") + start
        found.append((low.clamp(0, most), high.clamp(0, most)))
    return found[0], found[1]


def _masks(rois: Tensor, spatial_scale: float, bins: tuple[int, int], maps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return which rows and columns the bins have, [R, ph, H] and [R, pw, W], and 1 / area of each, [R, ph, pw]."""
    torch = load_torch()
    height, width = maps.shape[2:]
    found: list[Any] = []
    for (low, high), size in zip(_edges(rois, spatial_scale, bins, (height, width)), (height, width), strict=True):
        pixel = torch.arange(size)
        found.append(((pixel >= low[..., None]) & (pixel < high[..., None])).to(maps.dtype))
    area = found[0].sum(2)[:, :, None] * found[1].sum(2)[:, None]
    there = (rois[:, 0] > -1) & (rois[:, 0] < len(maps)) & rois.isfinite().all(1)
    share = torch.where((area > 0) & there[:, None, None], 1 / area.clamp(min=1), 0)
    return found[0], found[1], share


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Return the means of pixels in the bins of regions, [R, D, ph, pw], and the channel that each is of."""
    name, bins = "ps_roi_pool", (pooled_height, pooled_width)
    _check_regions(name, "input", input, rois, bins)
    depth = _depth(name, input, bins)
    maps = input.to(compute_type(input.dtype, load_torch().float32))
    output = maps.new_zeros(len(rois), depth, *bins)
    if maps.numel():
        rows, columns, share = _masks(rois, spatial_scale, bins, maps)
        for row, image in enumerate(_images(rois, len(maps))):
            parts = maps[image].view(depth, *bins, *maps.shape[2:])
            narrow = (parts * columns[row][:, None]).sum(4)  # [D, ph, pw, H]
            output[row] = (narrow * rows[row][:, None]).sum(3) * share[row]
    return output.to(input.dtype), _channels(depth, len(rois), bins)


def _images(rois: Tensor, batch: int) -> list[int]:
    found: list[int] = rois[:, 0].nan_to_num(0).clamp(0, batch - 1).long().tolist()
    return found


def ps_roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """Return the gradient of the maps, [B, C, H, W]."""
    name, bins = "_ps_roi_pool_backward", (pooled_height, pooled_width)
    _check_regions(name, "grad", grad, rois, bins)
    depth = channels // (bins[0] * bins[1])
    check_shape(name, "grad", grad, (len(rois), depth, *bins))
    given = grad.to(compute_type(grad.dtype, load_torch().float32))
    result = given.new_zeros(batch_size, channels, height, width)
    if result.numel():
        rows, columns, share = _masks(rois, spatial_scale, bins, result)
        for row, image in enumerate(_images(rois, batch_size)):
            part = (given[row] * share[row])[..., None, None] * rows[row][:, None, :, None]
            result[image] += (part * columns[row][:, None]).view(channels, height, width)
    return result.to(grad.dtype)


# ---- Deformable convolution ----------------------------------------------------------------------

_CONVOLUTION = renamed(deform_conv.modulated_deform_conv_forward, "deform_conv2d")
_CONVOLUTION_BACKWARD = renamed(deform_conv.modulated_deform_conv_backward, "_deform_conv2d_backward")


def _modulation(mask: Tensor, offset: Tensor, use_mask: bool) -> Tensor:
    """Return the mask; ones if there is none."""
    if use_mask:
        return mask
    return offset.new_ones(len(offset), offset.shape[1] // 2, *offset.shape[2:])


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """Return the convolution [N, Co, Ho, Wo] of input [N, Ci, H, W]."""
    name = "deform_conv2d"
    check_floats(name, input=input, weight=weight, offset=offset, bias=bias)
    for argument, tensor in {"input": input, "weight": weight, "offset": offset}.items():
        check_shape(name, argument, tensor, (None,) * 4)
    output, none = input.new_zeros(len(input), len(weight), *offset.shape[2:]), input.new_empty(0)
    numbers = (*weight.shape[2:], stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups)
    given = (input, weight, bias, none, offset, _modulation(mask, offset, use_mask), output, none)
    _CONVOLUTION(*given, *numbers, True)
    return output


def deform_conv2d_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> tuple[Tensor, ...]:
    """Return the gradients of input, weight, offset, mask and bias."""
    modulation = _modulation(mask, offset, use_mask)
    made = {
        key: tensor.new_zeros(tensor.shape)
        for key, tensor in (
            ("input", input),
            ("weight", weight),
            ("bias", bias),
            ("offset", offset),
            ("mask", modulation),
        )
    }
    none = input.new_empty(0)
    numbers = (*weight.shape[2:], stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups)
    given = (input, weight, bias, none, offset, modulation, none, *made.values(), grad)
    _CONVOLUTION_BACKWARD(*given, *numbers, True)
    of_mask = made["mask"] if use_mask else mask.new_zeros(mask.shape)
    return made["input"], made["weight"], made["offset"], of_mask, made["bias"]
