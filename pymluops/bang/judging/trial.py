"""What the process of a kernel does: compile the source, run the kernel, and tell what happened.

It answers with lines of JSON: ``compiled``, ``launched`` and ``report``, or ``ended`` where it ends
before. Outputs of all runs go to memory that it shares with the process that watches it. It never
knows what the reference computed.
"""

from __future__ import annotations

import json
import mmap
import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pymluops import sim
from pymluops._causes import Traits, folded, name_of, order_by_cause
from pymluops._core import DeviceArray, Queue
from pymluops._shown import one_line, shortened
from pymluops.bang._build import Input
from pymluops.bang._check import differing
from pymluops.bang._compilers import Compiler
from pymluops.bang._limited import leave_limits_to_the_parent
from pymluops.bang._module import Kernel, Launch, Module
from pymluops.bang.judging import isolation
from pymluops.bang.judging.arguments import dtype_named
from pymluops.bang.judging.dims import guessed
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.problem import Problem, Value
from pymluops.bang.judging.sources import WrittenBuild, base_name, read_error
from pymluops.bang.judging.verdict import Kind
from pymluops.errors import ExecutionFailedError, MluOpError
from pymluops.sim._checks import recording
from pymluops.sim._library import simulator
from pymluops.sim.toolchain import CompileError, Simulator, cards

__all__ = ["Trial", "run_trial"]

_MOST_MESSAGE, _MOST_FINDINGS, _MOST_EVENTS = 400, 50, 200_000
#: Copies of these directions, and scalar accesses there, go between device memory and the chip.
_DEVICE = "GDRAM"
_NO_KERNEL = "no kernel: the source has no function with __mlu_entry__"


class Trial(NamedTuple):
    """A kernel to try on one card.

    Attributes
    ----------
    name : str
        Of the source, in messages.
    folder : Path or None
        Where headers are looked for first; None for nowhere.
    text : str
        The source.
    card : str
        The simulated card.
    limits : Limits
        Of time and memory.
    readable, writable : sequence of Path
        What the user lets the process read, and the compiler write, besides the usual.
    """

    name: str
    folder: Path | None
    text: str
    card: str
    limits: Limits
    readable: Sequence[Path]
    writable: Sequence[Path]


class _EndedError(Exception):
    """The trial is over before the kernel ran to its end."""

    def __init__(self, kind: Kind, message: str, **further: Any) -> None:
        super().__init__(message)
        self.told = {"kind": kind.value, "message": _short(message), **further}


def run_trial(
    trial: Trial, problem: Problem, compiler: Compiler, cache: Path, scratch: Path, answers: int, shared: int
) -> None:
    """Try a kernel, and write what happened to the pipe `answers`, and the outputs to the memory `shared`."""

    def answer(key: str, value: Any) -> None:
        left = json.dumps({key: value}).encode() + b"\n"
        while left:
            left = left[os.write(answers, left) :]

    try:
        _try(trial, problem, compiler, cache, scratch, answer, shared)
    except _EndedError as ended:
        with _said_in_a_line():
            answer("ended", ended.told)


@contextmanager
def _said_in_a_line() -> Generator[None]:
    """End the process with one line in place of a traceback: a kernel may have closed files, or worse."""
    try:
        yield
    except _EndedError:
        raise
    except Exception as error:
        with suppress(OSError):
            os.write(2, f"\n{type(error).__name__}: {error}\n".encode("utf-8", "replace"))
        os._exit(1)


def _try(
    trial: Trial, problem: Problem, compiler: Compiler, cache: Path, scratch: Path, answer: Any, shared: int
) -> None:
    arguments = problem.arguments()
    readable = [*isolation.system_folders(compiler.command), *trial.readable]
    headers = [*map(Path, (*problem.include_dirs, *problem.named))]
    headers += [] if trial.folder is None else [trial.folder]
    leave_limits_to_the_parent()  # this process has those of the trial
    isolation.before_compiling(trial.limits, [*readable, *headers], [cache, scratch, *trial.writable])
    begin = time.monotonic()
    build, source = _build(trial, problem, compiler)
    kept = _compiled(build, source, problem)
    answer("compiled", {"seconds": time.monotonic() - begin, "kept": kept})
    isolation.before_running(trial.limits, [*readable, scratch])
    begin = time.monotonic()
    with _said_in_a_line():
        launch, is_guess = _launch(trial, problem, build, source)
        given = _arranged(launch.kernel, problem.values)
        answer("launched", {"launch": _launch_text(launch), "guessed": is_guess})
        memory = mmap.mmap(shared, problem.nbytes * len(problem.schedules)) if problem.nbytes else bytearray()
        runs = _Runs(trial, problem, launch, given, arguments, memory)
        answer("report", {**runs.report(), "seconds": time.monotonic() - begin})


