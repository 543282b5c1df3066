"""Values of any type in messages: one line, short, whatever the value's own text is."""

from __future__ import annotations

import reprlib

__all__ = [
    "counted",
    "one_line",
    "path_text",
    "sentence",
    "shortened",
    "shown",
]

MOST = 80
#: Of a path, which a reader may want to open.
MOST_PATH = 400
_MOST_BITS = 256


def shown(value: object) -> str:
    """Return a text of at most about a hundred characters for a value of any type."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value)
    return f"{shortened(one_line(' '.join(_text(value).split())))} ({shortened(type(value).__name__, 40)})"


def counted(count: int, noun: str, several: str = "", form: str = "") -> str:
    """Return a number with its noun: "1 column", "5 columns"; `several` is a plural that is more than an s."""
    return f"{count:{form}} {noun if count == 1 else several or noun + 's'}"


def sentence(phrase: str) -> str:
    """Return a phrase as a sentence; other capital letters, as in CPU, stay."""
    return f"{phrase[0].upper()}{phrase[1:]}."


def one_line(text: str) -> str:
    """Return `text` with control characters (a newline in a file name, say) written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, most: int = MOST) -> str:
    """Return `text`, with its middle left out where it has more than `most` characters."""
    if len(text) <= most:
        return text
    kept = most - 3
    return f"{text[: kept - kept // 2]}...{text[len(text) - kept // 2 :]}"


def path_text(path: object) -> str:
    """Return the name of a file or folder on one line, whole unless it is far longer than usual."""
    return shortened(one_line(str(path)), MOST_PATH)


def _integer(value: int) -> str:
    """Return the digits, shortened: Python refuses to write thousands of them, and a message should be short."""
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= _MOST_BITS else f"an integer of {bits:,} bits"


def _text(value: object) -> str:
    try:
        return _REPR.repr(value)
    except Exception:  # an object may do anything when it is asked for its text
        return "<no text>"


class _Repr(reprlib.Repr):
    """Looks at a few items of a few levels; `shown` cuts what is still too long."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = MOST

    def repr_int(self, x: int, level: int) -> str:
        return f"<{text}>" if (text := _integer(x)).startswith("an ") else text

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x) if len(x) <= MOST else f"{x[: MOST // 2]!r}..."

    def repr_bytearray(self, x: bytearray, level: int) -> str:
        return f"bytearray({self.repr_bytes(bytes(x[: MOST + 1]), level)})"


_REPR = _Repr()
