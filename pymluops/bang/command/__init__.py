"""``pymluops kernel``: run, check, profile, debug and judge kernels of BANG C from the command line.

A subcommand is a module in `SUBCOMMANDS` with ``register(subparsers)``, which adds its parser,
gives it the options of a launch by `launches.add_launch_options`, and sets ``run`` as a default of
it. ``run(args)`` returns the exit code: 0 nothing was found, 1 something was. `launches.prepare`
compiles the sources and makes the arguments. A mistake that the user can correct is a
`pymluops.cli.CommandError`, which `launches.explained` makes of the errors of this package.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["SUBCOMMANDS", "register"]

SUBCOMMANDS = (
    "pymluops.bang.command.run",
    "pymluops.bang.command.check",
    "pymluops.bang.command.debug",
    "pymluops.bang.command.profile",
    "pymluops.bang.command.judge",
    "pymluops.bang.command.help",
)


_PAGES = "The pages in docs/ come with the package: `pymluops examples copy DIR`."


def register(subparsers: Any) -> None:
    """Add the ``kernel`` subcommand with its own subcommands."""
    text = "run, check, profile, debug and judge kernels of BANG C on the simulated MLU"
    parser = subparsers.add_parser("kernel", help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False)
    own = parser.add_subparsers(dest="kernel_command", metavar="COMMAND", required=True)
    for name in SUBCOMMANDS:
        importlib.import_module(name).register(own)
    for subparser in own.choices.values():
        subparser.set_defaults(program=subparser.prog)
        subparser.epilog = "\n\n".join(filter(None, [subparser.epilog, _PAGES]))
