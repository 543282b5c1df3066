"""Correlation of mmcv."""

from __future__ import annotations

from collections.abc import Callable

from pymluops.mmcv._binding import Call, Number, Row, binding, result, values

__all__ = ["correlation_backward", "correlation_forward"]

ROWS = (
    Row(
        "Correlation",
        ("correlation_forward", "correlation_backward"),
        "forward, backward",
        "mluopsExtCorrelationForward, Backward (float16, float32)",
    ),
)

_MAP, _RESULT = "B C H W", "B patchH patchW oH oW"
_NUMBERS = (
    *(Number(name, least=1) for name in ("kH", "kW", "patchH", "patchW")),
    *(Number(name, least=0) for name in ("padH", "padW")),
    *(Number(name, least=1) for name in ("dilationH", "dilationW", "dilation_patchH", "dilation_patchW", "dH", "dW")),
)


def _size(name: str) -> Callable[[Call], int]:
    return lambda call: call.sizes[name]


#: mmcv's names of the numbers.
_NAMES = {"kernel": "k", "patch": "patch", "stride": "d", "pad": "pad", "dilation": "dilation"}
_NAMES["dilation_patch"] = "dilation_patch"
_SCALARS = {f"{ours}_{axis}": _size(f"{name}{axis.upper()}") for ours, name in _NAMES.items() for axis in "hw"}

correlation_forward = binding(
    "correlation_forward",
    "correlation_forward",
    values("input1", _MAP, "input1"),
    values("input2", _MAP, "input2"),
    result("output", _RESULT, "out"),
    *_NUMBERS,
    scalars={**_SCALARS, "Ho": _size("oH"), "Wo": _size("oW")},
    empty="zero",
)
correlation_backward = binding(
    "correlation_backward",
    "correlation_backward",
    values("grad_output", _RESULT, "grad_output"),
    values("input1", _MAP, "input1"),
    values("input2", _MAP, "input2"),
    result("grad_input1", _MAP, "grad_input1"),
    result("grad_input2", _MAP, "grad_input2"),
    *_NUMBERS,
    scalars=_SCALARS,
    empty="zero",
)
