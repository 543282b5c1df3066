"""Refuses in kernels what a card does not have, and what the checkers would not see.

A card has no C library, no files and no processes. What a kernel calls stands in its object file:
functions and tables are reached from the functions that the simulator starts kernels with, over the
relocations. Whatever the object lacks must be in the lists of `_device_functions`. What a function
does beside calls stands in the final code of the compiler; see `_final_code` and `_llvm_code`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence, Set
from functools import cache
from pathlib import Path
from shutil import which

from pymluops.bang import _final_code, _llvm_code
from pymluops.bang._device_functions import COPIES, Functions, name_in_source
from pymluops.bang._elf import Elf, Reference, Symbol, is_elf
from pymluops.bang._final_code import Contents, Unseen

__all__ = ["Checked", "are_allowed", "calls_of_functions", "messages_of", "reached_by_kernels", "read_unseen"]

#: The macro that lets kernels call functions of the host: they are findings of the launch then.
_ALLOWED = re.compile(r"(?:-D)?MLUOPS_HOST_FUNCTIONS(?:=.*)?", re.DOTALL)
#: The functions that a launch, or the description of a kernel, calls the kernel with.
_LAUNCHED = re.compile(r"_ZZN6mlusim(?:13mlusim_launch|15mlusim_calls_of)I.*(?:4_FUN|8__invoke)E.*", re.DOTALL)
#: Functions that compilers write without code of their own in the source.
_MADE = re.compile(r"_ZT[hvcCW].*|.*\.resolver", re.DOTALL)
_COLD = re.compile(r"\.cold(?:\.\d+)?$")
_MOST_SHOWN = 20


class Checked:
    """An object file with descriptions of its definitions, and a section for each function.

    Parameters
    ----------
    elf : Elf
        The file.
    contents : dict of str to list of Unseen
        What no checker sees, by function.
    source : str
        The name of the source.
    """

    def __init__(self, elf: Elf, contents: Contents, source: str) -> None:
        self._elf = elf
        self._contents = contents
        self._source = source
        self._roots = {each.name: each for each in elf.functions if _LAUNCHED.fullmatch(each.name)}

    def needs(self) -> set[str]:
        """Return the symbols of other objects that kernels refer to."""
        return {reference.name for reference in self._elf.reached(self._roots.values())[1]}

    def take(self, names: Set[str]) -> bool:
        """Treat functions as parts of kernels, since kernels of other objects call them; return whether any is new."""
        taken = {each.name: each for each in self._elf.functions if each.name in names and each.name not in self._roots}
        self._roots |= taken
        return bool(taken)

    def messages(self, functions: Functions, folder: Path) -> list[str]:
        """Return what is wrong with the kernels of the object, one message for each place."""
        reached, references = self._elf.reached(self._roots.values())
        wrong = sorted({each for each in references if _is_wrong(each, functions)})
        found = [
            *zip(_places(self._elf, wrong, self._source, folder), map(_call_of, wrong), strict=True),
            *((place, f"a kernel {what}") for name in reached for what, place in self._contents.get(name, [])),
        ]
        return [f"{place or self._source}: error: {what}" for place, what in found]


def messages_of(objects: Sequence[Checked], functions: Functions, folder: Path) -> list[str]:
    """Return what is wrong with the kernels of objects that are linked together.

    Parameters
    ----------
    objects : sequence of Checked
        The objects; one alone may lack what others define.
    functions : Functions
        What is known of functions.
    folder : Path
        For temporary files.
    """
    more = len(objects) > 1
    while more:
        needed = {name for each in objects for name in each.needs()}
        more = sum(each.take(needed) for each in objects) > 0
    messages = {message for each in objects for message in each.messages(functions, folder)}
    return sorted(messages, key=_by_line)[:_MOST_SHOWN]


def read_unseen(data: bytes, dump: Path, kind: str, is_system: Callable[[str], bool]) -> Contents:
    """Return what no checker sees, by each name of the functions in an object file.

    Parameters
    ----------
    data : bytes
        The object file.
    dump : Path
        What the compiler wrote about the final code.
    kind : str
        ``"GNU"`` or ``"Clang"``.
    is_system : callable
        Whether a file is a header of the system.
    """
    elf = Elf(data)
    symbols = {symbol.name for symbol in elf.symbols()}
    unseen_in = _llvm_code.unseen_in if kind == "Clang" else _final_code.unseen_in
    final, known = unseen_in(dump.read_text(encoding="utf-8", errors="replace"), symbols, is_system)
    with_other_code = elf.with_other_code()
    contents: Contents = {}
    for names in elf.aliases():
        plain = [_COLD.sub("", name) for name in names]
        found = [unseen for name in plain for unseen in final.get(name, [])]
        is_made = any(map(_MADE.fullmatch, names)) or not known.isdisjoint(plain)
        if not is_made or not with_other_code.isdisjoint(names):
            found.append(Unseen(f"has code in assembly ({names[0]})", ""))
        if found:
            contents |= dict.fromkeys(names, found)
    return contents


def _is_wrong(reference: Reference, functions: Functions) -> bool:
    if reference.name in COPIES:  # the calls of a source stand in the final code
        return not reference.in_code
    return functions.are_of_host(reference.name)


def _kernels(elf: Elf) -> list[Symbol]:
    return [function for function in elf.functions if _LAUNCHED.fullmatch(function.name)]


def _call_of(reference: Reference) -> str:
    verb = "calls" if reference.in_code else "refers to"
    name = name_in_source(reference.name)
    if reference.name.startswith("__tsan_atomic128"):
        return "a kernel uses an atomic operation on 16 bytes, which no card has"
    return f"a kernel {verb} {_demangled(name)}, a function of the host"


@cache
def _demangled(name: str) -> str:
    """Return the name of a function of C++ in its source, if there is a program that tells it."""
    tool = which("c++filt") or which("llvm-cxxfilt")
    if tool is None or not name.startswith("_Z"):
        return name
    command = [tool, "-p", name]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout.strip()
    return said or name


def _places(elf: Elf, references: Sequence[Reference], source: str, folder: Path) -> list[str]:
    """Return the file and line of each place, as far as there is a program that tells them."""
    tool = which("addr2line") or which("llvm-addr2line")
    if tool is None or not references:
        return [""] * len(references)
    file = folder / "calls.o"
    file.write_bytes(elf.data)
    found: list[str] = []
    here = f"{os.getcwd()}/" if not os.path.isabs(source) else ""
    for each in references:
        command = [tool, "-i", "-e", str(file), "-j", elf.section_name(each.section), hex(each.offset)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
        # The innermost place is the first one; a source asked for the calls of a system header.
        places = re.findall(r"^(?!\?\?)(.+):(\d+)(?: \(.*\))?$", said, re.MULTILINE)
        places = [place for place in places if not place[0].startswith("/usr/")] or places
        # The folder of the compiler stands before relative names.
        found.append(f"{places[0][0].removeprefix(here)}:{places[0][1]}" if places else "")
    return found


def are_allowed(words: Sequence[str]) -> bool:
    """Whether options of the compiler let kernels call functions of the host."""
    return any(_ALLOWED.fullmatch(word) for word in words)


def reached_by_kernels(data: bytes) -> set[str]:
    """Return the symbols that the object file lacks and that its kernels refer to.

    Parameters
    ----------
    data : bytes
        The object file, with a section for each function, of a translated source with descriptions
        of its definitions.
    """
    elf = Elf(data)
    return {reference.name for reference in elf.reached(_kernels(elf))[1]}


def calls_of_functions(data: bytes) -> set[str]:
    """Return the symbols that the object file lacks and refers to by calls alone."""
    return Elf(data).calls_alone() if is_elf(data) else set()


def _by_line(message: str) -> tuple[str, int, str]:
    place = re.match(r"(.*?):(\d+): ", message)
    return (place[1], int(place[2]), message) if place else ("", 0, message)
