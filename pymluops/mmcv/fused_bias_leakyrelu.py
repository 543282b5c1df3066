"""fused_bias_leakyrelu of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._tensors import check_floats, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.mmcv._wrappers import Wrapper

__all__ = ["fused_bias_leakyrelu"]

ROWS = (
    Row(
        "fused_bias_leakyrelu, FusedBiasLeakyReLU",
        ("fused_bias_leakyrelu",),
        "forward, backward",
        "PyTorch (all types)",
        "mmcv's wrapper computes CPU tensors with PyTorch code of its own and never calls this; that of its newest "
        "source tree asks for a GPU first and is replaced.",
    ),
)

_LEAKY = 3


@extension_function
def fused_bias_leakyrelu(
    input: Tensor, bias: Tensor, empty: Tensor, act: int, grad: int, alpha: float, scale: float
) -> Tensor:
    """Return the activation of `input` + `bias` for `grad` 0, its slope at `empty` times the sum for 1, zeros for 2."""
    torch, name = load_torch(), "fused_bias_leakyrelu"
    tensors = {"input": input, "bias": bias, "empty": empty}
    check_floats(name, **{key: tensor for key, tensor in tensors.items() if key == "input" or tensor.numel()})
    values = input.detach()
    if bias.numel():
        channels = input.shape[1] if input.ndim > 1 else 1
        if bias.numel() != channels:
            raise refuse(name, "bias", f"{channels} values", f"shape {list(bias.shape)}")
        values = values + bias.detach().reshape(-1, *[1] * (input.ndim - 2))
    if grad == 1 and empty.numel():
        if empty.numel() != input.numel():
            raise refuse(name, "empty", f"shape {list(input.shape)}", f"shape {list(empty.shape)}")
        empty = empty.reshape(input.shape)
    if grad == 2 and act in (1, _LEAKY):
        values = torch.zeros_like(values)
    elif act == _LEAKY and grad in (0, 1):
        refer = values if grad == 0 else empty.detach() if empty.numel() else torch.zeros_like(values)
        values = torch.where(refer > 0, values, values * alpha)
    return (values * scale).contiguous()


def _activated(input: Tensor, bias: Tensor | None, negative_slope: float = 0.2, scale: float = 2**0.5) -> Tensor:
    """Return the activation for tensors on the CPU; autograd knows each step."""
    values = input
    if bias is not None:
        assert bias.shape == input.shape[1:2], f"bias: expected shape {[*input.shape[1:2]]}, got {[*bias.shape]}"
        values = values + bias.reshape(-1, *[1] * (input.ndim - 2))
    values = load_torch().nn.functional.leaky_relu(values, negative_slope)
    return values if scale == 1 else values * scale


WRAPPERS = (Wrapper("fused_bias_leakyrelu", "fused_bias_leakyrelu", _activated),)
