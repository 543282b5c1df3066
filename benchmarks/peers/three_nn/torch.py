"""three_nn with PyTorch: squared distances of some points to all others, and the three smallest."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Distances computed at once, which stay in the caches.
_CELLS = 1 << 18


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return a way with differences and one with cdist. float16 is computed in float32."""
    torch: Any = importlib.import_module("torch")
    unknown, known = (torch.from_numpy(problem.inputs[name]).float() for name in ("unknown", "known"))
    dist2, idx = (torch.from_numpy(outputs[name]) for name in ("dist2", "idx"))

    def differences(some: Any, others: Any) -> Any:
        x, y, z = ((others[:, axis] - some[:, axis : axis + 1]).square_() for axis in range(3))
        return x.add_(y).add_(z)

    def cdist(some: Any, others: Any) -> Any:
        return torch.cdist(some, others, compute_mode="donot_use_mm_for_euclid_dist").square_()

    def giving(distances: Callable[[Any, Any], Any]) -> Callable[[], Arrays]:
        def run() -> Arrays:
            step = max(1, _CELLS // known.shape[1])
            for b in range(len(unknown)):
                for start in range(0, unknown.shape[1], step):
                    stop = start + step
                    found = torch.topk(distances(unknown[b, start:stop], known[b]), 3, largest=False, sorted=True)
                    dist2[b, start:stop], idx[b, start:stop] = found
            return outputs

        return run

    return {"differences": giving(differences), "cdist": giving(cdist)}
