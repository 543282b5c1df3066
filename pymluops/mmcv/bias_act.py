"""bias_act of mmcv: a bias and an activation, and the derivatives of both orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._tensors import check_floats, check_shape, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["bias_act"]

ROWS = (
    Row(
        "bias_act",
        ("bias_act",),
        "forward, backward",
        "PyTorch (float32, float64)",
        "mmcv's wrapper computes CPU tensors with PyTorch code of its own and never calls this.",
    ),
)

_SCALE, _ALPHA = 1.0507009873554804934, 1.6732632423543772848  # of SELU
_SWISH = 9


def _function(torch: Any, z: Any, act: int, alpha: float) -> Any:
    """Return the activation of z."""
    functions: dict[int, Callable[[], Any]] = {
        1: lambda: z,
        2: lambda: torch.where(z > 0, z, 0),
        3: lambda: torch.where(z > 0, z, z * alpha),
        4: lambda: torch.tanh(z),
        5: lambda: torch.where(z < -80, 0, torch.sigmoid(z)),
        6: lambda: torch.where(z >= 0, z, torch.expm1(z)),
        7: lambda: torch.where(z >= 0, z * _SCALE, _SCALE * _ALPHA * torch.expm1(z)),
        8: lambda: torch.where(z > 80, z, torch.log1p(torch.exp(z))),
        _SWISH: lambda: torch.where(z < -80, 0, z * torch.sigmoid(z)),
    }
    return functions[act]()


def _slope(torch: Any, t: Any, r: Any, act: int, alpha: float) -> Any:
    """Return the derivative, from the result t, for Swish from the argument r."""
    one, c = torch.ones_like(t), torch.exp(r.clamp(max=41))
    d = c + 1
    slopes: dict[int, Callable[[], Any]] = {
        1: lambda: one,
        2: lambda: (t > 0).to(t.dtype),
        3: lambda: torch.where(t > 0, one, alpha),
        4: lambda: 1 - t * t,
        5: lambda: t * (1 - t),
        6: lambda: torch.where(t >= 0, one, t + 1),
        7: lambda: torch.where(t >= 0, _SCALE, t + _SCALE * _ALPHA),
        8: lambda: 1 - torch.exp(-t),
        _SWISH: lambda: torch.where(r > 40, one, c * (r + d) / (d * d)),
    }
    return slopes[act]()


def _bend(torch: Any, t: Any, r: Any, act: int) -> Any:
    """Return the second derivative in the same way."""
    zero, c = torch.zeros_like(t), torch.exp(r.clamp(max=41))
    d = c + 1
    bends: dict[int, Callable[[], Any]] = {
        4: lambda: (1 - t * t) * (-2 * t),
        5: lambda: t * (1 - t) * (1 - 2 * t),
        6: lambda: torch.where(t >= 0, 0, t + 1),
        7: lambda: torch.where(t >= 0, 0, t + _SCALE * _ALPHA),
        8: lambda: torch.exp(-t) * (1 - torch.exp(-t)),
        _SWISH: lambda: torch.where(r > 40, 0, c * (r * (2 - d) + 2 * d) / (d * d * d)),
    }
    return bends.get(act, lambda: zero)()


@extension_function
def bias_act(
    input: Tensor,
    bias: Tensor,
    xref: Tensor,
    yref: Tensor,
    dy: Tensor,
    grad: int,
    dim: int,
    act: int,
    alpha: float,
    gain: float,
    clamp: float,
) -> Tensor:
    """Return the activation of `input` + `bias` for `grad` 0, and `input` times a derivative for 1 and 2."""
    torch, name = load_torch(), "bias_act"
    others = {"bias": bias, "xref": xref, "yref": yref, "dy": dy}
    there = {key: tensor for key, tensor in others.items() if tensor.numel()}
    given = check_floats(name, input=input, **there)
    if not 1 <= act <= _SWISH:
        raise refuse(name, "act", "a number from 1 to 9", act)
    if not 0 <= grad <= 2:
        raise refuse(name, "grad", "0, 1 or 2", grad)
    for key in ("xref", "yref", "dy"):
        if key in there:
            check_shape(name, key, there[key], input.shape)
    kind = torch.float64 if given is torch.float64 else torch.float32
    shift: Any = 0
    if "bias" in there:
        if not 0 <= dim < input.ndim:
            raise refuse(name, "dim", f"a dim from 0 to {input.ndim - 1}", dim)
        check_shape(name, "bias", bias, (input.shape[dim],))
        shift = bias.detach().to(kind).reshape([-1 if i == dim else 1 for i in range(input.ndim)])
    values, zero = input.detach().to(kind), torch.zeros((), dtype=kind)
    x, y = (there[key].detach().to(kind) if key in there else zero.expand(input.shape) for key in ("xref", "yref"))
    if grad == 0:
        found = _function(torch, values + shift, act, alpha) * gain
    else:
        r, t = x + shift, y / gain if gain else zero.expand(input.shape)
        factor = _slope(torch, t, r, act, alpha) if grad == 1 else _bend(torch, t, r, act)
        found = values * factor * gain
        if act == _SWISH:
            y = torch.where(r < -80, 0, gain * r * torch.sigmoid(r))
    if "dy" in there:
        found = found * dy.detach().to(kind)
    if clamp >= 0:
        found = found.clamp(-clamp, clamp) if grad == 0 else torch.where(y.abs() < clamp, found, 0)
    return torch.empty_like(input.detach()).copy_(found)
