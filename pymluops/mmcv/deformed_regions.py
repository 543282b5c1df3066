"""DeformRoIPool of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Number, Row, binding, result, values
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["deform_roi_pool_backward", "deform_roi_pool_forward"]

ROWS = (
    Row(
        "deform_roi_pool, DeformRoIPool, DeformRoIPoolPack, ModulatedDeformRoIPoolPack",
        ("deform_roi_pool_forward", "deform_roi_pool_backward"),
        "forward, backward",
        "mluOpDeformRoiPoolForward, Backward (float16, float32)",
        "If the batch index is out of range, the region's result is 0. Beside the outermost pixels the gradient of "
        "offsets is not the true one, as in mmcv.",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP, _POOLED, _OFFSETS = "B C H W", "R C pooled_height pooled_width", "R 2 pooled_height pooled_width"
_NUMBERS = (
    Number("pooled_height", least=1),
    Number("pooled_width", least=1),
    Number("spatial_scale", real=True),
    Number("sampling_ratio", least=0),
    Number("gamma", real=True),
)
_GIVEN = values("input", _MAP, "input", order=_LAST), values("rois", "R 5", "rois")
_OFFSET = values("offset", _OFFSETS, "offset")
_POOL = result("output", _POOLED, "out", order=_LAST)
_GRADIENT = values("grad_output", _POOLED, "grad_output", order=_LAST), *_GIVEN
_GRAD_INPUT = result("grad_input", _MAP, "grad_input", order=_LAST)

_FORWARD, _BACKWARD = "deform_roi_pool_forward", "deform_roi_pool_backward"
_forward = binding(_FORWARD, _FORWARD, *_GIVEN, _POOL, *_NUMBERS, empty="zero")
_moved_forward = binding(_FORWARD, _FORWARD, *_GIVEN, _OFFSET, _POOL, *_NUMBERS, empty="zero")
_backward = binding(_BACKWARD, _BACKWARD, *_GRADIENT, _GRAD_INPUT, *_NUMBERS, empty="zero")
_moved_backward = binding(
    _BACKWARD,
    _BACKWARD,
    *_GRADIENT,
    _OFFSET,
    _GRAD_INPUT,
    result("grad_offset", _OFFSETS, "grad_offset"),
    *_NUMBERS,
    empty="zero",
)


def _is_empty(tensor: Tensor) -> bool:
    """Tell whether a tensor has no values, which stands for none."""
    return isinstance(tensor, load_torch().Tensor) and not tensor.numel()


@extension_function
def deform_roi_pool_forward(
    input: Tensor,
    rois: Tensor,
    offset: Tensor,
    output: Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
) -> None:
    """Write the means, [R, C, ph, pw]; bins are not moved if `offset` has no values."""
    numbers = (pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma)
    if _is_empty(offset):
        _forward(input, rois, output, *numbers)
    else:
        _moved_forward(input, rois, offset, output, *numbers)


@extension_function
def deform_roi_pool_backward(
    grad_output: Tensor,
    input: Tensor,
    rois: Tensor,
    offset: Tensor,
    grad_input: Tensor,
    grad_offset: Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
) -> None:
    """Write the gradients of the maps and, if there are any, of the offsets."""
    numbers = (pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma)
    if _is_empty(offset):
        _backward(grad_output, input, rois, grad_input, *numbers)
    else:
        _moved_backward(grad_output, input, rois, offset, grad_input, grad_offset, *numbers)
