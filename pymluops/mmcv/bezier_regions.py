"""BezierAlign of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row, binding, result, values
from pymluops.mmcv._regions import ALIGNED_NUMBERS, check_aligned_size

__all__ = ["bezier_align_backward", "bezier_align_forward"]

ROWS = (
    Row(
        "bezier_align, BezierAlign",
        ("bezier_align_forward", "bezier_align_backward"),
        "forward, backward",
        "mluopsExtBezierAlignForward, Backward (float16, float32)",
        "If the batch index is out of range, or a number is not finite, the region's result is 0.",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP, _POOLED = "B C H W", "R C pooled_height pooled_width"
_ROIS = values("rois", "R 17", "rois")


bezier_align_forward = binding(
    "bezier_align_forward",
    "bezier_align_forward",
    values("input", _MAP, "input", order=_LAST),
    _ROIS,
    result("output", _POOLED, "out", order=_LAST),
    *ALIGNED_NUMBERS,
    check=check_aligned_size,
    empty="zero",
)
bezier_align_backward = binding(
    "bezier_align_backward",
    "bezier_align_backward",
    values("grad_output", _POOLED, "grad_output", order=_LAST),
    _ROIS,
    result("grad_input", _MAP, "out", order=_LAST),
    *ALIGNED_NUMBERS,
    check=check_aligned_size,
    empty="zero",
)
