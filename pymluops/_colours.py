"""Colours of what the program prints, on terminals that have them.

There are none where the output goes to a file or a pipe, where ``NO_COLOR`` is set to anything
(https://no-color.org), or where ``TERM`` is ``dumb``.
"""

from __future__ import annotations

import os
import re
from typing import Any

__all__ = ["coloured", "has_colours"]

_RED, _YELLOW, _GREEN, _BLUE, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[34m", "\x1b[0m"
#: Words of reports, each as a whole word, and their colours.
_WORDS = (
    (re.compile(r"(?<= )error(?=: )|\bFAILED\b|\bfailed\b|\bwrong\b|\bcrash\b|\bDIFFERS\b"), _RED),
    (re.compile(r"(?<= )(?:warning|remark)(?=: )"), _YELLOW),
    (re.compile(r"\bpassed\b|\bright\b|\bnothing found\b|\bok\b|\bexact\b"), _GREEN),
    (re.compile(r"(?<= )next(?=: )"), _BLUE),
)


def has_colours(stream: Any) -> bool:
    """Return whether what is written to `stream` may have colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return bool(stream is not None and stream.isatty())


def coloured(text: str, stream: Any) -> str:
    """Return the text of a report with the colours of its words, if `stream` has colours."""
    if not has_colours(stream):
        return text
    for pattern, colour in _WORDS:
        text = pattern.sub(rf"{colour}\g<0>{_PLAIN}", text)
    return text
