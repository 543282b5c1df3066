"""RoIAlignRotated and RiRoIAlignRotated of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Array, Call, Number, Row, binding, result, values
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor

__all__ = [
    "riroi_align_rotated_backward",
    "riroi_align_rotated_forward",
    "roi_align_rotated_backward",
    "roi_align_rotated_forward",
]

ROWS = (
    Row(
        "roi_align_rotated, RoIAlignRotated",
        ("roi_align_rotated_forward", "roi_align_rotated_backward"),
        "forward, backward",
        "mluOpRoiAlignRotatedForward, Backward (float16, float32)",
        "If the batch index is out of range, or the size is negative, the region's result is 0.",
    ),
    Row(
        "riroi_align_rotated, RiRoIAlignRotated",
        ("riroi_align_rotated_forward", "riroi_align_rotated_backward"),
        "forward, backward",
        "mluopsExtRiRoiAlignRotatedForward, Backward (float32)",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP, _POOLED = "B C H W", "R C pooled_height pooled_width"
_SIZES = (Number("pooled_height", least=1), Number("pooled_width", least=1), Number("spatial_scale", real=True))
_NUMBERS = (*_SIZES, Number("sampling_ratio", least=0), Number("aligned"), Number("clockwise"))
_TURNING = (*_SIZES, Number("num_samples", least=0), Number("num_orientations", least=1), Number("clockwise"))
_ROIS = values("rois", "R 6", "rois")


def _divides(call: Call) -> None:
    if call.sizes["C"] % call.sizes["num_orientations"]:
        expected = f"a divisor of the {call.sizes['C']} channels"
        raise call.refuse("num_orientations", expected, call.sizes["num_orientations"])


def _map(name: str, to: str, **options: Any) -> Array:
    return values(name, _MAP, to, order=_LAST, **options)


def _pooled(name: str, to: str, **options: Any) -> Array:
    return values(name, _POOLED, to, order=_LAST, **options)


roi_align_rotated_forward = binding(
    "roi_align_rotated_forward",
    "roi_align_rotated_forward",
    _map("input", "features"),
    _ROIS,
    _pooled("output", "out", written=True),
    *_NUMBERS,
    empty="zero",
)
_backward = binding(
    "roi_align_rotated_backward",
    "roi_align_rotated_backward",
    _pooled("grad_output", "top_grad"),
    _ROIS,
    result("grad_input", _MAP, "out", order=_LAST),
    *_NUMBERS,
    empty="zero",
)


@extension_function
def roi_align_rotated_backward(
    rois: Tensor,
    grad_input: Tensor,
    grad_output: Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: int,
    clockwise: int,
) -> None:
    """Write the gradient of the maps.

    mmcv's binding has these names, and its callers pass the gradient of the output, the regions and
    the gradient of the maps in this order.
    """
    numbers = (pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned, clockwise)
    _backward(rois, grad_input, grad_output, *numbers)


riroi_align_rotated_forward = binding(
    "riroi_align_rotated_forward",
    "riroi_align_rotated_forward",
    _map("features", "input"),
    _ROIS,
    _pooled("output", "out", written=True),
    *_TURNING,
    check=_divides,
    empty="zero",
)
riroi_align_rotated_backward = binding(
    "riroi_align_rotated_backward",
    "riroi_align_rotated_backward",
    _pooled("top_grad", "grad_output"),
    _ROIS,
    result("bottom_grad", _MAP, "out", order=_LAST),
    *_TURNING,
    check=_divides,
    empty="zero",
)
