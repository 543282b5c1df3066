"""Options of Clang, which the vendor's compiler is made of, for a GCC: the nearest that it has, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["extensions", "for_compiler"]

#: What GCC has under other names.
_NAMES = (
    (r"-f(?:diagnostics-color|color-diagnostics)", "-fdiagnostics-color=always"),
    (r"-fno-(?:diagnostics-color|color-diagnostics)", "-fdiagnostics-color=never"),
    (r"-fno-caret-diagnostics", "-fno-diagnostics-show-caret"),
    (r"-ferror-limit=(\d+)", r"-fmax-errors=\1"),
    (r"-fconstexpr-steps=(\d+)", r"-fconstexpr-ops-limit=\1"),
    (r"-gline-tables-only", "-g1"),
    (r"-gline-directives-only", "-g1"),
    (r"-Weverything", "-Wall -Wextra"),
    (r"-Wno-everything", "-w"),
    (r"-ffp-model=(?:precise|strict)", "-ffp-contract=off"),
)
#: What GCC has not, and what changes no result: limits, layouts of messages, ways of working.
_PASSED_OVER = re.compile(
    r"-f(?:no-)?(?:ansi-escape-codes|caret-diagnostics|show-column|show-source-location|spell-checking|elide-type"
    r"|integrated-as|integrated-cc1|standalone-debug|limit-debug-info|use-line-directives|crash-diagnostics\S*"
    r"|slp-vectorize|vectorize|autolink|temp-file|escaping-block-tail-calls|save-optimization-record\S*"
    r"|color-diagnostics\S*|debug-macro|discard-value-names"
    r"|diagnostics-(?:absolute-paths|fixit-info|print-source-range-info|hotness-threshold\S*|misexpect-tolerance\S*"
    r"|show-(?:hotness|category\S*|template-tree|note-include-stack)"
    r"|format=(?:clang|msvc|vi)))"
    r"|-f(?:bracket-depth|macro-backtrace-limit|constexpr-backtrace-limit|spell-checking-limit|message-length"
    r"|caret-diagnostics-max-lines|diagnostics-hotness-threshold|proc-stat-report)(?:=\S*)?"
    r"|-Qunused-arguments|-R(?:pass|no-)\S*|--gcc-toolchain=.*|-stdlib=libstdc\+\+|-gcolumn-info|-gno-column-info",
    re.DOTALL,
)


def for_compiler(words: Sequence[str], kind: str) -> list[str]:
    """Return options for the compiler that is there.

    Parameters
    ----------
    words : sequence of str
        Options for the vendor's compiler.
    kind : str
        ``"GNU"`` or ``"Clang"``, which takes all of them.
    """
    if kind != "GNU":
        return list(words)
    found: list[str] = []
    for word in words:
        named = next(((pattern, name) for pattern, name in _NAMES if re.fullmatch(pattern, word)), None)
        if named is not None:
            found += re.sub(*named, word).split()
        elif not _PASSED_OVER.fullmatch(word):
            found.append(word)
    return found


def extensions(kind: str) -> list[str]:
    """Return macros for what Clang has and GCC has not; for vectors, which the translator writes, for both."""
    if kind != "GNU":
        return ["-DMLUSIM_VECTOR(count,...)=ext_vector_type(count)"]
    return [
        "-DMLUSIM_VECTOR(count,...)=__vector_size__((count)*sizeof(__VA_ARGS__))",
        # Like Clang's, it does not evaluate the condition.
        "-D__builtin_assume(...)=((void)sizeof(!(__VA_ARGS__)))",
        "-D__builtin_unpredictable(...)=(__VA_ARGS__)",
    ]
