"""The kernels of ``examples/kernels`` and their mutants as work for a judge: files and tasks.

``PYTHONPATH=tests python3 -m gallery.judged FOLDER --per-kernel 24`` writes them, and with
``PYTHONPATH=tests`` ``pymluops kernel judge FOLDER --tasks FOLDER/tasks.py`` judges them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gallery.campaign import chosen_mutants
from gallery.case import KERNELS, Case, Changed, Out, expected_of, rng_of
from gallery.cases import CASES
from gallery.mutation import mutated
from pymluops.bang.judging import Kind, Task, Tolerance, Verdict, changed, output

#: What a judge says of a kernel that was changed so that it matters.
CAUGHT = frozenset(Kind) - {Kind.RIGHT, Kind.FINDINGS}


def task_of(case: Case, number: int) -> Task:
    """A case as a task, which is called by its kernel and its number among the cases of that."""
    arguments = case.arguments(rng_of(case))
    exact = Tolerance(rtol=0.0, atol=0.0)
    return Task(
        f"{case.kernel}.{number}",
        {f"argument_{i}": _described(value) for i, value in enumerate(arguments)},
        partial(_expected, case, arguments),
        Tolerance(scaled=case.tolerance) if case.tolerance else exact,
        (case.dim, case.kind),
        entry=case.entry or case.kernel,
    )


def _described(value: Any) -> Any:
    if isinstance(value, Out):
        return output(*(value.shape if isinstance(value.shape, tuple) else (value.shape,)), dtype=value.dtype)
    return changed(value.array) if isinstance(value, Changed) else value


def _expected(case: Case, arguments: Sequence[Any], **_: Any) -> tuple[np.ndarray, ...]:
    return tuple(expected_of(case, arguments))


def _tasks() -> list[Task]:
    found: list[Task] = []
    for case in CASES:
        if 592 in case.archs:
            found.append(task_of(case, sum(task.name.startswith(f"{case.kernel}.") for task in found)))
    return found


TASKS = _tasks()


def write_files(folder: Path, kernels: Sequence[str], per_kernel: int, seed: int = 0) -> None:
    """Write each kernel and its mutants into a folder for each of its tasks, and the tasks."""
    for task in TASKS:
        kernel = task.name.rpartition(".")[0]
        if kernel not in kernels:
            continue
        own = folder / task.name
        own.mkdir(parents=True, exist_ok=True)
        source = (KERNELS / f"{kernel}.mlu").read_text(encoding="utf-8")
        (own / f"{task.name}.mlu").write_text(source, encoding="utf-8")
        for number, mutant in enumerate(chosen_mutants(kernel, per_kernel, seed), 1):
            (own / f"{task.name}-mutant{number}.mlu").write_text(mutated(source, mutant), encoding="utf-8")
    (folder / "tasks.py").write_text("from gallery.judged import TASKS\n", encoding="utf-8")


def mutants_table(verdicts: Sequence[Verdict]) -> str:
    """How the kernels and their mutants ended: a mutant counts once, by the first task that catches it."""
    lines = ["| | kernels | right | with findings | wrong | fault | limit, crash | not compiled or refused |"]
    lines.append("|---" * 8 + "|")
    for title, is_mutant in (("kernels", False), ("mutants", True)):
        best: dict[str, Kind] = {}
        for verdict in verdicts:
            name = Path(verdict.name).stem
            if ("-mutant" in name) is is_mutant:
                kernel, _, mutant = name.partition("-mutant")
                key = f"{kernel.rpartition('.')[0]}-{mutant}"
                best[key] = min(best.get(key, Kind.RIGHT), verdict.kind, key=list(Kind).index)
        counts = [sum(kind in kinds for kind in best.values()) for kinds in _GROUPS]
        lines.append(f"| {title} | {len(best)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


_GROUPS: tuple[frozenset[Kind], ...] = (
    frozenset({Kind.RIGHT}), frozenset({Kind.FINDINGS}), frozenset({Kind.WRONG}), frozenset({Kind.FAULT}),
    frozenset({Kind.TIME_LIMIT, Kind.MEMORY_LIMIT, Kind.OUTPUT_LIMIT, Kind.CRASH}),
    frozenset({Kind.COMPILE_ERROR, Kind.REFUSED, Kind.TASK_ERROR}),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes kernels and their mutants as work for a judge.")
    parser.add_argument("folder", type=Path, help="where the files are written to, with tasks.py")
    parser.add_argument("kernels", nargs="*", help="names of kernels; all of them if none is given")
    parser.add_argument("--per-kernel", type=int, default=4, help="mutants of each kernel at most")
    parser.add_argument("--seed", type=int, default=0, help="of the choice among all mutants")
    parser.add_argument("--table", type=Path, help="write nothing, and print the table of these verdicts")
    options = parser.parse_args()
    if options.table is not None:
        lines = options.table.read_text(encoding="utf-8").splitlines()
        print(mutants_table([Verdict.from_json(json.loads(line)) for line in lines]))
        return
    kernels = options.kernels or sorted(path.stem for path in KERNELS.glob("*.mlu"))
    write_files(options.folder, kernels, options.per_kernel, options.seed)


if __name__ == "__main__":
    main()
