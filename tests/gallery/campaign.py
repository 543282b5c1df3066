"""Mutates the kernels of ``examples/kernels`` and counts what the checkers say.

``PYTHONPATH=tests python3 -m gallery.campaign --per-kernel 40 --json campaign.json``
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gallery.case import KERNELS
from gallery.cases import cases_of
from gallery.mutation import Mutant, mutants_of, sample
from gallery.trial import Verdict, verdicts

COLUMNS = ("mutants", "refused", "equivalent", "only reported", "wrong, reported", "wrong, not reported")


def class_of(verdict: Verdict) -> str:
    if verdict.refused:
        return "refused"
    if verdict.changed:
        return "wrong, reported" if verdict.rules else "wrong, not reported"
    return "only reported" if verdict.rules else "equivalent"


def chosen_mutants(kernel: str, per_kernel: int, seed: int, operators: Sequence[str] = ()) -> list[Mutant]:
    source = (KERNELS / f"{kernel}.mlu").read_text(encoding="utf-8")
    mutants = [mutant for mutant in mutants_of(kernel, source) if not operators or mutant.operator in operators]
    return sample(mutants, per_kernel, seed)


def table(records: Iterable[dict[str, Any]], key: Callable[[dict[str, Any]], str], title: str) -> str:
    """Counts of the classes, a line for each value of the key; the last column is the share of wrong ones reported."""
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        for name in (key(record), "all"):
            line = counts.setdefault(name, dict.fromkeys(COLUMNS, 0))
            line["mutants"] += 1
            line[record["class"]] += 1
    lines = [[title, *COLUMNS, "share"]]
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        line = counts[name]
        wrong = line["wrong, reported"] + line["wrong, not reported"]
        share = f"{100 * line['wrong, reported'] / wrong:.1f} %" if wrong else ""
        lines.append([name, *(str(line[column]) for column in COLUMNS), share])
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


def shares_of_first(records: Iterable[dict[str, Any]], *, with_other: bool) -> tuple[int, int]:
    """How often the first finding is within two lines of the change, among the mutants with any finding there."""

    def is_near(place: Sequence[int], line: int) -> bool:
        return any(number and abs(number - line) <= 2 for number in place[: 2 if with_other else 1])

    near = [[is_near(place, record["line"]) for place in record["places"]] for record in records]
    return sum(each[0] for each in near if each), sum(any(each) for each in near)


def record_of(mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
    described = {"kernel": mutant.kernel, "line": mutant.line, "operator": mutant.operator, "what": mutant.what}
    return {**described, **dataclasses.asdict(verdict), "class": class_of(verdict)}


def campaign(
    kernels: Sequence[str], arch: int, choose: Callable[[str], Sequence[Mutant]], file: Path | None = None
) -> list[dict[str, Any]]:
    """The verdicts on the mutants that `choose` gives for each kernel; they are in the file after every kernel."""
    records: list[dict[str, Any]] = []
    for kernel in kernels:
        own = [record_of(*pair) for pair in verdicts(kernel, choose(kernel), arch)] if cases_of(kernel, arch) else []
        records += own
        if file is not None:
            file.write_text(json.dumps(records, indent=1), encoding="utf-8")
        missed = sum(record["class"] == "wrong, not reported" for record in own)
        print(f"{kernel}: {len(own)} mutants, {missed} wrong without a report", file=sys.stderr, flush=True)
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutates kernels and counts what the checkers say.")
    parser.add_argument("kernels", nargs="*", help="names of kernels; all of them if none is given")
    parser.add_argument("--arch", type=int, default=592, help="architecture")
    parser.add_argument("--per-kernel", type=int, default=40, help="mutants of each kernel at most")
    parser.add_argument("--seed", type=int, default=0, help="of the choice among all mutants")
    parser.add_argument("--operator", action="append", default=[], help="only mutants of this operator")
    parser.add_argument("--json", type=Path, help="where all verdicts are written to")
    options = parser.parse_args()
    kernels = options.kernels or sorted(path.stem for path in KERNELS.glob("*.mlu"))
    choose = partial(chosen_mutants, per_kernel=options.per_kernel, seed=options.seed, operators=options.operator)
    records = campaign(kernels, options.arch, choose, options.json)
    print(table(records, lambda record: record["operator"], "operator"), end="\n\n")
    print(table(records, lambda record: record["kernel"], "kernel"))
    for with_other in (False, True):
        first, any_of_them = shares_of_first(records, with_other=with_other)
        print(f"first finding near the change{', or its other access' if with_other else ''}: {first} of {any_of_them}")


if __name__ == "__main__":
    main()
