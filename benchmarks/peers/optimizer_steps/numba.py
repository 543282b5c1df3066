"""adam_w with numba: one loop over the parameters, shared among threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.families.optimizer_steps import RATE, STEP
from benchmarks.peers import Variants
from benchmarks.peers.numba_support import inlined
from benchmarks.problem import Arrays, Problem
from benchmarks.threads import together


def _step(param: Any, momentum: Any, velocity: Any, grad: Any, numbers: Any, begin: int, end: int) -> None:
    beta1, beta2, length, share, epsilon, kept = numbers
    one = np.float32(1)
    for i in range(begin, end):
        momentum[i] = beta1 * momentum[i] + (one - beta1) * grad[i]
        velocity[i] = beta2 * velocity[i] + (one - beta2) * grad[i] * grad[i]
        param[i] = kept * param[i] - length * momentum[i] / (np.sqrt(velocity[i] * share) + epsilon)


_stepped = inlined(_step)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    arrays = list(problem.inputs.values())
    length, share = RATE / (1 - 0.9**STEP), 1 / (1 - 0.999**STEP)
    numbers = tuple(map(np.float32, (0.9, 0.999, length, share, 1e-8, 1 - RATE * 0.01)))
    found = {name: problem.inputs[name] for name in ("param", "momentum", "velocity")}

    def run() -> Arrays:
        together(lambda begin, end: _stepped(*arrays, numbers, begin, end), len(arrays[0]), threads)()
        return found

    return {"loop": run}
