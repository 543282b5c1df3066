"""``pymluops case``: runs, shows and minimizes test cases in the format of the vendor's library."""

from __future__ import annotations

import argparse
import errno
import json
import math
import os
import re
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._colours import coloured
from pymluops._shown import one_line, sentence, shortened
from pymluops._whole_file import whole_file
from pymluops.cli import EXIT_FAILED, CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pymluops.gencase._file import CaseFile
    from pymluops.gencase.case import Case

_SUFFIXES = (".prototxt", ".pb")


def register(subparsers: Any) -> None:
    """Add the ``case`` subcommand."""
    text = "run, show and minimize test cases that a library with this ABI dumped"
    parser = subparsers.add_parser("case", help=text, description=sentence(text), allow_abbrev=False)
    commands = parser.add_subparsers(dest="case_command", metavar="COMMAND", required=True)
    _add(commands, "run", "run cases and compare what comes out", _run)
    _add(commands, "show", "print what a case says", _show)
    _add(commands, "minimize", "find the smallest shapes and values with which a case still fails", _minimize)
    _add(commands, "to-pytest", "write a case as a test of its own", _to_pytest)


def _add(commands: Any, name: str, text: str, run: Callable[[argparse.Namespace], int]) -> None:
    parser = commands.add_parser(name, help=text, description=sentence(text), allow_abbrev=False)
    parser.set_defaults(run=run, program=parser.prog)
    if name == "run":
        parser.add_argument("paths", nargs="+", metavar="FILE|DIR", help="cases, or folders that are searched for them")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        jobs = "processes at a time, at most one for each case; the CPUs by default"
        parser.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, metavar="N", help=jobs)
    else:
        parser.add_argument("path", metavar="FILE", help="a case, .prototxt or .pb")
    if name in ("minimize", "to-pytest"):
        parser.add_argument("-o", "--output", metavar="FILE", help="where to write; standard output by default")
    if name != "show":
        library = "cpu, sim, or the path of a library; cpu by default"
        parser.add_argument("--library", default="cpu", metavar="LIBRARY", help=library)
        against = "oracle (the default), file (the outputs in the file), or another library"
        parser.add_argument("--against", default="oracle", metavar="LIBRARY", help=against)
    if name in ("run", "minimize"):
        parser.add_argument("--timeout", type=_seconds, default=300.0, metavar="SECONDS", help="for each case; 300")


def _jobs(text: str) -> int:
    if re.fullmatch(r"0*[1-9][0-9]{0,8}", text) is None:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {shortened(one_line(text))}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, a number above 0, got {shortened(one_line(text))}")
    return found


# ---- The commands --------------------------------------------------------------------------------


def _run(args: argparse.Namespace) -> int:
    """Run the cases; a failed one is exit code 1."""
    from pymluops._progress import Progress
    from pymluops.gencase._pool import run_files
    from pymluops.gencase._report import details, table

    paths = _found(args.paths)
    jobs = min(args.jobs, len(paths))
    library, against = _library(args.library), _library(args.against)
    results: list[dict[str, Any]] = []
    running = run_files(paths, library, against, jobs=jobs, timeout=args.timeout)
    with Progress(len(paths), "case") as progress, closing(running):
        for result in running:
            progress.step(one_line(Path(result["path"]).name))
            results.append(result)
    if args.json:
        print(json.dumps(results, indent=2, allow_nan=False))
    else:
        print(coloured(table(results), sys.stdout))
        for result in results:
            lines = details(result)
            if lines:
                print(f"\n{one_line(result['path'])}")
                print("\n".join(f"  {line}" for line in lines))
    return 0 if all(result["outcome"] == "passed" for result in results) else EXIT_FAILED


def _show(args: argparse.Namespace) -> int:
    """Print what a case says."""
    from pymluops.gencase._report import described

    print(described(_read(args.path, checked=False)))
    return 0


def _minimize(args: argparse.Namespace) -> int:
    """Write the smallest case that fails as the given one does."""
    from pymluops._cache.scratch import temporary_folder
    from pymluops.gencase import CaseError
    from pymluops.gencase._file import text_of
    from pymluops.gencase._minimize import minimized
    from pymluops.gencase._pool import Worker

    case = _read(args.path)
    if args.output is not None:
        _require_writable(args.output)
    library, against = _library(args.library), _library(args.against)
    with temporary_folder() as folder, Worker(library, against, args.timeout, os.cpu_count() or 1) as worker:

        def result(one: CaseFile) -> dict[str, Any]:
            path = folder / "case.pb"
            one.write(path)
            return worker.run(path)

        try:
            found = result(case.inlined())
            first = found["outcome"]
            harms = bool(found["message"])  # of a case that fails: a library wrote where it must not
            if first in ("passed", "error"):
                reason = f"{first}: {found['message']}" if found["message"] else first
                raise CommandError(f"{args.path}: the case does not fail: {reason}", EXIT_FAILED)

            def fails(one: CaseFile) -> bool:
                other = result(one)
                return bool(other["outcome"] == first and (first != "failed" or bool(other["message"]) == harms))

            smallest = minimized(case, fails, lambda text: print(one_line(text), file=sys.stderr))
        except CaseError as error:
            raise CommandError(str(error)) from None
    if args.output is None:
        print(text_of(smallest), end="")
    else:
        _write(args.output, smallest.write)
    return 0


def _to_pytest(args: argparse.Namespace) -> int:
    """Write the test."""
    from pymluops.gencase import CaseError
    from pymluops.gencase._to_pytest import as_pytest

    try:
        text = as_pytest(_read(args.path), _library(args.library), _library(args.against))
    except CaseError as error:
        raise CommandError(str(error)) from None
    if args.output is None:
        print(text, end="")
    else:
        _write(args.output, lambda path: _write_text(path, text))
    return 0


# ---- Files and libraries -------------------------------------------------------------------------


def _read(path: str, *, checked: bool = True) -> Case:
    from pymluops import gencase
    from pymluops.gencase._file import read_node

    try:
        return gencase.Case(read_node(path, checked=checked), Path(path))
    except (gencase.CaseError, ImportError) as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None


def _require_writable(name: str) -> None:
    """Refuse what a case could not be written to, before the work begins."""
    path = Path(os.path.realpath(name))
    if Path(name).suffix not in _SUFFIXES:
        raise CommandError(f"{name}: a case is a file .prototxt or .pb")
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        if path.is_file() or not path.exists():  # a new file takes the name when it is whole
            tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror or error}") from None


def _write_text(path: str, text: str) -> None:
    with whole_file(Path(path)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _write(path: str, write: Callable[[str], object]) -> None:
    from pymluops.gencase import CaseError

    try:
        write(path)
    except CaseError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None


def _found(names: Iterable[str]) -> list[Path]:
    """Return the files that are named, and those in the folders that are, in the order of their names."""
    paths: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(one for suffix in _SUFFIXES for one in path.rglob(f"*{suffix}") if not one.is_dir())
            if not inside:
                raise CommandError(f"{name}: no case (.prototxt or .pb) is in this folder")
            paths += inside
        elif path.exists():
            paths.append(path)
        else:
            raise CommandError(f"{name}: no such file or folder")
    return paths


def _library(name: str) -> str:
    """Return a name that worker processes understand: paths as absolute ones."""
    return str(Path(name).resolve()) if os.sep in name or Path(name).suffix == ".so" else name
