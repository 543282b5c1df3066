"""A case as a test of its own, which needs no other file."""

from __future__ import annotations

import ast
import re

from pymluops.gencase._file import CaseFile, text_of

__all__ = ["as_pytest"]


def as_pytest(case: CaseFile, library: str, against: str) -> str:
    """Return the text of a test file.

    Parameters
    ----------
    case : CaseFile
        Its values stand in the text, those of real numbers by their bits.
    library, against : str
        As for `Case.run`.
    """
    text = f"\n{text_of(case.inlined(hexadecimal=True)).strip()}\n"
    name = re.sub(r"[^0-9A-Za-z]+", "_", case.op_name).strip("_") or "case"
    origin = f"{case.path.name}, " if case.path is not None else ""
    return f'''"""{_in_docstring(f"{case.op_name}: {origin}")}a test case in the format of the vendor's library."""

from pathlib import Path

from pymluops import gencase

LIBRARY, AGAINST = {library!a}, {against!a}
CASE = {_literal(text)}


def test_{name}(tmp_path: Path) -> None:
    path = tmp_path / "case.prototxt"
    path.write_text(CASE, encoding="utf-8")
    result = gencase.read(path).run(LIBRARY, AGAINST)
    assert result.passed, result
'''


def _in_docstring(text: str) -> str:
    """Return a text with escapes for what would end a docstring, or a line of it."""
    return text.encode("unicode_escape").decode("ascii").replace('"', '\\"')


def _literal(text: str) -> str:
    """Return a string that Python reads as this text, a raw one if that can be."""
    raw = f'r"""{text}"""'
    try:
        return raw if ast.literal_eval(raw) == text else ascii(text)
    except (SyntaxError, ValueError):
        return ascii(text)
