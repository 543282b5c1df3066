"""The judge: keeps processes that judge kernels, and gives each the next one."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from pymluops._cache.scratch import remove_tree, scratch_folder
from pymluops._processes import LineProcess, ending, wait_for
from pymluops.bang._build import Input
from pymluops.bang._sources import read_inputs
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.problem import Problem, write_problem
from pymluops.bang.judging.task import Task
from pymluops.bang.judging.verdict import Kind, Verdict
from pymluops.errors import BadParamError, NotInitializedError

__all__ = ["Judge", "Work", "judge"]

_PROGRAM = "from pymluops.bang.judging.server import main; raise SystemExit(main())"
#: Variables that would change what kernels do.
_OF_SIMULATOR = (
    "PYMLUOPS_BACKEND",
    "PYMLUOPS_SIM_CHECK",
    "PYMLUOPS_SIM_DEVICE",
    "PYMLUOPS_SIM_RULES",
    "PYMLUOPS_SIM_SCHEDULE",
    "MLUOP_GEN_CASE",
)
#: How often a process is started for one kernel.
_STARTS = 2


class Work(NamedTuple):
    """A kernel and its task; `name` is what its verdict is called by, the name of its file if empty."""

    source: str | os.PathLike[str]
    task: Task
    name: str = ""


class _Request(NamedTuple):
    name: str
    task: str
    key: str
    line: str


class Judge:
    """Judges kernels, each in a process of its own; use it in a ``with`` statement.

    Parameters
    ----------
    jobs : int
        Kernels at a time.
    limits : Limits
        Of kernels whose task has none.
    readable, writable : sequence of path
        Files and folders that compilers and kernels may read, and compilers write, besides those
        of the system, the package and the sources: of a compiler cache, say.

    Raises
    ------
    BadParamError
        If `jobs` is below 1.
    """

    def __init__(
        self,
        *,
        jobs: int = 1,
        limits: Limits | None = None,
        readable: Sequence[str | os.PathLike[str]] = (),
        writable: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        if jobs < 1:
            raise BadParamError(f"Judge: jobs: expected a number from 1, got {jobs}")
        self.limits = limits or Limits()
        self._folders = {
            "readable": [os.path.abspath(each) for each in readable],
            "writable": [os.path.abspath(each) for each in writable],
        }
        self._jobs = jobs
        self._servers: list[_Server] = []
        self._problems: dict[int, tuple[Task, Problem | str]] = {}
        self._folder: Path | None = None

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        for server in self._servers:
            server.close()
        self._servers.clear()
        self._problems.clear()
        if self._folder is not None:
            remove_tree(self._folder)
            self._folder = None

    def judge(self, source: str | os.PathLike[str], task: Task, name: str = "") -> Verdict:
        """Judge one kernel.

        Parameters
        ----------
        source : str or os.PathLike
            The text of a source in BANG C, or the path of a file.
        task : Task
            What it is to compute.
        name : str
            What its verdict is called by.
        """
        return next(self.verdicts([Work(source, task, name)]))

    def verdicts(self, works: Iterable[Work]) -> Generator[Verdict]:
        """Judge kernels, and yield each verdict as soon as it is known.

        Parameters
        ----------
        works : iterable of Work
            Kernels with their tasks.

        Raises
        ------
        NotInitializedError
            If no process can be started: there is no compiler, say.
        """
        waiting = iter(works)
        idle = deque(self._started())
        running: set[_Server] = set()
        try:
            has_more = True
            while has_more or running:
                while has_more and idle:
                    work = next(waiting, None)
                    if work is None:
                        has_more = False
                        break
                    request = self._request(work)
                    if isinstance(request, Verdict):
                        yield request
                        continue
                    server = idle.popleft()
                    server.begin(request)
                    running.add(server)
                for server in list(running):
                    verdict = server.result()
                    if verdict is not None:
                        running.discard(server)
                        idle.append(server)
                        yield verdict
                if running and not (has_more and idle):
                    wait_for(server.descriptor for server in running)
        finally:
            for server in running:  # nobody wants to know any more
                server.close()

    def key(self, work: Work) -> str:
        """Return what the verdict on a kernel has as its `Verdict.key`; empty if the task is not in order."""
        request = self._request(work)
        return request.key

    def _started(self) -> list[_Server]:
        while len(self._servers) < self._jobs:
            self._servers.append(_Server())
        return list(self._servers)

    def _request(self, work: Work) -> _Request | Verdict:
        try:
            [source] = read_inputs(work.source)
        except BadParamError as error:
            return Verdict(work.name or str(work.source), work.task.name, Kind.COMPILE_ERROR, error.detail)
        name = work.name or source.name
        problem = self._problem(work.task)
        if isinstance(problem, str):
            return Verdict(name, work.task.name, Kind.TASK_ERROR, problem)
        described = {
            "name": name,
            "folder": str(source.folder),
            "text": source.text,
            "limits": vars(self.limits),
            **self._folders,
        }
        key = _key(source, name, problem, self.limits)
        return _Request(name, problem.task, key, json.dumps({**described, "problem": str(problem.folder), "key": key}))

    def _problem(self, task: Task) -> Problem | str:
        """Return a task as data, or what is wrong with it."""
        known = self._problems.get(id(task))
        if known is None:
            if self._folder is None:
                self._folder = Path(mkdtemp(dir=scratch_folder()))
            found: Problem | str
            try:
                found = write_problem(task, Path(mkdtemp(dir=self._folder)))
            except (Exception, SystemExit) as error:  # of the reference, which may raise anything
                detail = error.detail if isinstance(error, BadParamError) else f"{type(error).__name__}: {error}"
                found = f"the task cannot be prepared: {detail}"
            known = self._problems[id(task)] = task, found
        return known[1]


def _key(source: Input, name: str, problem: Problem, limits: Limits) -> str:
    parts = [metadata.version("pymluops"), name, source.text, problem.digest, repr(problem.limits or limits)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class _Server:
    """A process that judges one kernel after the other; a new one is started where it has ended."""

    def __init__(self) -> None:
        self._process: LineProcess | None = None
        self._request: _Request | None = None
        self._starts = 0

    @property
    def descriptor(self) -> int | None:
        """What to wait for."""
        return None if self._process is None else self._process.descriptor

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def begin(self, request: _Request) -> None:
        """Let the process judge a kernel; it is started if there is none."""
        self._request, self._starts = request, 0
        if self._process is None:
            self._start()
        else:
            self._process.send(request.line)

    def result(self) -> Verdict | None:
        """Return the verdict, None as long as there is none."""
        assert self._request is not None
        assert self._process is not None
        has_ended = self._process.has_ended
        for line in self._process.lines():
            answer = json.loads(line)
            if "ready" in answer:
                self._process.send(self._request.line)
            elif "refused" in answer:
                self.close()
                raise NotInitializedError(f"judge: no kernel can be judged: {answer['refused']}")
            else:
                return Verdict.from_json(answer["verdict"])
        return self._after_end() if has_ended else None

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_SIMULATOR)}
        self._starts += 1
        try:
            self._process = LineProcess(_PROGRAM, (), environment)
        except OSError as error:
            raise NotInitializedError(f"judge: a process cannot be started: {error.strerror or error}") from None

    def _after_end(self) -> Verdict | None:
        assert self._request is not None
        assert self._process is not None
        said, code = self._process.last_words(), self._process.kill()
        self.close()
        if self._starts < _STARTS:
            self._start()
            return None
        text = f"the judge's own process: {ending(code)}{f': {said}' if said else ''}"
        return Verdict(self._request.name, self._request.task, Kind.CRASH, text, key=self._request.key)


# ---- One kernel at a time ------------------------------------------------------------------------


class _Shared:
    """The judge that `judge` asks; a process that was forked has its own."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have none: its processes belong to the parent."""
        self.lock = threading.Lock()
        self.judges: dict[Limits, Judge] = {}

    def close(self) -> None:
        """End all processes."""
        for judge in self.judges.values():
            judge.close()
        self.judges.clear()


