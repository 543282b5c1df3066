"""``pymluops kernel check``: one launch under several schedules, and the differences."""

from __future__ import annotations

import argparse
from typing import Any

from pymluops.bang.command import launches

DESCRIPTION = """\
Compile sources, launch a kernel under several schedules with all checkers, and compare the results bit by bit. The exit
code is 1 if a result differs, a launch failed or something was found that a launch fails for, 2 for bad input.
"""


def register(subparsers: Any) -> None:
    """Add the ``check`` subcommand."""
    text = "launch a kernel under several schedules"
    parser = subparsers.add_parser("check", help=text, description=DESCRIPTION, allow_abbrev=False)
    launches.add_launch_options(parser)
    launches.add_finding_options(parser)
    parser.add_argument(
        "--schedule", action="append", metavar="WORDS",
        help="copies=early,cores=random,memory=nan and the like, instead of the usual ones; may be repeated, and the "
        "others are compared with the first; see docs/schedules.md",
    )  # fmt: skip
    seeds, runs = launches.integer_type(0, 2**64 - 1), launches.integer_type(0, 1000)
    parser.add_argument("--seed", type=seeds, default=0, metavar="N", help="of the first random schedule; default: 0")
    parser.add_argument("--random-runs", type=runs, default=4, metavar="N", help="random schedules; default: 4")
    parser.add_argument(
        "--tolerance", type=launches.number_from_0, default=0.0, metavar="X",
        help="differences of floats up to X, or X times the size of a result above 1, do not count: for sums whose "
        "order the schedule changes; default: 0",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check the kernel and print the report."""
    from pymluops.bang import _check
    from pymluops.bang.command.formats import show
    from pymluops.sim._schedules import parsed_schedule

    prepared = launches.prepare(args)
    with launches.explained():
        schedules = None
        if args.schedule is not None:
            schedules = [parsed_schedule(prepared.backend, words) for words in args.schedule]
        report = _check.check(
            prepared.launch,
            *prepared.arguments,
            schedules=schedules,
            seed=args.seed,
            random_runs=args.random_runs,
            checks=args.check,
            rules=launches.rules_of(args),
            tolerance=args.tolerance,
        )
    launches.save_outputs(args, report.outputs)
    show(report, args.format)
    return 0 if report.ok else 1
