"""What a bad word on the command line may have been meant to be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

__all__ = ["among", "for_choice"]

#: As `argparse` says it; newer versions of Python leave out the quotes around the choices.
_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$", re.DOTALL)


def for_choice(message: str) -> str:
    """Return the end of a message of `argparse` about a choice that there is not: a question, or nothing."""
    found = _CHOICE.search(message)
    return among([found[1]], (choice.strip("'") for choice in found[2].split(", "))) if found else ""


def among(words: Iterable[str], known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for the first of `words` that is close to a known one; "" if none is."""
    candidates = {word.lstrip("-"): word for word in known}
    for word in words:
        close = difflib.get_close_matches(word.partition("=")[0].lstrip("-"), candidates, n=1, cutoff=0.6)
        if close:
            return f"; did you mean {candidates[close[0]]}?"
    return ""
