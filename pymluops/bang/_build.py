"""Compiles and links sources in BANG C, and keeps the results.

What is kept lies in the folder that ``PYMLUOPS_CACHE_DIR`` names. An object is found by a checksum over everything that
it comes from: the source with its headers, the options, the compiler, this package. A second file tells which library
some sources led to last time, and which headers were read then: a program that runs again need not translate anything.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pymluops import _environment
from pymluops.bang._compilers import Compiler, digest
from pymluops.bang._constructors import hide_constructors
from pymluops.bang._definitions import with_entries
from pymluops.bang._headers import Expander, Source, quoted, read_text
from pymluops.bang._messages import readable
from pymluops.errors import NotInitializedError
from pymluops.sim._cache import Place, cache_folder
from pymluops.sim.toolchain import CompileError, Simulator, kernel_options, run_tool
from pymluops.sim.translator import TranslationError, translate

__all__ = ["Build", "Input", "warnings_of"]

#: Of the files in the cache; another number for another content.
_FORMAT = 1


@cache
def _package_state(include: Path) -> str:
    """Return a text for this package: what translates, and the headers that kernels are compiled with."""
    here = Path(__file__).resolve().parent
    translator = here.parent / "sim"
    files = [here / name for name in ("_build.py", "_constructors.py", "_definitions.py", "_headers.py")]
    files += [translator / "toolchain.py", translator / "cards.toml"]
    files += [*(translator / "translator").glob("*.py"), *include.rglob("*.h")]
    return digest(*(part for path in sorted(files) for part in (path.name, read_text(path))))


@dataclass(frozen=True)
class Input:
    """A source: a file, or a text with a name."""

    name: str
    folder: Path  # where headers are looked for first
    text: str


@dataclass
class Build:
    """How sources are compiled.

    Parameters
    ----------
    compiler : Compiler
        The C++ compiler.
    arch : int
        ``__BANG_ARCH__``.
    simulator : Simulator
        The library that is linked, and its headers.
    include_dirs : sequence of Path
        Where headers are looked for.
    options : sequence of str
        Further options of the compiler, macros among them.
    link_options : sequence of str
        Further options of the linker.
    folder : Path
        Where results are kept.
    """

    compiler: Compiler
    arch: int
    simulator: Simulator
    include_dirs: Sequence[Path] = ()
    options: Sequence[str] = ()
    link_options: Sequence[str] = ()
    folder: Path = field(default_factory=cache_folder)

    def __post_init__(self) -> None:
        self._state = digest(
            str(_FORMAT), _package_state(self.simulator.include), self.compiler.identity, str(self.arch),
            str(self.simulator.library), str(self.simulator.include), *self.options, "", *map(str, self.include_dirs),
        )  # fmt: skip

    # -- Libraries --

    def library(self, inputs: Sequence[Input], instance: str = "", behind: str = "") -> Path:
        """Return the library of sources, with what tells Python about their definitions.

        Parameters
        ----------
        inputs : sequence of Input
            The sources.
        instance : str
            The instance of a template that the library is for; names it in messages.
        behind : str
            Text that is compiled behind the last source.

        Raises
        ------
        CompileError
            If the translator, the compiler or the linker refuses them.
        NotInitializedError
            If the result cannot be kept.
        """
        try:
            return self._library(inputs, instance, behind)
        except OSError as error:
            place = _environment.text_shown(str(error.filename or self.folder))
            raise NotInitializedError(
                f"{place}: {error.strerror}: set PYMLUOPS_CACHE_DIR to a folder that can be written"
            ) from None

    def _library(self, inputs: Sequence[Input], instance: str, behind: str) -> Path:
        parts = [part for source in inputs for part in (source.name, str(source.folder), source.text)]
        known = self.folder / f"library-{digest(self._state, behind, *parts)}.json"
        found = self._known(known)
        if found is not None:
            return found
        expander = Expander(self.include_dirs, [self.simulator.include])
        sources = [expander.expand(source.text, source.name, source.folder) for source in inputs]
        texts = [self.translated(source, with_python=True) for source in sources]
        if behind:
            texts[-1] += f"\n#line 1 {quoted(instance)}\n{behind}\n"
        objects = self._objects(list(zip(texts, sources, strict=True)))
        library = self._link(objects, _stem(inputs[0].name))
        self._remember(known, library, sources)
        return library

    def _objects(self, works: Sequence[tuple[str, Source]]) -> list[Path]:
        if len(works) == 1:
            return [self.object(*works[0])]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(self.object, *zip(*works, strict=True)))

    def _known(self, known: Path) -> Path | None:
        """Return the library of last time, if every header is what it was."""
        try:
            noted: dict[str, Any] = json.loads(known.read_text(encoding="utf-8"))
            library = self.folder / noted["library"]
            same = all(digest(read_text(Path(path))) == state for path, state in noted["files"].items())
            absent = not any(os.path.isfile(path) for path in noted["absent"])
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            return None
        return library if same and absent and library.is_file() else None

    def _remember(self, known: Path, library: Path, sources: Iterable[Source]) -> None:
        files = {str(path.absolute()): digest(read_text(path)) for source in sources for path in source.files}
        absent = sorted({str(path.absolute()) for source in sources for path in source.absent})
        noted = {"library": library.name, "files": files, "absent": absent}
        with Place(known) as place:
            place.write_text(json.dumps(noted), encoding="utf-8")

    # -- Sources --

    def translated(self, source: Source, *, with_python: bool = False) -> str:
        """Return a source as C++.

        Raises
        ------
        CompileError
            If something in it has no form in C++.
        """
        text = with_entries(source.text, source.name, for_python=with_python)
        try:
            # Without its first line, which repeats what the text begins with.
            return translate(text, source.name, uses_std=source.uses_std).partition("\n")[2]
        except TranslationError as error:
            raise CompileError(str(error)) from None

    def object(self, text: str, source: Source, words: Sequence[str] | None = None) -> Path:
        """Return the object file of a translated source.

        Parameters
        ----------
        text : str
            The translated source.
        source : Source
            What it was made of.
        words : sequence of str, optional
            Options of the compiler instead of `compile_options`.

        Raises
        ------
        CompileError
            If the compiler refuses it.
        """
        headers = [digest(read_text(path)) for path in source.files]
        target = self.folder / f"{_stem(source.name)}-{digest(self._state, text, *headers, '', *(words or ()))}.o"
        warnings = target.with_suffix(".txt")
        if not target.is_file():
            with Place(target) as place:
                said = self.run_compiler(text, source, self.compile_options() if words is None else words, place)
                if said:
                    with Place(warnings) as file:
                        file.write_text(said, encoding="utf-8")
        if warnings.is_file():
            sys.stderr.write(warnings.read_text(encoding="utf-8"))
        return target

    def run_compiler(self, text: str, source: Source, words: Sequence[str], target: Path, step: str = "-c") -> str:
        """Compile a translated source as far as `step` says, and return the warnings of the compiler.

        Raises
        ------
        CompileError
            If the compiler refuses it.
        """
        self._announce()
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            file = Path(folder, "source.cpp")
            with file.open("w", encoding="utf-8", errors="surrogateescape", newline="") as opened:
                opened.write(text)
            # Findings and messages of the machine name the source, not this file.
            named = f"-ffile-prefix-map={file}={source.name}"
            command: list[str | Path] = [*self.compiler.command, *words, named, "-x", "c++", step, file, "-o", target]
            try:
                return readable(warnings_of(command), str(self.simulator.include))
            except CompileError as error:
                raise CompileError(readable(str(error), str(self.simulator.include))) from None

    def _announce(self) -> None:
        """Say so if the compiler is about to do what takes long, and is done once."""
        mark = self.folder / f"zig-{digest(self.compiler.identity)}"
        if not self.compiler.is_zig or mark.is_file():
            return
        print("pymluops: the compiler of the package ziglang builds its C++ library once: a minute", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            source = Path(folder, "empty.cpp")
            source.touch()
            run_tool([*self.compiler.command, "-shared", "-fPIC", source, "-o", Path(folder, "empty.so")])
        mark.touch()

    def compile_options(self, first: str = "mluops_module.h") -> list[str]:
        """Return the options for a translated source, which sees the header `first` before all else."""
        return [
            *kernel_options(self.arch, self.compiler.kind),
            *("-O2", *self.options),
            *(f"-I{folder}" for folder in (*self.include_dirs, self.simulator.include)),
            "-Wno-unknown-pragmas",  # those of BANG C
            *("-include", first),
        ]

    # -- Files --

    def _link(self, objects: Sequence[Path], name: str) -> Path:
        target = self.folder / f"{name}-{digest(self._state, *(path.name for path in objects))}.so"
        if not target.is_file():
            library = self.simulator.library
            options = ["-shared", f"-Wl,-rpath,{library.parent}", "-Wl,-z,defs", "-Wl,-Bsymbolic"]
            with Place(target) as place:
                run_tool([*self.compiler.command, *objects, library, *options, *self.link_options, "-o", place])
                hide_constructors(place)
        return target


def warnings_of(command: Sequence[str | Path]) -> str:
    """Run a compiler and return what it says on stderr; `CompileError` if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except OSError as error:
        raise CompileError(f"{words[0]}: {error.strerror}") from None
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode != 0:
        raise CompileError((done.stdout.decode("utf-8", "replace") + said).rstrip("\n"))
    return said


def _stem(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", Path(name).stem)[:60]
