"""Gradients in float64 pass gradcheck: backward functions are the exact derivatives of forward functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def differentiable(torch: Any, forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    """A function of PyTorch made of two that get and return tensors."""

    class Function(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return backward(grad, *ctx.saved_tensors)

    return Function.apply


def check_gradient(
    torch: Any, forward: Callable[..., Any], backward: Callable[..., Any], *inputs: np.ndarray, fast: bool = False
) -> None:
    leaves = [torch.from_numpy(np.asarray(array)).requires_grad_() for array in inputs]
    assert torch.autograd.gradcheck(
        differentiable(torch, forward, backward), leaves, atol=1e-7, rtol=1e-5, fast_mode=fast
    )
