"""Compiles BANG C for the simulated MLU and links it with the simulator.

    python toolchain.py --archs
    python toolchain.py --flags ARCH --compiler-id GNU [--strip FOLDER]...
    python toolchain.py --cards FILE
    python toolchain.py --arch-header FILE

The compiler options of kernels and the figures of the cards stand here and in ``cards.toml`` only.
The build asks by the commands above: they need neither the compiled package nor NumPy. Lists are
separated by semicolons, as CMake reads them.

A `Toolchain` compiles sources at run time with the same options. It needs a C++ compiler: GCC 12,
or Clang 16 on x86-64, or newer.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["CompileError", "Simulator", "Toolchain", "card_of", "cards", "compiler_id", "kernel_options", "run_tool"]

CARDS_FILE = Path(__file__).resolve().parent / "cards.toml"
#: The members of ``mlusimDeviceModel`` in mlusim.h, in their order.
CARD_FIELDS = (
    "name", "arch", "clusters", "cores_per_cluster", "nram_kib", "wram_kib", "sram_kib", "stack_kib", "memory_mib",
    "clock_mhz", "bandwidth_gb_s",
)  # fmt: skip

_SECONDS_PER_COMMAND = 300


# ---- Cards ---------------------------------------------------------------------------------------


@cache
def _card_file() -> dict[str, Any]:
    return tomllib.loads(CARDS_FILE.read_text(encoding="utf-8"))


def cards() -> tuple[dict[str, Any], ...]:
    """Return the figures of all cards; the keys are those of `pymluops.sim.DeviceModel`."""
    return tuple(_card_file()["card"])


def card_of(arch: int) -> dict[str, Any]:
    """Return the figures of the card with this architecture, by the keys of `cards`.

    Parameters
    ----------
    arch : int
        ``__BANG_ARCH__``.

    Raises
    ------
    ValueError
        If there is no such card.
    """
    for card in cards():
        if card["arch"] == arch:
            return card
    raise ValueError(f"card_of: arch: expected {_any_of([card['arch'] for card in cards()])}, got {arch}")


def cards_as_cpp() -> str:
    """Return the cards as the C++ table that native/sim/machine/model.cpp includes."""
    names = [card["name"] for card in cards()]
    rows = [", ".join(_as_cpp(card[name]) for name in CARD_FIELDS) for card in cards()]
    lines = [
        "// Generated from cards.toml.",
        "constexpr mlusimDeviceModel kModels[] = {",
        *(f"    {{{row}}}," for row in rows),
        "    {},",
        "};",
        f"constexpr int kDefaultModel = {names.index(_card_file()['default'])};",
        f'constexpr const char *kArchReason = "arch: expected {_any_of([card["arch"] for card in cards()])}";',
    ]
    return "\n".join(lines) + "\n"


def archs_as_cpp() -> str:
    """Return the architectures as the header that native/bang/dispatch.h includes."""
    default = _card_file()["default"]
    archs = {card["name"]: card["arch"] for card in cards()}
    lines = [
        "// Generated from cards.toml.",
        "#pragma once",
        _for_archs("EACH_ARCH", archs.values()),
        _for_archs("OTHER_ARCHS", (arch for name, arch in archs.items() if name != default)),
        _for_archs("DEFAULT_ARCH", [archs[default]]),
    ]
    return "\n".join(lines) + "\n"


def _for_archs(name: str, archs: Iterable[int]) -> str:
    """Return a macro that expands its argument `DO` for each architecture."""
    return f"#define MLUOPS_BANG_FOR_{name}(DO, what) {' '.join(f'DO({arch}, what)' for arch in archs)}"


def _as_cpp(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _any_of(values: Sequence[object]) -> str:
    return f"{', '.join(map(str, values[:-1]))} or {values[-1]}"


# ---- Options -------------------------------------------------------------------------------------


def kernel_options(arch: int, compiler_id: str, strip: Sequence[str | Path] = ()) -> list[str]:
    """Return the options that translated kernels are compiled with, but for the optimisation level.

    Parameters
    ----------
    arch : int
        ``__BANG_ARCH__``, which selects the card.
    compiler_id : str
        ``"GNU"`` or ``"Clang"``; see `compiler_id`.
    strip : sequence of path
        Folders that are left out of the names of files in debug information.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If there is no such card or compiler.
    """
    return [word for group in _option_groups(arch, compiler_id, strip) for word in group]


def _option_groups(arch: int, compiler_id: str, strip: Sequence[str | Path]) -> list[tuple[str, ...]]:
    """Return the options; those of a group belong together."""
    if compiler_id not in ("GNU", "Clang"):
        raise ValueError(f"kernel_options: compiler_id: expected GNU or Clang, got {compiler_id}")
    card = card_of(arch)
    defined = {"__BANG__": 1, "__MLU__": 1, "__BANG_ARCH__": arch}
    defined |= {f"__MLU_{memory.upper()}_SIZE__": card[f"{memory}_kib"] for memory in ("nram", "wram", "sram")}
    options = [
        "-std=c++17",
        "-fPIC",
        *(f"-D{name}={value}" for name, value in defined.items()),
        # The same source gives the same bits everywhere.
        "-ffp-contract=off",
        "-fno-math-errno",
        # Sources read numbers of one type as another, which Clang compiles as they mean it.
        "-fno-strict-aliasing",
        # Other sanitizers do not go with the next one.
        # Zig's compiler would turn that one off too with "all".
        f"-fno-sanitize={'undefined,address,leak,memory' if compiler_id == 'Clang' else 'all'}",
        # The checkers see scalar accesses through the hooks of this instrumentation; its library is
        # not linked.
        "-fsanitize=thread",
        # A finding names the line of the instruction's return address.
        "-gdwarf-4",
        "-g1",  # behind the version, which by itself asks for the variables too: three times the size
        "-fno-optimize-sibling-calls",
        "-fno-tree-vectorize",
        # A loop must not become a call of memset or memcpy behind the instrumentation.
        *([] if compiler_id == "Clang" else ["-fno-tree-loop-distribute-patterns"]),
        # A frame that is larger than a core's stack touches the guard below it, and nothing else.
        "-fstack-clash-protection",
        # Debug information names files the same way on every machine.
        *(f"-ffile-prefix-map={folder}/=" for folder in strip),
        "-Wno-pedantic",
    ]
    own = _clang_options() if compiler_id == "Clang" else _gnu_options()
    # Kernels cannot end the process, and library functions tell the checkers what they access.
    return [(option,) for option in options] + own + [("-include", "mlusim/process.h")]


def _gnu_options() -> list[tuple[str, ...]]:
    options = [
        # Two calls must not share one instruction: a finding would name the line of the other one.
        "-fno-ipa-icf",
        "-fno-crossjumping",
        "-fno-tree-tail-merge",
        # A core that polls memory lets the others run.
        "--param=tsan-distinguish-volatile=1",
        # Two libraries in one process must not share the static variables of inline functions.
        "-fno-gnu-unique",
        # On the device a literal without suffix is a float.
        "-fsingle-precision-constant",
        "--param=tsan-instrument-func-entry-exit=0",
    ]
    return [(option,) for option in options]


def _clang_options() -> list[tuple[str, ...]]:
    return [
        ("-Xclang", "-cl-single-precision-constant"),
        ("-Xclang", "-ffloat16-excess-precision=none"),
        ("-mllvm", "-tsan-instrument-func-entry-exit=0"),
        ("-mllvm", "-tsan-distinguish-volatile=1"),
        # A value that is read and then written is read.
        ("-mllvm", "-tsan-instrument-read-before-write=1"),
        ("-fno-slp-vectorize",),
        ("-fno-stack-protector",),
        # A loop must not become a call that no checker sees.
        ("-fno-builtin-strlen",),
        ("-fno-builtin-wcslen",),
        # Zig's compiler suggests no names otherwise.
        ("-fspell-checking",),
    ]


def compiler_id(compiler: str) -> str:
    """Return ``"Clang"`` or ``"GNU"``, as CMake calls the compiler.

    Raises
    ------
    CompileError
        If the compiler cannot be run.
    """
    macros = run_tool([compiler, "-dM", "-E", "-x", "c++", os.devnull])
    return "Clang" if "#define __clang__ " in macros else "GNU"


# ---- Compiling -----------------------------------------------------------------------------------


class CompileError(Exception):
    """A source was refused; the text comes from the translator, the compiler or the linker."""


def run_tool(command: Sequence[str | Path]) -> str:
    """Run a command and return its output; `CompileError` if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False,
            timeout=_SECONDS_PER_COMMAND,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise CompileError(f"{words[0]}: {error}") from None
    if done.returncode != 0:
        raise CompileError(done.stdout + done.stderr)
    return done.stdout


