"""Reads the command line of `bangcc`: the options of the vendor's compiler, and those of a C++ compiler."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pymluops._shown import one_line, shortened
from pymluops.bang._dependencies import for_make
from pymluops.bang._headers import read_text
from pymluops.sim.toolchain import cards

__all__ = ["DEVICE_SUFFIXES", "HOST_SUFFIXES", "Options", "UsageError", "read_options"]

DEVICE_SUFFIXES = (".mlu", ".mluh")
HOST_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++", ".C", ".c")

#: Options whose value is a word of its own, or follows at once.
_WITH_VALUE = ("-o", "-I", "-D", "-U", "-L", "-l", "-x", "-MF", "-MT", "-MQ", "-isystem", "-iquote", "-include")
#: The same, for the linker.
_LINKER_VALUE = ("-Xlinker", "-z", "-rpath", "-soname")
#: Options of the vendor's compiler that change nothing here, with a value.
_IGNORED_VALUE = ("-Xbang-cnas", "-Xbang-cnlinker", "-mllvm", "-Xclang", "--target", "-mcpu")
_IGNORED = re.compile(
    r"^(?:--bang-device-only|--bang-host-only|--bang-stack-on-ldram|--no-neuware-version-check|--neuware-path=.*"
    r"|-fbang-.*|-fno-bang-.*|--bang-(?!mlu-arch|arch).*|--target=.*|-mcpu=.*)$"
)
_ARCH = re.compile(r"^(?:--bang-mlu-arch|--bang-arch)=(.*)$")
_STANDARD = re.compile(
    r"(?:c|gnu)\+\+(?:98|03|0x|11|1y|14|1z|17|2a|20|2b|23|2c|26)|(?:c|gnu)(?:89|90|9x|99|11|1x|17|18|2x|23|2y)"
    r"|iso9899:\w+"
)
_OF_CLANG = ("-Qunused-arguments", "-Rpass", "-Rno-", "--gcc-toolchain=", "-stdlib=")
_MOST_FILES = 32  # that name each other
_PREPROCESSOR = ("-D", "-U", "-include")
_DEPENDENCIES = ("-M", "-MM", "-MD", "-MMD", "-MP", "-MG")


class UsageError(Exception):
    """A command line that cannot be followed."""


@dataclass
class Options:
    """The content of a command line.

    Attributes
    ----------
    inputs : list of (str, str)
        Each file with its language: ``device``, ``host``, or empty for the linker.
    step : str
        ``-c``, ``-S``, ``-E``, ``-fsyntax-only``, ``-M`` for dependencies alone, or empty: all, to
        the linker.
    """

    inputs: list[tuple[str, str]] = field(default_factory=list)
    step: str = ""
    output: str | None = None
    shared: bool = False
    arch: int = 592  # the newest of those to compile for
    all_archs: list[int] = field(default_factory=list)
    archs: list[str] = field(default_factory=list)  # as they were written
    include_dirs: list[str] = field(default_factory=list)  # in their order, those of the system last
    system_dirs: list[str] = field(default_factory=list)
    preprocessor: list[str] = field(default_factory=list)
    compiler: list[str] = field(default_factory=list)
    linker: list[str] = field(default_factory=list)  # with the inputs among them, by their places
    standard: str = ""
    dependencies: set[str] = field(default_factory=set)
    dependency_file: str | None = None
    dependency_targets: list[str] = field(default_factory=list)
    verbose: bool = False
    answer: str = ""  # --version, --help: nothing is compiled


def read_options(arguments: Sequence[str]) -> Options:
    """Take a command line apart.

    Raises
    ------
    UsageError
        If it cannot be followed.
    """
    options = Options()
    language = ""
    words = iter(_with_files(arguments))
    for word in words:
        if not word.startswith("-") or word == "-":
            _add_input(options, word, language)
        elif word in ("--version", "--help", "-h", "--print-neuware", "-dumpversion"):
            options.answer = word
            return options
        elif word in _IGNORED_VALUE or word in ("--neuware-path", "--bang-mlu-arch", "--bang-arch"):
            value = _value(word, "", words)
            if word.endswith("arch"):
                options.archs.append(value)
        elif match := _ARCH.match(word):
            options.archs.append(match[1])
        elif not _IGNORED.match(word):
            language = _read_option(options, word, words, language)
    options.all_archs = _archs(options.archs)
    options.arch = options.all_archs[-1]
    _check(options)
    return options


def _with_files(arguments: Sequence[str], depth: int = 0) -> list[str]:
    """Return the words with those of `@file` in its place; a name without a file stays, as with other compilers."""
    found: list[str] = []
    for word in arguments:
        if not word.startswith("@") or not os.path.isfile(word[1:]):
            found.append(word)
            continue
        if depth == _MOST_FILES:
            raise UsageError(f"{shortened(one_line(word))}: files of options name each other more than {depth} deep")
        try:
            words = shlex.split(read_text(Path(word[1:])))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "a quotation is not closed"
            raise UsageError(f"{shortened(one_line(word))}: {reason}") from None
        found += _with_files(words, depth + 1)
    return found


def _value(option: str, rest: str, words: Iterator[str]) -> str:
    value = rest or next(words, None)
    if not value:
        raise UsageError(f"{option}: expected a value, got nothing")
    return value


def _add_input(options: Options, word: str, language: str) -> None:
    kind = language
    if not kind and word.endswith(DEVICE_SUFFIXES):
        kind = "device"
    if not kind and word.endswith(HOST_SUFFIXES):
        kind = "host"
    if word == "-":
        raise UsageError("expected files, got - for the standard input")
    options.inputs.append((word, kind))
    options.linker.append(word)


def _read_option(options: Options, word: str, words: Iterator[str], language: str) -> str:
    """Read one option that is not only the vendor's; return the language of the files that follow."""
    if word in ("-c", "-S", "-E", "-fsyntax-only"):
        options.step = word
    elif word == "-shared":
        options.shared = True
    elif word in ("-v", "-###"):
        options.verbose = True
    elif word in _DEPENDENCIES:
        options.dependencies.add(word)
    elif word.startswith(("-std=", "--std=")):
        options.standard = word.partition("=")[2]
        if not _STANDARD.fullmatch(options.standard):
            got = shortened(one_line(options.standard)) or "nothing"
            raise UsageError(f"-std: expected a standard of C or C++, such as c++17, got {got}")
    elif word.startswith("-Wl,") or word in ("-static-libstdc++", "-static-libgcc", "-rdynamic", "-s"):
        options.linker.append(word)
    elif word in _LINKER_VALUE:
        options.linker += (word, _value(word, "", words))
    elif option := next((name for name in sorted(_WITH_VALUE, key=len, reverse=True) if word.startswith(name)), None):
        value = _value(option, word[len(option) :], words)
        return _read_value(options, option, value, language)
    elif word.startswith(("-O", "-g", "-W", "-w", "-f", "-m", "-p", "-n", "-a", *_OF_CLANG)):
        options.compiler.append(word)
        if word == "-pthread":
            options.linker.append(word)
    else:
        raise UsageError(f"{shortened(one_line(word))}: is no option of this compiler")
    return language


