"""adam_w: a step of the optimiser, in place. A step hardly changes the state, as each run makes one more."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TinyCall, close, generator

#: The number of the step, and the learning rate.
STEP, RATE = 10_000, 1e-9


def build(case: Case) -> Problem:
    """Draw parameters and gradients, which the means have for long."""
    state = arrays(generator(case), case.parameters["elements"])

    function: Any = pymluops.adam_w

    def run(_out: Arrays) -> Arrays:
        function(*state.values(), STEP, RATE)
        return {name: state[name] for name in ("param", "momentum", "velocity")}

    written = 3 * state["param"].nbytes
    return Problem(case, state, {}, run, check, written=written)


def arrays(rng: np.random.Generator, count: int) -> dict[str, Array]:
    """Return the arguments."""
    grad = rng.standard_normal(count, np.float32)
    return {
        "param": rng.standard_normal(count, np.float32) * np.float32(1e-3),
        "momentum": grad.copy(),
        "velocity": grad * grad,
        "grad": grad,
    }


def check(expected: Arrays, found: Arrays) -> None:
    """Compare what some steps more have changed a little."""
    for name, array in expected.items():
        close(name, array, found[name], 1e-2)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of parameters."""
    return {"": {"elements": max(1, elements // 7)}}


def tiny() -> list[TinyCall]:
    """Return a call on four parameters."""
    names = dict(zip("pmvg", arrays(np.random.default_rng(7), 4).values(), strict=True))
    return [TinyCall("adam_w", f"op(p, m, v, g, {STEP}, {RATE})", names)]
