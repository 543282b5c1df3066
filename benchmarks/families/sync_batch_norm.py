"""The steps of batch normalisation over several devices: statistics, values, sums, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

EPS = 1e-5
#: Operators without cases: their kernel is that of `sync_batch_norm_backward_elemt`.
SAME_KERNEL = ("sync_batch_norm_backward_elemt_v2",)
_STATS, _GATHER = "sync_batch_norm_stats", "sync_batch_norm_gather_stats_with_counts"
_CHANNEL = ("mean", "invstd", "filter", "bias", "mean_dy", "mean_dy_xmu")
_INPUTS = {
    _STATS: "x",
    _GATHER: "mean_all invstd_all count_all",
    "sync_batch_norm_elemt": "x mean invstd filter bias",
    "sync_batch_norm_backward_reduce": "dy x mean invstd",
    "sync_batch_norm_backward_elemt": "dy x mean invstd filter mean_dy mean_dy_xmu",
}
_OUTPUTS = {
    _STATS: "mean invstd",
    _GATHER: "mean invstd var",
    "sync_batch_norm_backward_reduce": "dfilter dbias sum_dy sum_dy_xmu",
}


def build(case: Case) -> Problem:
    """Make values, their gradient and numbers of channels; ``last`` means that the channels come last."""
    facts, rng = case.parameters, generator(case)
    channels, (height, width) = facts["channels"], facts["size"]
    if facts.get("last", False):
        shape = facts["batch"] * height * width, channels, 1
    else:
        shape = facts["batch"], channels, height * width
    names = _INPUTS[case.operator].split()
    given: Arrays = {}
    for name in names:
        if name in _CHANNEL:
            given[name] = rng.uniform(0.5, 1.5, channels).astype(np.float32)
        elif name == "count_all":
            given[name] = rng.integers(100, 999, facts["batch"]).astype(np.float32)
        elif case.operator == _GATHER:
            given[name] = rng.uniform(0.5, 1.5, (facts["batch"], channels)).astype(np.float32)
        else:
            given[name] = rng.standard_normal(shape, np.float32).astype(case.dtype)
    operator = getattr(pymluops, case.operator)
    numbers = (EPS,) if case.operator in (_STATS, _GATHER) else ()

    def run(out: Arrays) -> Arrays:
        operator(*given.values(), *numbers, **out)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        if expected.keys() != found.keys():
            raise WrongResultError(f"results {list(found)} instead of {list(expected)}")
        for name, array in expected.items():
            close(name, array, found[name], 1e-3 if case.dtype == "float16" else 2e-5)

    outputs: dict[str, Any] = dict.fromkeys(_OUTPUTS.get(case.operator, "").split(), ((channels,), np.float32))
    return Problem(case, given, outputs or {"out": (shape, np.dtype(case.dtype))}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps."""
    channels = 8 if elements < 100_000 else 64
    side = max(1, round((elements / (4 * channels)) ** 0.5))
    return {"": {"batch": 2, "size": [side, side], "channels": channels}}


def _little() -> tuple[Array, Array]:
    return np.random.default_rng(7).normal(size=(2, 3, 4)).astype(np.float32), np.ones(3, np.float32)


def tiny() -> list[TinyCall]:
    """Return a call of each operator that has cases, on three channels."""
    x, one = _little()
    names = {"x": x, "m": one, "o": x.copy(), "a": one.copy(), "b": one.copy(), "c": one.copy(), "d": one.copy()}
    all_of_two = {"p": np.ones((2, 3), np.float32), "n": np.ones(2, np.float32), **names}
    return [
        TinyCall(_STATS, "op(x, 0.5, mean=a, invstd=b)", names),
        TinyCall(_GATHER, "op(p, p, n, 0.5, mean=a, invstd=b, var=c)", all_of_two),
        TinyCall("sync_batch_norm_elemt", "op(x, m, m, m, m, out=o)", names),
        TinyCall(
            "sync_batch_norm_backward_reduce", "op(x, x, m, m, dfilter=a, dbias=b, sum_dy=c, sum_dy_xmu=d)", names
        ),
        TinyCall("sync_batch_norm_backward_elemt", "op(x, x, m, m, m, m, m, out=o)", names),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    x, one = _little()
    given = tensor(x), tensor(one)
    return TensorCall(
        "batch_norm_elemt",
        lambda: pymluops.sync_batch_norm_elemt(x, one, one, one, one),
        lambda: ops.batch_norm_elemt(given[0], *(given[1],) * 4),
    )
