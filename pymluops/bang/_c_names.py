"""Gives kernels of an object their C names too, by which older sources know them.

The vendor's older compilers do not mangle names of kernels: a host source declares
``extern "C" void kernel(float *)`` for what another one defines as ``__mlu_entry__ void
kernel(float *)``.
"""

from __future__ import annotations

import ctypes
import re
import shutil
from pathlib import Path

from pymluops._cache.scratch import temporary_folder
from pymluops.bang._variants import MARK
from pymluops.sim.toolchain import run_tool

__all__ = ["with_c_names"]

_KERNEL = re.compile(r'\bMLUSIM_KERNEL\("", (\w+), ')
_TOOLS = ("nm", "objcopy")


def with_c_names(data: bytes, translated: str) -> bytes:
    """Add a weak name in C for each kernel that is no member of a namespace and has no overload.

    Parameters
    ----------
    data : bytes
        The object file.
    translated : str
        The source that it was compiled from.

    Returns
    -------
    bytes
        The object file with the names. Functions of the C library keep theirs for themselves.
    """
    kernels = [name for name in dict.fromkeys(_KERNEL.findall(translated)) if not _in_c_library(name)]
    if not kernels or not all(shutil.which(tool) for tool in _TOOLS):
        return data
    with temporary_folder() as folder:
        before, after = folder / "before.o", folder / "after.o"
        before.write_bytes(data)
        options = _new_symbols(before, kernels)
        if not options:
            return data
        run_tool(["objcopy", *options, before, after])
        return after.read_bytes()


def _new_symbols(path: Path, kernels: list[str]) -> list[str]:
    """Return options of `objcopy` that add the names."""
    defined: dict[str, tuple[str, str]] = {}  # value and section
    for line in run_tool(["nm", "--extern-only", "--defined-only", "--format=sysv", path]).splitlines():
        words = [word.strip() for word in line.split("|")]
        if len(words) == 7 and words[2] in "TW":
            defined[words[0]] = (words[1], words[6])
    found: list[str] = []
    for kernel in kernels:
        mangled = [name for name in defined if name.startswith(f"_Z{len(kernel)}{kernel}") and MARK not in name]
        if kernel not in defined and len(mangled) == 1:
            value, section = defined[mangled[0]]
            found += ["--add-symbol", f"{kernel}={section}:0x{value},function,weak"]
    return found


def _in_c_library(name: str) -> bool:
    try:
        ctypes.CDLL(None)[name]
    except (AttributeError, OSError):
        return False
    return True
