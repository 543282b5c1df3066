"""Says a compiler's messages about translated constructs in words of BANG C: arrays on chip, kernels and launches.

The words are those of GCC; what another compiler says goes through unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pymluops.sim.translator.text import printable, unquoted

__all__ = ["in_words_of_bang", "lengths_of", "types_in"]

_ERROR = re.compile(r"^(?P<place>[^\s:][^:]*:\d+)(?P<column>:\d+)?: (?P<kind>fatal error|error): (?P<text>.*)$")
_HEAD = re.compile(
    r"^(?P<place>[^\s:][^:]*:\d+)(?P<column>:\d+)?: (?P<kind>fatal error|error|warning|note): (?P<text>.*)$"
)
_CONTEXT = re.compile(r"^\S.*: (?:In|At) .*:$")
_LINE = re.compile(r'^#(?:line)? (\d+) ("(?:\\.|[^"\\])*")')
#: The declaration of an array in the translation: its name and type.
_DECLARED = re.compile(
    r'\bMLUSIM_(?:LOCAL_|NUMBERED_|EXTERN_)?ARRAY\((?:mlusim_\w+, )?(?:"[^"]*", )?(\w+), ([^;\n]+?)\);'
)
_CODE = re.compile(r"^ *\d* \|")
#: The type of an array by its name in the translation, and what it is.
_ALSO_KNOWN_AS = re.compile(r"‘[^’]*\bmlusim_(?:type_|fixed\b)[^’]*’ \{aka ‘([^’]*)’\}")
#: Functions of the translation, in which an error may stand.
_OWN_CONTEXT = re.compile(r": In .*\b(?:mlusim_(?:kernel_tag|declaration)_|mluops_module_tag)\w*.*:$")
_LAMBDA = r"<lambda\(const auto:\d+& \.\.\.\)>"
_OWN_INSTANCE = re.compile(rf": In instantiation of ‘[^’]*{_LAMBDA}[^’]*’:$")
_OWN_CALL = re.compile(rf"^(?P<place>[^\s:][^:]*:\d+):\d+:   required from ‘[^’]*{_LAMBDA}")
_OWN_LAUNCH = re.compile(r"required from ‘[^’]*\bmlusim::(?:mlusim_launch|Launcher)")
_REQUIRED = re.compile(r":   required from here$")
_RESULT = re.compile(r"invalid ‘static_cast’ from type ‘(?P<type>[^’]+?) \(\*\)\(.*’}? to type ‘void \(\*\)\(")
_LAUNCH = re.compile(r"no matching function for call to ‘mlusim_launch(?:er)?\(")
_CASCADE = re.compile(r"template argument 1 is invalid|\bmlusim_|decltype\(\w+\)’ (?:was not declared|does not name)")
_SAID = {
    "result": "a kernel returns void, not {0}",
    "launch": "`<<<dim, type, queue>>>` takes a cnrtDim3_t, a cnrtFunctionType_t and a cnrtQueue_t",
}


def lengths_of(text: str) -> dict[str, int]:
    """Return the lengths of the lines of a source with its headers, by their places in messages."""
    found: dict[str, int] = {}
    name, number = "", 1
    for line in text.split("\n"):
        if match := _LINE.match(line):
            name, number = printable(unquoted(match[2])), int(match[1])
            continue
        found.setdefault(f"{name}:{number}", len(line.rstrip().encode("utf-8", "surrogateescape")))
        number += 1
    return found


def types_in(text: str) -> dict[str, str]:
    """Return the types of arrays on chip that a translated source declares, of each name that has one alone."""
    found: dict[str, set[str]] = {}
    for name, kind in _DECLARED.findall(text):
        found.setdefault(name, set()).add(kind)
    return {name: _spaced(*kinds) for name, kinds in found.items() if len(kinds) == 1}


def _spaced(kind: str) -> str:
    """Return a type as GCC writes it."""
    return re.sub(r"(?<=\w)\[", " [", kind, count=1)


def in_words_of_bang(said: str, include: str, lengths: Mapping[str, int] | None = None) -> str:
    """Return a compiler's text without the functions and types that only the translation has.

    Parameters
    ----------
    said : str
        The text of the compiler.
    include : str
        The folder of the simulator's headers.
    lengths : mapping of str to int, optional
        The lengths of lines of the source, by their places.
    """
    lines = _ALSO_KNOWN_AS.sub(r"‘\1’", said).splitlines()
    told = _without_columns(_without_cascades(_without_frames(lines, include)), lengths or {})
    told = [line for line, next_one in zip(told, [*told[1:], ""], strict=False) if not _is_empty(line, next_one)]
    if any(map(_ERROR.match, lines)) and not any(map(_ERROR.match, told)):
        return said  # what was dropped was all that is wrong
    return "\n".join(told) + ("\n" if said.endswith("\n") else "")


def _is_empty(line: str, next_one: str) -> bool:
    """Whether a line names a function in which nothing is wrong any more."""
    return _CONTEXT.match(line) is not None and (not next_one or _CONTEXT.match(next_one) is not None)


def _without_frames(lines: list[str], include: str) -> list[str]:
    """Drop what leads to an error through the translation, and name errors about it."""
    kept: list[str] = []
    inside = False  # a function of the translation
    skips = False  # the lines of a message that is dropped
    was_launch = False  # the last line is about the runtime's function for launches
    about_launch = False  # the last error is about what stands in `<<<...>>>`
    for line in lines:
        if _CONTEXT.match(line):
            about_launch = False
            inside, skips = _OWN_CONTEXT.search(line) is not None, False
            if inside or _OWN_INSTANCE.search(line):
                continue
        if _OWN_LAUNCH.search(line) or (was_launch and _REQUIRED.search(line)):
            was_launch = not was_launch
            continue
        if match := _OWN_CALL.match(line):
            kept.append(f"{match['place']}:   required from here")
            continue
        head = _HEAD.match(line)
        if head is None:
            kept += [] if skips else [line]
            continue
        if head["kind"] != "note":
            about_launch = _LAUNCH.search(line) is not None
        line = _named(line, head)
        if line != head[0] and kept and kept[-1].endswith(": In lambda function:"):
            kept.pop()  # which describes a kernel
        skips = (about_launch and line.startswith(include)) or (inside and line == head[0])
        kept += [] if skips else [line]
    return _without_inclusions(kept, include)


def _named(line: str, head: re.Match[str]) -> str:
    if head["kind"] == "error" and (found := _RESULT.search(line)):
        return f"{head['place']}: error: {_SAID['result'].format(found['type'])}"
    if head["kind"] == "error" and _LAUNCH.search(line):
        return f"{head['place']}: error: {_SAID['launch']}"
    return line


def _without_inclusions(lines: list[str], include: str) -> list[str]:
    """Drop the lines that tell how a header was included, unless a message about that header follows."""
    kept: list[str] = []
    waiting: list[str] = []
    for line in lines:
        if line.startswith((f"In file included from {include}", "In file included from <command-line>")) or (
            waiting and line.startswith("     ")
        ):
            waiting.append(line)
            continue
        if waiting and line.startswith(include):
            kept += waiting
        waiting = []
        kept.append(line)
    return kept


def _without_cascades(lines: list[str]) -> list[str]:
    """Keep the first error about the declaration of an array on chip; the others follow from it."""
    wrong = {head["place"] for line in lines if (head := _ERROR.match(line)) and _CASCADE.search(head["text"])}
    if not wrong:
        return lines
    kept: list[str] = []
    told: set[str] = set()
    skips = False
    for line in lines:
        head = _HEAD.match(line)
        if head is not None and head["place"] in wrong and head["kind"] != "note":
            skips = head["place"] in told or _CASCADE.search(head["text"]) is not None
            told |= {head["place"]} if head["kind"] == "error" and not skips else set()
        elif _CONTEXT.match(line) or (head is not None and head["kind"] != "note"):
            skips = False
        kept += [] if skips else [line]
    return kept


def _without_columns(lines: list[str], lengths: Mapping[str, int]) -> list[str]:
    """Drop columns behind the end of a line of the source, which belong to the translation.

    Such an error follows from an earlier one on that line, if there is one.
    """
    kept: list[str] = []
    told: set[str] = set()  # the places of errors
    i = 0
    while i < len(lines):
        line, head = lines[i], _HEAD.match(lines[i])
        i += 1
        shown: list[str] = []
        while head is not None and i < len(lines) and _CODE.match(lines[i]):
            shown.append(lines[i])
            i += 1
        if head is None:
            kept.append(line)
            continue
        is_error = head["kind"] == "error"
        if int((head["column"] or ":0")[1:]) <= lengths.get(head["place"], 1 << 30) + 1:
            kept += [line, *shown]
        elif not (is_error and head["place"] in told):
            kept += [line.replace(f"{head['column']}: ", ": ", 1), *shown[:1]]
        told |= {head["place"]} if is_error else set()
    return kept
