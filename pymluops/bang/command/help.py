"""``pymluops kernel help``: what the reference says about an intrinsic."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pymluops._shown import one_line, shortened
from pymluops.cli import EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from pymluops.sim._intrinsics import Intrinsic

DESCRIPTION = """\
Print the prototypes of an intrinsic of BANG C, what its parameters mean and in which unit they count, what it does, and
an example. Without a name all names are listed.
"""
_WIDTH = 100


def register(subparsers: Any) -> None:
    """Add the ``help`` subcommand."""
    text = "print how an intrinsic is called and what it does"
    parser = subparsers.add_parser("help", help=text, description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("name", nargs="*", metavar="NAME", help="an intrinsic, such as __bang_reduce_sum")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what the reference says."""
    from pymluops.sim._intrinsics import find, names, similar

    if not args.name:
        print("\n".join(_listed(names())))
        return 0
    texts: list[str] = []
    for name in args.name:
        found = find(name)
        if found is None:
            alike = similar(name)
            hint = f"; did you mean {', '.join(alike)}?" if alike else "; pymluops kernel help lists all names"
            raise CommandError(f"there is no intrinsic {shortened(one_line(name))}{hint}", EXIT_USAGE)
        texts.append("\n".join(_lines_of(found)))
    print("\n\n".join(texts))
    return 0


def _listed(names: dict[str, str]) -> Iterable[str]:
    sections: dict[str, list[str]] = {}
    for name, section in names.items():
        sections.setdefault(section, []).append(name)
    for section, own in sections.items():
        yield f"{section}:"
        yield from textwrap.wrap(" ".join(own), _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _lines_of(found: Intrinsic) -> list[str]:
    lines = [found.name, *textwrap.wrap(f"{found.meaning} ({found.known})", _WIDTH, **_indent()), ""]
    lines += [f"  {line}" for line in found.prototypes()]
    if found.text:
        lines += ["", *textwrap.wrap(found.text, _WIDTH, **_indent())]
    if found.parameters:
        width = max(map(len, found.parameters))
        lines += ["", *(f"  {name:{width}}  {text}" for name, text in found.parameters.items())]
    lines += ["", f"  architectures: {found.architectures}"]
    lines += [f"  rules: {found.rules}"] if found.rules else []
    if found.example:
        lines += ["", "  example:", *(f"    {line}" for line in found.example.splitlines())]
    return lines


def _indent() -> dict[str, Any]:
    return {"initial_indent": "  ", "subsequent_indent": "  "}
