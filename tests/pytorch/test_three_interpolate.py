"""three_interpolate for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

import torch

from support.torch_samples import all_equal, arguments, overload, with_gradient


def test_an_expanded_gradient() -> None:
    made = with_gradient("three_interpolate_forward", arguments("three_interpolate_forward"))
    overload("three_interpolate_forward")(*made).sum().backward()
    _, indices, weights = made
    wanted = torch.zeros(2, 7).scatter_add_(1, indices.flatten(1).long(), weights.flatten(1))
    all_equal(made[0].grad, wanted[:, None].expand(2, 3, 7), rtol=1e-6, atol=1e-6)
