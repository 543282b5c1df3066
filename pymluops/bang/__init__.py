"""Compile and run BANG C on the simulated MLU.

`compile` takes sources with kernels, compiles them with a C++ compiler of this machine and gives a
`Module`, whose kernels are launched with NumPy arrays, PyTorch tensors and device arrays.

Examples
--------
>>> from pymluops import bang
>>> module = bang.compile('''
... __nram__ float buffer[64];
... __mlu_entry__ void twice(float *x) {
...   __memcpy(buffer, x + taskId * 64, 256, GDRAM2NRAM);
...   __bang_add(buffer, buffer, buffer, 64);
...   __memcpy(x + taskId * 64, buffer, 256, NRAM2GDRAM);
... }''')  # doctest: +SKIP
>>> x = numpy.ones(256, numpy.float32)  # doctest: +SKIP
>>> module.kernel("twice")[4, "union1"](x)  # doctest: +SKIP
>>> x.sum()  # doctest: +SKIP
512.0
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pymluops.bang._check import CheckReport, Difference, Found, check, usual_schedules
from pymluops.bang._module import HostFunction, Kernel, Launch, Module, compile_sources
from pymluops.bang._registry import Parameter, Signature
from pymluops.bang._runs import Run
from pymluops.bang._sources import (
    read_arch,
    read_folders,
    read_inputs,
    read_macros,
    read_options,
)
from pymluops.bang.judging.judges import judge
from pymluops.sim.toolchain import CompileError

__all__ = [
    "CheckReport",
    "CompileError",
    "Difference",
    "Found",
    "HostFunction",
    "Kernel",
    "Launch",
    "Module",
    "Parameter",
    "Run",
    "Signature",
    "check",
    "compile",
    "judge",
    "usual_schedules",
]


def compile(
    source_or_paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    defines: Mapping[str, object] | None = None,
    arch: str | int = "mtp_592",
    options: Sequence[str] = (),
) -> Module:
    """Compile sources in BANG C for the simulated MLU.

    Unchanged sources are not compiled again: results are kept in the folder that the environment
    variable ``PYMLUOPS_CACHE_DIR`` names. The compiler is the one that ``PYMLUOPS_CXX`` names, else
    ``g++``, ``clang++`` or that of the package ziglang.

    Parameters
    ----------
    source_or_paths : str, os.PathLike or a sequence of them
        The text of a source; or the path of a file, or several, which become one library. A str is
        a text if it has a brace or more than one line, and is no file. The device header ``bang.h``
        need not be included. A source with its headers has at most 4 MiB, and brackets stand in
        each other at most 256 deep.
    include_dirs : sequence of str or os.PathLike
        Where headers are looked for, besides the folder of the file that includes them. Headers may
        hold BANG C.
    defines : mapping of str to object, optional
        Macros with the text of each value as replacement; True stands for 1, None for an empty
        text.
    arch : str or int
        ``"mtp_592"`` and the like, or the number, or the name of a card: ``"MLU590"``. The
        simulated device becomes the card of this architecture, unless the program chose another or
        the device is in use.
    options : sequence of str
        Further options of the compiler, such as ``"-O0"`` or ``"-Wall"``; those that make it do
        something else than compile, such as ``"--help"`` or ``"-o"``, are refused.

    Returns
    -------
    Module

    Raises
    ------
    CompileError
        If the sources are refused; the message names their lines.
    BadParamError
        If an argument is not as described, or there is no such file.
    NotInitializedError
        If there is no C++ compiler, or no place for its output.
    """
    number = read_arch(arch)
    inputs = read_inputs(source_or_paths)
    folders, further = read_options(options)
    folders += read_folders(include_dirs)
    return compile_sources(inputs, number, folders, [*read_macros({} if defines is None else defines), *further])
