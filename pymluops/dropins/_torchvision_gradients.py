"""Gradients and autocast of the operators of torchvision, for its releases that have both in their compiled part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymluops.mmcv._torch import load_torch

__all__ = ["register"]


def _regions(name: str, saved: int, after: int) -> tuple[Callable[..., None], Callable[..., Any]]:
    """Return what is kept of a call and how its gradient follows.

    `saved` is the number of tensors after the first that the gradient needs, of arguments and
    results; `after` that of scalars which stand after the sizes of the maps there.
    """

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        input, rois, *numbers = inputs
        outputs: Any = output
        several: bool = isinstance(output, tuple)
        results: Any = outputs[1:] if several else ()
        ctx.save_for_backward(rois, *results[: saved - 1])
        ctx.numbers, ctx.sizes = numbers, tuple(input.shape)
        if results:
            ctx.mark_non_differentiable(*results)

    def gradient(ctx: Any, grad: Any, *_others: Any) -> tuple[Any, ...]:
        operator = getattr(load_torch().ops.torchvision, f"_{name}_backward")
        split = len(ctx.numbers) - after
        first, last = ctx.numbers[:split], ctx.numbers[split:]
        found = operator(grad, *ctx.saved_tensors, *first, *ctx.sizes, *last)
        return found, None, *[None] * len(ctx.numbers)

    return keep, gradient


def _keep_convolution(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:5])
    ctx.numbers = inputs[5:]


def _convolution_gradient(ctx: Any, grad: Any) -> tuple[Any, ...]:
    found = load_torch().ops.torchvision._deform_conv2d_backward(grad, *ctx.saved_tensors, *ctx.numbers)
    return *found, *[None] * len(ctx.numbers)


#: Operators that autocast computes in float32, and whether the result gets the type of the first
#: argument again.
_AUTOCAST = {
    "nms": False,
    "roi_align": True,
    "roi_pool": True,
    "ps_roi_align": True,
    "ps_roi_pool": True,
    "deform_conv2d": True,
}


def _in_float32(name: str, narrow: bool) -> Callable[..., Any]:
    """Return what autocast calls in place of an operator."""
    torch = load_torch()
    operator = getattr(torch.ops.torchvision, name)

    def wide(one: Any) -> Any:
        return one.float() if isinstance(one, torch.Tensor) and one.dtype in (torch.float16, torch.bfloat16) else one

    def call(*args: Any) -> Any:
        with torch.autocast("cpu", enabled=False):
            found = operator(*map(wide, args))
        if not narrow:
            return found
        if isinstance(found, torch.Tensor):
            return found.to(args[0].dtype)
        return found[0].to(args[0].dtype), *found[1:]

    return call


def register(library: Any) -> None:
    """Register the gradients."""
    torch = load_torch()
    formulas = {
        "roi_align": _regions("roi_align", 1, 2),
        "roi_pool": _regions("roi_pool", 2, 0),
        "ps_roi_align": _regions("ps_roi_align", 2, 0),
        "ps_roi_pool": _regions("ps_roi_pool", 2, 0),
        "deform_conv2d": (_keep_convolution, _convolution_gradient),
    }
    for name, (keep, gradient) in formulas.items():
        torch.library.register_autograd(f"torchvision::{name}", gradient, setup_context=keep, lib=library)
    for name, narrow in _AUTOCAST.items():
        library.impl(name, _in_float32(name, narrow), "AutocastCPU")
