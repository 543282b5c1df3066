"""Values [N, C, *] as operators on the statistics of channels take them, and their normalisation as a whole."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pymluops.torch._library import TorchOperator

__all__ = ["Steps", "Synchronised", "flat", "has_channels_last", "move", "or_all", "real_type", "shaped"]


class Steps(NamedTuple):
    """The operators: statistics, those of all processes, values, sums for the gradients, gradient of values.

    `name` is that of the function that they are steps of, for messages.
    """

    name: str
    stats: TorchOperator
    gather: TorchOperator
    elemt: TorchOperator
    reduce: TorchOperator
    backward: TorchOperator


def real_type(values: Tensor) -> torch.dtype:
    """Return the type to compute in."""
    return torch.float64 if values.dtype == torch.float64 else torch.float32


def has_channels_last(values: Tensor) -> bool:
    """Whether the channels of maps come last in memory, and not first as well."""
    if values.ndim != 4 or values.is_contiguous():
        return False
    return values.is_contiguous(memory_format=torch.channels_last)


def flat(values: Tensor, last: bool) -> Tensor:
    """Return values as [N, C, S], or [N * S, C, 1] if their channels come last."""
    wide, channels = values.to(real_type(values)), values.shape[1]
    if last:
        return wide.permute(0, 2, 3, 1).reshape(-1, channels, 1)
    return wide.reshape(values.shape[0], channels, math.prod(values.shape[2:]))


def shaped(flat: Tensor, like: Tensor, last: bool) -> Tensor:
    """Return what an operator computed from `flat` values in the shape, type and order of these."""
    if last:
        batches, channels, height, width = like.shape
        return flat.view(batches, height, width, channels).permute(0, 3, 1, 2).to(like.dtype)
    return flat.view(like.shape).to(like.dtype)


def or_all(channel: Tensor | None, value: float, like: Tensor) -> Tensor:
    """Return the numbers of channels in the type of others, or the same one for each."""
    return torch.full_like(like, value) if channel is None else channel.to(like.dtype)


def move(running: Tensor | None, new: Tensor, momentum: float) -> None:
    """Move running statistics in place, if there are any."""
    if running is not None:
        with torch.no_grad():
            running.copy_(momentum * new + (1 - momentum) * running.to(new.dtype))


def _processes(group: Any) -> int:
    dist = torch.distributed
    return dist.get_world_size(group) if dist.is_available() and dist.is_initialized() else 1


class Synchronised(torch.autograd.Function):
    """Values normalised by the statistics of all processes."""

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, weight: Any, bias: Any, running: Any, numbers: Any, group: Any, steps: Steps
    ) -> Tensor:
        ctx.steps, (eps, momentum) = steps, numbers
        last = has_channels_last(input)
        values = flat(input, last)
        count = values.shape[0] * values.shape[2]
        if count:
            mean, invstd = ctx.steps.stats(values, eps)
        else:
            mean, invstd = values.new_zeros(values.shape[1]), values.new_ones(values.shape[1])
        means, invstds, counts = mean[None], invstd[None], mean.new_full((1,), count)
        size = _processes(group)
        if size > 1:
            own = torch.cat([mean, invstd, counts])
            found = [torch.empty_like(own) for _ in range(size)]
            torch.distributed.all_gather(found, own, group)
            means, invstds, counts = torch.stack(found).split([len(mean), len(mean), 1], 1)
            means, invstds, counts = means.contiguous(), invstds.contiguous(), counts.flatten()
        total = float(counts.sum()) if size > 1 else count
        if total < 2:
            raise ValueError(f"{steps.name}: input: expected more than 1 value of each channel, got {total:g}")
        mean, invstd, var = ctx.steps.gather(means, invstds, counts, eps)
        move(running[0], mean, momentum)
        move(running[1], var, momentum)
        factors = or_all(weight, 1, mean)
        ctx.save_for_backward(input, mean, invstd, factors)
        ctx.last, ctx.total, ctx.size, ctx.group = last, total, size, group
        ctx.types = [None if one is None else one.dtype for one in (weight, bias)]
        if not count:
            return torch.empty_like(input)
        return shaped(ctx.steps.elemt(values, mean, invstd, factors, or_all(bias, 0, mean)), input, last)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError(f"{ctx.steps.name}: its gradient cannot be differentiated again")
        grad = grads[0]
        input, mean, invstd, factors = ctx.saved_tensors
        values = flat(input, ctx.last)
        given = flat(grad, ctx.last).to(values.dtype)
        if input.numel():
            weights, biases, sums, products = ctx.steps.reduce(given, values, mean, invstd)
        else:
            weights, biases, sums, products = (torch.zeros_like(mean) for _ in range(4))
        both = torch.stack([sums, products])
        if ctx.size > 1:
            torch.distributed.all_reduce(both, group=ctx.group)
        both = both / ctx.total
        found = torch.zeros_like(input)
        if input.numel():
            found = shaped(ctx.steps.backward(given, values, mean, invstd, factors, both[0], both[1]), input, ctx.last)
        of_channels = [
            None if kind is None else one.to(kind) for one, kind in zip((weights, biases), ctx.types, strict=True)
        ]
        return found, *of_channels, None, None, None, None
