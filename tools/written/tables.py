"""Tables in Markdown, and text between two markers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

BEGIN, END = "<!-- operators: written by tools/families.py -->", "<!-- end of operators -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)


def code(names: Iterable[str]) -> str:
    """Return names as code."""
    return ", ".join(f"`{name}`" for name in names)


def with_table(path: Path, text: str) -> str:
    """Return the text of a document with another table between its markers."""
    return with_text(path, f"{BEGIN}\n", END, f"{text}\n")


def with_text(path: Path, begin: str, end: str, text: str) -> str:
    """Return the text of a file with another text between two markers."""
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"{path.name}: has no markers of the text that tools/families.py writes")
    return f"{before}{begin}{text}{end}{rest.split(end, 1)[1]}"
