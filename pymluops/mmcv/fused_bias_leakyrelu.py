"""fused_bias_leakyrelu of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._tensors import check_floats, check_shape, extension_function
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["fused_bias_leakyrelu"]

ROWS = (
    Row(
        "fused_bias_leakyrelu, FusedBiasLeakyReLU",
        ("fused_bias_leakyrelu",),
        "forward, backward",
        "PyTorch (all types)",
        "mmcv's wrapper computes CPU tensors with PyTorch code of its own and never calls this.",
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
        check_shape(name, "bias", bias, (channels,))
        values = values + bias.detach().reshape(-1, *[1] * (input.ndim - 2))
    if grad == 1 and empty.numel():
        check_shape(name, "empty", empty, input.shape)
    if grad == 2 and act in (1, _LEAKY):
        values = torch.zeros_like(values)
    elif act == _LEAKY and grad in (0, 1):
        refer = values if grad == 0 else empty.detach() if empty.numel() else torch.zeros_like(values)
        values = torch.where(refer > 0, values, values * alpha)
    return (values * scale).contiguous()
