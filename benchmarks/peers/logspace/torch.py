"""logspace with PyTorch's own."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.families.logspace import RANGE
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    out = torch.from_numpy(outputs["out"])

    def run() -> Arrays:
        torch.logspace(*RANGE, len(out), out=out)
        return outputs

    return {"function": run}
