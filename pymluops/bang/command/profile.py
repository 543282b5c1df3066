"""``pymluops kernel profile``: the data that a launch moves, its operations, and an estimate of its time on a card."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._shown import one_line, shortened
from pymluops.bang.command import launches
from pymluops.cli import CommandError

if TYPE_CHECKING:
    from pymluops.sim import Profile

DESCRIPTION = """\
Compile sources, launch a kernel once, and report its copies and operations, by core and line, with an estimate of its
time on the card by a stated model (docs/profile.md), which is no measurement. The exit code is 1 if the kernel failed,
2 for bad input.
"""


def register(subparsers: Any) -> None:
    """Add the ``profile`` subcommand."""
    text = "tell where the time of a launch goes"
    parser = subparsers.add_parser("profile", help=text, description=DESCRIPTION, allow_abbrev=False)
    launches.add_launch_options(parser)
    output = parser.add_argument_group("output; a table if none of these is given")
    output.add_argument("--html", metavar="FILE", help="write a page with timeline, roofline and hot lines")
    output.add_argument("--trace", metavar="FILE", help="write the modelled timeline as a trace for Perfetto")
    output.add_argument("--json", metavar="FILE", help="write counts, estimates and ratios; - prints them")
    model = parser.add_argument_group("the model")
    model.add_argument(
        "--figure",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a figure of the time model: off_chip_latency_ns=700; see docs/profile.md",
    )
    count = launches.integer_type(0, 2**40 - 1)
    model.add_argument(
        "--most-events", type=count, default=1_000_000, metavar="N", help="instructions of timelines; default: 1000000"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Profile the launch and write the requested outputs."""
    from pymluops import sim
    from pymluops.bang import _check
    from pymluops.sim._schedules import schedule_of

    figures = _figures(args.figure)
    for name in ("html", "trace", "json"):
        if getattr(args, name) not in (None, "-"):
            launches.require_place(f"--{name}", Path(getattr(args, name)))
    prepared = launches.prepare(args)
    for card, problem in prepared.launch.kernel.memory.missing.items():
        if problem:
            print(f"does not fit on {card}, as compiled for {prepared.module.arch}: {problem}", file=sys.stderr)
    with launches.explained(), sim.profiling(figures=figures, most_events=args.most_events) as profile:
        schedules = [schedule_of(prepared.backend)]
        report = _check.check(prepared.launch, *prepared.arguments, schedules=schedules, checks="none")
    launches.save_outputs(args, report.outputs)
    _write(args, profile)
    if report.failed:
        print(report, file=sys.stderr)
    return 1 if report.failed else 0


def _figures(words: Sequence[str]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            figures[name] = float(value)
        except ValueError:
            raise CommandError(f"--figure: expected NAME=VALUE, got {shortened(one_line(word))}") from None
    return figures


def _write(args: argparse.Namespace, profile: Profile) -> None:
    outputs = {"html": profile.to_html, "trace": profile.to_chrome_trace, "json": profile.to_json}
    asked = {name: getattr(args, name) for name in outputs if getattr(args, name) is not None}
    if not asked:
        print(profile, end="")
    for name, file in asked.items():
        if file == "-":
            print(outputs[name](), end="")
            continue
        try:
            outputs[name](file)
        except OSError as error:
            raise CommandError(f"--{name}: {shortened(one_line(file))}: {error.strerror or error}") from None
        print(f"wrote {shortened(one_line(file))}", file=sys.stderr)