_shared = _Shared()
os.register_at_fork(after_in_child=_shared.forget)
atexit.register(_shared.close)


def judge(source: str | os.PathLike[str], task: Task, *, limits: Limits | None = None) -> Verdict:
    """Judge a kernel: compile it, run it in a process of its own, compare its outputs with a reference.

    The process that forks those of kernels stays until this one ends, so that the next verdict
    comes sooner. For many kernels see `pymluops.bang.judging.Judge`.

    Parameters
    ----------
    source : str or os.PathLike
        The text of a source in BANG C, or the path of a file.
    task : Task
        What it is given, and what it is to compute.
    limits : Limits, optional
        What it may use up if the task does not say so.

    Returns
    -------
    Verdict
        ``verdict.kind`` says what became of it, ``print(verdict)`` more.

    Examples
    --------
    >>> from pymluops.bang.judging import Task, output, random
    >>> task = Task("twice", {"x": random(256), "out": output(256)}, lambda x: 2 * x)  # doctest: +SKIP
    >>> bang.judge("twice.mlu", task).kind  # doctest: +SKIP
    <Kind.RIGHT: 'right'>
    """
    wanted = limits or Limits()
    with _shared.lock:
        if wanted not in _shared.judges:
            _shared.judges[wanted] = Judge(limits=wanted)
        return _shared.judges[wanted].judge(source, task)
