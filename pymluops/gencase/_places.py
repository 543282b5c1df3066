"""Where the parts of a test case stand in its text, for what is said about them."""

from __future__ import annotations

import re

__all__ = ["line_of"]

_TOKEN = re.compile(
    r"""#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<name>[A-Za-z_]\w*)|(?P<open>[{<])|(?P<close>[}>])"""
)


def line_of(text: str, field: str, number: int = 0) -> int | None:
    """Return the line where a field of the whole case begins, None if it is not there.

    Parameters
    ----------
    text : str
        The case.
    field : str
        Name of the field, as in ``input``.
    number : int
        Which of the fields of this name, from 0.
    """
    depth, seen = 0, 0
    for token in _TOKEN.finditer(text):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif depth == 0 and token["name"] == field:
            if seen == number:
                return text.count("\n", 0, token.start()) + 1
            seen += 1
    return None
