"""adam_w with PyTorch: its optimiser, fused and as a sequence of operators."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.families.optimizer_steps import RATE, STEP
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return both ways for one tensor; they change the same arrays."""
    torch: Any = importlib.import_module("torch")
    state = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    found = {name: problem.inputs[name] for name in ("param", "momentum", "velocity")}

    def way(**options: bool) -> Any:
        param = torch.nn.Parameter(state["param"])
        param.grad = state["grad"]
        optimizer = torch.optim.AdamW([param], lr=RATE, **options)
        optimizer.state[param] = {
            "step": torch.tensor(float(STEP)),
            "exp_avg": state["momentum"],
            "exp_avg_sq": state["velocity"],
        }

        def run() -> Arrays:
            optimizer.step()
            return found

        return run

    return {"fused": way(fused=True), "operators": way(foreach=False)}
