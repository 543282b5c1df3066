"""Turns BANG C into C++ that a host compiler reads.

    rewrite.py SOURCE --output FILE [--name NAME]

Kernel launches, variables in the memories of a core, inline assembly and doubled `inline` become what mlusim_source.h
describes; everything else stays as it is, on its line. Messages are `NAME:LINE: text`, the exit code is then 1.

The text is cut into tokens once, so that strings, comments and raw strings are out of the way. A walk over them keeps
track of brackets, and by them of what each brace is: a namespace, a class or a function. The body of a macro is walked
like a file of its own; whether its declarations stand at file scope or in a function depends on where it is used.
"""

from __future__ import annotations

import argparse
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

__all__ = ["RewriteError", "main", "rewrite"]

#: Qualifiers of what lies in the memory of a core or a cluster, by the name that mlusim_source.h has for it.
MEMORIES = {"__nram__": "nram", "__wram__": "wram", "__mlu_shared__": "sram"}
LOCAL_MEMORY = "__ldram__"
CONSTANT_MEMORY = "__mlu_const__"
DEVICE = "__mlu_device__"
#: Attributes that bang.h defines as `inline`.
INLINE_ATTRIBUTES = frozenset({"__mlu_func__", DEVICE})
INLINE = frozenset({"inline", "__inline", "__inline__"})
ASSEMBLY = frozenset({"asm", "__asm", "__asm__"})
ASSEMBLY_QUALIFIERS = frozenset({"volatile", "__volatile", "__volatile__", "inline", "goto"})
CLASS_KEYS = frozenset({"class", "struct", "union", "enum"})
#: Words before a parenthesis that belongs to a declaration without being the name of a function.
ATTRIBUTES = frozenset({"__attribute__", "__attribute", "alignas", "_Alignas", "__align__", "__declspec"})
TYPE_OPERATORS = frozenset({"decltype", "typeof", "__typeof__", "__typeof", "__decltype"})
#: Words of a declaration that are no part of the type.
SPECIFIERS = frozenset(
    {"typedef", "static", "extern", "register", "thread_local", "mutable", LOCAL_MEMORY, CONSTANT_MEMORY}
    | {*INLINE, *INLINE_ATTRIBUTES, *MEMORIES}
)
QUALIFIERS = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", *MEMORIES, LOCAL_MEMORY})
#: Words that an expression can follow, so that they are no name before `::` or `(`.
EXPRESSION_KEYWORDS = frozenset({"return", "else", "do", "throw", "case", "co_return", "if", "while", "for", "switch"})

IFS = frozenset({"if", "ifdef", "ifndef"})
ELSES = frozenset({"else", "elif", "elifdef", "elifndef"})

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {close: opening for opening, close in CLOSING.items()}


