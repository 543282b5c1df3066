"""sigmoid_focal_loss and softmax_focal_loss for tensors of PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import pymluops.torch as ours


def made(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(9, 4, generator=generator, dtype=torch.float64).to(dtype)
    target = torch.randint(0, 5, (9,), generator=generator)
    return x.requires_grad_(), target, torch.rand(4, generator=generator, dtype=torch.float64).to(dtype)


def composed(x: Tensor, target: Tensor, gamma: float, alpha: float, weight: Tensor | None, of_softmax: bool) -> Tensor:
    """The losses by PyTorch alone."""
    known = target < x.shape[1]
    place = target.where(known, 0)
    rows = torch.ones(len(x), dtype=x.dtype) if weight is None else weight[place].where(known, 1)
    if of_softmax:
        log = x.log_softmax(1).gather(1, place[:, None])[:, 0]
        return (-alpha * (1 - log.exp()) ** gamma * log * rows).where(known, 0)
    own = torch.nn.functional.one_hot(target, x.shape[1] + 1)[:, :-1].bool()
    p, sign = x.sigmoid(), 1 - 2 * own.to(x.dtype)
    losses = torch.where(own, alpha * (1 - p) ** gamma, (1 - alpha) * p**gamma) * torch.nn.functional.softplus(sign * x)
    return losses * rows[:, None]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("of_softmax", [False, True])
def test_losses_and_gradients(reduction: str, weighted: bool, of_softmax: bool) -> None:
    x, target, weight = made()
    given = weight if weighted else None
    function = ours.softmax_focal_loss if of_softmax else ours.sigmoid_focal_loss
    kind = ours.SoftmaxFocalLoss if of_softmax else ours.SigmoidFocalLoss
    losses = composed(x, target, 1.5, 0.25, given, of_softmax)
    wanted = {"none": losses, "mean": losses.sum() / 9, "sum": losses.sum()}[reduction]
    found = function(x, target, 1.5, 0.25, given, reduction)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(kind(1.5, 0.25, given, reduction)(x, target.int()), wanted)
    flowing = torch.rand_like(wanted)
    torch.testing.assert_close(*(torch.autograd.grad(one, x, flowing)[0] for one in (found, wanted)))
    assert torch.autograd.gradcheck(lambda x: function(x, target, 2.0, 0.25, given, reduction), (x,))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_other_types(dtype: torch.dtype) -> None:
    x, target, weight = made(dtype)
    for of_softmax, function in enumerate((ours.sigmoid_focal_loss, ours.softmax_focal_loss)):
        found = function(x, target, 2.0, 0.25, weight, "none")
        assert found.dtype == dtype
        wanted = composed(x.double(), target, 2.0, 0.25, weight.double(), bool(of_softmax))
        torch.testing.assert_close(found.double(), wanted, rtol=2e-2, atol=2e-2 if dtype != torch.float32 else 1e-6)


def test_no_second_derivative_and_no_other_reduction() -> None:
    x, target, _ = made()
    (first,) = torch.autograd.grad(ours.sigmoid_focal_loss(x, target), x, create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        torch.autograd.grad(first.sum(), x)
    with pytest.raises(ValueError, match="softmax_focal_loss: reduction: expected 'none', 'mean' or 'sum'"):
        ours.softmax_focal_loss(x, target, reduction="median")
    assert ours.sigmoid_focal_loss(x[:0], target[:0], reduction="sum").item() == 0
