"""carafe and carafe_naive of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Array, Call, Number, Row, binding, result, values
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.mmcv._wrappers import Wrapper

__all__ = ["carafe_backward", "carafe_forward", "carafe_naive_backward", "carafe_naive_forward"]

ROWS = (
    Row(
        "carafe, CARAFE, CARAFEPack",
        ("carafe_forward", "carafe_backward"),
        "forward, backward",
        "mluopsExtCarafeForward, Backward (float16, float32, float64)",
        "Of the tensors for intermediate results, rfeatures gets a copy of the maps; the others stay as they are.",
    ),
    Row(
        "carafe_naive, CARAFENaive",
        ("carafe_naive_forward", "carafe_naive_backward"),
        "forward, backward",
        "mluopsExtCarafeForward, Backward (float16, float32, float64)",
    ),
)

_LAST = (0, 2, 3, 1)
_MAPS, _MASKS, _LARGE = "N C H W", "N group_size*kernel_size*kernel_size h w", "N C h w"
_NUMBERS = (Number("kernel_size", least=1), Number("group_size", least=1), Number("scale_factor", least=1))


def _features(name: str) -> Array:
    return values(name, _MAPS, "input", order=_LAST)


_WEIGHTS = values("masks", _MASKS, "mask", order=_LAST)
_GRAD = values("top_grad", _LARGE, "grad_output", order=_LAST)
_OUTPUT = result("output", _LARGE, "out", order=_LAST)
_GRADIENTS = (
    result("bottom_grad", _MAPS, "grad_input", order=_LAST),
    result("mask_grad", _MASKS, "grad_mask", order=_LAST),
)


def _check(call: Call) -> None:
    """Compare the size of the weights with that of the maps."""
    sizes, scale = call.sizes, call.sizes["scale_factor"]
    if (sizes["h"], sizes["w"]) != (scale * sizes["H"], scale * sizes["W"]):
        expected = f"{scale * sizes['H']} x {scale * sizes['W']} windows"
        raise call.refuse("masks", expected, f"{sizes['h']} x {sizes['w']}")


carafe_naive_forward = binding(
    "carafe_naive_forward",
    "carafe_forward",
    _features("features"),
    _WEIGHTS,
    _OUTPUT,
    *_NUMBERS,
    check=_check,
    empty="zero",
)
carafe_naive_backward = binding(
    "carafe_naive_backward",
    "carafe_backward",
    _GRAD,
    _features("features"),
    _WEIGHTS,
    *_GRADIENTS,
    *_NUMBERS,
    check=_check,
    empty="zero",
)

_forward = binding(
    "carafe_forward",
    "carafe_forward",
    _features("features"),
    _WEIGHTS,
    result("rfeatures", _MAPS, ""),
    result("routput", _LARGE, ""),
    result("rmasks", _MASKS, ""),
    _OUTPUT,
    *_NUMBERS,
    check=_check,
    empty="zero",
)
_backward = binding(
    "carafe_backward",
    "carafe_backward",
    _GRAD,
    _features("rfeatures"),
    _WEIGHTS,
    result("rtop_grad", _LARGE, ""),
    result("rbottom_grad_hs", _LARGE, ""),
    result("rbottom_grad", _MAPS, ""),
    result("rmask_grad", _MASKS, ""),
    *_GRADIENTS,
    *_NUMBERS,
    check=_check,
    empty="zero",
)


@extension_function
def carafe_forward(
    features: Tensor,
    masks: Tensor,
    rfeatures: Tensor,
    routput: Tensor,
    rmasks: Tensor,
    output: Tensor,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
) -> None:
    """Write `output`, and into `rfeatures` the maps, which mmcv hands to `carafe_backward`."""
    _forward(features, masks, rfeatures, routput, rmasks, output, kernel_size, group_size, scale_factor)
    rfeatures.detach().copy_(features.detach().reshape(rfeatures.shape))


@extension_function
def carafe_backward(
    top_grad: Tensor,
    rfeatures: Tensor,
    masks: Tensor,
    rtop_grad: Tensor,
    rbottom_grad_hs: Tensor,
    rbottom_grad: Tensor,
    rmask_grad: Tensor,
    bottom_grad: Tensor,
    mask_grad: Tensor,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
) -> None:
    """Write `bottom_grad` and `mask_grad`."""
    scratch = rtop_grad, rbottom_grad_hs, rbottom_grad, rmask_grad
    numbers = kernel_size, group_size, scale_factor
    _backward(top_grad, rfeatures, masks, *scratch, bottom_grad, mask_grad, *numbers)


def _naive_backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
    """Do what mmcv's function does, without its question for a GPU."""
    features, masks = ctx.saved_tensors
    torch = load_torch()
    grad_features, grad_masks = torch.zeros_like(features), torch.zeros_like(masks)
    numbers = ctx.kernel_size, ctx.group_size, ctx.scale_factor
    carafe_naive_backward(grad_output.contiguous(), features, masks, grad_features, grad_masks, *numbers)
    return grad_features, grad_masks, None, None, None


WRAPPERS = (Wrapper("carafe", "CARAFENaiveFunction.backward", _naive_backward),)
