"""``python -m benchmarks``: the command line of the benchmark."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._whole_file import whole_file
from pymluops.cli import CommandError, Parser, run_program

if TYPE_CHECKING:
    from benchmarks.cases import Case
    from benchmarks.peers import Peer

DESCRIPTION = """\
Measure every operator against a memcpy of the bytes that it must move and against other ways to compute the same:
NumPy, and PyTorch, numba and spconv where they are installed. Each result is checked before it is timed. Exit code 1: a
peer's result is not ours, --compare found something slower, or with --strict a rule does not hold.
"""

SCHEMA = 1
MODES = ("sizes", "overhead", "memory")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and return its exit code: 0 good, 1 a result was wrong or slower, 2 bad arguments."""
    return run_program(benchmark_parser, sys.argv[1:] if argv is None else argv)


def benchmark_parser() -> Parser:
    """Return the parser of the benchmark's program."""
    parser = Parser(prog="benchmarks", description=DESCRIPTION, allow_abbrev=False)
    what = parser.add_argument_group("what is measured")
    what.add_argument(
        "--filter", action="append", default=[], metavar="PATTERN", help="only cases with this in their id"
    )
    what.add_argument("--group", action="append", default=[], metavar="NAME", help="only limits, documents or more")
    what.add_argument("--list", action="store_true", help="list the cases and measure nothing")
    what.add_argument("--sizes", action="store_true", help="how time grows up to 1e8 elements, instead of the cases")
    what.add_argument("--overhead", action="store_true", help="what a call on tiny arrays costs, instead of the cases")
    what.add_argument("--memory", action="store_true", help="memory above inputs and outputs, instead of the times")
    what.add_argument("--all", action="store_true", help="the cases and the three above")
    how = parser.add_argument_group("how")
    how.add_argument("--quick", action="store_true", help="only the cases with limits, two threads, fewer rounds")
    how.add_argument("--threads", type=_counts, metavar="N,M", help="numbers of threads; 1,2 if not given")
    how.add_argument("--peers", type=_names, metavar="A,B", help="only these peers; 'none' for memcpy alone")
    how.add_argument("--seconds", type=_seconds, metavar="S", help="seconds a case; 6 if not given")
    output = parser.add_argument_group("what comes out")
    output.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    output.add_argument("--output", type=Path, metavar="FILE", help="also write the JSON document into this file")
    output.add_argument("--plot", type=Path, metavar="DIR", help="write pictures into this folder (needs matplotlib)")
    output.add_argument("--compare", type=Path, metavar="FILE", help="say what is slower than in these older results")
    output.add_argument("--load", type=Path, metavar="FILE", help="take the results of this file and measure nothing")
    output.add_argument("--strict", action="store_true", help="exit with 1 if a rule does not hold")
    parser.set_defaults(run=run, program=parser.prog)
    return parser


def _counts(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and 1 <= int(part[:6]) <= 1024 for part in parts):
        raise argparse.ArgumentTypeError(f"expected numbers from 1 to 1024 with commas between them, got {text!r}")
    return sorted({int(part) for part in parts})


