"""Takes the text of LLVM apart: lists, types, names."""

from __future__ import annotations

import re

__all__ = ["arguments_of", "bytes_of", "divided", "first_type", "plain_name", "unescaped"]

_ESCAPED = re.compile(r"\\([0-9A-Fa-f]{2})")
_OPENING, _CLOSING = "([{<", ")]}>"
_FLOATS = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "x86_fp80": 10, "fp128": 16, "ppc_fp128": 16, "ptr": 8}


def unescaped(text: str) -> str:
    """Return a text of a quotation."""
    return (
        _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).encode("latin-1", "replace").decode("utf-8", "replace")
    )


def plain_name(name: str) -> str:
    """Return the name that a global value has in the object file."""
    return unescaped(name[1:].strip('"')).removeprefix("\1")


def divided(text: str) -> list[str]:
    """Return the parts of a text between commas that stand in no brackets and no quotation."""
    return _parts(text, ends=False)


def arguments_of(call: str) -> list[str]:
    """Return the arguments of the first call in a text."""
    _, _, behind = _behind_name(call)
    return _parts(behind, ends=True)


def _behind_name(call: str) -> tuple[str, str, str]:
    if call[:2] in ('@"', '%"'):
        name, _, rest = call[2:].partition('"')
        return name, "(", rest[1:]
    return call.partition("(")


def _parts(text: str, *, ends: bool) -> list[str]:
    """Divide a text at commas; with `ends`, as far as the bracket that closes it."""
    found, depth, begin, quoted, end = list[str](), 0, 0, False, len(text)
    for i, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            if ends and depth == 0:
                end = i
                break
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(text[begin:i].strip())
            begin = i + 1
    last = text[begin:end].strip()
    return [*found, last] if last or found else []


def first_type(text: str) -> str:
    """Return the type that a text begins with."""
    if text[:1] not in ("<", "{", "["):
        return text.partition(" ")[0]
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if depth == 0:
            return text[: i + 1]
    return text


def bytes_of(kind: str) -> int:
    """Return how many bytes an access of a type touches; 0 for a structure whose size is not in the text."""
    return _layout(kind)[0]


def _layout(kind: str) -> tuple[int, int]:
    """Return the size of a type, and its alignment as a member."""
    if kind in _FLOATS:
        size = _FLOATS[kind]
        return size, 16 if kind == "x86_fp80" else size
    if re.fullmatch(r"i\d+", kind):
        size = (int(kind[1:]) + 7) // 8
        return size, min(16, 1 << (size - 1).bit_length()) if size else 1
    if array := re.fullmatch(r"[<\[](\d+) x (.*)[>\]]", kind, re.DOTALL):
        return _of_array(int(array[1]), array[2], packed=kind.startswith("<"))
    if kind.startswith("{"):
        return _of_structure(kind[1:-1])
    return 0, 1


def _of_array(count: int, element: str, *, packed: bool) -> tuple[int, int]:
    if packed and element.startswith("i"):
        size = (count * int(element[1:]) + 7) // 8
        return size, size
    size, alignment = _layout(element)
    step = size if packed else -(-size // alignment) * alignment
    return count * step, count * size if packed else alignment


def _of_structure(members: str) -> tuple[int, int]:
    size, most = 0, 1
    for member in divided(members):
        own, alignment = _layout(member)
        if own == 0:
            return 0, 1
        size, most = -(-size // alignment) * alignment + own, max(most, alignment)
    return -(-size // most) * most, most
