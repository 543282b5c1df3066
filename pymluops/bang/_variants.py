"""Puts objects of one source for several architectures into one, whose functions choose by the device.

Every function of the source exists once for each architecture, under a name with a mark. The plain
name stands for a jump to the one for the device of the moment, or to the newest. So kernels, the
launches of them, and variables of the source are those of one architecture; an inline function that
other sources define too is among them.
"""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from pymluops._cache.scratch import temporary_folder
from pymluops.sim.toolchain import run_tool

__all__ = ["MARK", "can_merge", "merge"]

#: Behind the mark comes the architecture.
MARK = "$mlusim_"
_TOOLS = ("as", "ld", "nm", "objcopy")
#: Inline functions that no launch can be in.
_NO_CHOICE = re.compile(r"^_ZN?K?S[td]|^_ZN9__gnu_cxx|mlusim|mluops_module")
_HEAD = """    .globl "{name}"
    .type "{name}", @function
"{name}":
    movq mlusim_deviceArch@GOTPCREL(%rip), %r11
    movl (%r11), %r11d
"""
#: Tells the simulator which functions choose from which, so that kernels can be launched by their
#: addresses.
_TABLE_HEAD = """mlusim_announce:
    leaq mlusim_table(%rip), %rdi
    jmp mlusim_addChoices@PLT
    .section .init_array, "aw"
    .balign 8
    .quad mlusim_announce
    .section .data.rel.ro, "aw"
    .balign 8
mlusim_table:
"""
_TABLE_END = """    .quad 0
    .section .note.GNU-stack, "", @progbits
"""


def can_merge() -> bool:
    """Whether the merge is possible: with the tools of binutils, on x86-64."""
    return platform.machine() == "x86_64" and all(shutil.which(tool) for tool in _TOOLS)


def merge(objects: Mapping[int, Path], target: Path) -> None:
    """Make one object of several.

    Parameters
    ----------
    objects : mapping of int to Path
        The object for each architecture.
    target : Path
        The object to make.

    Raises
    ------
    CompileError
        If one of the tools refuses an object.
    """
    newest = max(objects)
    symbols = {arch: _symbols(path) for arch, path in objects.items()}
    functions: dict[str, str] = {}  # their kinds
    for found in symbols.values():
        functions |= {name: kind for name, kind in found.items() if kind in "TW" and not _is_internal(name, kind)}
    with temporary_folder() as folder:
        parts: list[Path] = []
        for arch, path in objects.items():
            names = [name for name in symbols[arch] if arch != newest or name in functions]
            parts.append(_renamed(path, names, arch, folder))
        choice = folder / "choice.s"
        choice.write_text(_choices(functions, symbols, newest), encoding="utf-8")
        run_tool(["as", choice, "-o", folder / "choice.o"])
        run_tool(["ld", "-r", "-o", target, *parts, folder / "choice.o"])


def _is_internal(name: str, kind: str) -> bool:
    return kind == "W" and _NO_CHOICE.search(name) is not None


def _symbols(path: Path) -> dict[str, str]:
    """Return the symbols that an object defines for others, with the letters that `nm` has for their kinds."""
    lines = run_tool(["nm", "--extern-only", "--defined-only", "--format=posix", path]).splitlines()
    return {words[0]: words[1] for line in lines if len(words := line.split()) > 1}


def _renamed(path: Path, names: list[str], arch: int, folder: Path) -> Path:
    table, renamed = folder / f"{arch}.txt", folder / f"{arch}.o"
    table.write_text("".join(f"{name} {name}{MARK}{arch}\n" for name in names), encoding="utf-8")
    # A linker keeps one group of each name, and groups keep their names: sections of both parts
    # are needed.
    run_tool(["objcopy", f"--redefine-syms={table}", "--remove-section=.group", path, renamed])
    return renamed


def _choices(functions: Mapping[str, str], symbols: Mapping[int, Mapping[str, str]], newest: int) -> str:
    parts, table = ["    .text\n"], list[str]()
    for name, kind in functions.items():
        having = sorted((arch for arch, found in symbols.items() if name in found), key=lambda arch: arch == newest)
        parts.append(_HEAD.format(name=name).replace(".globl", ".weak" if kind == "W" else ".globl", 1))
        for arch in having[:-1]:
            parts.append(f'    cmpl ${arch}, %r11d\n    je "{name}{MARK}{arch}"\n')
        parts.append(f'    jmp "{name}{MARK}{having[-1]}"\n    .size "{name}", .-"{name}"\n')
        parts += [f'    .hidden "{name}{MARK}{arch}"\n' for arch in having]
        table += [f'    .quad "{each}"\n' for each in (name, *(f"{name}{MARK}{arch}" for arch in having))]
        table.append("    .quad 0\n")
    return "".join([*parts, _TABLE_HEAD, *table, _TABLE_END])
