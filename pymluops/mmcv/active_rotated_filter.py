"""active_rotated_filter of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Row, binding, indices, result, values
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor

__all__ = ["active_rotated_filter_backward", "active_rotated_filter_forward"]

ROWS = (
    Row(
        "active_rotated_filter",
        ("active_rotated_filter_forward", "active_rotated_filter_backward"),
        "forward, backward",
        "mluOpActiveRotatedFilterForward, mluopsExtActiveRotatedFilterBackward (float16, float32)",
        "Kernels are 1 or 3 wide, rotations 2, 4 or 8, orientations a power of two up to 128. A place beside the "
        "filter is refused; a compiled mmcv writes outside of the tensor.",
    ),
)

_TABLE = indices("indices", "r k k R", "indices")


def _check_places(call: Call) -> None:
    """Check that every cell goes to a cell."""
    table, cells = call.arguments["indices"], call.sizes["r"] * call.sizes["k"] ** 2
    wrong = (table < 1) | (table > cells)
    if bool(wrong.any()):
        raise call.refuse("indices", f"places from 1 to {cells}", int(table[wrong][0]))


active_rotated_filter_forward = binding(
    "active_rotated_filter_forward",
    "active_rotated_filter_forward",
    values("input", "O I r k k", "input"),
    _TABLE,
    result("output", "O*R I*r k k", "out"),
    check=_check_places,
)
# The numbers of filters and planes are those of the result, so that it comes before the gradient.
_backward = binding(
    "active_rotated_filter_backward",
    "active_rotated_filter_backward",
    result("grad_in", "O I r k k", "out"),
    _TABLE,
    values("grad_out", "O*R I*r k k", "grad_output"),
    check=_check_places,
)


@extension_function
def active_rotated_filter_backward(grad_out: Tensor, indices: Tensor, grad_in: Tensor) -> None:
    """Write the gradient of the filters."""
    _backward(grad_in, indices, grad_out)
