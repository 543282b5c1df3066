"""Translates the constructs of BANG C one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from .allowances import note_allowances
from .assembly import AssemblyError, calls_of
from .declarations import Declaration, Reader, UnreadableError
from .macros import MacroUses, is_definition, macros_of, separators_of
from .names import with_free_names
from .returns import INLINED, ObjectFunction, not_recursive, object_function
from .scopes import Level, Scope, Walk
from .statics import DeviceUses, holds_numbers
from .text import Text, TranslationError, quoted, tokens_of, with_plain_blanks
from .tokens import (
    CLOSING,
    Directive,
    Kind,
    Token,
    Tokens,
    UnbalancedError,
    closing,
    closing_angle,
    is_run,
    opened,
    opened_angle,
    spelled,
)
from .variables import Variables, changes_on_device, extern_names
from .words import (
    ASSEMBLY,
    ASSEMBLY_QUALIFIERS,
    ATTRIBUTES,
    CONSTANT,
    CONSTANT_MEMORY,
    DEVICE,
    DEVICE_MEMORY,
    EXPRESSION_KEYWORDS,
    INLINE,
    INLINE_ATTRIBUTES,
    LOCAL_MEMORY,
    MEMORIES,
)


class _Declared:
    """The declaration in a statement, if there is one."""

    def __init__(self, tokens: Tokens, begin: int) -> None:
        self.declaration: Declaration | None = None
        with suppress(UnreadableError):
            self.declaration = Reader(tokens, begin).read()
        specifiers = self.declaration.specifiers if self.declaration is not None else []
        self.specifiers = {token.start for token in specifiers}
        self.memories = [token for token in specifiers if token.text in MEMORIES]
        self.kinds = dict.fromkeys(token.text for token in self.memories)


class _Head(NamedTuple):
    """The words before the parameters of a function, from one of them on."""

    begin: int
    end: int
    first_attribute: int  # of those that make a function inline; `end` if there is none


class Translator:
    """Translates the tokens of a file, or of the body of a macro."""

    def __init__(self, text: Text, tokens: Tokens, macro_scope: Callable[[Token], Scope] | None) -> None:
        self._text = text
        self._tokens = tokens
        self._macro_scope = macro_scope  # null for a file
        self._object_functions: list[ObjectFunction] = []
        # The analysis of each statement, by its first token: each word of the statement may need
        # it.
        self._declarations: dict[int, _Declared] = {}
        self._heads: dict[int, _Head] = {}
        self._types: dict[int, int] = {}  # the token behind a type, by any token of it
        self._directives: Sequence[Directive] = ()
        self._macros: frozenset[str] = frozenset()  # those that the file defines
        self._arguments_end = range(0)  # of tokens up to the next one that may end an argument

    def run(self, directives: Sequence[Directive] = ()) -> None:
        """Make the edits."""
        scope = Scope.FILE if self._macro_scope is None else Scope.MACRO
        self._directives = directives
        self._macros = frozenset(each.tokens[1].text for each in directives if is_definition(each))
        for i, level in Walk(self._tokens, directives, scope, separators_of(directives)):
            translate = self._translation_of(i)
            if translate is None or self._text.is_system(self._tokens[i]):
                continue
            try:
                translate(i, level)
            except UnbalancedError:
                raise self._error(i, f"a bracket near `{self._tokens[i].text}` is not closed") from None
        for function in not_recursive(self._object_functions):
            self._text.insert(function.attribute.end, f" {INLINED}")

    def _translation_of(self, i: int) -> Callable[[int, Level], None] | None:
        token = self._tokens[i]
        if token.kind is Kind.WORD:
            choose = WORDS.get(token.text)
            return choose(self) if choose is not None else None
        if token.text == "<" and is_run(self._tokens, i, "<", 3) and self._before(i) not in ("<", "operator"):
            return self.launch
        return None

    def _before(self, i: int) -> str:
        return self._tokens[i - 1].text if i > 0 else ""

    def _error(self, i: int, message: str) -> TranslationError:
        return self._text.error(self._tokens[i], message)

    # -- Variables --

    def memory(self, i: int, level: Level) -> None:
        """Translate `__nram__` and its like."""
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
        memories, kinds = self._declarations[level.start].memories, self._declarations[level.start].kinds
        if len(kinds) > 1:
            raise self._error(i, f"a variable lies in one memory, not in {' and '.join(kinds)}")
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
        """Translate `__ldram__`: automatic variables lie on the stack of a core, which is there."""
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

    def constant_memory(self, i: int, level: Level) -> None:
        """Translate `__mlu_const__`: arrays get ends that are known, other constants lie in the library."""
        if not self._is_array_of_constants(i, level):
            self._text.delete(self._tokens[i])
            return
        declaration = self._declarations[level.start].declaration
        if declaration is not None:
            path = level.path if self._macro_scope is None else None
            Variables(self._text, self._tokens, declaration, CONSTANT, Scope.FILE, path).write()

    def _is_array_of_constants(self, i: int, level: Level) -> bool:
        """Whether the word at `i` is the first that makes variables of a file constants, all of them arrays."""
        declaration = None if level.opening in ("(", "[") else self._declaration(i, level)
        if declaration is None or self._scope(i, level) is not Scope.FILE or declaration.says("inline", "typedef"):
            return False
        words = [token for token in declaration.specifiers if token.text in (CONSTANT_MEMORY, *MEMORIES)]
        # The elements of a constexpr array may be part of constant expressions.
        known = any(token.text in ("constexpr", "template") for token in declaration.type)
        arrays = all(declarator.dimensions and not declarator.pointer for declarator in declaration.declarators)
        return words[0] is self._tokens[i] and words[0].text == CONSTANT_MEMORY and not known and arrays

    def device(self, i: int, level: Level) -> None:
        """Translate `__mlu_device__`, which means inline only for functions: variables lie in device memory."""
        word, declaration = self._tokens[i], self._declaration(i, level)
        if declaration is None or level.opening in ("(", "["):
            self.inline(i, level)
        elif self._scope(i, level) is Scope.FILE and changes_on_device(declaration, word, self._extern_on_device):
            path = level.path if self._macro_scope is None else None
            Variables(self._text, self._tokens, declaration, DEVICE_MEMORY, Scope.FILE, path).write()
        else:
            self._text.delete(self._tokens[i])

    @cached_property
    def _extern_on_device(self) -> frozenset[str]:
        return extern_names(self._tokens, DEVICE)

    def static(self, i: int, level: Level) -> None:
        """Translate numbers at file scope without a memory: if only kernels use them, they lie in device memory."""
        if self._macro_scope is None and level.scope is Scope.FILE and level.opening not in ("(", "["):
            declaration = self._declaration(i, level)
            if declaration is not None and holds_numbers(declaration) and self._device_uses.only(declaration):
                Variables(self._text, self._tokens, declaration, DEVICE_MEMORY, Scope.FILE, level.path).write()

    @cached_property
    def _device_uses(self) -> DeviceUses:
        return DeviceUses(self._tokens, self._directives)

    def _declaration(self, i: int, level: Level) -> Declaration | None:
        """Read the declaration that the word at `i` is a specifier of."""
        known = self._declarations.get(level.start)
        if known is None:
            known = self._declarations[level.start] = _Declared(self._tokens, level.start)
        declaration = known.declaration
        # Not so in `using P = __nram__ float *;`.
        is_specifier = self._tokens[i].start in known.specifiers
        return declaration if is_specifier and declaration is not None and not declaration.is_function else None

    def _scope(self, i: int, level: Level) -> Scope:
        if level.scope is Scope.MACRO and self._macro_scope is not None:
            return self._macro_scope(self._tokens[i])
        return level.scope

    def _points(self, i: int) -> bool:
        """Whether a type follows that is a pointer or a reference."""
        i += 1
        passed: list[int] = []
        while i < len(self._tokens) and (self._tokens[i].kind is Kind.WORD or self._tokens[i].text in ("::", "<")):
            if i in self._types:
                i = self._types[i]
                break
            passed.append(i)
            i = closing_angle(self._tokens, i) + 1 if self._tokens[i].text == "<" else i + 1
        self._types |= dict.fromkeys(passed, i)
        return i < len(self._tokens) and self._tokens[i].text in ("*", "&")

    @staticmethod
    def _only_pointers(declaration: Declaration) -> bool:
        """Whether the word describes the targets of pointers; the variables themselves are automatic, or members."""
        return not declaration.says("static", "extern") and all(
            declarator.pointer and not declarator.dimensions for declarator in declaration.declarators
        )

    def _refuse_declaration_in_call(self, i: int, level: Level) -> None:
        """Refuse a declaration in the arguments of a macro, which may use it in any way."""
        if i not in self._arguments_end:
            rest = range(i, len(self._tokens))
            end = next((j for j in rest if self._tokens[j].text in (",", ")", ";", "=")), len(self._tokens))
            self._arguments_end = range(i, end + 1)
        end = self._arguments_end[-1]
        name = level.start - 2
        is_call = name >= 0 and self._tokens[name].kind is Kind.WORD and self._before(name) in ("", ";", "{", "}")
        if is_call and self._tokens[end - 1].text == "]":
            raise self._error(i, f"{self._tokens[i].text} is not understood in the arguments of a macro")

    # -- Functions --

    def inline(self, i: int, level: Level) -> None:
        """Drop a second `inline`; note the functions that have to be inlined."""
        head = self._heads.get(level.start)
        if head is None or not head.begin <= i < head.end:
            end = self._end_of_head(i)
            words = range(level.start, end)
            first = next((j for j in words if self._tokens[j].text in INLINE_ATTRIBUTES), end)
            head = self._heads[level.start] = _Head(i, end, first)
        paren = head.end
        if head.first_attribute < (paren if self._tokens[i].text in INLINE else i):
            self._text.delete(self._tokens[i])
        elif self._tokens[i].text in INLINE_ATTRIBUTES and is_run(self._tokens, paren, "(", 1):
            with suppress(UnbalancedError):  # branches of the preprocessor may leave brackets open
                if function := object_function(self._tokens, level.start, i, paren):
                    self._object_functions.append(function)

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
        """Translate an assembly statement; elsewhere the word names a symbol."""
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
        try:
            calls = calls_of(self._tokens[begin + 1 : end])
        except AssemblyError as error:
            raise self._error(i, str(error)) from None
        if calls:  # else a barrier for the compiler
            self._text.edit(self._tokens[i].start, self._tokens[end].end, ", ".join(calls))

    # -- Launches --

    def launch(self, i: int, _: Level) -> None:
        """Translate a launch, which begins with `<<<`."""
        begin, is_name = self._callee(i)
        callee = self._tokens[begin:i]
        parts, end = self._configuration(i)
        opening = end + 1  # of the arguments
        close = closing(self._tokens, opening)

        spelling = spelled(callee)
        name = spelling.replace("\\", "\\\\").replace('"', '\\"')
        expands = self._macro_scope is not None or any(token.text in self._macros for token in callee)
        name = f"MLUSIM_TEXT({spelling})" if expands else f'"{name}"'
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
            elif is_run(self._tokens, i, ">", 3) and [token.text for token in self._tokens[i + 3 : i + 4]] == ["("]:
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


#: The handlers, by word.
WORDS: dict[str, Callable[[Translator], Callable[[int, Level], None]]] = {
    **dict.fromkeys(MEMORIES, lambda translator: translator.memory),
    LOCAL_MEMORY: lambda translator: translator.local_memory,
    CONSTANT_MEMORY: lambda translator: translator.constant_memory,
    DEVICE: lambda translator: translator.device,
    "static": lambda translator: translator.static,
    **dict.fromkeys((INLINE_ATTRIBUTES - {DEVICE}) | INLINE, lambda translator: translator.inline),
    **dict.fromkeys(ASSEMBLY, lambda translator: translator.assembly),
}


def translate(text: str, filename: str, *, uses_std: bool = False) -> str:
    """Turn BANG C into C++.

    Parameters
    ----------
    text
        The source.
    filename
        Its name in messages, debug information and `__FILE__`.
    uses_std
        Whether a header that it includes says `using namespace std`.

    Returns
    -------
    str
        A `#line`, then the source with as many lines as it had; then the allowances of its comments
        for the checkers.

    Raises
    ------
    TranslationError
        If something in it has no form in C++.
    """
    text = with_free_names(with_plain_blanks(text.removeprefix("\ufeff")), filename, uses_std=uses_std)
    source = Text(text, filename)
    tokens, directives = tokens_of(text, filename)
    for directive in directives:
        source.note_line(directive.tokens)
    note_allowances(source)
    macros = macros_of(directives)
    uses = MacroUses(tokens, directives, macros)

    Translator(source, tokens, None).run(directives)
    for macro in macros:

        def scope_of(token: Token, name: str = macro.name) -> Scope:
            scopes = uses.scopes(name)
            if len(scopes) > 1:
                found = " and ".join(sorted(scope.value for scope in scopes))
                raise source.error(
                    token, f"the macro {name} declares a variable and is used {found}; use it in one way"
                )
            return next(iter(scopes), Scope.FUNCTION)

        Translator(source, macro.body, scope_of).run()
    return f"#line 1 {quoted(filename)}\n{source.result()}"
