"""The process of a judge that has the package imported, and forks a process for each kernel.

Each line of standard input is a kernel with its problem, each line of standard output an answer:
``ready`` once, or ``refused`` with the reason why no kernel can be judged, then ``verdict``s. It
runs nothing of a kernel or of a task, and has one thread.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import math
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pymluops
from pymluops._cache.location import cache_folder
from pymluops._cache.scratch import remove_tree, scratch_folder
from pymluops._processes import end_with, ending, last_line, own_channels
from pymluops._shown import counted, one_line, shortened
from pymluops.bang._build import Build
from pymluops.bang._compilers import Compiler, find_compiler
from pymluops.bang.judging import isolation
from pymluops.bang.judging.comparing import compared
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.problem import Problem, read_problem
from pymluops.bang.judging.trial import Trial, run_trial
from pymluops.bang.judging.verdict import Cost, JudgedFinding, Kind, Verdict, WrittenOutput
from pymluops.bang.judging.watch import FAILED, Bounds, Outcome, adopt_orphans, watched
from pymluops.sim._library import simulator
from pymluops.sim.toolchain import Simulator, cards

__all__ = ["main"]

_MIB = 1 << 20
#: Seconds for a comparison; that a process may need beyond the limit of its kernel to say what
#: happened; and beyond the limit as long as no kernel was launched.
_COMPARING, _GRACE, _LOADING = 300.0, 3.0, 0.5
#: What a process in which a kernel runs may say about itself.
_TOLD = frozenset({Kind.REFUSED, Kind.CRASH, Kind.COMPILE_ERROR})
#: What it may say before anything of the kernel has run.
_TOLD_BEFORE = frozenset({Kind.COMPILE_ERROR, Kind.TASK_ERROR})
_MOST_TEXT = 2000
_NONSENSE = "the process answered nonsense"
_ERRORS_OF_NONSENSE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def main() -> int:
    """Judge the kernels that standard input names, until it ends."""
    end_with(int(sys.argv[-1]))
    questions, answers = own_channels()

    def answer(key: str, value: Any = True) -> None:
        answers.write(json.dumps({key: value}) + "\n")
        answers.flush()

    try:
        server = _Server()
    except Exception as error:
        answer("refused", f"{type(error).__name__}: {error}")
        return 1
    answer("ready")
    for line in questions:
        answer("verdict", server.verdict(json.loads(line)).to_json())
    return 0


class _Server:
    """What all kernels need."""

    def __init__(self) -> None:
        pymluops.use("sim")
        simulator()
        self._compiler: Compiler = find_compiler()
        for card in cards():  # what is asked of the compiler once is known to all forks
            Build(self._compiler, int(card["arch"]), Simulator.installed()).compile_options()
        isolation.system_folders(self._compiler.command)
        self._cache = cache_folder()
        self._problems: dict[Path, Problem] = {}
        adopt_orphans()

    def verdict(self, request: Mapping[str, Any]) -> Verdict:
        """Judge a kernel on all cards of its task; the worst verdict counts."""
        begin = time.monotonic()
        folder = Path(request["problem"])
        problem = self._problems.get(folder) or self._problems.setdefault(folder, read_problem(folder))
        limits = problem.limits or Limits(**request["limits"])
        place = None if request["folder"] is None else Path(request["folder"])
        readable, writable = (tuple(map(Path, request[key])) for key in ("readable", "writable"))
        found: dict[str, Verdict] = {}
        for card in problem.cards:
            trial = Trial(request["name"], place, request["text"], card, limits, readable, writable)
            found[card] = self._on_card(trial, problem)
        worst = min(found.values(), key=lambda verdict: list(Kind).index(verdict.kind))
        kinds = {card: verdict.kind for card, verdict in found.items()}
        return dataclasses.replace(worst, seconds=time.monotonic() - begin, cards=kinds, key=request["key"])

    def _on_card(self, trial: Trial, problem: Problem) -> Verdict:
        scratch = Path(mkdtemp(dir=scratch_folder()))
        shared = os.memfd_create("outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(shared, problem.nbytes * len(problem.schedules))
            _seal(shared)
            outcome = self._tried(trial, problem, scratch, shared)
            return _Reading(trial, problem, outcome).verdict(shared)
        finally:
            os.close(shared)
            remove_tree(scratch)

    def _tried(self, trial: Trial, problem: Problem, scratch: Path, shared: int) -> Outcome:
        def run(answers: int) -> None:
            os.environ["TMPDIR"] = str(scratch)
            os.chdir(scratch)
            run_trial(trial, problem, self._compiler, self._cache, scratch, answers, shared)

        limits = trial.limits
        own = int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        bounds = Bounds(
            limits.compile_seconds + _GRACE,
            own + limits.memory_mib * _MIB,
            limits.output_kib * 1024,
            limits.threads,
            {b'{"compiled"': limits.seconds + _LOADING},
            {b'{"launched"': _GRACE - _LOADING},
        )
        return watched(run, bounds, [shared])


def _seal(descriptor: int) -> None:
    """Let nobody change the size of a shared memory."""
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)


class _Reading:
    """Makes a verdict of what a process answered. It may have answered anything."""

    def __init__(self, trial: Trial, problem: Problem, outcome: Outcome) -> None:
        self._trial, self._problem, self._outcome = trial, problem, outcome
        self._answers: dict[str, Mapping[str, Any]] = {}
        for line in outcome.lines:
            try:
                told = json.loads(line)
                if "compiled" in self._answers:  # said before anything of the kernel ran
                    told.pop("compiled", None)
                self._answers |= told
            except (ValueError, TypeError, AttributeError, RecursionError):
                self._answers["nonsense"] = {}
        self._known: dict[str, Any] = {"name": trial.name, "task": problem.task, "card": trial.card}

    def verdict(self, shared: int) -> Verdict:
        """Return the verdict; the memory `shared` has the outputs."""
        try:
            return self._verdict(shared)
        except _ERRORS_OF_NONSENSE:
            return self._crash(_NONSENSE)

    def _verdict(self, shared: int) -> Verdict:
        compiled, launched = self._answers.get("compiled"), self._answers.get("launched")
        with suppress(*_ERRORS_OF_NONSENSE):
            if compiled is not None:
                self._known |= {"compile_seconds": _finite(compiled["seconds"]), "kept": bool(compiled["kept"])}
            if launched is not None:
                self._known |= {"launch": _line(launched["launch"]), "guessed": bool(launched["guessed"])}
        self._known["text"] = _printable(self._outcome.printed.decode("utf-8", "replace"))
        if self._outcome.exceeded:
            return self._exceeded(compiled is not None)
        report, ended = self._answers.get("report"), self._answers.get("ended")
        if ended is not None:
            kind = Kind(str(ended["kind"]))
            if kind not in (_TOLD if compiled is not None else _TOLD_BEFORE):
                return self._crash(_NONSENSE)
            if "text" in ended:
                self._known["text"] = _printable(str(ended["text"]))
            place = {"file": _line(ended.get("file", "")), "line": int(ended.get("line", 0))}
            return self._made(kind, str(ended["message"]), **place)
        if self._outcome.code == -signal.SIGXCPU:
            return self._exceeded(compiled is not None)
        if compiled is None and self._outcome.code == FAILED:  # nothing of the kernel has run
            return self._made(Kind.TASK_ERROR, f"the judge itself failed: {last_line(self._outcome.printed)}")
        if report is None or self._outcome.code != 0:
            return self._crash("")
        return self._of_report(report, shared)

    def _made(self, kind: Kind, message: str, **further: Any) -> Verdict:
        known: dict[str, Any] = {**self._known, **further}
        return Verdict(kind=kind, message=shortened(one_line(message), _MOST_TEXT), **known)

    def _crash(self, reason: str) -> Verdict:
        said = last_line(self._outcome.printed)
        what = reason or f"{ending(self._outcome.code)}, without a verdict"
        return self._made(Kind.CRASH, f"{what}{f': {said}' if said else ''}")

    def _exceeded(self, is_compiled: bool) -> Verdict:
        limits = self._trial.limits
        what = self._outcome.exceeded or "time"
        if not is_compiled:
            text = {
                "time": f"took more than {limits.compile_seconds:g} s",
                "memory": f"needs more than {limits.memory_mib} MiB",
                "output": f"printed more than {limits.output_kib} KiB",
            }
            return self._made(Kind.COMPILE_ERROR, f"the compiler {text.get(what, 'has too many threads')}")
        kind, message = {
            "time": (Kind.TIME_LIMIT, f"no end after {limits.seconds:g} s"),
            "memory": (Kind.MEMORY_LIMIT, f"more than {limits.memory_mib} MiB"),
            "output": (Kind.OUTPUT_LIMIT, f"printed more than {limits.output_kib} KiB"),
        }.get(what, (Kind.CRASH, f"more than {limits.threads} threads"))
        return self._made(kind, message)

    # ---- A kernel that ran -----------------------------------------------------------------------

    def _of_report(self, report: Mapping[str, Any], shared: int) -> Verdict:
        done = min(len(report["done"]), len(self._problem.schedules))
        findings = tuple(map(_finding, report["findings"]))
        self._known |= {
            "findings": findings,
            "overwritten": tuple(map(_line, report["overwritten"])),
            "cost": None if report["cost"] is None or report["error"] else _cost(report["cost"]),
        }
        outputs = self._compared(shared, done) if done else ()
        if outputs is None:
            return self._made(Kind.TASK_ERROR, "the outputs cannot be compared")
        self._known["outputs"] = outputs
        fails = bool(report["error"]) or any(found.fails for found in findings)
        if not fails and done < len(self._problem.schedules):
            # The kernel's process wrote it: without all outputs there is nothing to believe.
            return self._made(Kind.CRASH, f"its report has {done} of {counted(len(self._problem.schedules), 'run')}")
        return self._of_runs(str(report["error"]), findings, outputs)

    def _compared(self, shared: int, done: int) -> tuple[WrittenOutput, ...] | None:
        """Compare in a process of its own: this one, and so its forks, never have the reference in memory."""

        def run(answers: int) -> None:
            found = compared(self._problem, shared, done)
            left = json.dumps([dataclasses.asdict(each) for each in found]).encode() + b"\n"
            while left:
                left = left[os.write(answers, left) :]

        outcome = watched(run, Bounds(_COMPARING), [shared])
        if outcome.code != 0 or len(outcome.lines) != 1:
            self._known["text"] = _printable(outcome.printed.decode("utf-8", "replace"))
            return None
        found = json.loads(outcome.lines[0])
        return tuple(map(_written_output, found))

    def _of_runs(self, error: str, findings: Sequence[JudgedFinding], outputs: Sequence[WrittenOutput]) -> Verdict:
        fault = next((found for found in findings if found.fails), None)
        if fault is not None:
            place = {"rule": fault.rule, "file": fault.file, "line": fault.line}
            if fault.rule == "machine/time-limit":
                return self._made(Kind.TIME_LIMIT, f"no end after {self._trial.limits.seconds:g} s", **place)
            if fault.rule == "machine/array-memory":
                return self._made(Kind.REFUSED, f"does not fit on the card: {fault.message}", **place)
            return self._made(Kind.FAULT, fault.message, **place)
        if error:
            return self._made(Kind.FAULT, error)
        wrong = next((output for output in outputs if not output.right), None)
        if wrong is not None:
            return self._made(Kind.WRONG, _text_of(wrong))
        overwritten: tuple[str, ...] = self._known["overwritten"]
        if overwritten:
            return self._made(Kind.WRONG, f"{', '.join(overwritten)}: an input, and the kernel changed it")
        return self._made(Kind.FINDINGS if findings else Kind.RIGHT, findings[0].message if findings else "")


def _written_output(told: dict[str, Any]) -> WrittenOutput:
    told["index"] = tuple(told["index"])
    return WrittenOutput(**told)


def _finding(told: Mapping[str, Any]) -> JudgedFinding:
    schedules = tuple(map(_line, told["schedules"]))
    rule, severity, file, message, cause = (
        _line(told[key]) for key in ("rule", "severity", "file", "message", "cause")
    )
    return JudgedFinding(rule, severity, bool(told["fails"]), file, int(told["line"]), message, schedules, cause)


def _cost(told: Mapping[str, Any]) -> Cost:
    estimate, share = float(told["estimate_ns"]), float(told["modelled_share"])
    moved, least = int(told["bytes_moved"]), int(told["bytes_least"])
    if not (0 <= estimate < math.inf and 0 <= share <= 1 and moved >= 0 and least >= 0):
        raise ValueError(f"no cost of a kernel: {shortened(str(told), _MOST_TEXT)}")
    return Cost(estimate, share, moved, least)


def _finite(told: Any) -> float:
    number = float(told)
    if not math.isfinite(number):
        raise ValueError(f"expected a number, got {number}")
    return number


def _line(told: object) -> str:
    return shortened(one_line(str(told)), _MOST_TEXT)


def _printable(text: str) -> str:
    """Return a text of several lines without what cannot be printed."""
    return shortened("\n".join(one_line(line) for line in text.strip().splitlines()), _MOST_TEXT)


def _text_of(output: WrittenOutput) -> str:
    at = f"{output.name}[{', '.join(map(str, output.index))}]"
    unwritten = f"{counted(output.unwritten, 'element')} {'was' if output.unwritten == 1 else 'were'} never written"
    if not output.wrong:
        return f"{output.name}: {unwritten}"
    further = f", {unwritten}" if output.unwritten else ""
    return f"{output.name}: {output.reasons}{further}; {at} is {output.got}, not {output.expected}"
