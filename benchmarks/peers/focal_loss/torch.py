"""Focal losses with PyTorch, composed as networks do without an operator of their own."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.families.focal_loss import ALPHA, GAMMA
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way; gradients are autograd's, of a forward pass that counts too."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    target, out = given["target"].long(), torch.from_numpy(outputs["out"])
    losses = _of_softmax if problem.case.operator.startswith("softmax") else _of_sigmoid

    def forward() -> Arrays:
        out.copy_(losses(torch, given["input"], target))
        return outputs

    def backward() -> Arrays:
        x = given["input"].detach().requires_grad_()
        out.copy_(torch.autograd.grad(losses(torch, x, target), x, given["grad_output"])[0])
        return outputs

    return {"composed": backward if "grad_output" in given else forward}


def _of_sigmoid(torch: Any, x: Any, target: Any) -> Any:
    functional = torch.nn.functional
    own = functional.one_hot(target, x.shape[1] + 1)[:, :-1].to(x.dtype)
    p = x.sigmoid()
    wrong = (1 - p) * own + p * (1 - own)
    factor = (ALPHA * own + (1 - ALPHA) * (1 - own)) * wrong.pow(GAMMA)
    return functional.binary_cross_entropy_with_logits(x, own, reduction="none") * factor


def _of_softmax(torch: Any, x: Any, target: Any) -> Any:
    known = target < x.shape[1]
    log = x.log_softmax(1).gather(1, target.where(known, 0)[:, None])[:, 0]
    return (-ALPHA * (1 - log.exp()).pow(GAMMA) * log).where(known, 0)
