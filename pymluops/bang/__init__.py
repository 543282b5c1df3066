"""Compile and run BANG C on the simulated MLU.

`compile` takes sources with kernels, compiles them with a C++ compiler of this machine and gives a `Module`, whose
kernels are launched with NumPy arrays, PyTorch tensors and device arrays.

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
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from pymluops._arguments import is_integer
from pymluops._shown import one_line, shortened, shown
from pymluops.bang import _coverage
from pymluops.bang._build import Build, Input
from pymluops.bang._check import CheckReport, Difference, Found, check, usual_schedules
from pymluops.bang._compilers import find_compiler
from pymluops.bang._headers import quoted, read_text
from pymluops.bang._module import HostFunction, Kernel, Launch, Module
from pymluops.bang._registry import Parameter, Signature
from pymluops.bang._runs import Run
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim._library import simulator
from pymluops.sim.toolchain import CompileError, Simulator, cards

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
    "usual_schedules",
]

_MACRO = re.compile(r"^[A-Za-z_]\w*(\([\w, .]*\))?$")


def compile(
    source_or_paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    defines: Mapping[str, object] | None = None,
    arch: str | int = "mtp_592",
    options: Sequence[str] = (),
) -> Module:
    """Compile sources in BANG C for the simulated MLU.

    What did not change since an earlier call is not compiled again: results are kept in the folder that the environment
    variable ``PYMLUOPS_CACHE_DIR`` names. The compiler is what ``PYMLUOPS_CXX`` says, else ``g++``, ``clang++`` or that
    of the package ziglang.

    Parameters
    ----------
    source_or_paths : str, os.PathLike or a sequence of them
        The text of a source; or the path of a file, or several, which become one library. A str is a text if it has a
        brace or more than one line. The device header ``bang.h`` need not be included.
    include_dirs : sequence of str or os.PathLike
        Where headers are looked for, besides the folder of the file that includes them. Headers may hold BANG C.
    defines : mapping of str to object, optional
        Macros: the text of a value is what the macro stands for; True for 1, None for an empty one.
    arch : str or int
        ``"mtp_592"`` and the like, or the number, or the name of a card: ``"MLU590"``. The simulated device becomes the
        card of this architecture, unless the program chose another or the device is in use.
    options : sequence of str
        Further options of the compiler, such as ``"-O0"`` or ``"-Wall"``.

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
        If there is no C++ compiler, or the results cannot be kept.
    """
    number = _arch(arch)
    inputs = _inputs(source_or_paths)
    folders = [_folder(folder) for folder in _several("include_dirs", include_dirs)]
    words = [*_macros(defines or {}), *_further(options)]
    return _compiled(inputs, number, folders, words)


def _compiled(inputs: list[Input], number: int, folders: list[Path], words: list[str]) -> Module:
    """Compile sources for an architecture, with folders of headers and further options of the compiler."""
    backend = simulator()
    compiler, built_for = find_compiler(), Simulator.installed()
    counted = _coverage.folder(compiler)
    if counted is None:
        build = Build(compiler, number, built_for, folders, words)
    else:
        words += _coverage.COMPILE
        build = Build(compiler, number, built_for, folders, words, _coverage.LINK, counted)

    def instantiate(name: str, origin: str, parameters: str) -> Path:
        entry = f"MLUOPS_MODULE_INSTANCE({quoted(name)}, {quoted(parameters)}, ::{name.removeprefix('::')});"
        return build.library(inputs, origin, entry)

    again = _compiled, (inputs, number, folders, words)
    return Module(build.library(inputs), number, backend, instantiate, again)


def _arch(arch: object) -> int:
    known = {card["arch"]: card["name"] for card in cards()}
    found: object = arch
    if isinstance(arch, str):
        match = re.fullmatch(r"(?:m?tp_|compute_)?(\d{3})", arch)
        named = {name.lower(): number for number, name in known.items()}
        found = int(match[1]) if match else named.get(arch.lower())
    for number in known:
        if is_integer(found) and found == number:
            return int(number)
    names = ", ".join(f"'mtp_{number}' ({name})" for number, name in known.items())
    kind = BadParamError if isinstance(arch, (str, int)) else BadParamTypeError
    raise kind(f"compile: arch: expected one of {names}, got {shown(arch)}")


def _several(argument: str, value: object) -> list[object]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise BadParamTypeError(f"compile: {argument}: expected a list, got {shown(value)}")
    return list(cast("Sequence[object]", value))


def _inputs(given: object) -> list[Input]:
    if isinstance(given, str) and ("{" in given or "\n" in given):
        return [Input("<source>", Path.cwd(), given)]
    single = isinstance(given, (str, os.PathLike))
    paths: list[object] = [given] if single else _several("source_or_paths", given)
    if not paths:
        raise BadParamError("compile: source_or_paths: expected a source or paths, got an empty list")
    return [_file(path) for path in paths]


def _path(argument: str, given: object) -> Path:
    if not isinstance(given, (str, os.PathLike)):
        raise BadParamTypeError(f"compile: {argument}: expected a path, got {shown(given)}")
    return Path(os.fsdecode(cast("str | os.PathLike[str]", given)))


def _file(given: object) -> Input:
    path = _path("source_or_paths", given)
    try:
        return Input(str(path), path.parent, read_text(path))
    except OSError as error:
        name = shortened(one_line(str(path)))
        raise BadParamError(f"compile: source_or_paths: {name}: {error.strerror}") from None


def _folder(given: object) -> Path:
    path = _path("include_dirs", given)
    if not path.is_dir():
        raise BadParamError(f"compile: include_dirs: expected folders, got {shortened(one_line(str(path)))}")
    return path.absolute()


def _macros(defines: object) -> list[str]:
    if not isinstance(defines, Mapping):
        raise BadParamTypeError(f"compile: defines: expected a mapping, got {shown(defines)}")
    words: list[str] = []
    for name, value in cast("Mapping[object, object]", defines).items():
        if not isinstance(name, str) or not _MACRO.match(name):
            raise BadParamError(f"compile: defines: expected names of macros, got {shown(name)}")
        text = "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)
        words.append(f"-D{name}={text}")
    return words


def _further(options: object) -> list[str]:
    words = _several("options", options)
    for word in words:
        if not isinstance(word, str):
            raise BadParamTypeError(f"compile: options: expected texts, got {shown(word)}")
    return [str(word) for word in words]
