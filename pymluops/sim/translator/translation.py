"""Translates the constructs of BANG C one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from .allowances import note_allowances
from .assembly import AssemblyError, calls_of
from .declarations import Declaration, Reader, UnreadableError, element_type
from .kernel_calls import Declared
from .launches import Launches
from .macros import MacroUses, aliases_of, macros_of, separators_of
from .names import with_free_names
from .returns import INLINED, ObjectFunction, not_recursive, object_function
from .scopes import Level, Scope, Walk
from .spelled_words import with_spelled_words
from .split_macros import names_declared_by, with_split_macros
from .statics import DeviceUses, holds_numbers
from .text import Text, TranslationError, quoted, tokens_of, with_plain_blanks
from .tokens import (
    Directive,
    Kind,
    Token,
    Tokens,
    UnbalancedError,
    closing,
    closing_angle,
    is_run,
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

    def __init__(
        self,
        text: Text,
        tokens: Tokens,
        directives: Sequence[Directive],
        macro_scope: Callable[[Token], Scope] | None,
        declared: Declared,
        onchip: set[str],
        aliases: Mapping[str, str],
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._directives = directives
        self._launches = Launches(text, tokens, directives, declared, in_macro=macro_scope is not None)
        self._aliases = aliases
        self._onchip = onchip  # names of variables in the memories of a core
        self._macro_scope = macro_scope  # null for a file
        self._object_functions: list[ObjectFunction] = []
        # The analysis of each statement, by its first token: each word of the statement may need
        # it.
        self._declarations: dict[int, _Declared] = {}
        self._heads: dict[int, _Head] = {}
        self._types: dict[int, int] = {}  # the token behind a type, by any token of it
        self._arguments_end = range(0)  # of tokens up to the next one that may end an argument

    def run(self) -> None:
        """Make the edits."""
        directives = self._directives
        scope = Scope.FILE if self._macro_scope is None else Scope.MACRO
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
            return self._launches.translate
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
            self._onchip.update(declarator.name[-1].text for declarator in declaration.declarators)
            Variables(self._text, self._tokens, declaration, MEMORIES[word], scope, path, self._aliases).write()

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
            Variables(self._text, self._tokens, declaration, CONSTANT, Scope.FILE, path, self._aliases).write()

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
            Variables(self._text, self._tokens, declaration, DEVICE_MEMORY, Scope.FILE, path, self._aliases).write()
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
                path = level.path
                Variables(self._text, self._tokens, declaration, DEVICE_MEMORY, Scope.FILE, path, self._aliases).write()

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

    def type_of(self, i: int, _: Level) -> None:
        """Translate `decltype` of a variable on chip, which is a reference in C++."""
        tokens = self._tokens[i + 1 : i + 4]
        if len(tokens) == 3 and tokens[0].text == "(" and tokens[2].text == ")" and tokens[1].text in self._onchip:
            self._text.insert(self._tokens[i].start, "::mlusim::mlusim_fixed<")
            self._text.insert(tokens[2].end, ">")

    def vector(self, i: int, _: Level) -> None:
        """Translate `ext_vector_type(4)` of a `typedef` or `using`, which Clang alone has."""
        if i + 1 == len(self._tokens) or self._tokens[i + 1].text != "(":
            return
        end = closing(self._tokens, i + 1)
        count = spelled(self._tokens[i + 2 : end])
        kind = element_type(self._tokens, i)
        if kind is None:
            raise self._error(i, "ext_vector_type is understood in a `typedef` and in `using` only")
        if count.isdigit() and int(count) & (int(count) - 1):
            raise self._error(i, f"ext_vector_type: expected 2, 4, 8 or another power of two, got {count}")
        self._text.edit(self._tokens[i].start, self._tokens[end].end, f"MLUSIM_VECTOR({count}, {kind})")

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
            if not self._is_in_template(i):
                raise self._error(i, str(error)) from None
            # The compiler says so if something makes an instance.
            calls = [f"[](auto mlusim_none) {{ static_assert(sizeof(mlusim_none) == 0, {quoted(str(error))}); }}(0)"]
        if calls:  # else a barrier for the compiler
            self._text.edit(self._tokens[i].start, self._tokens[end].end, ", ".join(calls))

    def _is_in_template(self, i: int) -> bool:
        """Whether a token stands in the body of a template, or of a member of one."""
        depth = 0
        for at in range(i - 1, -1, -1):
            text = self._tokens[at].text
            if text in ("}", ")"):
                depth += 1
            elif text in ("{", "(") and depth:
                depth -= 1
            elif text in ("{", "("):
                begin = at
                while begin > 0 and self._tokens[begin - 1].text not in (";", "{", "}"):
                    begin -= 1
                if any(token.text == "template" for token in self._tokens[begin:at]):
                    return True
        return False


#: The handlers, by word.
WORDS: dict[str, Callable[[Translator], Callable[[int, Level], None]]] = {
    **dict.fromkeys(MEMORIES, lambda translator: translator.memory),
    LOCAL_MEMORY: lambda translator: translator.local_memory,
    CONSTANT_MEMORY: lambda translator: translator.constant_memory,
    DEVICE: lambda translator: translator.device,
    "static": lambda translator: translator.static,
    **dict.fromkeys((INLINE_ATTRIBUTES - {DEVICE}) | INLINE, lambda translator: translator.inline),
    **dict.fromkeys(("ext_vector_type", "__ext_vector_type__"), lambda translator: translator.vector),
    **dict.fromkeys(("decltype", "__decltype"), lambda translator: translator.type_of),
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
    text = with_spelled_words(with_plain_blanks(text.removeprefix("\ufeff")), filename)
    text = with_split_macros(text, filename)
    text = with_free_names(text, filename, uses_std=uses_std)
    source = Text(text, filename)
    tokens, directives = tokens_of(text, filename)
    for directive in directives:
        source.note_line(directive.tokens)
    note_allowances(source)
    macros = macros_of(directives)
    uses = MacroUses(tokens, directives, macros)

    declared = Declared(tokens, directives, macros)
    onchip = names_declared_by(tokens, macros)
    aliases = aliases_of(directives)
    Translator(source, tokens, directives, None, declared, onchip, aliases).run()
    declared.refuse_calls(source, tokens, directives, Scope.FILE)
    for macro in macros:
        declared.refuse_calls(source, macro.body, (), Scope.MACRO)

        def scope_of(token: Token, name: str = macro.name) -> Scope:
            scopes = uses.scopes(name)
            if len(scopes) > 1:
                found = " and ".join(sorted(scope.value for scope in scopes))
                raise source.error(
                    token, f"the macro {name} declares a variable and is used {found}; use it in one way"
                )
            return next(iter(scopes), Scope.FUNCTION)

        Translator(source, macro.body, (), scope_of, declared, onchip, aliases).run()
    return f"#line 1 {quoted(filename)}\n{source.result()}"
