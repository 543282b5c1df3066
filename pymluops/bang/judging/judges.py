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

from pymluops._arguments import is_integer
from pymluops._cache.scratch import remove_tree, scratch_folder
from pymluops._processes import LineProcess, ending, wait_for
from pymluops._shown import one_line, path_text, shown
from pymluops.bang._build import Input
from pymluops.bang.judging.given import places_of, read_source, require_kind, texts
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.problem import Problem, write_problem
from pymluops.bang.judging.task import Task, TaskError
from pymluops.bang.judging.variables import passed_on
from pymluops.bang.judging.verdict import Kind, Verdict
from pymluops.errors import BadParamError, BadParamTypeError, NotInitializedError

__all__ = ["Judge", "Work", "judge"]

_PROGRAM = "from pymluops.bang.judging.server import main; raise SystemExit(main())"
#: How often a process is started for one kernel.
_STARTS = 2


class Work(NamedTuple):
    """A kernel and its task.

    Attributes
    ----------
    source : str or os.PathLike
        A `str` is always the text of a source in BANG C, a `pathlib.Path` the name of a file.
    task : Task
        What it is to compute.
    name : str
        What its verdict is called by; the name of its file if empty.
    """

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
    variables : sequence of str
        Names of environment variables that compilers and kernels see, besides the few that all
        programs need.

    Raises
    ------
    BadParamError
        If `jobs` is below 1, or a file or folder is not there.
    """

    def __init__(
        self,
        *,
        jobs: int = 1,
        limits: Limits | None = None,
        readable: Sequence[str | os.PathLike[str]] = (),
        writable: Sequence[str | os.PathLike[str]] = (),
        variables: Sequence[str] = (),
    ) -> None:
        if isinstance(jobs, bool) or not is_integer(jobs):
            raise BadParamTypeError(f"Judge: jobs: expected a number from 1, got {shown(jobs)}")
        if jobs < 1:
            raise BadParamError(f"Judge: jobs: expected a number from 1, got {jobs}")
        require_kind("Judge", "limits", limits, (Limits, type(None)), "Limits")
        self.limits = limits or Limits()
        self._folders = {
            "readable": places_of("Judge", "readable", readable),
            "writable": places_of("Judge", "writable", writable),
        }
        self._variables = texts("Judge", "variables", variables)
        self._jobs = jobs
        self._servers: list[_Server] = []
        self._problems: dict[int, tuple[Task, Problem | TaskError]] = {}
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
            A `str` is always the text of a source in BANG C, a `pathlib.Path` the name of a file.
        task : Task
            What it is to compute.
        name : str
            What its verdict is called by.

        Raises
        ------
        TaskError
            If the task cannot be prepared.
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
        TaskError
            If the task of the next kernel cannot be prepared. `require_task` asks before.
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
        """Return what the verdict on a kernel has as its `Verdict.key`; empty if its source cannot be read."""
        request = self._request(work)
        return request.key

    def _started(self) -> list[_Server]:
        while len(self._servers) < self._jobs:
            self._servers.append(_Server(self._variables))
        return list(self._servers)

    def require_task(self, task: Task) -> None:
        """Prepare a task before any kernel is judged.

        Raises
        ------
        TaskError
            If it cannot be prepared: its reference fails, say.
        """
        self._problem(task)

    def _request(self, work: Work) -> _Request | Verdict:
        require_kind("Judge", "works", work, Work, "Work(source, task)")
        require_kind("judge", "name", work.name, str, "a text")
        source = read_source(work.source)
        problem = self._problem(work.task)
        if isinstance(source, str):
            place = "<source>" if isinstance(work.source, str) else path_text(os.fsdecode(work.source))
            reason = f"{place}: {source}" if work.name else source
            return Verdict(work.name or place, work.task.name, Kind.COMPILE_ERROR, reason)
        name = work.name or source.name
        described = {
            "name": name,
            "folder": None if source.folder is None else str(source.folder),
            "text": source.text,
            "limits": vars(self.limits),
            **self._folders,
        }
        key = _key(source, name, problem, self.limits)
        return _Request(name, problem.task, key, json.dumps({**described, "problem": str(problem.folder), "key": key}))

    def _problem(self, task: Task) -> Problem:
        """Return a task as data."""
        require_kind("judge", "task", task, Task, "a Task")
        known = self._problems.get(id(task))
        if known is None:
            known = self._problems[id(task)] = task, self._prepared(task)
        if isinstance(known[1], TaskError):
            raise TaskError(known[1].detail) from known[1].__cause__
        return known[1]

    def _prepared(self, task: Task) -> Problem | TaskError:
        if self._folder is None:
            self._folder = Path(mkdtemp(dir=scratch_folder()))
        try:
            return write_problem(task, Path(mkdtemp(dir=self._folder)))
        except NotInitializedError:  # there is no compiler
            raise
        except (Exception, SystemExit) as error:  # of a function of the task, which may raise anything
            detail = error.detail if isinstance(error, BadParamError) else f"{type(error).__name__}: {error}"
            refusal = TaskError(f"task {one_line(task.name)}: {one_line(detail).removeprefix('task: ')}")
            if isinstance(error, TaskError) or not isinstance(error, BadParamError):
                refusal.__cause__ = error.__cause__ or error
            return refusal


def _key(source: Input, name: str, problem: Problem, limits: Limits) -> str:
    parts = [metadata.version("pymluops"), name, source.text, problem.digest, repr(problem.limits or limits)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class _Server:
    """A process that judges one kernel after the other; a new one is started where it has ended."""

    def __init__(self, variables: Sequence[str]) -> None:
        self._variables = variables
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
        self._starts += 1
        try:
            self._process = LineProcess(_PROGRAM, (), passed_on(os.environ, self._variables))
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
        A `str` is always the text of a source in BANG C, a `pathlib.Path` the name of a file.
    task : Task
        What it is given, and what it is to compute.
    limits : Limits, optional
        What it may use up if the task does not say so.

    Raises
    ------
    TaskError
        If the task cannot be prepared: its reference fails, say.

    Returns
    -------
    Verdict
        ``verdict.kind`` says what became of it, ``print(verdict)`` more.

    Examples
    --------
    >>> from pymluops.bang.judging import Task, output, random
    >>> task = Task("twice", {"x": random(256), "out": output(256)}, lambda x: 2 * x)  # doctest: +SKIP
    >>> bang.judge(Path("twice.mlu"), task).kind  # doctest: +SKIP
    <Kind.RIGHT: 'right'>
    """
    require_kind("judge", "task", task, Task, "a Task")
    require_kind("judge", "limits", limits, (Limits, type(None)), "Limits")
    wanted = limits or Limits()
    with _shared.lock:
        if wanted not in _shared.judges:
            _shared.judges[wanted] = Judge(limits=wanted)
        return _shared.judges[wanted].judge(source, task)
