"""tin_shift with NumPy: a copy of a slice for each group and batch."""

from __future__ import annotations

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.threads import together


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return copies of slices, on threads of Python when there may be several."""
    source, shifts, target = problem.inputs["input"], problem.inputs["shifts"], outputs["out"]
    batch, steps, channels, _ = source.shape
    groups = shifts.shape[1]
    size = channels // groups

    def move(start: int, stop: int) -> None:
        for task in range(start, stop):
            b, g = divmod(task, groups)
            shift = max(-steps, min(int(shifts[b, g]), steps))
            before, after = source[b, :, g * size : (g + 1) * size], target[b, :, g * size : (g + 1) * size]
            if shift >= 0:
                after[:shift] = 0
                after[shift:] = before[: steps - shift]
            else:
                after[:shift] = before[-shift:]
                after[shift:] = 0

    moved = together(move, batch * groups, threads)

    def slices() -> Arrays:
        moved()
        return outputs

    return {"slices": slices}
