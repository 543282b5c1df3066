"""border_align and BorderAlign of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Number, Row, binding, indices, result, values

__all__ = ["border_align_backward", "border_align_forward"]

ROWS = (
    Row(
        "border_align, BorderAlign",
        ("border_align_forward", "border_align_backward"),
        "forward, backward",
        "mluOpBorderAlignForward, Backward (float16, float32)",
    ),
)

_CHANNELS_LAST = (0, 2, 3, 1)
_STEPS = Number("pool_size", least=1)

border_align_forward = binding(
    "border_align_forward",
    "border_align_forward",
    values("input", "N 4*C H W", "input", order=_CHANNELS_LAST),
    values("boxes", "N K 4", "boxes"),
    result("output", "N C K 4", "out", order=_CHANNELS_LAST),
    result("argmax_idx", "N C K 4", "argmax_idx", order=_CHANNELS_LAST, types=("int32",)),
    _STEPS,
)
border_align_backward = binding(
    "border_align_backward",
    "border_align_backward",
    values("grad_output", "N C K 4", "grad_output", order=_CHANNELS_LAST),
    values("boxes", "N K 4", "boxes"),
    indices("argmax_idx", "N C K 4", "argmax_idx", order=_CHANNELS_LAST),
    result("grad_input", "N 4*C H W", "out", order=_CHANNELS_LAST),
    _STEPS,
    empty="zero",
)
