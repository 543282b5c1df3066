"""``pymluops kernel run``: one launch, with its findings and outputs."""

from __future__ import annotations

import argparse
from typing import Any

from pymluops.bang.command import launches

DESCRIPTION = """\
Compile sources, launch a kernel once, and print its outputs and findings. The exit code is 1 if the kernel failed
or something was found that a launch fails for, 2 for bad input.
"""


def register(subparsers: Any) -> None:
    """Add the ``run`` subcommand."""
    parser = subparsers.add_parser("run", help="launch a kernel once", description=DESCRIPTION, allow_abbrev=False)
    launches.add_launch_options(parser)
    launches.add_finding_options(parser)
    parser.add_argument(
        "--schedule", metavar="WORDS", help="copies=early,cores=random,memory=nan and the like; see docs/schedules.md"
    )
    parser.add_argument("--seed", type=launches.integer_type(0, 2**64 - 1), metavar="N", help="of the schedule")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the kernel and print its outputs."""
    from pymluops.bang import _check
    from pymluops.bang.command.formats import show
    from pymluops.sim._schedules import parsed_schedule, schedule_of

    prepared = launches.prepare(args)
    with launches.explained():
        schedule = schedule_of(prepared.backend)
        if args.schedule is not None:
            schedule = parsed_schedule(prepared.backend, args.schedule)
        if args.seed is not None:
            schedule = schedule._replace(seed=args.seed)
        report = _check.check(
            prepared.launch, *prepared.arguments, schedules=[schedule], checks=args.check, rules=launches.rules_of(args)
        )
    launches.save_outputs(args, report.outputs)
    show(report, args.format)
    return 0 if report.ok else 1
