"""Runs mutants of one kernel in a process of its own, and says what became of each."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import TypeAlias

import numpy as np

import pymluops
from gallery.case import Case, entry_of, rng_of, run
from gallery.cases import cases_of
from gallery.mutation import Mutant, mutated
from gallery.schemata import source_of_all
from pymluops import bang, sim

Results: TypeAlias = list[np.ndarray]

#: Of the compiler, which takes most of the time.
OPTIONS = ("-O0",)
#: Under which every mutant runs, after `pymluops.sim.Schedule`.
SCHEDULES = (
    sim.Schedule(),
    sim.Schedule(copies="early", memory="nan"),
    sim.Schedule(copies="random", cores="random", memory="noise", seed=1),
)
#: Of one launch in the simulator; a mutant may loop for ever.
SECONDS = 5
#: Of the compiler and the kernel itself.
SECONDS_TO_START = 600
#: Of one mutant, after which its process is given up.
SECONDS_OF_MUTANT = 60


@dataclass
class Verdict:
    """What became of a mutant.

    Attributes
    ----------
    refused : bool
        Whether the compiler refused it.
    changed : bool
        Whether a result differs from that of the kernel in some schedule, or a launch gave none.
    rules : list of str
        The rules of what was found, with lines; ``launch`` where one failed without a finding,
        ``process`` where the process ended, ``schedules`` where results differ from schedule to
        schedule.
    """

    refused: bool = False
    changed: bool = False
    rules: list[str] = field(default_factory=list)


def verdicts(kernel: str, mutants: Sequence[Mutant], arch: int) -> Iterator[tuple[Mutant, Verdict]]:
    """The verdict on each mutant of a kernel."""
    left = list(mutants)
    while left:
        context = multiprocessing.get_context("spawn")
        pipe, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, kernel, left, arch), daemon=True)
        process.start()
        theirs.close()
        if not isinstance(_received(pipe, SECONDS_TO_START), _Ready):
            process.kill()
            raise RuntimeError(f"{kernel}: the process of its mutants did not start")
        done = 0
        while done < len(left) and isinstance(verdict := _received(pipe, SECONDS_OF_MUTANT), Verdict):
            yield left[done], verdict
            done += 1
        if done < len(left):
            process.kill()
            if (
                done == 0
            ):  # the mutant ends its process, or is too slow; else one before may be to blame, and it runs again
                yield left[0], Verdict(changed=True, rules=["process"])
                done = 1
        process.join()
        left = left[done:]


class _Ready:
    """What a process sends when all mutants that compile together are compiled."""


def _received(pipe: Connection, seconds: float) -> Verdict | _Ready | None:
    try:
        answer: Verdict | _Ready | BaseException | None = pipe.recv() if pipe.poll(seconds) else None
    except EOFError:
        return None
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _serve(pipe: Connection, kernel: str, mutants: list[Mutant], arch: int) -> None:
    pymluops.use("sim")
    sim.set_time_limit(SECONDS)
    try:
        cases = cases_of(kernel, arch)
        source = cases[0].path.read_text(encoding="utf-8")
        trial = Trial(cases, source, arch)
        together, module = compiled(source, mutants, arch)
        pipe.send(_Ready())
        for mutant in mutants:
            pipe.send(trial.verdict(module, together.get(mutant), mutant))
    except Exception as error:
        pipe.send(error)


def compiled(source: str, mutants: Sequence[Mutant], arch: int) -> tuple[dict[Mutant, int], bang.Module]:
    """A module of as many mutants as compile together, with their numbers."""
    chosen = list(mutants)
    while True:
        try:
            options = [*OPTIONS, "-DMLUOPS_HOST_FUNCTIONS"]
            module = bang.compile(source_of_all(source, chosen), arch=arch, options=options)
        except bang.CompileError as error:
            lines = {int(line) for line in re.findall(r"<source>:(\d+)(?::\d+)?: error", str(error))}
            fewer = [mutant for mutant in chosen if not lines_of(source, mutant) & lines]
            if len(fewer) == len(chosen):
                raise
            chosen = fewer
        else:
            return {mutant: number for number, mutant in enumerate(chosen, 1)}, module


def lines_of(source: str, mutant: Mutant) -> set[int]:
    found = set()
    for edit in mutant.edits:
        first = source.count("\n", 0, edit.span.start) + 1
        found |= set(range(first, first + edit.span.of(source).count("\n") + 1))
    return found


class Trial:
    """A kernel with the arguments of its cases, and what it computes unchanged."""

    def __init__(self, cases: Sequence[Case], source: str, arch: int) -> None:
        self.source, self.arch = source, arch
        self.cases = list(cases)
        self.arguments = [case.arguments(rng_of(case)) for case in self.cases]
        original = bang.compile(source, arch=arch, options=OPTIONS)
        runs = [self.outcomes(original, schedule) for schedule in SCHEDULES]
        self.results = runs[0][0]
        assert all(same(results, self.results) for results, _ in runs)
        #: What is found in the kernel itself, with its line, is no finding about a mutant.
        self.known = {rule for _, rules in runs for rule in rules}

    def verdict(self, module: bang.Module, number: int | None, mutant: Mutant) -> Verdict:
        if number is None:
            try:
                module = bang.compile(mutated(self.source, mutant), arch=self.arch, options=OPTIONS)
            except bang.CompileError:
                return Verdict(refused=True)
        else:
            module.function("gallery_choose")(number)
        runs = [self.outcomes(module, schedule) for schedule in SCHEDULES]
        rules = {rule for _, found in runs for rule in found} - self.known
        if not all(same(results, runs[0][0]) for results, _ in runs):
            rules.add("schedules")
        return Verdict(changed=not all(same(results, self.results) for results, _ in runs), rules=sorted(rules))

    def outcomes(self, module: bang.Module, schedule: sim.Schedule) -> tuple[list[Results | None], list[str]]:
        """The results of all cases, None where a launch failed, and the rules of what was found."""
        all_results: list[Results | None] = []
        rules: list[str] = []
        with sim.checking("all", {"all": "record"}), sim.scheduling(*schedule):
            for case, arguments in zip(self.cases, self.arguments, strict=True):
                sim.clear_findings()
                results: Results | None = None
                with suppress(pymluops.MluOpError):
                    results = run(case, module.kernel(entry_of(case, alone=True)), arguments)
                found = [f"{finding.checker}/{finding.rule}:{finding.line}" for finding in sim.findings()]
                rules += found or (["launch"] if results is None else [])
                all_results.append(results)
        return all_results, rules


def same(all_results: list[Results | None], wanted: list[Results | None]) -> bool:
    """Whether all results are there and are equal bit by bit."""
    return all(
        results is not None and expected is not None
        and all(a.tobytes() == b.tobytes() for a, b in zip(results, expected, strict=True))
        for results, expected in zip(all_results, wanted, strict=True)
    )  # fmt: skip
