"""Translates launches of kernels: `kernel<<<dim, type, queue>>>(arguments)`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from .kernel_calls import Declared
from .macros import is_definition
from .scopes import Level
from .text import Text, TranslationError
from .tokens import (
    CLOSING,
    Directive,
    Kind,
    Tokens,
    UnbalancedError,
    closing,
    closing_angle,
    is_run,
    opened,
    opened_angle,
    spelled,
)
from .words import EXPRESSION_KEYWORDS


class Launches:
    """Translates the launches in a file, or in the body of a macro."""

    def __init__(
        self, text: Text, tokens: Tokens, directives: Sequence[Directive], declared: Declared, *, in_macro: bool
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._lines = sorted(directive.before for directive in directives)
        self._declared = declared
        self._in_macro = in_macro
        self._macros = frozenset(each.tokens[1].text for each in directives if is_definition(each))

    def _before(self, i: int) -> str:
        return self._tokens[i - 1].text if i > 0 else ""

    def _error(self, i: int, message: str) -> TranslationError:
        return self._text.error(self._tokens[i], message)

    def translate(self, i: int, _: Level) -> None:
        """Translate a launch, which begins with `<<<`."""
        begin, is_name = self._callee(i)
        callee = self._tokens[begin:i]
        if is_name and self._declared.is_function(callee[-1].text):
            raise self._error(
                i,
                f"`{callee[-1].text}` is no kernel: `<<<...>>>` launches what __mlu_global__ or __mlu_entry__ marks",
            )
        parts, end = self._configuration(i)
        spelling = spelled(callee)
        name = spelling.replace("\\", "\\\\").replace('"', '\\"')
        expands = self._in_macro or any(token.text in self._macros for token in callee)
        name = f"MLUSIM_TEXT({spelling})" if expands else f'"{name}"'
        if is_name:
            call = f"[=](const auto &...mlusim_each) {{ {spelling}(mlusim_each...); }}"
        else:
            call = f"[mlusim_kernel = {spelling}](const auto &...mlusim_each) {{ mlusim_kernel(mlusim_each...); }}"
        opening = end + 1  # of the arguments
        function = "mlusim_launch" if opening < len(self._tokens) else "mlusim_launcher"
        self._text.edit(callee[0].start, callee[-1].end, f"::mlusim::{function}({name}, &::mlusim::mlusim_unit, ")
        self._text.edit(self._tokens[i].start, self._tokens[i + 2].end, "")
        for first, behind in parts:
            # A list in braces is no expression, and a macro may stand for all three parts.
            if len(parts) == 3 and self._tokens[first].text != "{":
                self._text.insert(self._tokens[first].start, "(")
                self._text.insert(self._tokens[behind - 1].end, ")")
        if opening == len(self._tokens):  # the arguments stand behind the uses of the macro
            self._text.edit(self._tokens[end - 2].start, self._tokens[end].end, f", {call})")
            return
        close = closing(self._tokens, opening)
        self._text.edit(self._tokens[end - 2].start, self._tokens[end].end, "")
        self._text.replace(self._tokens[opening], f", {call}{', ' if close > opening + 1 else ''}")
        self._translate_nulls(opening + 1, close)

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
        while text == "]":
            begin, is_name = opened(self._tokens, begin) - 1, False
            text = self._tokens[begin].text if begin >= 0 else ""
        if text == ">":
            begin = opened_angle(self._tokens, begin) - 1
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
        """The parts between `<<<` and `>>>`, each by its first token and the one behind it, and the last `>`."""
        begin = launch + 3
        found = -1
        counted = i = begin
        open_angles = 0  # among the tokens that are counted
        while i < len(self._tokens) and self._tokens[i].text not in (";", ")", "]", "}"):
            if self._tokens[i].text in CLOSING:
                i = closing(self._tokens, i)
            elif is_run(self._tokens, i, ">", 3) and self._ends(i + 3):
                found = i if found < 0 else found
                # Better one behind which no template arguments are open; but `<` may as well be
                # less than.
                marks = [token.text for token in self._tokens[counted:i]]
                open_angles += marks.count("<") - marks.count(">")
                counted = i
                if open_angles == 0:
                    found = i
                    break
            i += 1
        if found < 0:
            raise self._error(
                launch, "a launch is written `kernel<<<dim, type, queue>>>(arguments)`; no `>>>(` follows"
            )
        return self._parts(begin, found, launch), found + 2

    def _ends(self, behind: int) -> bool:
        """Whether the arguments of a launch follow, or the end of a macro behind which they stand."""
        return self._tokens[behind].text == "(" if behind < len(self._tokens) else self._in_macro

    def _parts(self, begin: int, end: int, launch: int) -> list[tuple[int, int]]:
        if any(begin <= line <= end for line in self._lines):
            return [(begin, end)]  # the preprocessor chooses among parts
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
                    i = closing_angle(self._tokens, i, end)
            elif text == ",":
                parts.append((first, i))
                first = i + 1
            i += 1
        return [*parts, (first, end)]

    def _translate_nulls(self, begin: int, end: int) -> None:
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
