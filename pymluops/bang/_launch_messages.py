"""Rewrites what a compiler says about launches without the simulator's own names."""

from __future__ import annotations

import re

__all__ = ["with_launches_told"]

_HEAD = re.compile(r"^(?P<place>[^\s:][^:]*:\d+(?::\d+)?): (?P<kind>fatal error|error|warning|note): (?P<text>.*)$")
_CONTEXT = re.compile(r"^\S.*: (?:In|At) [^:]+|^\S.*: In instantiation ")
_INCLUDED = re.compile(r"^(?:In file included from|\s+from) ")
#: A call of ``mlusim::mlusim_launch``: the types behind the name and the source.
_LAUNCH = re.compile(
    r"no matching function for call to .mlusim_launch\(const char \[\d+\], const mlusim::Unit\*(?P<types>.*)\).$"
)
_CALLABLE = re.compile(r"<lambda|\(lambda ")
_OF_LAUNCH = re.compile(
    r": In instantiation of .*<lambda\(const auto:\d+& \.\.\.\)>|required from .*\bmlusim::mlusim_launch\("
)
#: Where the first instruction of a function comes from that is inlined into a kernel.
_DEFINED = re.compile(r":\d+: (?=multiple definition of )")


def with_launches_told(said: str, include: str) -> str:
    """Return a compiler's text in which errors about launches have the words of BANG C.

    Parameters
    ----------
    said : str
        The text of the compiler.
    include : str
        The folder of the simulator's headers.
    """
    if "mlusim" not in said:
        return said
    kept: list[str] = []
    included: list[str] = []  # lines that tell where a header is included, before what they belong to
    skips = False  # the lines that belong to what is left out
    for line in said.splitlines():
        if _INCLUDED.match(line):
            included.append(line)
            continue
        head = _HEAD.match(line)
        if head is None and _CONTEXT.match(line):
            skips = False
        if _OF_LAUNCH.search(line) or (skips and "required from here" in line):
            skips, included = True, []
            continue
        if head is not None:
            told = _told(head["text"])
            is_own = head["kind"] == "note" and head["place"].startswith(include)
            skips = is_own
            line = f"{head['place']}: error: {told}" if told else line
        elif line.startswith(include) and (defined := _DEFINED.search(line)):
            line = line[defined.end() :]
        if not skips:
            kept += [*included, line]
        included = []
    return "\n".join([*kept, *included]) + ("\n" if said.endswith("\n") else "")


def _told(text: str) -> str:
    """Return what an error means for the author of a kernel; empty if it is about something else."""
    launch = _LAUNCH.search(text)
    if launch is None:
        return ""
    given: list[str] = []
    for kind in _divided(launch["types"]):
        if _CALLABLE.search(kind):
            wanted = "a cnrtDim3_t, a cnrtFunctionType_t and a cnrtQueue_t"
            return f"a launch takes {wanted} between <<< and >>>, got {', '.join(given) or 'nothing'}"
        given.append(kind.rstrip("&"))
    return "a launch is kernel<<<dim, type, queue>>>(arguments)"


def _divided(types: str) -> list[str]:
    """Divide at the commas outside of brackets."""
    parts: list[str] = [""]
    depth = 0
    for character in types:
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
