"""rotated_feature_align of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Number, Row, binding, result, values

__all__ = ["rotated_feature_align_backward", "rotated_feature_align_forward"]

ROWS = (
    Row(
        "rotated_feature_align",
        ("rotated_feature_align_forward", "rotated_feature_align_backward"),
        "forward, backward",
        "mluOpRotatedFeatureAlignForward, Backward (float16, float32)",
        "A box is (y, x, width, height, angle), whatever mmcv's documentation calls its columns.",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP = "B C H W"
_BOXES = values("best_bboxes", "B H W 5", "bboxes")
_NUMBERS = (Number("spatial_scale", real=True), Number("points", choices={1: "centre", 5: "centre and corners"}))

rotated_feature_align_forward = binding(
    "rotated_feature_align_forward",
    "rotated_feature_align_forward",
    values("features", _MAP, "input", order=_LAST),
    _BOXES,
    result("output", _MAP, "out", order=_LAST),
    *_NUMBERS,
)
rotated_feature_align_backward = binding(
    "rotated_feature_align_backward",
    "rotated_feature_align_backward",
    values("top_grad", _MAP, "top_output", order=_LAST),
    _BOXES,
    result("bottom_grad", _MAP, "out", order=_LAST),
    *_NUMBERS,
)
