"""Small arguments for every operator that is registered with torch."""

from __future__ import annotations

from typing import Any

import torch

import pymluops.torch  # noqa: F401 - it registers the operators

OPERATORS = torch.ops.pymluops

LINEAR = (
    "tin_shift_forward",
    "tin_shift_backward",
    "psamask_forward",
    "psamask_backward",
    "three_interpolate_forward",
    "three_interpolate_backward",
)
#: Those with a gradient, and which of their arguments have one.
GRADIENTS = dict.fromkeys(LINEAR, (0,)) | {"border_align_forward": (0,), "ms_deform_attn_forward": (0, 3, 4)}
WITHOUT = ("three_nn_forward", "ball_query")
NAMES = (*GRADIENTS, *WITHOUT, "tin_shift_forward_as_mmcv", "border_align_backward", "ms_deform_attn_backward")


def arguments(name: str, dtype: torch.dtype = torch.float32, batch: int = 2, seed: int = 0) -> tuple[Any, ...]:
    """Legal arguments of an operator."""
    rng = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=rng, dtype=torch.float64).to(dtype)

    def whole(low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=rng, dtype=torch.int32)

    if name.startswith("tin_shift"):
        return normal(batch, 4, 6, 3), whole(-3, 4, batch, 3)
    if name == "psamask_forward":
        return normal(batch, 3, 4, 6), 0, 3, 2
    if name == "psamask_backward":
        return normal(batch, 3, 4, 12), 1, 3, 2
    if name.startswith("border_align"):
        boxes = torch.cat([4 * uniform(batch, 3, 2), 4 + 4 * uniform(batch, 3, 2)], -1)
        if name == "border_align_forward":
            return normal(batch, 5, 6, 8), boxes, 3
        return normal(batch, 3, 4, 2), boxes, whole(0, 4, batch, 3, 4, 2), 3, 5, 6
    if name == "three_interpolate_forward":
        return normal(batch, 3, 7), whole(0, 7, batch, 5, 3), uniform(batch, 5, 3)
    if name == "three_interpolate_backward":
        return normal(batch, 3, 5), whole(0, 7, batch, 5, 3), uniform(batch, 5, 3), 7
    if name == "three_nn_forward":
        return normal(batch, 5, 3), normal(batch, 6, 3)
    if name == "ball_query":
        return normal(batch, 4, 3), normal(batch, 9, 3), 0.2, 1.5, 4
    shapes, starts = torch.tensor([[2, 3], [3, 3]]), torch.tensor([0, 6])
    value, places, weights = normal(batch, 15, 2, 3), uniform(batch, 4, 2, 2, 2, 2), uniform(batch, 4, 2, 2, 2)
    if name == "ms_deform_attn_forward":
        return value, shapes, starts, places, weights, 1
    return value, shapes, starts, places, weights, normal(batch, 4, 2, 3), 1


def with_gradient(name: str, made: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, those that have a gradient asking for it."""
    return tuple(a.detach().clone().requires_grad_() if i in GRADIENTS.get(name, ()) else a for i, a in enumerate(made))


def overload(name: str) -> Any:
    return getattr(OPERATORS, name).default


def all_equal(found: Any, wanted: Any, **tolerances: float) -> None:
    """Compare one tensor or several."""
    found, wanted = (r if isinstance(r, (tuple, list)) else (r,) for r in (found, wanted))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, **(tolerances or {"rtol": 0, "atol": 0}), equal_nan=True)
