"""Refuses in kernels what a card does not have, and what the checkers would not see.

A card has no C library, no files and no processes. What a kernel calls stands in its object file:
functions and tables are reached from the functions that the simulator starts kernels with, over the
relocations. Whatever the object lacks must be in the lists of `_device_functions`. What a function
does beside calls stands in the final code of the compiler; see `_final_code`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import which

from pymluops.bang._device_functions import COPIES, Functions, name_in_source
from pymluops.bang._elf import Elf, Reference, Symbol, is_elf
from pymluops.bang._final_code import Contents

__all__ = ["Checked", "are_allowed", "calls_of_functions", "reached_by_kernels"]

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
    data : bytes
        Its contents.
    contents : dict of str to list of Unseen
        What no checker sees, by function.
    known : set of str, optional
        The functions whose code was read; None if it was not.
    """

    def __init__(self, data: bytes, contents: Contents, known: set[str] | None) -> None:
        self._elf = Elf(data)
        self._contents = contents
        self._known = known
        self._aliases = {name: names for names in self._elf.aliases() for name in names}

    def messages(self, functions: Functions, source: str, folder: Path) -> list[str]:
        """Return what is wrong with the kernels of the object, one message for each place.

        Parameters
        ----------
        functions : Functions
            What is known of functions.
        source : str
            The name of the source.
        folder : Path
            For temporary files.
        """
        reached, references = self._elf.reached(_kernels(self._elf))
        wrong = {each for each in references if self._is_wrong(each, functions)}
        found = [
            *zip(_places(self._elf, sorted(wrong), source, folder), map(_call_of, sorted(wrong)), strict=True),
            *((place, f"a kernel {what}") for name in reached for what, place in self._unseen(name)),
        ]
        messages = {f"{place or source}: error: {what}" for place, what in found}
        return sorted(messages, key=_by_line)[:_MOST_SHOWN]

    @staticmethod
    def _is_wrong(reference: Reference, functions: Functions) -> bool:
        if reference.name in COPIES:  # the calls of a source stand in the final code
            return not reference.in_code
        return functions.are_of_host(reference.name)

    def _unseen(self, name: str) -> Iterable[tuple[str, str]]:
        names = [_COLD.sub("", each) for each in self._aliases.get(name, [name])]
        for each in names:
            yield from self._contents.get(each, [])
        if self._known is not None and self._known.isdisjoint(names) and not any(map(_MADE.fullmatch, names)):
            yield f"has code in assembly ({name})", ""


def _kernels(elf: Elf) -> list[Symbol]:
    return [function for function in elf.functions if _LAUNCHED.fullmatch(function.name)]


def _call_of(reference: Reference) -> str:
    verb = "calls" if reference.in_code else "refers to"
    return f"a kernel {verb} {name_in_source(reference.name)}, a function of the host"


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
        # The innermost place is the first one; what a header of the system calls, a source asked for.
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
