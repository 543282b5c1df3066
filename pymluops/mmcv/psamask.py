"""psa_mask and PSAMask of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Number, Row, binding, integers, result, values

__all__ = ["psamask_backward", "psamask_forward"]

ROWS = (
    Row(
        "psa_mask, PSAMask",
        ("psamask_forward", "psamask_backward"),
        "forward, backward",
        "mluOpPsamaskForward, Backward (bits are moved)",
    ),
)

_NUMBERS = (
    Number("psa_type", choices={0: "collect", 1: "distribute"}),
    *integers("num_ h_feature w_feature"),
    Number("h_mask", least=1),
    Number("w_mask", least=1),
    *integers("half_h_mask half_w_mask"),
)
_MASKS = "num_ h_mask*w_mask h_feature w_feature"
_SPREAD = "num_ h_feature*w_feature h_feature w_feature"

# The operators have channels last. Distributing with channels last writes y[n, h2, w2, h*W + w],
# which is, value for value, the memory of what collecting writes with channels first, output[n,
# h2*W + w2, h, w]; and the other way round. So only the masks have to be transposed, if the
# operator of the other direction is called.
_CHANNELS_LAST = "num_ h_feature w_feature h_feature*w_feature"


def _other_direction(call: Call) -> int:
    return 1 - int(call.arguments["psa_type"])


def _check(call: Call) -> None:
    for name in ("h_mask", "w_mask"):
        half = (call.sizes[name] - 1) // 2
        if call.sizes[f"half_{name}"] != half:
            raise call.refuse(f"half_{name}", f"{half} for {name}={call.sizes[name]}", call.sizes[f"half_{name}"])


psamask_forward = binding(
    "psamask_forward",
    "psamask_forward",
    values("input", _MASKS, "x", order=(0, 2, 3, 1)),
    result("output", _SPREAD, "out", view=_CHANNELS_LAST),
    *_NUMBERS,
    scalars={"psa_type": _other_direction},
    check=_check,
)
psamask_backward = binding(
    "psamask_backward",
    "psamask_backward",
    values("grad_output", _SPREAD, "dy", view=_CHANNELS_LAST),
    result("grad_input", _MASKS, "out", order=(0, 2, 3, 1)),
    *_NUMBERS,
    scalars={"psa_type": _other_direction},
    check=_check,
)
