"""Renames variables and kernels at file scope that clash with names of the C library.

On a device `__nram__ float y1[64];` is a variable like any other, and `extern "C" __mlu_entry__
void tanh(float *x)` a kernel. A host compiler has the declarations of `y1` and `tanh` from the
headers. So the variable gets another name in C++, which begins with `PREFIX`; the machine and the
reader of compiler messages remove the prefix again. The kernel gets the linkage of C++, under which
functions of one name live side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .declarations import Reader, UnreadableError
from .library_names import C_NAMES, C_VARIABLES, STD_NAMES
from .scopes import Level, Scope, Walk
from .text import Text, tokens_of
from .tokens import Directive, Kind, Token
from .words import KERNELS, MEMORIES

#: Stands before the name of a variable whose own name is taken.
PREFIX = "mlusim_own_"
_NO_TYPES = frozenset({"using", "namespace", "template", "friend"})


def with_free_names(text: str, filename: str, *, uses_std: bool = False) -> str:
    """Return a source in which no variable and no kernel at file scope clashes with the C library.

    Lines keep their numbers.

    Parameters
    ----------
    text
        The source.
    filename
        The file name of its first lines.
    uses_std
        Whether a header that it includes says `using namespace std`.
    """
    tokens, directives = tokens_of(text, filename)
    taken = C_NAMES | STD_NAMES if uses_std or _uses_std(tokens) else C_NAMES
    if not any(token.text in taken for token in tokens):
        return text
    source = Text(text, filename)
    for directive in directives:
        source.note_line(directive.tokens)
    for token, string in _kernels_of_c(source, tokens, directives):
        if string is not None:
            source.replace(string, '"C++"')
        else:
            source.insert(token.start, 'extern "C++" ')
    _rename(source, tokens, directives, taken)
    return source.result()


def _uses_std(tokens: Sequence[Token]) -> bool:
    words = [token.text for token in tokens]
    return any(words[i : i + 3] == ["using", "namespace", "std"] for i, word in enumerate(words) if word == "using")


def _at_file_scope(
    source: Text, tokens: Sequence[Token], directives: Sequence[Directive]
) -> Iterator[tuple[int, Level]]:
    """The tokens of declarations that every function of the source sees."""
    for i, level in Walk(tokens, directives, Scope.FILE):
        if (
            level.scope is Scope.FILE
            and level.opening in ("", "{")
            and level.path in ("", "_.")
            and not source.is_system(tokens[i])
        ):
            yield i, level


# -- Kernels --


def _kernels_of_c(
    source: Text, tokens: Sequence[Token], directives: Sequence[Directive]
) -> Iterator[tuple[Token, Token | None]]:
    """The starts of kernels with names of the C library, and the string that gives them C linkage, if there is one."""
    for i, level in _at_file_scope(source, tokens, directives):
        if tokens[i].text not in C_NAMES or i + 1 == len(tokens) or tokens[i + 1].text != "(":
            continue
        head = tokens[level.start : i]
        words = {token.text for token in head}
        if not words & KERNELS or words & {"template", "static", "inline"}:
            continue
        yield head[0], next((token for token in head if token.kind is Kind.STRING and token.text == '"C"'), None)


# -- Variables --


def _rename(source: Text, tokens: Sequence[Token], directives: Sequence[Directive], taken: frozenset[str]) -> None:
    names = _variables(source, tokens, directives, taken)
    if not names:
        return
    members = _members(tokens, directives, names)
    for part in (tokens, *(directive.tokens for directive in directives if directive.name == "define")):
        for i, token in enumerate(part):
            if token.text not in names or source.is_system(token):
                continue
            before = part[i - 1].text if i > 0 else ""
            behind = part[i + 1].text if i + 1 < len(part) else ""
            is_member = before in (".", "->") and token.text not in members
            is_part = before in ("##", "#") or behind == "##" or (before == "::" and _is_qualified(part, i - 1))
            if behind != "(" and not is_member and not is_part:
                source.replace(token, PREFIX + token.text)


def _is_qualified(tokens: Sequence[Token], colons: int) -> bool:
    """Whether a scope is named before `::`."""
    return colons > 0 and (tokens[colons - 1].kind is Kind.WORD or tokens[colons - 1].text == ">")


def _variables(
    source: Text, tokens: Sequence[Token], directives: Sequence[Directive], taken: frozenset[str]
) -> set[str]:
    """The names among `taken` that the source declares as variables."""
    found: set[str] = set()
    for i, level in _at_file_scope(source, tokens, directives):
        if i != level.start:
            continue
        try:
            declaration = Reader(tokens, i).read()
        except UnreadableError:
            continue
        is_other = declaration.says("typedef") or not declaration.type or declaration.type[0].text in _NO_TYPES
        if is_other:
            continue
        names = taken & {declarator.name[-1].text for declarator in declaration.declarators}
        of_library = declaration.says("extern") and not declaration.says(*MEMORIES)
        found |= names - C_VARIABLES if of_library else names
    return found


def _members(tokens: Sequence[Token], directives: Sequence[Directive], names: set[str]) -> set[str]:
    """The names that classes of the source give to members as well."""
    return {
        tokens[i].text
        for i, level in Walk(tokens, directives, Scope.FILE)
        if level.scope is Scope.CLASS and tokens[i].text in names
    }
