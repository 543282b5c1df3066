"""The steps of batch normalisation with the operators that PyTorch has for the CPU."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.families.sync_batch_norm import EPS
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of an operator; maps whose channels come last are in that memory format."""
    torch: Any = importlib.import_module("torch")
    facts = problem.case.parameters
    height, width = facts["size"]

    def as_maps(array: Any) -> Any:
        tensor = torch.from_numpy(array)
        if tensor.ndim != 3:
            return tensor
        if facts.get("last", False):
            return tensor.view(facts["batch"], height, width, -1).permute(0, 3, 1, 2)
        return tensor.view(facts["batch"], -1, height, width)

    given = {name: as_maps(array) for name, array in problem.inputs.items()}
    out = {name: as_maps(array) for name, array in outputs.items()}
    name = problem.case.operator.removeprefix("sync_batch_norm_")
    ways: dict[str, Callable[..., tuple[Any, ...]]] = {
        "stats": _stats,
        "gather_stats_with_counts": _gather,
        "elemt": _elemt,
        "backward_reduce": _reduce,
        "backward_elemt": _backward,
    }

    def run(way: Callable[..., tuple[Any, ...]]) -> Arrays:
        with torch.no_grad():
            for result, found in zip(out.values(), way(torch, given), strict=True):
                result.copy_(found)
        return outputs

    found = {"operators": lambda: run(ways[name])}
    if name == "backward_elemt":  # a sum of products, without a copy
        found["sums of products"] = lambda: _products(torch, given, out["out"], outputs)
    return found


def _stats(torch: Any, t: dict[str, Any]) -> tuple[Any, ...]:
    mean, var = torch.batch_norm_update_stats(t["x"], None, None, 0.0)
    return mean, (var + EPS).rsqrt()


def _gather(torch: Any, t: dict[str, Any]) -> tuple[Any, ...]:
    counts = t["count_all"][:, None]
    total = counts.sum()
    mean = (t["mean_all"] * counts).sum(0) / total
    own = t["invstd_all"].pow(-2) - EPS + (t["mean_all"] - mean).square()
    var = (own * counts).sum(0) / total
    return mean, (var + EPS).rsqrt(), var * total / (total - 1)


def _elemt(torch: Any, t: dict[str, Any]) -> tuple[Any, ...]:
    var = t["invstd"].pow(-2) - EPS
    return (torch.nn.functional.batch_norm(t["x"], t["mean"], var, t["filter"], t["bias"], eps=EPS),)


def _reduce(torch: Any, t: dict[str, Any]) -> tuple[Any, ...]:
    statistics = t["mean"], t["invstd"]
    wanted = [False, True, True]
    backward = torch.ops.aten.native_batch_norm_backward
    _, weights, biases = backward(
        t["dy"], t["x"], torch.ones_like(t["mean"]), None, None, *statistics, True, EPS, wanted
    )
    return weights, biases, biases, weights / t["invstd"]


def _constants(t: dict[str, Any]) -> tuple[Any, ...]:
    scale = t["invstd"] * t["filter"]
    factor = t["invstd"].square() * t["mean_dy_xmu"]
    rest = (t["mean"] * factor - t["mean_dy"]) * scale
    return tuple(one[:, None, None] for one in (scale, -factor * scale, rest))


def _backward(torch: Any, t: dict[str, Any]) -> tuple[Any, ...]:
    scale, factor, rest = _constants(t)
    return (torch.addcmul(torch.addcmul(rest, t["x"], factor), t["dy"], scale),)


def _products(torch: Any, t: dict[str, Any], out: Any, outputs: Arrays) -> Arrays:
    scale, factor, rest = _constants(t)
    with torch.no_grad():
        torch.addcmul(rest, t["x"], factor, out=out).addcmul_(t["dy"], scale)
    return outputs
