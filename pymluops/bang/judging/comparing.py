"""What the process does that compares outputs with the reference, after the kernel's process has ended."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymluops.bang.judging.problem import Problem, Value
from pymluops.bang.judging.tolerance import Deviation, deviation
from pymluops.bang.judging.verdict import WrittenOutput

__all__ = ["compared"]


def compared(problem: Problem, shared: int, done: int) -> list[WrittenOutput]:
    """Compare the outputs of the first runs with the reference.

    Parameters
    ----------
    problem : Problem
        With the reference.
    shared : int
        The memory with the outputs of all runs.
    done : int
        The number of runs that have outputs.
    """
    size = problem.nbytes * len(problem.schedules)
    content = bytes(mmap.mmap(shared, size, prot=mmap.PROT_READ)) if size else b""
    runs = [_outputs(problem, content, number) for number in range(done)]
    return [_output(problem, value, [run[value.name] for run in runs]) for value in problem.outputs]


def _outputs(problem: Problem, content: bytes, number: int) -> Mapping[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    at = number * problem.nbytes
    for value in problem.outputs:
        assert value.array is not None
        found[value.name] = value.array.of(content[at : at + value.array.nbytes])
        at += value.array.nbytes
    return found


def _output(problem: Problem, value: Value, results: Sequence[NDArray[Any]]) -> WrittenOutput:
    expected = problem.reference(value.name)
    tolerance = problem.tolerances[value.name]
    found: list[tuple[str, Deviation]] = []
    for schedule, result in zip(problem.schedules, results, strict=False):
        amiss = deviation(result, expected, tolerance)
        if amiss is not None:
            found.append((str(schedule), amiss))
    unwritten = _unwritten(problem, results) if value.role == "output" else 0
    if not found:
        return WrittenOutput(value.name, unwritten == 0, unwritten)
    under, first = found[0]
    return WrittenOutput(
        value.name, False, unwritten, first.count, first.index, first.got, first.expected, first.largest, first.reasons,
        under, len(found),
    )  # fmt: skip


def _unwritten(problem: Problem, results: Sequence[NDArray[Any]]) -> int:
    """Return how many elements are what undefined memory held, under one schedule as under another."""
    by_memory = {schedule.memory: result for schedule, result in zip(problem.schedules, results, strict=False)}
    if not {"nan", "zero"} <= set(by_memory) or by_memory["nan"].size == 0:
        return 0
    ones, zeros = (_bytes_of(by_memory[memory]) for memory in ("nan", "zero"))
    return int(((ones == 0xFF).all(axis=1) & (zeros == 0).all(axis=1)).sum())


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.size, array.dtype.itemsize)