def _read_value(options: Options, option: str, value: str, language: str) -> str:
    if option == "-x":
        languages = {"bang": "device", "mlu": "device", "c++": "host", "c": "host", "none": ""}
        if value not in languages:
            raise UsageError(f"-x: expected bang, c++, c or none, got {shortened(one_line(value))}")
        return languages[value]
    if option == "-o":
        options.output = value
    elif option in ("-I", "-iquote"):
        options.include_dirs.append(value)
    elif option == "-isystem":
        options.system_dirs.append(value)
    elif option in ("-L", "-l"):
        options.linker.append(option + value)
    elif option == "-MF":
        options.dependency_file = value
    elif option in ("-MT", "-MQ"):
        options.dependency_targets.append(value if option == "-MT" else for_make(value))
    elif option in _PREPROCESSOR:
        options.preprocessor += (option, value)
    return language


def _archs(names: Sequence[str]) -> list[int]:
    """Return the architectures to compile for, of those that there are; the newest is the last one."""
    known = [int(card["arch"]) for card in cards()]
    found = [int(match[1]) for name in names if (match := re.match(r"^(?:m?tp_|MLU|compute_)?(\d{2,3})", name))]
    numbers = [_closest(number, known) for number in found]
    if names and not any(numbers):
        expected = ", ".join(f"mtp_{arch}" for arch in known)
        raise UsageError(f"--bang-mlu-arch: expected one of {expected}, got {', '.join(names)}")
    return sorted({number for number in numbers if number}) or [592]


def _closest(number: int, known: Sequence[int]) -> int:
    """Return the architecture of this number, 592; or of its first two digits, 59; or for 50 the newest of its kind."""
    same = [arch for arch in known if arch == number] or [arch for arch in known if arch // 10 == number]
    return max(same or [arch for arch in known if arch // 100 * 10 == number], default=0)


def _check(options: Options) -> None:
    if options.dependencies & {"-M", "-MM"}:
        options.step = "-M"
    sources = [name for name, language in options.inputs if language]
    if not options.inputs:
        raise UsageError("expected files to compile or link, got none")
    if options.output is not None and options.step in ("-c", "-S") and len(sources) > 1:
        raise UsageError(f"-o: expected one source with {options.step}, got {len(sources)}")
