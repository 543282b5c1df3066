"""mutual_information: the probability of all ways through tables, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Draw logarithms of probabilities; the regions are the whole tables."""
    batch, rows, columns = (case.parameters[name] for name in ("batch", "rows", "columns"))
    px, py = steps(generator(case), batch, rows, columns)
    if case.operator.endswith("forward"):
        outputs: dict[str, Any] = {"ans": ((batch,), np.float32), "p": ((batch, rows + 1, columns + 1), np.float32)}
        return Problem(case, {"px": px, "py": py}, outputs, lambda out: _forward(px, py, out), check)
    p, start = pymluops.mutual_information_forward(px, py)[1], np.ones(batch, np.float32)

    def run(out: Arrays) -> Arrays:
        function: Any = pymluops.mutual_information_backward
        function(px, py, None, p, start, **out)
        return out

    outputs = {"px_grad": (px.shape, px.dtype), "py_grad": (py.shape, py.dtype)}
    return Problem(case, {"px": px, "py": py, "p": p, "start": start}, outputs, run, check)


def _forward(px: Array, py: Array, out: Arrays) -> Arrays:
    pymluops.mutual_information_forward(px, py, ans=out["ans"], p=out["p"])
    return out


def steps(rng: np.random.Generator, batch: int, rows: int, columns: int) -> tuple[Array, Array]:
    """Return px and py."""
    px = np.log(rng.uniform(0.1, 0.9, (batch, rows, columns + 1))).astype(np.float32)
    return px, np.log(rng.uniform(0.1, 0.9, (batch, rows + 1, columns))).astype(np.float32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare to rounding: differences of logarithms of some hundreds."""
    for name, array in expected.items():
        close(name, array, found[name], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the tables to 100 x 100 cells, then the batch."""
    side = min(100, max(2, round((elements / 3) ** 0.5)))
    return {"": {"batch": max(1, round(elements / (3 * side * side))), "rows": side, "columns": side}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a table of 3 x 3 cells."""
    px, py = steps(np.random.default_rng(7), 1, 2, 2)
    ans, p = pymluops.mutual_information_forward(px, py)
    given = {"x": px, "y": py, "a": ans, "p": p}
    return [
        TinyCall("mutual_information_forward", "op(x, y, None, ans=a, p=p)", given),
        TinyCall(
            "mutual_information_backward", "op(x, y, None, p, a, False, px_grad=d, py_grad=e)",
            {**given, "d": px.copy(), "e": py.copy()},
        ),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call on a table of 3 x 3 cells."""
    px, py = steps(np.random.default_rng(7), 1, 2, 2)
    whole, given = np.array([[0, 0, 2, 2]]), (tensor(px), tensor(py), tensor(np.array([[0, 0, 2, 2]])))
    return TensorCall(
        "mutual_information_recursion",
        lambda: pymluops.mutual_information_forward(px, py, whole),
        lambda: ops.mutual_information_recursion(*given),
    )