def _names(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(text.split(","))


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e5:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return value


def run(args: argparse.Namespace) -> int:
    """Measure, or load, and print."""
    from benchmarks import compare, report

    cases = _cases(args)
    if args.list:
        print("\n".join(case.id for case in cases))
        return 0
    older = _read(args.compare) if args.compare else None
    if args.plot is not None and importlib.util.find_spec("matplotlib") is None:
        raise CommandError("--plot needs matplotlib: python3 -m pip install matplotlib")
    document = _read(args.load) if args.load else _measured(args, cases)
    changes = compare.compare(older, document) if older else []
    if older:
        document["changes"] = changes
    _write(document, args.output)
    print(json.dumps(document, indent=1, allow_nan=False) if args.json else report.render(document))
    if older and not args.json:
        print("\n" + compare.render(changes, older, document))
    if args.plot is not None:
        _draw(document, args.plot, quiet=args.json)
    return _exit_code(document, changes, args.strict)


def _exit_code(document: dict[str, Any], changes: list[dict[str, Any]], strict: bool) -> int:
    from benchmarks.compare import regressions

    measured = [*document.get("cases", ()), *document.get("sizes", ())]
    missed = strict and any(not verdict["holds"] for verdict in document["verdicts"])
    return 1 if any(case["wrong"] for case in measured) or regressions(changes) or missed else 0


def _cases(args: argparse.Namespace) -> list[Case]:
    from benchmarks.cases import GROUPS, load_cases, select

    unknown = set(args.group) - set(GROUPS)
    if unknown:
        raise CommandError(f"--group: expected {', '.join(GROUPS)}, got {sorted(unknown)[0]!r}")
    groups = args.group or (["limits"] if args.quick and not args.filter else list(GROUPS))
    cases = select(load_cases(), args.filter, groups)
    if not cases and not (args.sizes or args.overhead or args.load):
        raise CommandError(f"no case matches {' or '.join(args.filter)}; --list shows all")
    return cases


def _peers(names: tuple[str, ...] | None) -> list[Peer]:
    from benchmarks.peers import PEERS, installed_peers

    for name in names or ():
        peer = next((peer for peer in PEERS if peer.name == name), None)
        if peer is None:
            raise CommandError(f"--peers: expected {', '.join(peer.name for peer in PEERS)}, got {name!r}")
        if not peer.installed:
            raise CommandError(f"--peers: {name} is not installed: python3 -m pip install {peer.package}")
    return installed_peers(names)


def _measured(args: argparse.Namespace, cases: Sequence[Case]) -> dict[str, Any]:
    """Run the requested measurements; the file is rewritten after each step, so that an aborted run keeps them."""
    from benchmarks import machine, verdicts
    from pymluops._progress import Progress

    steps = _steps(args, cases)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "machine": machine.describe(),
        "settings": {"quick": args.quick, "threads": _threads(args), "seconds": args.seconds},
        "notes": [],
        "verdicts": [],
    }
    with Progress(len(steps), "bench") as progress:
        for name, key, step in steps:
            progress.step(name)
            found, notes = step()
            document.setdefault(key, []).extend(found)
            document["notes"] += notes
            document["verdicts"] = _judged(document, verdicts.judge)
            _write(document, args.output)
    return document


def _threads(args: argparse.Namespace) -> list[int]:
    return args.threads or ([2] if args.quick else [1, 2])


Step = tuple[str, str, Callable[[], tuple[list[dict[str, Any]], list[str]]]]


def _steps(args: argparse.Namespace, cases: Sequence[Case]) -> list[Step]:
    """Return the steps: a title, the key of the results, and a function."""
    from dataclasses import replace
    from functools import partial

    from benchmarks import memory, overhead, sizes, timing
    from benchmarks.driver import run_case

    peers, threads = _peers(args.peers), _threads(args)
    plan = timing.QUICK if args.quick else timing.Plan()
    if args.seconds is not None:
        plan = replace(plan, budget=args.seconds)
    steps: list[Step] = []
    if args.all or not (args.sizes or args.overhead or args.memory):
        for case in cases:
            steps.append((case.id, "cases", partial(_alone, run_case, case, peers, threads, plan)))
    if args.all or args.sizes:
        chosen = sizes.QUICK_SIZES if args.quick else sizes.SIZES
        others = peers if args.peers else []
        for several in sizes.size_cases(chosen):
            if not args.filter or any(pattern in several[0].id for pattern in args.filter):
                name = several[0].id.rpartition("/")[0]
                steps.append((name, "sizes", partial(_several, sizes.run_sizes, several, others, threads[-1], plan)))
    if args.all or args.overhead:
        steps.append(("tiny calls", "overhead", lambda: overhead.run_overhead(args.quick)))
    if args.all or args.memory:
        for case in cases:
            steps.append((case.id, "memory", partial(_alone, memory.run_memory, case, threads[-1])))
    return steps


def _alone(measure: Callable[..., dict[str, Any]], *arguments: Any) -> tuple[list[dict[str, Any]], list[str]]:
    return [measure(*arguments)], []


def _several(measure: Callable[..., list[dict[str, Any]]], *arguments: Any) -> tuple[list[dict[str, Any]], list[str]]:
    return measure(*arguments), []


def _judged(document: dict[str, Any], cases_judge: Callable[[Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    from benchmarks import memory, overhead, sizes

    return [
        *cases_judge(document.get("cases", [])),
        *sizes.judge(document.get("sizes", [])),
        *overhead.judge(document.get("overhead", [])),
        *memory.judge(document.get("memory", [])),
    ]


def _read(path: Path) -> dict[str, Any]:
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or 'is no JSON document'}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise CommandError(f"{path}: is no document of results that this version can read")
    return document


def _write(document: dict[str, Any], path: Path | None) -> None:
    if path is None:
        return
    try:
        with whole_file(path) as file:
            file.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"--output {path}: {error.strerror or error}") from error


def _draw(document: dict[str, Any], folder: Path, *, quiet: bool) -> None:
    from benchmarks.plots import draw_all

    try:
        paths = draw_all(document, folder)
    except OSError as error:
        raise CommandError(f"--plot {folder}: {error.strerror or error}") from error
    for path in paths:
        print(f"wrote {path}", file=sys.stderr if quiet else sys.stdout)