def _short(text: str) -> str:
    return shortened(one_line(text), _MOST_MESSAGE)


# ---- Before the launch ---------------------------------------------------------------------------


def _build(trial: Trial, problem: Problem, compiler: Compiler) -> tuple[WrittenBuild, Input]:
    arch = next(int(card["arch"]) for card in cards() if card["name"] == trial.card)
    folders = [Path(folder) for folder in problem.include_dirs]
    build = WrittenBuild(compiler, arch, Simulator.installed(), folders, problem.options)
    return build, Input(trial.name, trial.folder, trial.text)


def _compiled(build: WrittenBuild, source: Input, problem: Problem) -> bool:
    try:
        return build.write(source, problem.entry)
    except CompileError as error:
        said = read_error(str(error))
        if not build.has_kernel_words(source):
            raise _EndedError(Kind.COMPILE_ERROR, f"{_NO_KERNEL}; {said.message}", text=said.text) from None
        raise _EndedError(Kind.COMPILE_ERROR, said.message, file=said.file, line=said.line, text=said.text) from None
    except RecursionError:
        raise _EndedError(Kind.COMPILE_ERROR, "the source has too much in one another") from None
    except MemoryError:
        raise _EndedError(Kind.COMPILE_ERROR, "the compiler needs more memory than it may have") from None


def _launch(trial: Trial, problem: Problem, build: WrittenBuild, source: Input) -> tuple[Launch, bool]:
    try:
        module = Module(build, [source], simulator())
        module.require_card()
        kernel = module.kernel(_entry(module, problem, trial))
        problem_with_card = kernel.memory.missing[trial.card]
        if problem_with_card:
            raise _EndedError(Kind.REFUSED, f"does not fit on the card: {problem_with_card}")
        dims = problem.launches[trial.card]
        device = sim.device()
        dim, kind = dims or guessed(trial.text, device.clusters, device.cores_per_cluster)
        return kernel[dim, kind], dims is None
    except ExecutionFailedError as error:
        raise _EndedError(Kind.CRASH, error.detail) from None
    except CompileError as error:
        raise _EndedError(Kind.COMPILE_ERROR, str(error)) from None
    except MluOpError as error:
        raise _EndedError(Kind.REFUSED, error.detail) from None


def _entry(module: Module, problem: Problem, trial: Trial) -> str:
    kernels = list(module.kernels)
    if not kernels:
        raise _EndedError(Kind.COMPILE_ERROR, _NO_KERNEL)
    if problem.entry is not None:
        if base_name(problem.entry) not in kernels:
            said = f"expected the kernel {problem.entry}, which the task names, got {', '.join(kernels)}"
            raise _EndedError(Kind.REFUSED, said)
        return problem.entry
    if len(kernels) == 1:
        return kernels[0]
    for name in (problem.task, Path(trial.name).stem):
        if name in kernels:
            return name
    wanted = f"one kernel, or one named {problem.task}"
    raise _EndedError(Kind.REFUSED, f"expected {wanted}, got {', '.join(kernels) or 'none'}")


def _arranged(kernel: Kernel, values: Sequence[Value]) -> list[Value]:
    """Return the values in the order of the parameters."""
    names = [parameter.name for parameter in kernel.signature.parameters]
    by_name = {value.name: value for value in values}
    if len(names) != len(values):
        wanted = f"{len(values)} parameters ({', '.join(by_name)})"
        raise _EndedError(Kind.REFUSED, f"expected a kernel with {wanted}, got {kernel.signature}")
    return [by_name[name] for name in names] if set(names) == set(by_name) else list(values)


def _launch_text(launch: Launch) -> str:
    return _short(f"{launch.kernel.name}[{launch.dim}, {launch.kind!r}]")


# ---- The runs ------------------------------------------------------------------------------------


