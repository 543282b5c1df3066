"""Rotated boxes and regions of detectron2: centre, width, height, and degrees counterclockwise."""

from __future__ import annotations

from pymluops.dropins._declarations import renamed
from pymluops.dropins._torch_regions import box_iou_rotated as _overlaps
from pymluops.dropins._torch_regions import counterclockwise
from pymluops.mmcv import nms_rotated as suppression
from pymluops.mmcv import turned_regions as regions
from pymluops.mmcv._tensors import check_floats, check_shape, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["box_iou_rotated", "nms_rotated", "roi_align_rotated_backward", "roi_align_rotated_forward"]

_FORWARD = regions.roi_align_rotated_forward
_BACKWARD = renamed(regions._backward, "roi_align_rotated_backward")  # pyright: ignore[reportPrivateUsage]
_ALIGNED, _CLOCKWISE = 1, 1


@extension_function
def box_iou_rotated(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return the overlaps [N, M] of boxes [N, 5] and [M, 5]."""
    return _overlaps(boxes1, boxes2)


@extension_function
def nms_rotated(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return the numbers of boxes [N, 5] that are kept, in the order of their scores."""
    check_floats("nms_rotated", dets=dets)
    check_shape("nms_rotated", "dets", dets, (None, 5))
    check_shape("nms_rotated", "scores", scores, (len(dets),))
    if not len(dets):
        return scores.new_empty(0, dtype=load_torch().int64)
    boxes, none = counterclockwise(dets), scores.new_empty(0)
    order = scores.detach().sort(descending=True, stable=True)[1]
    ranks = load_torch().arange(len(order), 0, -1, dtype=boxes.dtype)  # any scores, in any type
    kept: Tensor = suppression.nms_rotated(boxes[order], ranks, order, none, none, iou_threshold, 0)
    return order[kept]


def _check(name: str, maps: str, given: Tensor, rois: Tensor, bins: tuple[int, int]) -> None:
    check_floats(name, **{maps: given, "rois": rois})
    check_shape(name, maps, given, (None,) * 4)
    check_shape(name, "rois", rois, (None, 6))
    for argument, number in zip(("pooled_height", "pooled_width"), bins, strict=True):
        if number < 1:
            raise refuse(name, argument, "at least 1", number)


@extension_function
def roi_align_rotated_forward(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> Tensor:
    """Return the means of bilinear samples in the bins of rotated regions [R, 6], [R, C, ph, pw]."""
    bins = (pooled_height, pooled_width)
    _check("roi_align_rotated_forward", "input", input, rois, bins)
    output = input.new_zeros(len(rois), input.shape[1], *bins)
    if output.numel() and input.numel():
        _FORWARD(
            input, counterclockwise(rois), output, *bins, spatial_scale, max(0, sampling_ratio), _ALIGNED, _CLOCKWISE
        )
    return output


@extension_function
def roi_align_rotated_backward(
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
) -> Tensor:
    """Return the gradient of the maps, [B, C, H, W]."""
    name, bins = "roi_align_rotated_backward", (pooled_height, pooled_width)
    _check(name, "grad", grad, rois, bins)
    check_shape(name, "grad", grad, (len(rois), channels, *bins))
    result = grad.new_zeros(batch_size, channels, height, width)
    if grad.numel() and result.numel():
        numbers = (spatial_scale, max(0, sampling_ratio), _ALIGNED, _CLOCKWISE)
        _BACKWARD(grad, counterclockwise(rois), result, *bins, *numbers)
    return result
