"""tin_shift and TINShift of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row, binding, indices, result, values

__all__ = ["tin_shift_backward", "tin_shift_forward"]

ROWS = (
    Row(
        "tin_shift, TINShift",
        ("tin_shift_forward", "tin_shift_backward"),
        "forward, backward",
        "mluOpTinShiftForward (bits are moved)",
        "The gradient is shifted with the same sign as the values, which is mmcv's rule but not the true gradient, so "
        "gradcheck fails, as it does with a compiled mmcv.",
    ),
)

tin_shift_forward = binding(
    "tin_shift_forward",
    "tin_shift_forward",
    values("input", "B T C P", "input"),
    indices("shift", "B G", "shifts"),
    result("output", "B T C P", "out"),
)
tin_shift_backward = binding(
    "tin_shift_backward",
    "tin_shift_backward",
    values("grad_output", "B T C P", "grad_output"),
    indices("shift", "B G", "shifts"),
    result("grad_input", "B T C P", "out"),
)
