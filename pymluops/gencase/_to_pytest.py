"""A case as a test of its own, which needs no other file."""

from __future__ import annotations

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
    text = text_of(case.inlined(hexadecimal=True))
    name = re.sub(r"\W+", "_", case.op_name)
    origin = f"{case.path.name}, " if case.path is not None else ""
    return f'''"""{case.op_name}: {origin}a test case in the format of the vendor's library."""

from pathlib import Path

from pymluops import gencase

LIBRARY, AGAINST = {library!r}, {against!r}
CASE = r"""
{text.strip()}
"""


def test_{name}(tmp_path: Path) -> None:
    path = tmp_path / "case.prototxt"
    path.write_text(CASE, encoding="utf-8")
    result = gencase.read(path).run(LIBRARY, AGAINST)
    assert result.passed, result
'''
