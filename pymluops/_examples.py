"""``pymluops examples``: kernels, puzzles and pages that come with the package."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from pymluops._shown import one_line, shortened
from pymluops.cli import CommandError

_CODE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")

DESCRIPTION = """\
The kernels of the tutorial and of the gallery, the puzzles, programs with host code, a notebook, and the pages that
explain them. `pymluops examples copy DIR` puts them into DIR/examples and DIR/docs; begin with DIR/docs/tutorial.md.
"""


def register(subparsers: Any) -> None:
    """Add the ``examples`` subcommand."""
    text = "list or copy kernels, puzzles and pages that come with the package"
    parser = subparsers.add_parser("examples", help=text, description=DESCRIPTION, allow_abbrev=False)
    own = parser.add_subparsers(dest="examples_command", metavar="COMMAND", required=True)
    copy = own.add_parser("copy", help="copy them into a folder", description=DESCRIPTION, allow_abbrev=False)
    copy.add_argument("folder", type=Path, metavar="DIR", help="a folder, which is made if it is not there")
    copy.set_defaults(run=_copy, program=copy.prog)
    show = own.add_parser("list", help="list them", description=DESCRIPTION, allow_abbrev=False)
    show.set_defaults(run=_list, program=show.prog)


def folder_of_examples() -> Path:
    """Return the folder of the installed package with its examples and pages.

    Raises
    ------
    CommandError
        If the package was installed without them.
    """
    from pymluops import _core

    # Beside the compiled module; in an editable installation the Python files lie elsewhere.
    folder = Path(_core.__file__).resolve().parent / "_share"
    if not folder.is_dir():
        raise CommandError("this installation has no examples: they come with the simulator (MLUOPS_TARGETS)")
    return folder


def _files() -> Iterator[tuple[Path, Path]]:
    """Yield each file, and its place below the folder of a copy."""
    folder = folder_of_examples()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file, file.relative_to(folder)


def _without_dead_links(page: Path, place: Path, places: Set[Path]) -> str:
    """Return a page whose links lead to copied files only; of others the words stay, and pictures go."""
    folders = {parent for other in places for parent in other.parents}

    def kept(link: re.Match[str]) -> str:
        target = link["target"].partition("#")[0]
        reached = Path(os.path.normpath(place.parent / target))
        if not target or ":" in target or reached in places or reached in folders:
            return link[0]
        return "" if link["picture"] else link["words"]

    # Parts with an odd number are code.
    parts = _CODE.split(page.read_text(encoding="utf-8"))
    return "".join(part if number % 2 else _LINK.sub(kept, part) for number, part in enumerate(parts))


def _list(args: argparse.Namespace) -> int:
    for _, place in _files():
        print(place)
    return 0


def _copy(args: argparse.Namespace) -> int:
    files = list(_files())
    there = [place for _, place in files if os.path.lexists(args.folder / place)]
    if there:
        name = shortened(one_line(str(args.folder / there[0])))
        raise CommandError(f"{name} is there already, and {len(there) - 1} more of {len(files)}: choose another folder")
    try:
        for file, place in files:
            target: Path = args.folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                target.write_text(_without_dead_links(file, place, {there for _, there in files}), encoding="utf-8")
            else:
                shutil.copyfile(file, target)
    except OSError as error:
        name = shortened(one_line(str(error.filename or args.folder)))
        raise CommandError(f"{name}: {error.strerror or error}") from None
    print(f"copied {len(files)} files; begin with {args.folder / 'docs' / 'tutorial.md'}")
    return 0