@dataclass(frozen=True)
class Simulator:
    """The library of the simulator, and the headers that kernels are compiled with.

    Parameters
    ----------
    library : Path
        ``libmlusim.so``.
    include : Path
        The folder of ``bang.h`` and ``cnrt.h``.
    """

    library: Path
    include: Path

    @staticmethod
    def installed() -> Simulator:
        """Return those of the installed package."""
        from pymluops import _core

        # Beside the compiled module; in an editable installation the Python files lie elsewhere.
        package = Path(_core.__file__).resolve().parent
        return Simulator(package / "libmlusim.so", package / "_sim" / "include")


@dataclass
class Toolchain:
    """Compiles into a folder, and reuses earlier results there.

    Parameters
    ----------
    folder : Path
        For sources, objects and libraries; it may be kept.
    compiler : str
        A C++ compiler, GCC or Clang.
    simulator : Simulator
        That of the installed package if not given.
    include : sequence of Path
        Further folders with headers.
    """

    folder: Path
    compiler: str = "g++"
    simulator: Simulator = field(default_factory=Simulator.installed)
    include: Sequence[Path] = ()

    def __post_init__(self) -> None:
        self.compiler_id = compiler_id(self.compiler)
        self._state = hashlib.sha256()
        headers = [path for folder in (self.simulator.include, *self.include) for path in sorted(folder.rglob("*.h"))]
        translator = sorted((CARDS_FILE.parent / "translator").glob("*.py"))
        for path in [*headers, *translator]:
            self._state.update(path.read_bytes())
        self._state.update(f"{self.simulator.library} {run_tool([self.compiler, '--version'])}".encode())

    def compile(
        self, source: Path | str, arch: int = 592, *, name: str = "source.mlu", options: Sequence[str] = ()
    ) -> Path:
        """Return the shared library of one source in BANG C.

        Parameters
        ----------
        source : Path or str
            A file, or the text of one.
        arch : int
            ``__BANG_ARCH__``.
        name : str
            The name of a text in messages and findings.
        options : sequence of str
            Further options of the compiler.

        Raises
        ------
        CompileError
            If the translator, the compiler or the linker refuses it.
        """
        text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
        name = str(source) if isinstance(source, Path) else name
        return self.link([self.kernel_object(text, name, arch, options)], Path(name).stem)

    def kernel_object(self, text: str, name: str, arch: int, options: Sequence[str] = ()) -> Path:
        """Return the object file of a source in BANG C.

        Parameters
        ----------
        text : str
            The source.
        name : str
            Its name in messages and findings.
        arch : int
            ``__BANG_ARCH__``.
        options : sequence of str
            Further options of the compiler; they come after those of `kernel_options`.

        Raises
        ------
        CompileError
            If the translator or the compiler refuses it.
        """
        from pymluops.sim.translator import TranslationError, translate

        include = [f"-I{folder}" for folder in (*self.include, self.simulator.include)]
        words = [*kernel_options(arch, self.compiler_id), "-O2", *options, *include]
        try:
            return self._object(translate(text, name), name, words)
        except TranslationError as error:
            raise CompileError(str(error)) from None

    def host_object(self, text: str, name: str, options: Sequence[str]) -> Path:
        """Return the object file of a source in C++, compiled with these options only.

        Parameters
        ----------
        text : str
            The source.
        name : str
            Its name in messages and findings.
        options : sequence of str
            All options of the compiler.

        Raises
        ------
        CompileError
            If the compiler refuses it.
        """
        return self._object(f'#line 1 "{name}"\n{text}', name, options)

    def link(self, objects: Sequence[Path], name: str) -> Path:
        """Return the shared library of object files, linked with the simulator.

        Parameters
        ----------
        objects : sequence of Path
            The results of `kernel_object` and `host_object`.
        name : str
            How the name of its file begins.

        Raises
        ------
        CompileError
            If the linker refuses it.
        """
        target = self._stem(name, *(path.name for path in objects)).with_suffix(".so")
        if not target.is_file():
            # Without -fsanitize, which would link the library that the simulator stands in for.
            library, unfinished = self.simulator.library, self._unfinished(target)
            options = ["-shared", f"-Wl,-rpath,{library.parent}", "-Wl,-z,defs", "-o", str(unfinished)]
            run_tool([self.compiler, *objects, library, *options])
            unfinished.rename(target)
        return target

    def _object(self, text: str, name: str, options: Sequence[str]) -> Path:
        stem = self._stem(Path(name).stem, name, text, *options)
        target = stem.with_suffix(".o")
        if not target.is_file():
            source, unfinished = stem.with_suffix(".cpp"), self._unfinished(target)
            source.write_text(text, encoding="utf-8", errors="surrogateescape")
            run_tool([self.compiler, *options, "-c", source, "-o", unfinished])
            unfinished.rename(target)
        return target

    @staticmethod
    def _unfinished(target: Path) -> Path:
        """Return the name of a file until it is whole: another process may make the same one."""
        return target.with_suffix(f".{os.getpid()}{target.suffix}")

    def _stem(self, name: str, *parts: str) -> Path:
        key = self._state.copy()
        key.update("\0".join(parts).encode("utf-8", "surrogateescape"))
        return self.folder / f"{name}-{key.hexdigest()[:20]}"


# ---- For the build -------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Tells the build how kernels are compiled for the simulated MLU.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--archs", action="store_true", help="print the architectures")
    action.add_argument("--flags", type=int, metavar="ARCH", help="print the compiler's options for one of them")
    action.add_argument("--cards", type=Path, metavar="FILE", help="write the cards as a C++ table")
    action.add_argument("--arch-header", type=Path, metavar="FILE", help="write the architectures as macros")
    parser.add_argument("--compiler-id", default="GNU", help="GNU or Clang")
    parser.add_argument("--strip", action="append", default=[], metavar="FOLDER", help="leave out of names of files")
    options = parser.parse_args(arguments)
    if options.archs:
        print(";".join(str(card["arch"]) for card in cards()))
    elif options.cards is not None:
        options.cards.write_text(cards_as_cpp(), encoding="utf-8")
    elif options.arch_header is not None:
        options.arch_header.write_text(archs_as_cpp(), encoding="utf-8")
    else:
        groups = _option_groups(options.flags, options.compiler_id, options.strip)
        print(";".join(group[0] if len(group) == 1 else f"SHELL:{' '.join(group)}" for group in groups))
    return 0


if __name__ == "__main__":
    sys.exit(main())
