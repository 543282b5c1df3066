#!/usr/bin/env python3
"""Rewrite README.md as a package index shows it, before the packages of a release are built.

    python3 tools/index_readme.py && python3 -m build && git checkout README.md

In a clone the links of README.md are relative, so that they work in every branch and wherever the
repository lies. An index knows no files beside the README. If pyproject.toml has the address of the
repository as ``Source`` in ``[project.urls]``, links and pictures become absolute ones of this
version there. If it has none, links become their words, pictures go with their captions, and a
sentence says where the documents are, so that nothing is broken.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

__all__ = ["for_index"]

ROOT = Path(__file__).resolve().parents[1]

_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
#: A table with pictures, whose other rows are their captions.
_PICTURES = re.compile(r"^(?:\|.*\n)*\|.*!\[.*\n(?:\|.*\n)*\n?", re.MULTILINE)
#: A picture that stands by itself.
_ALONE = re.compile(r"^!\[[^\]]*\]\([^)\s]+\)\n\n?", re.MULTILINE)
_WHERE = "The documents are in the folder `docs` of the source distribution."


def for_index(text: str, source: str, version: str) -> str:
    """Return the README with absolute links, or without links to files if `source` is empty."""
    if not source:
        text = _PICTURE.sub("", _ALONE.sub("", _PICTURES.sub("", text)))
        text = _LINK.sub(lambda found: found[0] if _is_absolute(found[2]) else found[1], text)
        return f"{text.rstrip()}\n\n{_WHERE}\n"
    base = source.rstrip("/")

    def absolute(found: re.Match[str], kind: str) -> str:
        if _is_absolute(found[2]):
            return found[0]
        mark = "!" if kind == "raw" else ""
        return f"{mark}[{found[1]}]({base}/{kind}/v{version}/{found[2]})"

    text = _PICTURE.sub(lambda found: absolute(found, "raw"), text)
    return _LINK.sub(lambda found: absolute(found, "blob"), text)


def _is_absolute(target: str) -> bool:
    return re.match(r"[a-z]+:|#", target) is not None


def main() -> int:
    """Rewrite README.md."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = str(project.get("urls", {}).get("Source", ""))
    path = ROOT / "README.md"
    path.write_text(for_index(path.read_text(encoding="utf-8"), source, str(project["version"])), encoding="utf-8")
    where = f"links lead to {source}" if source else "links are gone: pyproject.toml has no Source in [project.urls]"
    print(f"README.md: {where}; do not commit it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
