"""assign_score_withk: weighted features of neighbours, and the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator

_TOLERANCE = {"float32": 1e-5, "float16": 4e-3}


def build(case: Case) -> Problem:
    """Draw features and scores, and neighbours evenly."""
    facts, rng = case.parameters, generator(case)
    inputs = _inputs(rng, facts, case.dtype)
    output = (facts["batch"], facts["channels"], facts["centres"], facts["neighbours"])
    if case.operator.endswith("forward"):
        outputs = {"out": (output, np.dtype(case.dtype))}
    else:
        inputs = {"grad_output": rng.standard_normal(output, np.float32).astype(case.dtype), **inputs}
        outputs = {
            f"grad_{name}": (inputs[name].shape, np.dtype(case.dtype)) for name in ("points", "centers", "scores")
        }
    call: Any = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        call(*inputs.values(), **out, validate=False)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name, array in expected.items():
            close(name, array, found[name], _TOLERANCE[case.dtype])

    return Problem(case, inputs, outputs, run, check)


def _inputs(rng: np.random.Generator, facts: Any, dtype: str) -> dict[str, Array]:
    bank = facts["batch"], facts["points"], facts["matrices"], facts["channels"]
    scores = facts["batch"], facts["centres"], facts["neighbours"], facts["matrices"]
    shapes = {"points": bank, "centers": bank, "scores": scores}
    values = {name: rng.standard_normal(shape, np.float32).astype(dtype) for name, shape in shapes.items()}
    return {**values, "knn_idx": rng.integers(0, facts["points"], scores[:3]).astype(np.int32)}


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points and centres, with 16 neighbours, 8 matrices and 32 channels where there is room."""
    if elements < 20000:
        neighbours, matrices, channels = 4, 2, 4
    else:
        neighbours, matrices, channels = 16, 8, 32
    each = 2 * matrices * channels + neighbours * (matrices + channels + 1)
    points = max(1, round(elements / each))
    return {"": {"batch": 1, "points": points, "centres": points, "neighbours": neighbours, "matrices": matrices,
                 "channels": channels}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two points."""
    facts = {"batch": 1, "points": 2, "centres": 2, "neighbours": 2, "matrices": 1, "channels": 3}
    names = dict(zip(("x", "c", "s", "k"), _inputs(np.random.default_rng(7), facts, "float32").values(), strict=True))
    results = {"o": np.zeros((1, 3, 2, 2), np.float32)}
    grads = {"a": np.zeros_like(names["x"]), "b": np.zeros_like(names["c"]), "d": np.zeros_like(names["s"])}
    backward = "op(o, x, c, s, k, grad_points=a, grad_centers=b, grad_scores=d)"
    return [
        TinyCall("assign_score_withk_forward", "op(x, c, s, k, out=o)", {**names, **results}, limit=4000.0),
        TinyCall("assign_score_withk_backward", backward, {**names, **results, **grads}, limit=4000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    facts = {"batch": 1, "points": 2, "centres": 2, "neighbours": 2, "matrices": 1, "channels": 3}
    arrays = _inputs(np.random.default_rng(0), facts, "float32")
    given = {name: tensor(array) for name, array in arrays.items()}
    order = [given[name] for name in ("scores", "points", "centers", "knn_idx")]
    return TensorCall(
        "assign_score_withk",
        lambda: pymluops.assign_score_withk_forward(*arrays.values()),
        lambda: ops.assign_score_withk(*order),
    )
