"""Small arguments for every operator that is registered with torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import pymluops.torch as ours

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


#: Each function of the package as one of tensors alone.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tin_shift": lambda clip, shifts: ours.tin_shift(clip, shifts),
    "tin_shift_as_mmcv": lambda clip, shifts: ours.tin_shift(clip, shifts, gradient="mmcv"),
    "collect": lambda masks: ours.psa_mask(masks, "collect", (3, 2)),
    "distribute": lambda masks: ours.psa_mask(masks, 1, (3, 2)),
    "border_align": lambda features, boxes: ours.border_align(features, boxes, 3),
    "three_interpolate": lambda features, near, weights: ours.three_interpolate(features, near, weights),
    "three_nn": lambda target, source: ours.three_nn(target, source),
    "ball_query": lambda points, centres: ours.ball_query(0.2, 1.5, 4, points, centres),
    "ms_deform_attn": lambda value, sizes, starts, at, weights: ours.ms_deform_attn(value, sizes, starts, at, weights),
}
#: Which of their arguments have a gradient.
DIFFERENTIABLE: dict[str, tuple[int, ...]] = dict.fromkeys(FUNCTIONS, (0,)) | {
    "ms_deform_attn": (0, 3, 4),
    "three_nn": (),
    "ball_query": (),
}


def tensors(name: str, dtype: torch.dtype = torch.float32, batch: int = 2, seed: int = 0) -> tuple[torch.Tensor, ...]:
    """Legal arguments of a function of `FUNCTIONS`, in its layout. The seed is in the sizes too."""
    operator = {"collect": "psamask", "distribute": "psamask", "tin_shift_as_mmcv": "tin_shift"}.get(name, name)
    operator = operator if operator == "ball_query" else f"{operator}_forward"
    made = [one for one in arguments(operator, dtype, batch, seed) if isinstance(one, torch.Tensor)]
    more = seed % 3
    if operator == "psamask_forward":
        made[0] = torch.cat([made[0], made[0][:, :more]], 1).permute(0, 3, 1, 2)  # one row more, or two
    if operator == "border_align_forward":
        made = [made[0].permute(0, 3, 1, 2), torch.cat([made[1], made[1][:, :more]], 1)]
    if operator == "ball_query":
        made = [made[1], made[0][:, more:]]
    if operator == "tin_shift_forward":
        made[0] = made[0][..., more:]
    if operator == "three_nn_forward":
        made[0] = torch.cat([made[0], made[0][:, :more]], 1)
    if operator in ("three_interpolate_forward", "ms_deform_attn_forward"):  # more points, or queries
        first = 1 if operator == "three_interpolate_forward" else 3
        made[first:] = [torch.cat([one, one[:, :more]], 1) for one in made[first:]]
    return tuple(one.contiguous() for one in made)


def asking_for_gradients(name: str, made: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Arguments of a function of `FUNCTIONS`, those that have a gradient asking for it."""
    return tuple(
        one.detach().clone().requires_grad_() if i in DIFFERENTIABLE[name] else one for i, one in enumerate(made)
    )


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
