"""Stand-ins for functions of the host that a source calls and nothing defines.

A file out of a library calls functions of its other files. Its kernels can be compiled and launched
without them: each gets a stand-in that ends the process with a sentence if it is called. A function
that a kernel needs stays an error, and so does whatever is not only called, such as a variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pymluops.bang._compilers import warnings_of
from pymluops.bang._host_calls import calls_of_functions, reached_by_kernels
from pymluops.sim.toolchain import CompileError

__all__ = ["absent_functions", "stand_ins"]

#: What linkers say of a symbol, by its name in the object file.
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`']?([\w.$]+)'?", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_HEAD = """#include <cxxabi.h>
#include <cstdio>
#include <cstdlib>
static void end(const char *symbol) {
  int status = 0;
  char *name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::fprintf(stderr, "pymluops: %s was called, which the source declares and nothing defines\\n",
               name != nullptr ? name : symbol);
  std::abort();
}
"""
_STAND_IN = """extern "C" void absent_{number}() __asm__("{name}");
extern "C" void absent_{number}() {{ end("{name}"); }}
"""


def absent_functions(objects: Sequence[bytes], command: Sequence[str | Path], folder: Path) -> list[str] | None:
    """Return the functions for want of which objects cannot be linked.

    Parameters
    ----------
    objects : sequence of bytes
        Object files.
    command : sequence of str or Path
        The command that links them, which failed.
    folder : Path
        Where it runs.

    Returns
    -------
    list of str or None
        Their symbols. None if something else is wrong too, if a kernel needs one of them, or if
        something is not only called.
    """
    try:
        warnings_of([*command, "-Wl,--no-demangle"], folder)
    except CompileError as error:
        names = set(_UNDEFINED.findall(str(error)))
    else:
        return None
    if not names or not all(map(_NAME.fullmatch, names)):
        return None
    called: set[str] = set()
    for data in objects:
        if data[:6] != b"\x7fELF\x02\x01" or names & reached_by_kernels(data):
            return None
        called |= calls_of_functions(data)
    return sorted(names) if names <= called else None


def stand_ins(names: Sequence[str]) -> str:
    """Return a source in C++ that defines functions, each of which ends the process with a sentence."""
    return _HEAD + "".join(_STAND_IN.format(number=number, name=name) for number, name in enumerate(names))