class RewriteError(Exception):
    """What cannot be turned into C++, and where it stands."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.file = file
        self.line = line
        self.message = message


# ---- Tokens ----------------------------------------------------------------------------------------------------------


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and which part of the text it is."""

    kind: Kind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor line: its tokens without the `#`, and how many tokens of the file stand before it."""

    tokens: tuple[Token, ...]
    before: int

    @property
    def name(self) -> str:
        """The word after the `#`; a number where a preprocessor notes the line."""
        return self.tokens[0].text if self.tokens else ""


# A backslash before the end of a line joins it with the next, and counts as a blank.
SCANNER = re.compile(
    r"""
    (?P<newline> \n )
  | (?P<blank>   (?: [^\S\n] | \\\r?\n )+ )
  | (?P<comment> // (?: \\\r?\n | [^\n] )* | /\* .*? (?: \*/ | \Z ) )
  | (?P<string>  (?: u8 | [uUL] )? R"(?P<delimiter> [^()\\\s]{0,16} )\( .*? \)(?P=delimiter)"
               | (?: u8 | [uUL] )? " (?: \\. | \\\r\n | [^"\\\n] )* "
               | (?: u8 | [uUL] )? ' (?: \\. | \\\r\n | [^'\\\n] )+ ' )
  | (?P<number>  \.?\d (?: [eEpP][+-] | '\w | [\w.] )* )
  | (?P<word>    [^\W\d] [\w$]* | \$ [\w$]* )
  | (?P<mark>    :: | -> | \#\# | <= | >= | == | != | && | \|\| | \+\+ | -- | \.\.\. | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str) -> tuple[list[Token], list[Directive]]:
    """Cut a file into the tokens outside of preprocessor lines, and these lines."""
    tokens: list[Token] = []
    directives: list[Directive] = []
    line: list[Token] | None = None  # tokens of the preprocessor line
    fresh = True  # nothing but blanks since the line began
    for match in SCANNER.finditer(text):
        group = match.lastgroup
        if group == "newline":
            if line is not None:
                directives.append(Directive(tuple(line), len(tokens)))
                line = None
            fresh = True
        elif group in ("blank", "comment"):
            continue
        elif fresh and line is None and match[0] == "#":
            line = []
        else:
            kind = Kind("string" if group == "delimiter" else group)
            (tokens if line is None else line).append(Token(kind, match[0], match.start(), match.end()))
            fresh = False
    if line is not None:
        directives.append(Directive(tuple(line), len(tokens)))
    return without_dead(tokens, directives)


def without_dead(tokens: list[Token], directives: list[Directive]) -> tuple[list[Token], list[Directive]]:
    """Drop what stands between `#if 0` and its `#else` or `#endif`: it need not even be C++."""
    living: list[Token] = []
    kept: list[Directive] = []
    begin = 0
    depth = 0  # of the dead `#if` that this is in
    for directive in directives:
        if depth == 0:
            living += tokens[begin : directive.before]
            kept.append(Directive(directive.tokens, len(living)))
            depth = int([token.text for token in directive.tokens] == ["if", "0"])
        elif directive.name in IFS:
            depth += 1
        elif directive.name == "endif":
            depth -= 1
            if depth == 0:
                kept.append(Directive(directive.tokens, len(living)))
        elif directive.name in ELSES and depth == 1:
            depth = 0  # what follows is then the first branch
        begin = directive.before
    return (living if depth else living + tokens[begin:]), kept


# ---- Brackets --------------------------------------------------------------------------------------------------------


class UnbalancedError(Exception):
    """A bracket that nothing closes, or opens."""


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Where the bracket at `opening` is closed."""
    return _partner(tokens, opening, len(tokens), 1, CLOSING, OPENING)


def opened(tokens: Sequence[Token], closed: int) -> int:
    """Where the bracket that ends at `closed` begins."""
    return _partner(tokens, closed, -1, -1, OPENING, CLOSING)


def _partner(
    tokens: Sequence[Token], begin: int, end: int, step: int, deeper: dict[str, str], back: dict[str, str]
) -> int:
    waiting: list[str] = []
    for i in range(begin, end, step):
        text = tokens[i].text
        if text in deeper:
            waiting.append(deeper[text])
        elif text in back:
            if waiting.pop() != text:
                break
            if not waiting:
                return i
    raise UnbalancedError


def closing_angle(tokens: Sequence[Token], opening: int) -> int:
    """Where the template arguments that begin at `opening` end."""
    depth = 0
    i = opening
    while i < len(tokens):
        text = tokens[i].text
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return i
        elif text in CLOSING:
            i = closing(tokens, i)
        elif text in OPENING or text == ";":
            break
        i += 1
    raise UnbalancedError


def opened_angle(tokens: Sequence[Token], closed: int) -> int:
    """Where the template arguments that end at `closed` begin."""
    depth = 0
    i = closed
    while i >= 0:
        text = tokens[i].text
        if text == ">":
            depth += 1
        elif text == "<":
            depth -= 1
            if depth == 0:
                return i
        elif text in OPENING:
            i = opened(tokens, i)
        elif text in CLOSING or text == ";":
            break
        i -= 1
    raise UnbalancedError


def is_run(tokens: Sequence[Token], begin: int, text: str, length: int) -> bool:
    """Whether the same mark stands `length` times from `begin` on, without anything between."""
    run = tokens[begin : begin + length]
    return (
        len(run) == length
        and all(token.text == text for token in run)
        and run[-1].end - run[0].start == length * len(text)
    )


def spelled(tokens: Iterable[Token]) -> str:
    """The tokens as text, without comments and line ends."""
    text = ""
    end = -1
    for token in tokens:
        text += token.text if end in (-1, token.start) else f" {token.text}"
        end = token.end
    return text


# ---- Where a token stands --------------------------------------------------------------------------------------------


class Scope(Enum):
    """What declarations belong to."""

    FILE = "at file scope"
    CLASS = "in a class"
    FUNCTION = "in a function"
    MACRO = "in a macro"  # outside of its own braces


@dataclass(frozen=True, slots=True)
class Level:
    """A bracket that is open, or the file."""

    opening: str
    scope: Scope
    start: int  # first token of the statement
    path: str = ""  # names of the namespaces, each with a dot behind; an underscore for one without a name


def open_brace(level: Level, head: Sequence[Token], inside: int) -> Level:
    """Return the level inside a brace that stands behind `head`, which is all of the statement so far."""
    outside = list(outside_brackets(head))
    texts = [token.text for token in outside]
    if level.scope in (Scope.FILE, Scope.MACRO) and level.opening != "(":
        if "namespace" in texts:
            names = [token.text for token in outside[texts.index("namespace") + 1 :] if token.kind is Kind.WORD]
            path = "".join(f"{name}." for name in names or ["_"] if name != "inline")
            return Level("{", Scope.FILE, inside, level.path + path)
        if len(texts) == 2 and texts[0] == "extern" and outside[1].kind is Kind.STRING:
            return replace(level, opening="{", start=inside)
    is_class = level.opening in ("", "{") and _is_class(texts)
    return replace(level, opening="{", scope=Scope.CLASS if is_class else Scope.FUNCTION, start=inside)


def outside_brackets(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens without what stands in brackets or is a parameter of a template; of brackets, the opening one."""
    i = 0
    while i < len(tokens):
        yield tokens[i]
        try:
            if tokens[i].text in CLOSING:
                i = closing(tokens, i)
            elif tokens[i].text == "template" and i + 1 < len(tokens) and tokens[i + 1].text == "<":
                i = closing_angle(tokens, i + 1)
        except UnbalancedError:
            return
        i += 1


def _is_class(texts: Sequence[str]) -> bool:
    """Whether a brace behind these tokens holds the members of a class or an enumeration."""
    key = next((i for i, text in enumerate(texts) if text in CLASS_KEYS), len(texts))
    base = texts.index(":", key) if ":" in texts[key:] else len(texts)
    # `struct S f() {` is a function, and `struct S s = {` a variable.
    function = any(texts[i] == "(" and texts[i - 1] not in ATTRIBUTES for i in range(key, base))
    return key < len(texts) and not function and "=" not in texts


class Walk:
    """Goes through tokens and knows which brackets are open; behind an `#if`, as at the end of its first branch."""

    def __init__(self, tokens: Sequence[Token], directives: Sequence[Directive], scope: Scope) -> None:
        self._tokens = tokens
        self._directives = directives
        self._levels = [Level("", scope, 0)]
        self._choices: list[_Choice] = []

    def __iter__(self) -> Iterator[tuple[int, Level]]:
        """Each token, by its number, and the level that it stands in."""
        directives = iter([*self._directives, None])
        directive = next(directives)
        for i in range(len(self._tokens)):
            while directive is not None and directive.before <= i:
                self._choose(directive)
                directive = next(directives)
            yield i, self._levels[-1]
            self._step(i)

    def _choose(self, directive: Directive) -> None:
        at = directive.before
        if directive.name in IFS:
            self._choices.append(_Choice(list(self._levels)))
        elif directive.name in ELSES and self._choices:
            choice = self._choices[-1]
            if choice.after is None:
                choice.after, choice.end = self._levels, at
            self._levels = list(choice.before)
            self._begin_statement(at)
        elif directive.name == "endif" and self._choices:
            choice = self._choices.pop()
            if choice.after is not None:
                self._levels = choice.after
                if self._levels[-1].start == choice.end:
                    self._begin_statement(at)

    def _begin_statement(self, i: int) -> None:
        self._levels[-1] = replace(self._levels[-1], start=i)

    def _step(self, i: int) -> None:
        text = self._tokens[i].text
        level = self._levels[-1]
        if text == "{":
            self._levels.append(open_brace(level, self._tokens[level.start : i], i + 1))
        elif text in CLOSING:
            self._levels.append(replace(level, opening=text, start=i + 1))
        elif text in OPENING:
            self._close(OPENING[text], i)
        elif text == ";" or (text == ":" and self._is_label(level.start, i)):
            self._begin_statement(i + 1)

    def _close(self, opening: str, i: int) -> None:
        # Branches of the preprocessor may leave brackets that nothing closes.
        depth = next((d for d in range(len(self._levels) - 1, 0, -1) if self._levels[d].opening == opening), None)
        if depth is not None:
            del self._levels[depth:]
            if opening == "{":
                self._begin_statement(i + 1)

    def _is_label(self, start: int, i: int) -> bool:
        before = self._tokens[i - 1] if i > start else None
        return before is not None and (
            before.text in ("public", "private", "protected", "default")
            or self._tokens[start].text == "case"
            or (i == start + 1 and before.kind is Kind.WORD)
        )


@dataclass(slots=True)
class _Choice:
    """An `#if` whose `#endif` is still to come."""

    before: list[Level]
    after: list[Level] | None = None  # behind the first branch
    end: int = 0  # token behind the first branch


# ---- Edits -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of the text that becomes another."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """From this offset on, what the lines are called."""

    offset: int
    file: str
    number: int  # of the line at `offset`
    system: bool  # a header of the system, which is none of our business


@dataclass(slots=True)
class Text:
    """The source: its lines, and what becomes of it."""

    text: str
    name: str
    edits: list[Edit] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines.append(Line(0, self.name, 1, False))

    def note_line(self, tokens: Sequence[Token]) -> None:
        """Take in `#line 7 "file"`, or `# 7 "file" 3` as preprocessors write it."""
        if tokens and tokens[0].text == "line":
            tokens = tokens[1:]
        if not tokens or not tokens[0].text.isdigit():
            return
        file = self.lines[-1].file
        if len(tokens) > 1 and tokens[1].kind is Kind.STRING:
            file = re.sub(r"\\(.)", r"\1", tokens[1].text[1:-1])
        behind = self.text.find("\n", tokens[-1].end)
        if behind >= 0:
            system = any(token.text == "3" for token in tokens[2:])
            self.lines.append(Line(behind + 1, file, int(tokens[0].text), system))

    def _line_at(self, offset: int) -> Line:
        return self.lines[bisect_right(self.lines, offset, key=lambda line: line.offset) - 1]

    def is_system(self, token: Token) -> bool:
        """Whether the token stands in a header of the system."""
        return self._line_at(token.start).system

    def error(self, token: Token, message: str) -> RewriteError:
        """Return an exception for what is wrong at a token."""
        line = self._line_at(token.start)
        return RewriteError(line.file, line.number + self.text.count("\n", line.offset, token.start), message)

    def edit(self, start: int, end: int, text: str) -> None:
        """Have `text` instead of what stands from `start` to `end`; line ends are kept, behind it."""
        ends = re.findall(r"\\\r?\n|\n", self.text[start:end])
        self.edits.append(Edit(start, end, text + "".join(ends)))

    def insert(self, offset: int, text: str) -> None:
        """Have `text` there as well."""
        self.edits.append(Edit(offset, offset, text))

    def replace(self, token: Token, text: str) -> None:
        """Have `text` instead of a token."""
        self.edit(token.start, token.end, text)

    def delete(self, token: Token) -> None:
        """Drop a token."""
        self.replace(token, "")

    def result(self) -> str:
        """Return the text with all edits made."""
        parts: list[str] = []
        end = 0
        # What is inserted comes before what is replaced there, and in the order of the edits; what lies in a part that
        # is replaced as a whole has gone with it.
        for edit in sorted(self.edits, key=lambda edit: (edit.start, edit.end > edit.start, -edit.end)):
            if edit.start >= end:
                parts += (self.text[end : edit.start], edit.text)
                end = edit.end
        return "".join(parts) + self.text[end:]


# ---- Declarations ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Declarator:
    """One variable of a declaration."""

    begin: int  # first token of the declaration, or the comma
    name: tuple[Token, ...]  # several if pasted with ##
    pointer: tuple[Token, ...]  # what stands between the type and the name
    dimensions: tuple[Token, ...]
    attributes: list[Sequence[Token]]  # behind the name
    initialised: bool
    end: int  # token behind it: a comma, a semicolon, or the end of the tokens


@dataclass(slots=True)
class Declaration:
    """A declaration of variables."""

    begin: int
    specifiers: list[Token] = field(default_factory=list)  # storage and memory
    type: list[Token] = field(default_factory=list)
    alignments: list[Sequence[Token]] = field(default_factory=list)
    declarators: list[Declarator] = field(default_factory=list)
    is_function: bool = False

    def says(self, *words: str) -> bool:
        """Whether one of the words is among the specifiers."""
        return any(token.text in words for token in self.specifiers)


class UnreadableError(Exception):
    """Not a declaration of variables."""


class Reader:
    """Reads one declaration."""

    def __init__(self, tokens: Sequence[Token], begin: int) -> None:
        self.tokens = tokens
        self.at = begin
        self.declaration = Declaration(begin)
        self._attributes: list[Sequence[Token]] = []  # before the first declarator

    def read(self) -> Declaration:
        """Read to the semicolon, or to the end of the tokens."""
        try:
            name = self._first_name(self._specifiers())
            self._declarator(self.declaration.begin, name)
            while self._text() == ",":
                self.at += 1
                self._declarator(self.at - 1, None)
        except UnbalancedError:
            raise UnreadableError from None
        if self._text() not in ("", ";") and not self.declaration.is_function:
            raise UnreadableError
        return self.declaration

    def _text(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead].text if self.at + ahead < len(self.tokens) else ""

    def _brackets(self) -> Sequence[Token]:
        begin, self.at = self.at, closing(self.tokens, self.at) + 1
        return self.tokens[begin : self.at]

    def _attribute(self) -> Sequence[Token]:
        """Step over an attribute, if there is one, and keep what it says about alignment."""
        begin = self.at
        if self._text() in ATTRIBUTES and self._text(1) == "(":
            self.at += 1
        elif not (self._text() == "[" and self._text(1) == "["):
            return ()
        inside = self._brackets()
        if self.tokens[begin].text in ("alignas", "_Alignas", "__align__"):
            self.declaration.alignments.append(inside[1:-1])
        for i, token in enumerate(inside[:-1]):
            if token.text in ("aligned", "__aligned__") and inside[i + 1].text == "(":
                self.declaration.alignments.append(inside[i + 2 : closing(inside, i + 1)])
        return self.tokens[begin : self.at]

    def _specifiers(self) -> list[Token]:
        """Everything before the first declarator, and its name if no pointer comes before that."""
        words: list[Token] = []
        while token := self._text():
            if attribute := self._attribute():
                self._attributes.append(attribute)
                continue
            kind = self.tokens[self.at].kind
            if token in SPECIFIERS or kind is Kind.STRING:
                self.declaration.specifiers.append(self.tokens[self.at])
            elif token in TYPE_OPERATORS and self._text(1) == "(":
                words.append(self.tokens[self.at])
                self.at += 1
                words += self._brackets()
                continue
            elif kind is Kind.WORD or token in ("::", "##"):
                words.append(self.tokens[self.at])
            elif token == "(" and len(words) == 1 and not self.declaration.specifiers:
                # A macro without a semicolon behind it.
                self._brackets()
                words.clear()
                self.declaration.begin = self.at
                continue
            elif token == "<" and words:
                end = closing_angle(self.tokens, self.at) + 1
                words += self.tokens[self.at : end]
                self.at = end
                continue
            else:
                break
            self.at += 1
        return words

    def _first_name(self, words: list[Token]) -> tuple[Token, ...] | None:
        """Divide the words into the type and the name of the first declarator, if that is among them."""
        if any(word.text == "operator" for word in words):
            raise UnreadableError
        if self._text() in ("*", "&", "&&"):
            self.declaration.type = words
            return None
        first = len(words) - 1
        while first > 1 and words[first - 1].text == "##":
            first -= 2
        if first < 1 or words[-1].kind is not Kind.WORD or words[first - 1].text == "::":
            raise UnreadableError
        self.declaration.type = words[:first]
        return tuple(words[first:])

    def _declarator(self, begin: int, name: tuple[Token, ...] | None) -> None:
        pointer: list[Token] = []
        if name is None:
            while self._text() in ("*", "&", "&&") or self._text() in QUALIFIERS:
                (self.declaration.specifiers if self._text() in MEMORIES else pointer).append(self.tokens[self.at])
                self.at += 1
            name = self._name()
        if self._text() == "(":
            self.declaration.is_function = True
            return
        dimensions: list[Token] = []
        attributes = [attribute for attribute in self._attributes if attribute[0].start > name[-1].start]
        self._attributes = []
        while (attribute := self._attribute()) or self._text() == "[":
            if attribute:
                attributes.append(attribute)
            else:
                dimensions += self._brackets()
        initialised = self._text() in ("=", "{")
        if initialised:
            self._step_over_initialiser()
        self.declaration.declarators.append(
            Declarator(begin, name, tuple(pointer), tuple(dimensions), attributes, initialised, self.at)
        )

    def _name(self) -> tuple[Token, ...]:
        begin = self.at
        while self._text(1) == "##":
            self.at += 2
        self.at += 1
        name = tuple(self.tokens[begin : self.at])
        if not name or name[-1].kind is not Kind.WORD:
            raise UnreadableError
        return name

    def _step_over_initialiser(self) -> None:
        while self._text() not in ("", ",", ";"):
            if self._text() in CLOSING:
                self._brackets()
            elif self._text() in OPENING:
                raise UnreadableError
            else:
                self.at += 1


# ---- Treatment -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro that the file defines."""

    name: str
    body: tuple[Token, ...]


def value_of(literal: str) -> str:
    """What a string of the source says; of its escapes, blanks only are understood."""
    prefix, quoted = literal.split('"', 1) if '"' in literal else ("", literal)
    if prefix.endswith("R"):
        return quoted[quoted.index("(") + 1 : quoted.rindex(")")]
    return re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), quoted[:-1])


def macros_of(directives: Iterable[Directive]) -> list[Macro]:
    """Every macro that has a body."""
    macros: list[Macro] = []
    for directive in directives:
        if directive.name != "define" or len(directive.tokens) < 3:
            continue
        name, first = directive.tokens[1:3]
        body = directive.tokens[2:]
        if first.text == "(" and first.start == name.end:
            try:
                body = body[closing(body, 0) + 1 :]
            except UnbalancedError:
                continue
        macros.append(Macro(name.text, body))
    return macros


class Places:
    """Where the macros of a file are used."""

    def __init__(self, tokens: Sequence[Token], directives: Sequence[Directive], macros: Sequence[Macro]) -> None:
        self._scopes: dict[str, set[Scope]] = {macro.name: set() for macro in macros}
        self._users: dict[str, set[str]] = {macro.name: set() for macro in macros}
        for i, level in Walk(tokens, directives, Scope.FILE):
            if tokens[i].text in self._scopes:
                self._scopes[tokens[i].text].add(level.scope)
        for macro in macros:
            for i, level in Walk(macro.body, (), Scope.MACRO):
                name = macro.body[i].text
                if name in self._scopes and level.scope is Scope.MACRO:
                    self._users[name].add(macro.name)
                elif name in self._scopes:
                    self._scopes[name].add(level.scope)

    def scopes(self, name: str) -> set[Scope]:
        """Where a macro is used, itself or by way of others."""
        names, waiting = {name}, [name]
        while waiting:
            users = self._users[waiting.pop()] - names
            names |= users
            waiting += users
        return set[Scope]().union(*(self._scopes[name] for name in names))


class Treatment:
    """Treats the tokens of a file, or of the body of a macro."""

    def __init__(self, text: Text, tokens: Sequence[Token], macro_scope: Callable[[Token], Scope] | None) -> None:
        self._text = text
        self._tokens = tokens
        self._macro_scope = macro_scope  # null for a file

    def run(self, directives: Sequence[Directive] = ()) -> None:
        """Make the edits."""
        scope = Scope.FILE if self._macro_scope is None else Scope.MACRO
        for i, level in Walk(self._tokens, directives, scope):
            treat = self._treatment_of(i)
            if treat is None or self._text.is_system(self._tokens[i]):
                continue
            try:
                treat(i, level)
            except UnbalancedError:
                raise self._error(i, f"a bracket near `{self._tokens[i].text}` is not closed") from None

    def _treatment_of(self, i: int) -> Callable[[int, Level], None] | None:
        token = self._tokens[i]
        if token.kind is Kind.WORD:
            choose = WORDS.get(token.text)
            return choose(self) if choose is not None else None
        if token.text == "<" and is_run(self._tokens, i, "<", 3) and self._before(i) not in ("<", "operator"):
            return self.launch
        return None

    def _before(self, i: int) -> str:
        return self._tokens[i - 1].text if i > 0 else ""

    def _error(self, i: int, message: str) -> RewriteError:
        return self._text.error(self._tokens[i], message)

    # -- Variables --

    def memory(self, i: int, level: Level) -> None:
        """Treat `__nram__` and its like."""
        word = self._tokens[i].text
        if level.opening in ("(", "["):
            self._refuse_declaration_in_call(i, level)
            self._text.delete(self._tokens[i])
            return
        declaration = self._declaration(i, level)
        if declaration is None or declaration.says("typedef"):
            if not self._points(i):
                raise self._error(i, f"{word} is understood before variables and pointers only")
            self._text.delete(self._tokens[i])
            return
        memories = [token for token in declaration.specifiers if token.text in MEMORIES]
        if len({token.text for token in memories}) > 1:
            raise self._error(i, f"a variable lies in one memory, not in {' and '.join(t.text for t in memories)}")
        if self._tokens[i] is not memories[0]:
            return
        scope = self._scope(i, level)
        if scope is not Scope.FILE and self._only_pointers(declaration):
            for token in memories:
                self._text.delete(token)
        elif scope is Scope.CLASS:
            raise self._error(i, f"{word} cannot be used for a member of a class; declare the variable outside of it")
        else:
            path = level.path if self._macro_scope is None else None
            Variables(self._text, self._tokens, declaration, MEMORIES[word], scope, path).write()

    def local_memory(self, i: int, level: Level) -> None:
        """Treat `__ldram__`: automatic variables lie on the stack of a core, which is there."""
        if level.opening not in ("(", "["):
            declaration = self._declaration(i, level)
            if declaration is None or declaration.says("typedef"):
                allowed = self._points(i)
            elif self._scope(i, level) is Scope.FUNCTION:
                allowed = not declaration.says("static", "extern")
            else:
                allowed = self._scope(i, level) is Scope.CLASS and self._only_pointers(declaration)
            if not allowed:
                raise self._error(i, f"{LOCAL_MEMORY} is understood for automatic variables and before pointers only")
        self._text.delete(self._tokens[i])

    def constant_memory(self, i: int, _: Level) -> None:
        """Treat `__mlu_const__`: constants lie in the library."""
        self._text.delete(self._tokens[i])

    def device(self, i: int, level: Level) -> None:
        """Treat `__mlu_device__`, which means inline only for functions."""
        declaration = self._declaration(i, level)
        if declaration is not None and level.opening not in ("(", "["):
            self._text.delete(self._tokens[i])
        else:
            self.inline(i, level)

    def _declaration(self, i: int, level: Level) -> Declaration | None:
        """Read the declaration that the word at `i` is a specifier of."""
        try:
            declaration = Reader(self._tokens, level.start).read()
        except UnreadableError:
            return None
        # Not so in `using P = __nram__ float *;`.
        is_specifier = any(token is self._tokens[i] for token in declaration.specifiers)
        return declaration if is_specifier and not declaration.is_function else None

    def _scope(self, i: int, level: Level) -> Scope:
        if level.scope is Scope.MACRO and self._macro_scope is not None:
            return self._macro_scope(self._tokens[i])
        return level.scope

    def _points(self, i: int) -> bool:
        """Whether a type follows that is a pointer or a reference."""
        i += 1
        while i < len(self._tokens) and (self._tokens[i].kind is Kind.WORD or self._tokens[i].text in ("::", "<")):
            i = closing_angle(self._tokens, i) + 1 if self._tokens[i].text == "<" else i + 1
        return i < len(self._tokens) and self._tokens[i].text in ("*", "&")

    @staticmethod
    def _only_pointers(declaration: Declaration) -> bool:
        """Whether the word says what the variables point to; they themselves are automatic, or members."""
        return not declaration.says("static", "extern") and all(
            declarator.pointer and not declarator.dimensions for declarator in declaration.declarators
        )

    def _refuse_declaration_in_call(self, i: int, level: Level) -> None:
        """In the arguments of a macro nobody knows what becomes of a declaration."""
        end = next((j for j in range(i, len(self._tokens)) if self._tokens[j].text in (",", ")", ";", "=")), i)
        name = level.start - 2
        is_call = name >= 0 and self._tokens[name].kind is Kind.WORD and self._before(name) in ("", ";", "{", "}")
        if is_call and self._tokens[end - 1].text == "]":
            raise self._error(i, f"{self._tokens[i].text} is not understood in the arguments of a macro")

    # -- Functions --

    def inline(self, i: int, level: Level) -> None:
        """Drop what says inline a second time."""
        head = self._tokens[level.start : self._end_of_head(i)]
        others = head if self._tokens[i].text in INLINE else head[: i - level.start]
        if any(token.text in INLINE_ATTRIBUTES for token in others):
            self._text.delete(self._tokens[i])

    def _end_of_head(self, i: int) -> int:
        """Where the specifiers of a function end."""
        while i < len(self._tokens) and self._tokens[i].text not in (";", "{", "}", "="):
            if self._tokens[i].text == "(":
                if self._before(i) not in ATTRIBUTES:
                    break
                i = closing(self._tokens, i)
            i += 1
        return i

    def assembly(self, i: int, level: Level) -> None:
        """Treat an assembly statement; what stands elsewhere names a symbol."""
        if level.scope not in (Scope.FUNCTION, Scope.MACRO) or level.opening in ("(", "["):
            return
        if self._before(i) not in ("", ";", "{", "}", ")", ":", "else", "do"):
            return
        begin = i + 1
        while begin < len(self._tokens) and self._tokens[begin].text in ASSEMBLY_QUALIFIERS:
            begin += 1
        if begin == len(self._tokens) or self._tokens[begin].text != "(":
            return
        end = closing(self._tokens, begin)
        instructions = self._instructions(self._tokens[begin + 1 : end])
        if not instructions:
            return  # a barrier for the compiler
        for instruction in instructions:
            mnemonic = instruction.split()[0]
            if instruction != "sync":
                raise self._error(i, f"the assembly instruction `{mnemonic}` is not known; only `sync` is")
        self._text.edit(self._tokens[i].start, self._tokens[end].end, "::mlusim::asm_sync()")

    @staticmethod
    def _instructions(tokens: Sequence[Token]) -> list[str]:
        """The instructions of an assembly statement; a macro between strings is taken for one."""
        template = ""
        for token in tokens:
            if token.text in (":", "::"):
                break
            template += token.text if token.kind is not Kind.STRING else value_of(token.text)
        return [part.strip() for part in re.split(r"[;\n]", template) if part.strip()]

    # -- Launches --

    def launch(self, i: int, _: Level) -> None:
        """Treat a launch, which begins with `<<<`."""
        begin, is_name = self._callee(i)
        callee = self._tokens[begin:i]
        parts, end = self._configuration(i)
        opening = end + 1  # of the arguments
        close = closing(self._tokens, opening)

        spelling = spelled(callee)
        name = spelling.replace("\\", "\\\\").replace('"', '\\"')
        name = f'"{name}"' if self._macro_scope is None else f"MLUSIM_TEXT({spelling})"
        if is_name:
            call = f"[=](const auto &...mlusim_each) {{ {spelling}(mlusim_each...); }}"
        else:
            call = f"[mlusim_kernel = {spelling}](const auto &...mlusim_each) {{ mlusim_kernel(mlusim_each...); }}"
        self._text.edit(callee[0].start, callee[-1].end, f"::mlusim::launch({name}, &::mlusim::unit, ")
        self._text.edit(self._tokens[i].start, self._tokens[i + 2].end, "")
        for first, behind in parts:
            # A list in braces is no expression, and a macro may stand for all three parts.
            if len(parts) == 3 and self._tokens[first].text != "{":
                self._text.insert(self._tokens[first].start, "(")
                self._text.insert(self._tokens[behind - 1].end, ")")
        self._text.edit(self._tokens[end - 2].start, self._tokens[end].end, "")
        self._text.replace(self._tokens[opening], f", {call}{', ' if close > opening + 1 else ''}")
        self._treat_nulls(opening + 1, close)

    def _callee(self, launch: int) -> tuple[int, bool]:
        """Where the expression before `<<<` begins, and whether it is a name."""
        begin, is_name = self._operand(launch - 1, launch)
        while begin > 0:
            before = self._tokens[begin - 1]
            if before.text == "::":
                begin -= 1
                inner = self._tokens[begin - 1] if begin > 0 else before
                if inner.text == ">" or (inner.kind is Kind.WORD and inner.text not in EXPRESSION_KEYWORDS):
                    begin, _ = self._operand(begin - 1, launch)
            elif before.text == "##":
                begin, _ = self._operand(begin - 2, launch)
            elif before.text in (".", "->"):
                begin, is_name = self._operand(begin - 2, launch)[0], False
            elif before.text == "template" and begin > 1 and self._tokens[begin - 2].text == "::":
                begin -= 1
            else:
                break
        return begin, is_name

    def _operand(self, last: int, launch: int) -> tuple[int, bool]:
        """Where a name with its template arguments, a call, an element or a parenthesis begins that ends at `last`."""
        begin, is_name = last, True
        text = self._tokens[begin].text if begin >= 0 else ""
        if text == ">":
            begin = opened_angle(self._tokens, begin) - 1
        elif text == "]":
            return self._operand(opened(self._tokens, begin) - 1, launch)[0], False
        elif text == ")":
            opening = opened(self._tokens, begin)
            before = self._tokens[opening - 1] if opening > 0 else None
            if before is None or before.kind is not Kind.WORD or before.text in EXPRESSION_KEYWORDS:
                return opening, False
            begin = opening - 1  # a macro, or a function that gives the kernel
        if begin < 0 or self._tokens[begin].kind is not Kind.WORD or self._tokens[begin].text in EXPRESSION_KEYWORDS:
            raise self._error(launch, "there is no kernel before `<<<`")
        return begin, is_name

    def _configuration(self, launch: int) -> tuple[list[tuple[int, int]], int]:
        """What stands between `<<<` and `>>>`, each part by its first token and that behind it, and the last `>`."""
        begin = launch + 3
        found = -1
        i = begin
        while i < len(self._tokens) and self._tokens[i].text not in (";", ")", "]", "}"):
            if self._tokens[i].text in CLOSING:
                i = closing(self._tokens, i)
            elif is_run(self._tokens, i, ">", 3) and [token.text for token in self._tokens[i + 3 : i + 4]] == ["("]:
                found = i if found < 0 else found
                # Better one behind which no template arguments are open; but `<` may as well be less than.
                marks = [token.text for token in self._tokens[begin:i]]
                if marks.count("<") == marks.count(">"):
                    found = i
                    break
            i += 1
        if found < 0:
            raise self._error(
                launch, "a launch is written `kernel<<<dim, type, queue>>>(arguments)`; no `>>>(` follows"
            )
        return self._parts(begin, found, launch), found + 2

    def _parts(self, begin: int, end: int, launch: int) -> list[tuple[int, int]]:
        for angles in (False, True):
            parts = self._split(begin, end, angles)
            if len(parts) == 3 and all(first < last for first, last in parts):
                return parts
        if end == begin + 1 and self._tokens[begin].kind is Kind.WORD:
            return [(begin, end)]
        raise self._error(launch, "a launch is written `kernel<<<dim, type, queue>>>(arguments)`, with three parts")

    def _split(self, begin: int, end: int, angles: bool) -> list[tuple[int, int]]:
        """Divide at the commas outside of brackets; if told so, `<` behind a name is a bracket."""
        parts: list[tuple[int, int]] = []
        first = i = begin
        while i < end:
            text = self._tokens[i].text
            if text in CLOSING:
                i = closing(self._tokens, i)
            elif text == "<" and angles and self._tokens[i - 1].kind is Kind.WORD:
                with suppress(UnbalancedError):  # if it is not less than
                    i = closing_angle(self._tokens[:end], i)
            elif text == ",":
                parts.append((first, i))
                first = i + 1
            i += 1
        return [*parts, (first, end)]

    def _treat_nulls(self, begin: int, end: int) -> None:
        """Make NULL among the arguments a null pointer: passed on by a template, it is a number."""
        i = begin
        while i < end:
            if self._tokens[i].text in CLOSING:
                i = closing(self._tokens, i)
            elif (
                self._tokens[i].text == "NULL"
                and self._before(i) in ("(", ",")
                and self._tokens[i + 1].text in (",", ")")
            ):
                self._text.replace(self._tokens[i], "nullptr")
            i += 1


class Variables:
    """Writes a declaration of variables in a memory."""

    def __init__(
        self,
        text: Text,
        tokens: Sequence[Token],
        declaration: Declaration,
        memory: str,
        scope: Scope,
        path: str | None,  # of the namespace; null in a macro, which may be used in any
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._declaration = declaration
        self._memory = memory
        self._scope = scope
        self._path = path

    def write(self) -> None:
        """Make the edits."""
        for declarator in self._declaration.declarators:
            self._write(declarator)

    def _write(self, declarator: Declarator) -> None:
        name = spelled(declarator.name)
        kind = spelled([*self._declaration.type, *declarator.pointer])
        behind = ""
        if declarator.pointer and not declarator.dimensions and self._is_automatic():
            head = f"{kind} {name}"
        elif declarator.initialised:
            head = f"static constexpr {kind} mlusim_initial_{name}"
            initial = f"decltype(mlusim_initial_{name})"
            if not any(token.text == "const" for token in declarator.pointer or self._declaration.type):
                initial = f"::std::remove_const_t<{initial}>"
            behind = f"; {self._macro(name, '_INIT')}{initial})"
        elif self._declaration.says("extern"):
            head = f'MLUSIM_EXTERN_ARRAY("{self._path or ""}", {name}, {kind}'
        else:
            head = f"{self._macro(name)}{kind}"
        if self._declaration.alignments and not head.startswith("MLUSIM_EXTERN"):
            alignments = " ".join(f"alignas({spelled(tokens)})" for tokens in self._declaration.alignments)
            behind += f"; MLUSIM_ALIGNED({name}, {alignments})"

        first = self._tokens[declarator.begin]
        self._text.edit(first.start, declarator.name[-1].end, f"; {head}" if first.text == "," else head)
        if head.startswith("MLUSIM"):
            end = (declarator.dimensions or declarator.name)[-1].end
            self._text.insert(end, ")")
        for attribute in declarator.attributes:
            self._text.edit(attribute[0].start, attribute[-1].end, "")
        end = self._tokens[declarator.end - 1].end
        self._text.insert(end, behind)

    def _is_automatic(self) -> bool:
        return self._scope is Scope.FUNCTION and not self._declaration.says("static", "extern")

    def _macro(self, name: str, suffix: str = "") -> str:
        """Return the macro for a definition, with its first arguments."""
        if self._scope is Scope.FUNCTION:
            return f"MLUSIM_LOCAL_ARRAY{suffix}({self._memory}, {name}, "
        if self._path is None:
            return f"MLUSIM_NUMBERED_ARRAY{suffix}({self._memory}, {name}, "
        return f'MLUSIM_ARRAY{suffix}({self._memory}, "{self._path}", {name}, '


#: What is done at which word.
WORDS: dict[str, Callable[[Treatment], Callable[[int, Level], None]]] = {
    **dict.fromkeys(MEMORIES, lambda treatment: treatment.memory),
    LOCAL_MEMORY: lambda treatment: treatment.local_memory,
    CONSTANT_MEMORY: lambda treatment: treatment.constant_memory,
    DEVICE: lambda treatment: treatment.device,
    **dict.fromkeys((INLINE_ATTRIBUTES - {DEVICE}) | INLINE, lambda treatment: treatment.inline),
    **dict.fromkeys(ASSEMBLY, lambda treatment: treatment.assembly),
}


def rewrite(text: str, filename: str) -> str:
    """Turn BANG C into C++.

    Parameters
    ----------
    text
        The source.
    filename
        What messages, debug information and `__FILE__` call it.

    Returns
    -------
    str
        A `#line`, then the source with as many lines as it had.

    Raises
    ------
    RewriteError
        If something in it has no form in C++.
    """
    text = text.removeprefix("\ufeff")
    source = Text(text, filename)
    tokens, directives = tokenize(text)
    for directive in directives:
        source.note_line(directive.tokens)
    macros = macros_of(directives)
    places = Places(tokens, directives, macros)

    Treatment(source, tokens, None).run(directives)
    for macro in macros:

        def scope_of(token: Token, name: str = macro.name) -> Scope:
            scopes = places.scopes(name)
            if len(scopes) > 1:
                found = " and ".join(sorted(scope.value for scope in scopes))
                raise source.error(
                    token, f"the macro {name} declares a variable and is used {found}; use it in one way"
                )
            return next(iter(scopes), Scope.FUNCTION)

        Treatment(source, macro.body, scope_of).run()
    escaped = filename.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{escaped}"\n{source.result()}'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Turns BANG C into C++ that a host compiler reads.")
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the C++ file to write")
    parser.add_argument("--name", help="what messages and debug information call the source; default: SOURCE")
    options = parser.parse_args(arguments)
    name = options.name or str(options.source)
    try:
        # Bytes that are not UTF-8, and the ends of lines, stay what they are.
        with options.source.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            result = rewrite(file.read(), name)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with options.output.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(result)
    except RewriteError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
