"""Reads declarations of variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .tokens import CLOSING, OPENING, Kind, Token, UnbalancedError, closing, closing_angle, spelled
from .words import ATTRIBUTES, MEMORIES, QUALIFIERS, SPECIFIERS, TYPE_OPERATORS, TYPE_WORDS


@dataclass(slots=True)
class Declarator:
    """One variable of a declaration."""

    begin: int  # first token of the declaration, or the comma
    name: tuple[Token, ...]  # several if pasted with ##
    pointer: tuple[Token, ...]  # between the type and the name
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
        """Step over an attribute, if there is one, and keep its alignment."""
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
        leading: tuple[int, int] | None = None  # number of words before the first specifier, and its place
        while token := self._text():
            if attribute := self._attribute():
                self._attributes.append(attribute)
                continue
            kind = self.tokens[self.at].kind
            if token in SPECIFIERS or kind is Kind.STRING:
                leading = leading or (len(words), self.at)
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
        return self._without_macros(words, *leading) if leading else words

    def _without_macros(self, words: list[Token], count: int, begin: int) -> list[Token]:
        """Drop the first `count` words, which end at `begin`, if they are macros: a type follows behind them.

        A macro without a semicolon, as ``BEGIN_DECLS``, may stand on the line before.
        """
        behind = [word for word in words[count:] if word.text not in QUALIFIERS]
        is_whole = len(behind) > (0 if self._text() in ("*", "&", "&&") else 1)
        if count == 0 or not is_whole or any(word.text in TYPE_WORDS for word in words[:count]):
            return words
        self.declaration.begin = begin
        return words[count:]

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


def element_type(tokens: Sequence[Token], attribute: int) -> str | None:
    """Return the type that a `typedef` or `using` gives another name, in which an attribute stands; None elsewhere."""
    begin = attribute
    while begin > 0 and tokens[begin - 1].text not in (";", "{", "}"):
        begin -= 1
    words: list[Token] = []
    i = begin
    while i < len(tokens) and tokens[i].text != ";":
        is_attribute = tokens[i].text in ATTRIBUTES or [token.text for token in tokens[i : i + 2]] == ["[", "["]
        if is_attribute:
            i += tokens[i].text != "["
            i = closing(tokens, i) if i < len(tokens) and tokens[i].text in CLOSING else i
        else:
            words.append(tokens[i])
        i += 1
    texts = [word.text for word in words]
    if texts[:1] == ["typedef"] and len(texts) > 2:
        return spelled(words[1:-1])
    if texts[:1] == ["using"] and "=" in texts and texts[-1] != "=":
        return spelled(words[texts.index("=") + 1 :])
    return None
