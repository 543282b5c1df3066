"""Rewrites a compiler's messages about a translated source in terms of the original source."""

from __future__ import annotations

import re

from pymluops.sim.translator import PREFIX

__all__ = ["readable"]

_HEAD = re.compile(r"^(?P<place>[^\s:][^:]*(?::\d+)*): (?P<kind>fatal error|error|warning|note): (?P<text>.*)$")
#: The descriptions that `with_entries` puts behind definitions; compilers quote the line.
_ENTRY = re.compile(r" (?:MLUOPS_MODULE|MLUSIM)_(?:KERNEL|FUNCTION|TEMPLATE)\(.*\);")
#: The name of an array's type, which GCC says instead of the type.
_ARRAY_TYPE = re.compile(r"\bmlusim_type_(\w+)")
_MOST_CANDIDATES = 6


def readable(said: str, include: str) -> str:
    """Return a compiler's text with the names of the source, and with a few forms of an intrinsic instead of all.

    Parameters
    ----------
    said : str
        The text of the compiler.
    include : str
        The folder of the simulator's headers.
    """
    kept: list[str] = []
    candidates = 0
    skips = False  # the lines that belong to a form of an intrinsic
    said = _ARRAY_TYPE.sub(r"decltype(\1)", _ENTRY.sub("", said.replace(PREFIX, "")))
    for line in said.splitlines():
        head = _HEAD.match(line)
        is_own = head is not None and head["kind"] == "note" and head["place"].startswith(include)
        if head is not None and is_own and "candidate" in head["text"] and "expects" not in head["text"]:
            candidates += 1
            skips = True
            if candidates <= _MOST_CANDIDATES:
                kept.append(line)
        elif skips and (head is None or is_own) and not line.startswith("In file included"):
            continue
        else:
            if candidates and head is not None:
                kept += _number_of_others(candidates)
                candidates = 0
            skips = candidates > 0
            if not skips:
                kept.append(line)
    kept += _number_of_others(candidates)
    return "\n".join(kept) + ("\n" if said.endswith("\n") else "")


def _number_of_others(candidates: int) -> list[str]:
    others = candidates - _MOST_CANDIDATES
    return [f"note: and {others} other {'form' if others == 1 else 'forms'} of it"] if others > 0 else []
