"""The warnings of the vendor's compiler, which is a Clang, from the options of another C++ compiler.

``-Wall`` of GCC has warnings that ``-Wall`` of Clang has not. With ``-Werror`` they would refuse
sources that the vendor's compiler accepts. So those are turned off that no option names by itself.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache

__all__ = ["as_clang_warns"]

#: Warnings of GCC, by default or from -Wall and -Wextra, that Clang has not in these groups. Clang
#: warns of unknown pragmas too, but knows more of them.
_GNU_ONLY = (
    "address", "aggressive-loop-optimizations", "array-bounds", "array-compare", "array-parameter", "attributes",
    "cast-function-type", "catch-value", "class-memaccess", "clobbered", "dangling-pointer", "dangling-reference",
    "format-overflow", "format-truncation", "free-nonheap-object", "ignored-attributes", "implicit-fallthrough",
    "int-in-bool-context", "maybe-uninitialized", "memset-elt-size", "mismatched-dealloc", "mismatched-new-delete",
    "missing-attributes", "multistatement-macros", "nonnull-compare", "placement-new", "psabi", "restrict",
    "strict-aliasing", "strict-overflow", "stringop-overflow", "stringop-overread", "stringop-truncation",
    "subobject-linkage", "terminate", "type-limits", "unknown-pragmas", "unused-but-set-parameter",
    "unused-but-set-variable", "use-after-free", "vla-parameter", "zero-length-bounds",
)  # fmt: skip
#: Of Clang's own -Wall, but younger than the Clang that the vendor's compiler is made of.
_YOUNG = ("unused-but-set-parameter", "unused-but-set-variable")
#: In -Wall of GCC, and in -Wextra of both.
_EXTRA = "sign-compare"


def as_clang_warns(options: Sequence[str], command: tuple[str, ...], kind: str, language: str = "c++") -> list[str]:
    """Return options with which a compiler warns as the vendor's does.

    Parameters
    ----------
    options : sequence of str
        Options for the vendor's compiler.
    command : tuple of str
        The compiler that gets them.
    kind : str
        ``"GNU"`` or ``"Clang"``.
    language : str
        ``"c++"`` or ``"c"``, which has fewer warnings.

    Returns
    -------
    list of str
        The options, without names of warnings that the compiler does not know, and before them
        those that turn other warnings off.
    """
    named = tuple(word.replace("-Wno-", "-W", 1) for word in options if _names_a_warning(word))
    unknown = _unknown(command, language, named) if named else ()
    kept = [word for word in options if word.replace("-Wno-", "-W", 1) not in unknown]
    # `-Wa,`, `-Wl,` and `-Wp,` are for other programs.
    given = [word for word in kept if word.startswith("-W") and word[3:4] != ","]
    if not given:
        return kept
    off = _YOUNG if kind == "Clang" else _GNU_ONLY
    refused = _unknown(command, language, tuple(f"-W{name}" for name in off))
    names = [name for name in off if f"-W{name}" not in refused]
    if kind == "GNU" and not {"-Wextra", "-W"} & set(given):
        names.append(_EXTRA)
    groups = [word for word in kept if word in ("-Wall", "-Wextra", "-W")]
    rest = [word for word in kept if word not in groups]
    return [*groups, *_off(names, given), *rest]


def _off(names: Sequence[str], given: Sequence[str]) -> list[str]:
    named = {word.removeprefix("-W").removeprefix("error=").partition("=")[0] for word in given}
    return [f"-Wno-{name}" for name in names if name not in named]


def _names_a_warning(word: str) -> bool:
    """Whether an option names one warning, which a compiler may not know."""
    others = ("-W", "-Wall", "-Wextra", "-Werror", "-Wpedantic")
    return word.startswith("-W") and word not in others and word[3:4] != "," and not word.startswith("-Wno-error")


@cache
def _unknown(command: tuple[str, ...], language: str, options: tuple[str, ...]) -> frozenset[str]:
    """Return the options that a compiler does not take for sources of a language."""
    said = _said(command, language, options)
    if not said:
        return frozenset[str]()
    if len(options) == 1:
        return frozenset(options)
    # A compiler may stop at the first, and it may name an option in another way.
    named = [word for word in options if re.search(rf"[‘'\"]{re.escape(word)}[=’'\"]", said)]
    suspects = named or list(options)
    unknown = frozenset(word for word in suspects if _said(command, language, (word,)))
    rest = tuple(word for word in options if word not in suspects)
    return unknown | (_unknown(command, language, rest) if rest else frozenset[str]())


def _said(command: tuple[str, ...], language: str, options: tuple[str, ...]) -> str:
    """Return what a compiler says about options, for an empty source."""
    words = [*command, *options, "-Werror", "-fsyntax-only", "-x", language, os.devnull]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (OSError, ValueError):
        return ""  # the compiler itself will say what is wrong
    return done.stderr  # also about warnings of another language, which are no errors
