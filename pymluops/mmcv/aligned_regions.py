"""RoIAlign of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row, binding, result, values
from pymluops.mmcv._regions import ALIGNED_NUMBERS, check_aligned_size
from pymluops.mmcv._tensors import extension_function, refuse
from pymluops.mmcv._torch import Tensor

__all__ = ["roi_align_backward", "roi_align_forward"]

ROWS = (
    Row(
        "roi_align, RoIAlign",
        ("roi_align_forward", "roi_align_backward"),
        "forward, backward",
        "mluopsExtRoiAlignForward, Backward, MaxForward, MaxBackward (float16, float32)",
        "If the batch index is out of range, the region's result is 0.",
    ),
)

_CHANNELS_LAST = (0, 2, 3, 1)
_MAP, _POOLED = "B C H W", "R C pooled_height pooled_width"


def _pooled(name: str, to: str, **options: Any) -> Any:
    return values(name, _POOLED, to, order=_CHANNELS_LAST, **options)


_ROIS = values("rois", "R 5", "rois")
_FORWARD = values("input", _MAP, "input", order=_CHANNELS_LAST), _ROIS, _pooled("output", "out", written=True)
_BACKWARD = result("grad_input", _MAP, "out", order=_CHANNELS_LAST)
_average_forward = binding(
    "roi_align_forward", "roi_align_forward", *_FORWARD, *ALIGNED_NUMBERS, check=check_aligned_size, empty="zero"
)
_average_backward = binding(
    "roi_align_backward",
    "roi_align_backward",
    _pooled("grad_output", "grad_output"),
    _ROIS,
    _BACKWARD,
    *ALIGNED_NUMBERS,
    check=check_aligned_size,
    empty="zero",
)
_largest_forward = binding(
    "roi_align_forward",
    "roi_align_max_forward",
    *_FORWARD,
    _pooled("argmax_y", "argmax_y", written=True),
    _pooled("argmax_x", "argmax_x", written=True),
    *ALIGNED_NUMBERS,
    check=check_aligned_size,
    empty="zero",
)
_largest_backward = binding(
    "roi_align_backward",
    "roi_align_max_backward",
    _pooled("grad_output", "grad_output"),
    _ROIS,
    _pooled("argmax_y", "argmax_y"),
    _pooled("argmax_x", "argmax_x"),
    _BACKWARD,
    *ALIGNED_NUMBERS,
    check=check_aligned_size,
    empty="zero",
)


def _takes_largest(function: str, pool_mode: int) -> bool:
    if pool_mode not in (0, 1):
        raise refuse(function, "pool_mode", "0 (max) or 1 (avg)", pool_mode)
    return pool_mode == 0


@extension_function
def roi_align_forward(
    input: Tensor,
    rois: Tensor,
    output: Tensor,
    argmax_y: Tensor,
    argmax_x: Tensor,
    aligned_height: int,
    aligned_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    pool_mode: int,
    aligned: int,
) -> None:
    """Write the pooled samples of each region; places of the largest ones only where these are pooled."""
    numbers = (aligned_height, aligned_width, spatial_scale, sampling_ratio, aligned)
    if _takes_largest("roi_align_forward", pool_mode):
        _largest_forward(input, rois, output, argmax_y, argmax_x, *numbers)
    else:
        _average_forward(input, rois, output, *numbers)


@extension_function
def roi_align_backward(
    grad_output: Tensor,
    rois: Tensor,
    argmax_y: Tensor,
    argmax_x: Tensor,
    grad_input: Tensor,
    aligned_height: int,
    aligned_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    pool_mode: int,
    aligned: int,
) -> None:
    """Write the gradient of the maps."""
    numbers = (aligned_height, aligned_width, spatial_scale, sampling_ratio, aligned)
    if _takes_largest("roi_align_backward", pool_mode):
        _largest_backward(grad_output, rois, argmax_y, argmax_x, grad_input, *numbers)
    else:
        _average_backward(grad_output, rois, grad_input, *numbers)
