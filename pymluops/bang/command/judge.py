"""``pymluops kernel judge``: kernels by the hundred against the references of their tasks."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._colours import coloured
from pymluops._shown import counted, one_line, path_text, shortened
from pymluops.bang.command import launches
from pymluops.cli import CommandError

if TYPE_CHECKING:
    from pymluops.bang.judging import Task, Verdict, Work
    from pymluops.bang.judging.judges import Judge
    from pymluops.bang.judging.records import Records

DESCRIPTION = """\
Compile kernels, run each in a process of its own under all checkers and several schedules, and compare what it writes
with the reference of its task. The exit code is 0 if all are right, 1 if one is not, 2 for bad input. docs/judge.md
tells what tasks are, and what keeps a kernel from the rest of the machine.
"""


def register(subparsers: Any) -> None:
    """Add the ``judge`` subcommand."""
    text = "judge kernels by the hundred"
    parser = subparsers.add_parser("judge", help=text, description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "path", nargs="+", type=Path, metavar="PATH", help="files with kernels, or folders with files .mlu"
    )
    parser.add_argument("--tasks", type=Path, required=True, metavar="FILE.py", help="the tasks, in Python")
    jobs = launches.integer_type(1, 1000)
    parser.add_argument("--jobs", type=jobs, default=1, metavar="N", help="kernels at a time; default: 1")
    output = parser.add_argument_group("output")
    output.add_argument("--json", type=Path, metavar="FILE", help="write each verdict as a line of JSON, as it comes")
    text = "take what has not changed from the file of --json, which has a line for each kernel of this run at the end"
    output.add_argument("--resume", action="store_true", help=text)
    output.add_argument("--junit", type=Path, metavar="FILE", help="write the verdicts as JUnit XML")
    output.add_argument("--full", action="store_true", help="print all about each verdict, not a line")
    output.add_argument("--quiet", action="store_true", help="print the table only")
    _add_limits(parser)
    parser.set_defaults(run=run)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits of a kernel whose task names none")
    limits.add_argument("--time-limit", type=_seconds, default=10.0, metavar="SECONDS", help="of its runs; default: 10")
    limits.add_argument(
        "--compile-time-limit", type=_seconds, default=30.0, metavar="SECONDS", help="of the compiler; default: 30"
    )
    size = launches.integer_type(1, 2**30)
    limits.add_argument("--memory", type=size, default=2048, metavar="MIB", help="of each process; default: 2048")
    limits.add_argument("--output", type=size, default=1024, metavar="KIB", help="that it may print; default: 1024")
    seen = parser.add_argument_group("files that kernels and compilers see besides those of the system and the sources")
    seen.add_argument("--allow-read", type=Path, action="append", default=[], metavar="PATH", help="may be repeated")
    seen.add_argument(
        "--allow-write",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="by compilers; may be repeated",
    )
    text = "an environment variable that kernels and compilers see too, besides a few; may be repeated"
    seen.add_argument("--allow-variable", action="append", default=[], metavar="NAME", help=text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 1e6:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {shortened(one_line(text))}")
    return seconds


def run(args: argparse.Namespace) -> int:
    """Judge the kernels and print the table."""
    from pymluops.bang.judging import Judge, Limits
    from pymluops.bang.judging.records import table_of, write_junit

    if args.resume and args.json is None:
        raise CommandError("--resume: expected --json with the file to resume")
    for option, file in (("--json", args.json), ("--junit", args.junit)):
        if file is not None:
            launches.require_place(option, file)
    for option, paths in (("--allow-read", args.allow_read), ("--allow-write", args.allow_write)):
        for path in paths:
            if not os.path.exists(path):
                raise CommandError(f"{option}: {path_text(path)}: there is no such file or folder")
    limits = Limits(args.time_limit, args.compile_time_limit, args.memory, args.output)
    verdicts: list[Verdict] = []
    begin = time.monotonic()
    with launches.explained(), ExitStack() as stack:
        works, refused = _works(args)
        _tell_what_is_not_held()
        judge = stack.enter_context(
            Judge(
                jobs=args.jobs, limits=limits, readable=args.allow_read, writable=args.allow_write,
                variables=args.allow_variable,
            )
        )  # fmt: skip
        for task in {id(work.task): work.task for work in works}.values():
            judge.require_task(task)
        records = _records(args, stack)
        known: list[Verdict] = []
        try:
            for verdict in _verdicts(judge, works, refused, records, known):
                verdicts.append(verdict)
                if not args.quiet:
                    text = str(verdict) if args.full else str(verdict).splitlines()[0]
                    print(coloured(text, sys.stdout), flush=True)
            if records is not None and args.resume:
                records.keep_only(verdicts)
        finally:
            if args.junit is not None:
                write_junit(args.junit, verdicts)
    print(coloured(table_of(verdicts), sys.stdout))
    print(_speed(verdicts, len(known), time.monotonic() - begin))
    return 0 if all(verdict.is_right for verdict in verdicts) else 1


def _works(args: argparse.Namespace) -> tuple[list[Work], list[Verdict]]:
    """Return kernels with their tasks, and the verdicts on files that are no sources."""
    from pymluops.bang.judging import Kind, Verdict, Work
    from pymluops.bang.judging.files import kernels_in, read_tasks, refusal_of, task_for

    tasks = read_tasks(args.tasks)
    pairs = [(path, task_for(path, tasks)) for path in kernels_in(args.path)]
    without = [path for path, task in pairs if task is None]
    if without:
        others = f" (and {counted(len(without) - 1, 'other')})" if len(without) > 1 else ""
        raise CommandError(
            f"{path_text(without[0])}{others}: expected a file that belongs to one of the tasks {_names(tasks)} "
            f"by its name, such as {tasks[0].name}-7.mlu, or by that of its folder"
        )
    works: list[Work] = []
    refused: list[Verdict] = []
    for path, task in pairs:
        assert task is not None
        refusal = refusal_of(path, args.path)
        if refusal:
            refused.append(Verdict(path_text(path), task.name, Kind.COMPILE_ERROR, refusal))
        else:
            works.append(Work(path, task))
    return works, refused


def _names(tasks: Sequence[Task]) -> str:
    return shortened(", ".join(task.name for task in tasks), 200)


def _tell_what_is_not_held() -> None:
    from pymluops.bang.judging import held

    lacking = [part for part, is_held in held().items() if not is_held]
    if lacking:
        print(f"pymluops: this system does not hold: {'; '.join(lacking)}", file=sys.stderr)


def _records(args: argparse.Namespace, stack: ExitStack) -> Records | None:
    from pymluops.bang.judging.records import Records

    if args.json is None:
        return None
    try:
        return stack.enter_context(Records(args.json, resume=args.resume))
    except OSError as error:
        raise CommandError(f"--json: {path_text(args.json)}: {error.strerror or error}") from None


def _verdicts(
    judge: Judge, works: Iterable[Work], refused: Iterable[Verdict], records: Records | None, taken: list[Verdict]
) -> Generator[Verdict]:
    """Yield the verdicts that are known, which go to the list `taken` as well, and those that come."""
    known = {} if records is None else records.known
    new: list[Work] = []
    for work in works:
        verdict = known.get(judge.key(work)) if known else None
        if verdict is None:
            new.append(work)
        else:
            taken.append(verdict)
            yield verdict
    for verdict in refused:
        if records is not None:
            records.add(verdict)
        yield verdict
    for verdict in judge.verdicts(new):
        if records is not None:
            records.add(verdict)
        yield verdict


def _speed(verdicts: Sequence[Verdict], known: int, seconds: float) -> str:
    """Return a line about time; the first `known` verdicts are of an earlier run."""
    kept = sum(verdict.kept for verdict in verdicts[known:])
    rate = 60 * len(verdicts) / max(seconds, 1e-9)
    text = f"{counted(len(verdicts), 'kernel')} in {seconds:.1f} s, {rate:.0f} a minute"
    if known:
        text += f"; {counted(known, 'verdict')} {_was(known)} known"
    return text if known == len(verdicts) else f"{text}; {kept} {_was(kept)} compiled before"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
