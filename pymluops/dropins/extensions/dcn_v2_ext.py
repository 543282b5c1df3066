"""``_ext`` of DCNv2, as CenterNet has it: modulated deformable convolution."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv._tensors import check_shape, check_tensors, extension_function, refuse
from pymluops.mmcv._torch import Tensor
from pymluops.mmcv.deform_conv import modulated_deform_conv_backward, modulated_deform_conv_forward

__all__ = ["dcn_v2_backward", "dcn_v2_forward"]

DROP_IN = ""
MODULES = ()
LAST_NAMES = ("_ext", "_ext_dcn", "dcn_v2_ext")
ROWS = (Row("dcn_v2_forward dcn_v2_backward", "mluopsExtDeformConvForward, Backward (float16, float32, float64)"),)
CHANGES = ("nothing in its own functions",)

_FORWARD = renamed(modulated_deform_conv_forward, "dcn_v2_forward")
_BACKWARD = renamed(modulated_deform_conv_backward, "dcn_v2_backward")


def _size(name: str, input: Tensor, weight: Tensor, kernel: tuple[int, int], numbers: tuple[int, ...]) -> list[int]:
    """Return the size of the result, checked as far as the functions below do not."""
    check_tensors(name, ("float32", "float64", "float16", "bfloat16"), {"input": input, "weight": weight})
    check_shape(name, "input", input, (None,) * 4)
    check_shape(name, "weight", weight, (None, None, *kernel))
    stride, padding, dilation = numbers[:2], numbers[2:4], numbers[4:6]
    if min(*stride, *dilation) < 1:
        raise refuse(name, "stride and dilation", "at least 1", numbers)
    return [
        max(0, (input.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1)
        for i in range(2)
    ]


@extension_function
def dcn_v2_forward(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    offset: Tensor,
    mask: Tensor,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    deformable_group: int,
) -> Tensor:
    """Return the convolution [N, Co, Ho, Wo] of input [N, Ci, H, W]."""
    numbers = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    size = _size("dcn_v2_forward", input, weight, (kernel_h, kernel_w), numbers)
    output, unused = input.new_zeros(len(input), len(weight), *size), input.new_empty(0)
    given = (input, weight, bias, unused, offset, mask, output, unused)
    _FORWARD(*given, kernel_h, kernel_w, *numbers, 1, deformable_group, True)
    return output


@extension_function
def dcn_v2_backward(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    offset: Tensor,
    mask: Tensor,
    grad_output: Tensor,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    deformable_group: int,
) -> list[Tensor]:
    """Return the gradients of input, offset, mask, weight and bias."""
    numbers = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    _size("dcn_v2_backward", input, weight, (kernel_h, kernel_w), numbers)
    made = {
        name: tensor.new_zeros(tensor.shape)
        for name, tensor in (
            ("input", input),
            ("offset", offset),
            ("mask", mask),
            ("weight", weight),
            ("bias", bias),
        )
    }
    unused = input.new_empty(0)
    given = (input, weight, bias, unused, offset, mask, unused)
    gradients = (made["input"], made["weight"], made["bias"], made["offset"], made["mask"])
    _BACKWARD(*given, *gradients, grad_output, kernel_h, kernel_w, *numbers, 1, deformable_group, True)
    return [*made.values()]
