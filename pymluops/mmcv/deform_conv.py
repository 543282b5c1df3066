"""deform_conv and modulated_deform_conv of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_shape,
    compute_type,
    dense,
    extension_function_of,
    refuse,
    whole_number,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = [
    "deform_conv_backward_input",
    "deform_conv_backward_parameters",
    "deform_conv_forward",
    "modulated_deform_conv_backward",
    "modulated_deform_conv_forward",
]

ROWS = (
    Row(
        "deform_conv2d, DeformConv2d, DeformConv2dPack",
        ("deform_conv_forward", "deform_conv_backward_input", "deform_conv_backward_parameters"),
        "forward, backward",
        "mluopsExtDeformConvForward, BackwardData, BackwardWeight (float16, float32, float64)",
        "im2col_step changes nothing, and needs not divide the batch.",
    ),
    Row(
        "modulated_deform_conv2d, ModulatedDeformConv2d, ModulatedDeformConv2dPack",
        ("modulated_deform_conv_forward", "modulated_deform_conv_backward"),
        "forward, backward",
        "mluopsExtDeformConvForward, Backward (float16, float32, float64)",
    ),
)

_FIRST = (0, 3, 1, 2)  # channels come first
_LAST = (0, 2, 3, 1)

# Shapes, with the names that the two kinds of convolution have for numbers.
_MAP, _RESULT = "B C H W", "B F oH oW"
_FILTER, _OFFSET = "F E kH kW", "B 2*deformable_group*kH*kW oH oW"
_WEIGHT, _MASK = "F E kernel_h kernel_w", "B deformable_group*kernel_h*kernel_w oH oW"
_SHIFT = "B 2*deformable_group*kernel_h*kernel_w oH oW"


class _Convolution:
    """What the functions share: sizes along height and width, groups, and the type to compute in."""

    def __init__(
        self,
        name: str,
        tensors: dict[str, Tensor],
        stride: dict[str, Any],
        padding: dict[str, Any],
        dilation: dict[str, Any],
        groups: dict[str, Any],
    ) -> None:
        torch = load_torch()
        self.name, self.tensors = name, tensors
        self._kind = compute_type(check_floats(name, **tensors), torch.float32, torch.float16)
        limits = ((stride, 1), (padding, 0), (dilation, 1), (groups, 1))
        self.stride, self.padding, self.dilation, (self.group, self.deformable_group) = (
            tuple(self._number(key, value, least) for key, value in some.items()) for some, least in limits
        )

    def _number(self, key: str, value: Any, least: int) -> int:
        number = whole_number(self.name, key, value)
        if number < least:
            raise refuse(self.name, key, f"at least {least}", number)
        return number

    def check(self, input: str, weight: str, offset: str, mask: str | None, output: str) -> None:
        """Compare the shapes of the tensors with these names."""
        name, tensors = self.name, self.tensors
        check_shape(name, input, tensors[input], (None,) * 4)
        check_shape(name, weight, tensors[weight], (None,) * 4)
        batch, channels, *size = tensors[input].shape
        outputs, each, *kernel = tensors[weight].shape
        if channels != self.group * each or outputs % self.group or channels % self.deformable_group:
            expected = f"{self.group} groups of channels, and {self.deformable_group} deformable ones"
            raise refuse(name, weight, f"{expected}, for {channels} channels", f"shape {list(tensors[weight].shape)}")
        out = [
            (size[i] + 2 * self.padding[i] - self.dilation[i] * (kernel[i] - 1) - 1) // self.stride[i] + 1
            for i in range(2)
        ]
        if min(out) < 1 or min(kernel) < 1:
            raise refuse(name, input, f"maps that a filter of {kernel[0]} x {kernel[1]} fits into", f"{size}")
        places = self.deformable_group * kernel[0] * kernel[1]
        check_shape(name, offset, tensors[offset], (batch, 2 * places, *out))
        if mask is not None:
            check_shape(name, mask, tensors[mask], (batch, places, *out))
        check_shape(name, output, tensors[output], (batch, outputs, *out))

    def is_empty(self, names: str) -> bool:
        """Tell whether one of these tensors has no values."""
        return not all(self.tensors[name].numel() for name in names.split())

    def last(self, name: str) -> Tensor:
        """Return a tensor with its channels last."""
        return dense(self.tensors[name].detach().permute(_LAST), self._kind)

    def mask(self, name: str | None, offset: Tensor) -> Tensor:
        """Return the mask; ones if there is none."""
        if name is not None:
            return self.last(name)
        return offset.new_ones((*offset.shape[:3], offset.shape[3] // 2))

    def run(self, operator: str, tensors: tuple[Tensor | None, ...], *sizes: int) -> Any:
        """Call the operator."""
        numbers = *self.stride, *self.padding, *self.dilation, self.group, self.deformable_group
        return run(described(operator), tensors, (*numbers, *sizes))


def _write(target: Tensor, found: Tensor) -> None:
    """Write a result that has its channels last."""
    target.detach().copy_(found.permute(_FIRST))


@extension_function_of(input=_MAP, weight=_FILTER, offset=_OFFSET, output=_RESULT)
def deform_conv_forward(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    output: Tensor,
    columns: Tensor,
    ones: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    dilationW: int,
    dilationH: int,
    group: int,
    deformable_group: int,
    im2col_step: int,
) -> None:
    """Write `output`; the size of the filter is that of `weight`, and what is not named here is unused."""
    call = _Convolution(
        "deform_conv_forward",
        {"input": input, "weight": weight, "offset": offset, "output": output},
        {"dH": dH, "dW": dW},
        {"padH": padH, "padW": padW},
        {"dilationH": dilationH, "dilationW": dilationW},
        {"group": group, "deformable_group": deformable_group},
    )
    call.check("input", "weight", "offset", None, "output")
    if call.is_empty("output"):
        return
    places = call.last("offset")
    given = call.last("weight"), call.last("input"), places, call.mask(None, places), None
    _write(output, call.run("deform_conv_forward", given))


@extension_function_of(
    input=_MAP,
    offset=_OFFSET,
    gradOutput=_RESULT,
    gradInput=_MAP,
    gradOffset=_OFFSET,
    weight=_FILTER,
)
def deform_conv_backward_input(
    input: Tensor,
    offset: Tensor,
    gradOutput: Tensor,
    gradInput: Tensor,
    gradOffset: Tensor,
    weight: Tensor,
    columns: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    dilationW: int,
    dilationH: int,
    group: int,
    deformable_group: int,
    im2col_step: int,
) -> None:
    """Write `gradInput` and `gradOffset`."""
    tensors = {"input": input, "offset": offset, "gradOutput": gradOutput, "gradInput": gradInput}
    call = _Convolution(
        "deform_conv_backward_input",
        {**tensors, "gradOffset": gradOffset, "weight": weight},
        {"dH": dH, "dW": dW},
        {"padH": padH, "padW": padW},
        {"dilationH": dilationH, "dilationW": dilationW},
        {"group": group, "deformable_group": deformable_group},
    )
    call.check("input", "weight", "offset", None, "gradOutput")
    check_shape(call.name, "gradInput", gradInput, input.shape)
    check_shape(call.name, "gradOffset", gradOffset, offset.shape)
    if call.is_empty("input gradOutput"):
        return
    places = call.last("offset")
    given = call.last("weight"), call.last("input"), places, call.mask(None, places), call.last("gradOutput")
    found = call.run("deform_conv_backward_data", (*given, None, None, None))
    _write(gradInput, found[0])
    _write(gradOffset, found[1])


@extension_function_of(input=_MAP, offset=_OFFSET, gradOutput=_RESULT, gradWeight=_FILTER)
def deform_conv_backward_parameters(
    input: Tensor,
    offset: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor,
    columns: Tensor,
    ones: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    dilationW: int,
    dilationH: int,
    group: int,
    deformable_group: int,
    scale: float,
    im2col_step: int,
) -> None:
    """Write `gradWeight`, the gradient times `scale`."""
    call = _Convolution(
        "deform_conv_backward_parameters",
        {"input": input, "offset": offset, "gradOutput": gradOutput, "gradWeight": gradWeight},
        {"dH": dH, "dW": dW},
        {"padH": padH, "padW": padW},
        {"dilationH": dilationH, "dilationW": dilationW},
        {"group": group, "deformable_group": deformable_group},
    )
    call.check("input", "gradWeight", "offset", None, "gradOutput")
    if call.is_empty("input gradOutput"):
        gradWeight.detach().zero_()
        return
    places = call.last("offset")
    given = call.last("input"), places, call.mask(None, places), call.last("gradOutput"), None
    _, each, height, width = gradWeight.shape
    _write(gradWeight, call.run("deform_conv_backward_weight", given, height, width, each) * scale)


@extension_function_of(
    input=_MAP,
    weight=_WEIGHT,
    bias="F",
    offset=_SHIFT,
    mask=_MASK,
    output=_RESULT,
)
def modulated_deform_conv_forward(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    ones: Tensor,
    offset: Tensor,
    mask: Tensor,
    output: Tensor,
    columns: Tensor,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    group: int,
    deformable_group: int,
    with_bias: bool,
) -> None:
    """Write `output`; the size of the filter is that of `weight`."""
    tensors = {"input": input, "weight": weight, "offset": offset, "mask": mask, "output": output}
    call = _Convolution(
        "modulated_deform_conv_forward",
        {**tensors, "bias": bias} if with_bias else tensors,
        {"stride_h": stride_h, "stride_w": stride_w},
        {"pad_h": pad_h, "pad_w": pad_w},
        {"dilation_h": dilation_h, "dilation_w": dilation_w},
        {"group": group, "deformable_group": deformable_group},
    )
    call.check("input", "weight", "offset", "mask", "output")
    if with_bias:
        check_shape(call.name, "bias", bias, (len(weight),))
    if call.is_empty("output"):
        return
    given = call.last("weight"), call.last("input"), call.last("offset"), call.last("mask"), None
    found = call.run("deform_conv_forward", given)
    _write(output, found + bias.detach() if with_bias else found)


@extension_function_of(
    input=_MAP,
    weight=_WEIGHT,
    bias="F",
    offset=_SHIFT,
    mask=_MASK,
    grad_input=_MAP,
    grad_weight=_WEIGHT,
    grad_bias="F",
    grad_offset=_SHIFT,
    grad_mask=_MASK,
    grad_output=_RESULT,
)
def modulated_deform_conv_backward(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    ones: Tensor,
    offset: Tensor,
    mask: Tensor,
    columns: Tensor,
    grad_input: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
    grad_offset: Tensor,
    grad_mask: Tensor,
    grad_output: Tensor,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    group: int,
    deformable_group: int,
    with_bias: bool,
) -> None:
    """Write all gradients; that of the bias only if there is one."""
    tensors = {"input": input, "weight": weight, "offset": offset, "mask": mask}
    gradients = {
        "grad_input": grad_input, "grad_offset": grad_offset, "grad_mask": grad_mask, "grad_weight": grad_weight,
    }  # fmt: skip
    call = _Convolution(
        "modulated_deform_conv_backward",
        {**tensors, "grad_output": grad_output, **gradients, **({"grad_bias": grad_bias} if with_bias else {})},
        {"stride_h": stride_h, "stride_w": stride_w},
        {"pad_h": pad_h, "pad_w": pad_w},
        {"dilation_h": dilation_h, "dilation_w": dilation_w},
        {"group": group, "deformable_group": deformable_group},
    )
    call.check("input", "weight", "offset", "mask", "grad_output")
    for (name, target), of in zip(gradients.items(), (input, offset, mask, weight), strict=True):
        check_shape(call.name, name, target, of.shape)
    if with_bias:
        check_shape(call.name, "grad_bias", grad_bias, (len(weight),))
        grad_bias.detach().copy_(grad_output.detach().sum((0, 2, 3)))
    if call.is_empty("input grad_output"):
        grad_weight.detach().zero_()
        return
    given = [call.last(name) for name in ("weight", "input", "offset", "mask", "grad_output")]
    found = call.run("deform_conv_backward", (*given, None, None, None, None))
    for target, gradient in zip(gradients.values(), found, strict=True):
        _write(target, gradient)