class _Runs:
    """The runs of a launch, under one schedule after the other."""

    def __init__(
        self,
        trial: Trial,
        problem: Problem,
        launch: Launch,
        given: Sequence[Value],
        arguments: Mapping[str, Any],
        memory: Any,
    ) -> None:
        self._trial, self._problem, self._launch = trial, problem, launch
        self._given, self._arguments, self._memory = given, arguments, memory
        self._findings: dict[tuple[str, str, int, str], dict[str, Any]] = {}
        self._overwritten: dict[str, None] = {}
        self._cost: dict[str, Any] | None = None
        self._deadline = time.monotonic() + trial.limits.seconds

    def report(self) -> dict[str, Any]:
        """Run the launch, and return all that is known about the runs."""
        done: list[str] = []
        error = ""
        with recording(simulator(), "all", None) as failing:
            for number, schedule in enumerate(self._problem.schedules):
                error = self._run(number, failing)
                if error:
                    break
                done.append(str(schedule))
        return {
            "done": done,
            "error": error,
            "findings": self._ordered()[:_MOST_FINDINGS],
            "overwritten": list(self._overwritten),
            "cost": self._cost,
        }

    def _ordered(self) -> list[dict[str, Any]]:
        """Return the findings, causes first, and those that a launch fails for before others."""
        found = list(self._findings.values())
        traits = [
            Traits(name_of(each["rule"], each["file"], each["line"]), each["cause"], each["severity"], each.pop("step"))
            for each in found
        ]
        ordered = [{**each, "cause": cause} for each, cause in order_by_cause(found, traits)]
        groups = [[first, *rest] for first, rest in folded(ordered, [each["cause"] for each in ordered])]
        groups.sort(key=lambda group: not any(each["fails"] for each in group))
        return [each for group in groups for each in group]

    def _run(self, number: int, failing: frozenset[str]) -> str:
        """Run the launch once; return what a launch failed for."""
        schedule = self._problem.schedules[number]
        sim.clear_findings()
        sim.set_time_limit(max(self._deadline - time.monotonic(), 0.01))
        error = ""
        with sim.scheduling(*schedule):
            passed = [self._passed(value) for value in self._given]
            try:
                self._launched(passed, is_first=number == 0)
            except ExecutionFailedError as failure:
                error = _short(failure.detail)
            except MluOpError as refusal:
                raise _EndedError(Kind.REFUSED, refusal.detail) from None
        self._note_findings(str(schedule), failing)
        if not error:
            self._keep(number, passed)
        return error

    def _passed(self, value: Value) -> Any:
        if value.role == "output" and value.array is not None:
            return DeviceArray(value.array.shape, dtype_named(value.array.dtype))
        argument = self._arguments[value.name]
        return DeviceArray.from_host(argument) if isinstance(argument, np.ndarray) else argument

    def _launched(self, passed: Sequence[Any], *, is_first: bool) -> None:
        if not is_first:
            self._waited(passed)
            return
        with sim.profiling(most_events=_MOST_EVENTS) as profile:
            self._waited(passed)
        for launch in profile.launches:
            moved = sum(use.bytes for name, use in launch.directions.items() if _DEVICE in name)
            scalars = [site.unit == "scalar" and site.source == _DEVICE for site in launch.sites]
            moved += sum(tally.bytes for tally in launch.tallies if scalars[tally.site])
            self._cost = {
                "estimate_ns": launch.estimate_ns,
                "modelled_share": launch.modelled_share,
                "bytes_moved": moved,
                "bytes_least": launch.theory.io_bytes,
            }

    def _waited(self, passed: Sequence[Any]) -> None:
        with Queue(simulator()) as queue:
            self._launch.in_queue(queue)(*passed)
            queue.sync()

    def _keep(self, number: int, passed: Sequence[Any]) -> None:
        """Copy the outputs to the shared memory, and compare the inputs with what they were."""
        arrays = dict(zip((value.name for value in self._given), passed, strict=True))
        at = number * self._problem.nbytes
        for value in self._problem.values:
            if not isinstance(arrays[value.name], DeviceArray):
                continue
            left: NDArray[Any] = arrays[value.name].to_host()
            if value.role == "input":
                if differing(self._arguments[value.name], left).any():
                    self._overwritten[value.name] = None
                continue
            self._memory[at : at + left.nbytes] = left.tobytes()
            at += left.nbytes

    def _note_findings(self, schedule: str, failing: frozenset[str]) -> None:
        for finding in sim.findings():
            rule = f"{finding.checker}/{finding.rule}"
            key = (rule, finding.file, finding.line, "" if finding.line else finding.message)
            noted = self._findings.setdefault(
                key,
                {
                    "rule": rule,
                    "severity": finding.severity,
                    "fails": rule in failing,
                    "file": finding.file,
                    "line": finding.line,
                    "message": _short(finding.message),
                    "schedules": [],
                    "cause": finding.cause,
                    "step": finding.step,
                },
            )
            if schedule not in noted["schedules"]:
                noted["schedules"].append(schedule)
