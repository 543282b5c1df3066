"""BezierAlign of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Number, Row, binding, result, values

__all__ = ["bezier_align_backward", "bezier_align_forward"]

ROWS = (
    Row(
        "bezier_align, BezierAlign",
        ("bezier_align_forward", "bezier_align_backward"),
        "forward, backward",
        "mluopsExtBezierAlignForward, Backward (float16, float32)",
        "A region whose image is none, or that is not finite, is 0.",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP, _POOLED = "B C H W", "R C pooled_height pooled_width"
_NUMBERS = (
    Number("aligned_height", least=1),
    Number("aligned_width", least=1),
    Number("spatial_scale", real=True),
    Number("sampling_ratio", least=0),
    Number("aligned"),
)
_ROIS = values("rois", "R 17", "rois")


def _check(call: Call) -> None:
    """The size of the pooled maps is that of the tensor and of the numbers."""
    for axis in ("height", "width"):
        wanted, found = call.arguments[f"aligned_{axis}"], call.sizes[f"pooled_{axis}"]
        if wanted != found:
            raise call.refuse(f"aligned_{axis}", f"{found}, as the tensor has", wanted)


bezier_align_forward = binding(
    "bezier_align_forward",
    "bezier_align_forward",
    values("input", _MAP, "input", order=_LAST),
    _ROIS,
    result("output", _POOLED, "out", order=_LAST),
    *_NUMBERS,
    check=_check,
    empty="zero",
)
bezier_align_backward = binding(
    "bezier_align_backward",
    "bezier_align_backward",
    values("grad_output", _POOLED, "grad_output", order=_LAST),
    _ROIS,
    result("grad_input", _MAP, "out", order=_LAST),
    *_NUMBERS,
    check=_check,
    empty="zero",
)
