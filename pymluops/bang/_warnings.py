"""The warnings of the vendor's compiler, which is a Clang, from the options of another C++ compiler.

``-Wall`` of GCC has warnings that ``-Wall`` of Clang has not. With ``-Werror`` they would refuse
sources that the vendor's compiler accepts. So those are turned off that no option names by itself.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cache

__all__ = ["as_clang_warns"]

#: Warnings of GCC, by default or from -Wall and -Wextra, that Clang has not in these groups.
_GNU_ONLY = (
    "address", "aggressive-loop-optimizations", "array-bounds", "array-compare", "array-parameter", "attributes",
    "cast-function-type", "catch-value", "class-memaccess", "clobbered", "dangling-pointer", "dangling-reference",
    "format-overflow", "format-truncation", "free-nonheap-object", "ignored-attributes", "implicit-fallthrough",
    "int-in-bool-context", "maybe-uninitialized", "memset-elt-size", "mismatched-dealloc", "mismatched-new-delete",
    "missing-attributes", "multistatement-macros", "nonnull-compare", "placement-new", "psabi", "restrict",
    "strict-aliasing", "strict-overflow", "stringop-overflow", "stringop-overread", "stringop-truncation",
    "subobject-linkage", "terminate", "type-limits", "unused-but-set-parameter", "unused-but-set-variable",
    "use-after-free", "vla-parameter", "zero-length-bounds",
)  # fmt: skip
#: Of Clang's own -Wall, but younger than the Clang that the vendor's compiler is made of.
_YOUNG = ("unused-but-set-parameter", "unused-but-set-variable")
#: In -Wall of GCC, and in -Wextra of both.
_EXTRA = "sign-compare"


def as_clang_warns(options: Sequence[str], command: tuple[str, ...], kind: str) -> list[str]:
    """Return options with which a compiler warns as the vendor's does.

    Parameters
    ----------
    options : sequence of str
        Options for the vendor's compiler.
    command : tuple of str
        The compiler that gets them.
    kind : str
        ``"GNU"`` or ``"Clang"``.

    Returns
    -------
    list of str
        The options, without names of warnings that the compiler does not know, and before them
        those that turn other warnings off.
    """
    kept = [word for word in options if not _names_a_warning(word) or _knows(command, word)]
    # `-Wa,`, `-Wl,` and `-Wp,` are for other programs.
    given = [word for word in kept if word.startswith("-W") and word[3:4] != ","]
    if not given:
        return kept
    off: list[str] = [*(_YOUNG if kind == "Clang" else _GNU_ONLY)]
    if kind == "GNU" and not {"-Wextra", "-W"} & set(given):
        off.append(_EXTRA)
    groups = [word for word in kept if word in ("-Wall", "-Wextra", "-W")]
    rest = [word for word in kept if word not in groups]
    return [*groups, *_off(off, given), *rest]


def _off(names: Sequence[str], given: Sequence[str]) -> list[str]:
    named = {word.removeprefix("-W").removeprefix("error=").partition("=")[0] for word in given}
    return [f"-Wno-{name}" for name in names if name not in named]


def _names_a_warning(word: str) -> bool:
    """Whether an option names one warning, which a compiler may not know."""
    others = ("-W", "-Wall", "-Wextra", "-Werror", "-Wpedantic")
    return word.startswith("-W") and word not in others and word[3:4] != "," and not word.startswith("-Wno-")


@cache
def _knows(command: tuple[str, ...], option: str) -> bool:
    """Whether a compiler takes an option."""
    words = [*command, option, "-Werror", "-fsyntax-only", "-x", "c++", os.devnull]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
    except (OSError, ValueError):
        return True  # the compiler itself will say what is wrong
    return done.returncode == 0
