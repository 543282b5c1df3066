"""The syntax of BANG C as far as mutations need it: statements, calls and their arguments, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_HIDDEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE
)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_HEAD = re.compile(r"(for|if|while|switch)\b\s*(?:constexpr\b\s*)?\(")


@dataclass(frozen=True)
class Span:
    """A part of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass
class Statement:
    """A statement; `head` is what stands in the parentheses of a loop or a condition."""

    span: Span
    kind: str  # for, if, while, switch, block, simple
    head: Span | None = None
    blocks: list[list[Statement]] = field(default_factory=list)


@dataclass(frozen=True)
class CallOf:
    """A call that is a statement of its own."""

    name: str
    arguments: tuple[Span, ...]


def without_text(source: str) -> str:
    """The source with comments, literals of text and lines of the preprocessor blank; every place stays what it was."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def closing(text: str, at: int) -> int:
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(text)):
        if text[place] in "([{":
            depth += 1
        elif text[place] in ")]}":
            depth -= 1
            if depth == 0:
                return place
    raise ValueError(f"nothing closes what opens at {at}")


def trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return Span(start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()))


def function_bodies(text: str) -> Iterator[list[Statement]]:
    """The statements of each function of a text that `without_text` made."""
    at = 0
    while (at := text.find("{", at)) >= 0:
        if text[:at].rstrip().endswith(")"):
            end = closing(text, at)
            yield statements(text, at + 1, end)
            at = end
        at += 1


def statements(text: str, start: int, end: int) -> list[Statement]:
    found = []
    while (start := trimmed(text, start, end).start) < end:
        statement = _statement(text, start, end)
        found.append(statement)
        start = statement.span.end
    return found


def _statement(text: str, start: int, limit: int) -> Statement:
    if text[start] == "{":
        end = closing(text, start)
        return Statement(Span(start, end + 1), "block", None, [statements(text, start + 1, end)])
    head = _HEAD.match(text, start)
    if head is None:
        end = start
        while text[end] != ";":
            end = closing(text, end) + 1 if text[end] in "([{" else end + 1
            if end >= limit:
                raise ValueError(f"a statement without an end at {start}")
        return Statement(Span(start, end + 1), "simple")
    close = closing(text, head.end() - 1)
    body = _body(text, close + 1, limit)
    found = Statement(Span(start, body.span.end), head[1], trimmed(text, head.end(), close), [_inside(body)])
    rest = trimmed(text, body.span.end, limit).start
    if head[1] == "if" and re.match(r"else\b", text[rest:]):
        other = _body(text, rest + len("else"), limit)
        found.span = Span(start, other.span.end)
        found.blocks.append(_inside(other))
    return found


def _body(text: str, start: int, limit: int) -> Statement:
    return _statement(text, trimmed(text, start, limit).start, limit)


def _inside(body: Statement) -> list[Statement]:
    return body.blocks[0] if body.kind == "block" else [body]


def each_block(block: list[Statement]) -> Iterator[list[Statement]]:
    """A block and all blocks in it."""
    yield block
    for statement in block:
        for inner in statement.blocks:
            yield from each_block(inner)


def split(text: str, start: int, end: int, separator: str = ",") -> tuple[Span, ...]:
    """The parts between separators that stand in no bracket."""
    parts, at, begin = [], start, start
    while at < end:
        if text[at] in "([{":
            at = closing(text, at)
        elif text[at] == separator:
            parts.append(trimmed(text, begin, at))
            begin = at + 1
        at += 1
    return (*parts, trimmed(text, begin, end))


def call_of(text: str, statement: Statement) -> CallOf | None:
    """The call that a statement is, if it is just one."""
    match = _CALL.match(text, statement.span.start) if statement.kind == "simple" else None
    if match is None:
        return None
    close = closing(text, match.end() - 1)
    if text[close + 1 : statement.span.end].strip() != ";":
        return None
    arguments = split(text, match.end(), close) if text[match.end() : close].strip() else ()
    return CallOf(match[1], arguments)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
