"""Compiles and links sources in BANG C, and keeps the results in the cache.

An object is found by a checksum over all its inputs: the source with its headers, the options, the
compiler, the environment of the compiler, this package. Its notes tell which further headers the
compiler read. A second entry tells which library some sources led to last time, and which headers
were read then: a program that runs again need not translate anything. A library is loaded from a
copy that belongs to this process alone: later changes of the cache do not matter.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

from pymluops._cache.location import cache_folder
from pymluops._cache.scratch import remove_tree, scratch_folder
from pymluops._cache.store import Store
from pymluops._environment import text_shown
from pymluops.bang import _coverage
from pymluops.bang._absent_functions import absent_functions, stand_ins
from pymluops.bang._clang_options import extensions, for_compiler
from pymluops.bang._compilers import Compiler, digest, warnings_of
from pymluops.bang._constructors import hide_constructors
from pymluops.bang._definitions import with_entries
from pymluops.bang._dependencies import dependencies_in, for_make, states_of
from pymluops.bang._device_functions import Functions
from pymluops.bang._elf import Elf, is_elf
from pymluops.bang._final_code import DUMP, Contents
from pymluops.bang._headers import Expander, Source, read_text
from pymluops.bang._host_calls import Checked, are_allowed, messages_of, read_unseen
from pymluops.bang._inputs import Compiled, Input, Linked
from pymluops.bang._loaded import loaded
from pymluops.bang._macros import behind_headers, macros_in
from pymluops.bang._messages import readable
from pymluops.bang._warnings import as_clang_warns
from pymluops.errors import NotInitializedError
from pymluops.sim.toolchain import CompileError, Simulator, kernel_options
from pymluops.sim.translator import TranslationError, translate
from pymluops.sim.translator.spelled_words import with_spelled_words
from pymluops.sim.translator.text import printable, quoted

__all__ = ["Build", "Compiled", "Input", "Linked"]

_Made = TypeVar("_Made")

#: Of the entries in the cache; another number for another content.
_FORMAT = 4
#: Variables that change the input or the output of compilers and linkers.
_VARIABLES = (
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS"),
    *("LIBRARY_PATH", "LD_RUN_PATH", "SOURCE_DATE_EPOCH"),
)
#: Folders of headers that are installed with compilers; a change of the compiler is noticed anyway.
_OF_SYSTEM = ("/usr/include/", "/usr/lib/")
#: Options that name no file, which would be looked for in the working directory.
_NAMES_NO_FILE = re.compile(r"-(?:O\w*|g\d?|w|[Wf][\w-]+(?:=\w+)?|m[\w=-]+|std=[\w+]+|D.*|U\w+|pthread)", re.DOTALL)


#: Options that make an object file of LLVM's text as it is: functions bring their own.
_FROM_LLVM = (
    *("-w", "-O2", "-fPIC", "-ffunction-sections", "-ffp-contract=off", "-fno-lto", "-fno-sanitize=all"),
    *("-Xclang", "-disable-llvm-passes"),
)


@cache
def _package_state(include: Path) -> str:
    """Return a text that identifies this package: its translator, and the headers of kernels."""
    here = Path(__file__).resolve().parent
    translator = here.parent / "sim"
    names = (
        "build",
        "clang_options",
        "constructors",
        "definitions",
        "device_functions",
        "elf",
        "final_code",
        "headers",
        "host_calls",
        "llvm_code",
        "llvm_text",
        "macros",
        "messages",
        "warnings",
    )
    files = [here / f"_{name}.py" for name in names]
    files += [translator / "toolchain.py", translator / "cards.toml"]
    files += [*(translator / "translator").glob("*.py"), *include.rglob("*.h")]
    contents = ((path.name, path.read_bytes().decode("utf-8", "surrogateescape")) for path in sorted(files))
    return digest(*(part for content in contents for part in content))


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
    counted : Path, optional
        A folder of this process for all files, if line coverage is counted: the counters of an
        object stay beside it.
    """

    compiler: Compiler
    arch: int
    simulator: Simulator
    include_dirs: Sequence[Path] = ()
    options: Sequence[str] = ()
    counted: Path | None = None
    _store: Store = field(init=False)

    def __post_init__(self) -> None:
        kept = cache_folder() if self.counted is None else self.counted / "kept"
        self._store = Store(kept)
        environment = [os.environ.get(name, "") for name in _VARIABLES]
        at_home = not any(environment) and all(_NAMES_NO_FILE.fullmatch(option) for option in self.options)
        self._state = digest(
            str(_FORMAT), _package_state(self.simulator.include), self.compiler.identity, str(self.arch),
            str(self.simulator.library), str(self.simulator.include), *environment, "" if at_home else _here(),
            str(len(self.options)), *self.options, str(len(self.include_dirs)), *map(str, self.include_dirs),
        )  # fmt: skip

    @property
    def _work(self) -> Path:
        """A folder for temporary files; asked for each time, since whoever tidies up may have removed it."""
        return scratch_folder(other=self._store.folder) if self.counted is None else self.counted

    # -- Libraries --

    def library(self, inputs: Sequence[Input], instance: str = "", behind: str = "") -> Path:
        """Return the library of sources with the descriptions of their definitions, and load it.

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
            If there is no place for compiled files, or the library cannot be loaded.
        """
        return self._with_place(lambda: self._library(inputs, instance, behind))

    def linked(self, inputs: Sequence[Input], instance: str = "", behind: str = "") -> Linked:
        """Return what `library` loads, without loading it: nothing of the sources runs. The arguments are the same.

        Raises
        ------
        CompileError
            If the translator, the compiler or the linker refuses them.
        NotInitializedError
            If there is no place for compiled files.
        """

        def made() -> Linked:
            known = self._known_name(inputs, instance, behind)
            noted = self._noted(known)
            entry = None if noted is None else self._store.read(noted)
            if noted is not None and entry is not None:
                return Linked(noted, entry.data, kept=True)
            name, objects = self._compile(known, inputs, instance, behind)
            entry = self._store.read(name)
            return Linked(name, self._link(name, objects) if entry is None else entry.data, kept=False)

        return self._with_place(made)

    def _with_place(self, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except OSError as error:  # full, read-only or removed
            place = text_shown(str(error.filename or self._store.folder))
            reason = f"{place}: {error.strerror or error}"
            raise NotInitializedError(f"{reason}: there is no place for compiled files") from None

    def _library(self, inputs: Sequence[Input], instance: str, behind: str) -> Path:
        known = self._known_name(inputs, instance, behind)
        noted = self._noted(known)
        found = None if noted is None else self._loaded(noted)
        if found is not None:
            return found
        name, objects = self._compile(known, inputs, instance, behind)
        return self._loaded(name) or loaded(name, self._link(name, objects), self._work)

    def _known_name(self, inputs: Sequence[Input], instance: str, behind: str) -> str:
        """Return the name of the entry that tells which library some sources led to last time."""
        parts = [part for source in inputs for part in (source.name, _place_of(source), source.text)]
        return f"library-{digest(self._state, instance, behind, *parts)}.json"

    def _compile(self, known: str, inputs: Sequence[Input], instance: str, behind: str) -> tuple[str, list[Compiled]]:
        """Compile sources; return the name of the entry of their library, and their objects."""
        expander = Expander(self.include_dirs, [self.simulator.include])
        sources = [expander.expand(source.text, source.name, source.folder) for source in inputs]
        texts = [self.translated(source, with_python=True) for source in sources]
        if behind:
            texts[-1] += f"\n#line 1 {quoted(instance)}\n{behind}\n"
        objects = self._objects(list(zip(texts, sources, strict=True)))
        if len(objects) > 1 and not are_allowed(self.options):
            self._refuse_what_cards_lack(objects)
        name = f"{_stem(inputs[0].name)}-{digest(self._state, *(each.name for each in objects))}.so"
        self._remember(known, name, sources, objects)
        return name, objects

    def _objects(self, works: Sequence[tuple[str, Source]]) -> list[Compiled]:
        if len(works) == 1:
            return [self.object(*works[0])]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(self.object, *zip(*works, strict=True)))

    def _noted(self, known: str) -> str | None:
        """Return the name of the library of last time, if no header has changed."""
        entry = self._store.read(known)
        if entry is None:
            return None
        noted = entry.notes
        try:
            same = all(digest(read_text(Path(path))) == state for path, state in noted["files"].items())
        except OSError:
            return None
        if not same or any(os.path.isfile(path) for path in noted["absent"]):
            return None
        return str(noted["library"]) if states_of(noted["headers"]) == noted["headers"] else None

    def _remember(self, known: str, library: str, sources: Iterable[Source], objects: Iterable[Compiled]) -> None:
        noted: dict[str, Any] = {
            "library": library,
            "files": {str(path.absolute()): state for source in sources for path, state in source.states.items()},
            "absent": sorted({str(path.absolute()) for source in sources for path in source.absent}),
            "headers": {path: state for each in objects for path, state in each.headers.items()},
        }
        with self._store.writer() as writer:
            writer.put(known, b"", noted)

    # -- Sources --

    def translated(self, source: Source, *, with_python: bool = False) -> str:
        """Return a source as C++.

        Raises
        ------
        CompileError
            If something in it has no form in C++.
        """
        try:
            text = with_spelled_words(source.text, source.name, macros_in(self.options))
            text = with_entries(text, source.name, for_python=with_python)
            # Without its first line, which repeats the start of the text.
            return translate(text, source.name, uses_std=source.uses_std).partition("\n")[2]
        except TranslationError as error:
            raise CompileError(str(error)) from None

    def object(self, text: str, source: Source, words: Sequence[str] | None = None) -> Compiled:
        """Return the object file of a translated source.

        Parameters
        ----------
        text : str
            The translated source.
        source : Source
            The source that it was made from.
        words : sequence of str, optional
            Options of the compiler instead of `compile_options`.

        Raises
        ------
        CompileError
            If the compiler refuses it.
        """
        name = f"{_stem(source.name)}-{digest(self._state, text, *source.states.values(), '', *(words or ()))}.o"
        entry = self._store.read(name)
        if entry is None or states_of(entry.notes["headers"]) != entry.notes["headers"]:
            compiled, said = self._compiled(name, text, source, self.compile_options() if words is None else words)
        else:
            notes, said = entry.notes, str(entry.notes["said"])
            compiled = Compiled(name, entry.data, notes["headers"], text, printable(source.name), notes["unseen"])
        if said and sys.stderr is not None:
            sys.stderr.write(said)
        return compiled

    def _compiled(self, name: str, text: str, source: Source, words: Sequence[str]) -> tuple[Compiled, str]:
        with self._store.writer() as writer:
            folder = Path(mkdtemp(dir=self._work))
            try:
                target, listed, dump = folder / name, folder / "headers.d", folder / "final.ll"
                begin = time.time_ns()
                said = self._make(text, source, words, target, listed, dump)
                headers = self._headers_in(listed)
                data = target.read_bytes()
                compiled = Compiled(name, data, headers, text, printable(source.name), self._unseen_in(data, dump))
                if not are_allowed(words):
                    self._refuse_what_cards_lack([compiled])
                # A header that was written while the compiler ran may have been read before.
                if not any(state and int(state.split()[0]) >= begin for state in headers.values()):
                    writer.put(name, data, {"said": said, "headers": headers, "unseen": compiled.unseen})
            finally:
                if self.counted is None:
                    remove_tree(folder)
        return compiled, said

    def _make(self, text: str, source: Source, words: Sequence[str], target: Path, listed: Path, final: Path) -> str:
        """Make an object file, its list of headers and the text of its final code; return the warnings."""
        listing = ["-MD", "-MF", str(listed)]
        if are_allowed(words):
            return self.run_compiler(text, source, [*words, *listing], target)
        if self.compiler.kind == "GNU":
            return self.run_compiler(text, source, [*words, *listing, f"{DUMP}{final}"], target)
        names = listed.with_suffix(".txt")
        if self.compiler.is_zig:  # it writes either a list for make or LLVM's text
            listing = ["-Xclang", "-header-include-file", "-Xclang", str(names), "-Wno-unused-command-line-argument"]
        # The object is made of the text that is read: there is nothing else in it.
        said = self.run_compiler(text, source, [*words, *listing, "-emit-llvm", "-fno-lto"], final, "-S")
        if names.exists():
            lines = names.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
            listed.write_bytes(f"object: {' '.join(map(for_make, lines))}\n".encode("utf-8", "surrogateescape"))
        warnings_of([*self.compiler.command, *_FROM_LLVM, "-c", final, "-o", target], final.parent)
        return said

    def _unseen_in(self, data: bytes, dump: Path) -> Contents:
        folders = (*_OF_SYSTEM, f"{self.simulator.include}/")

        def is_system(file: str) -> bool:
            return file.startswith(folders) or (self.compiler.is_zig and "/ziglang/lib/" in file)

        return read_unseen(data, dump, self.compiler.kind, is_system) if dump.exists() else {}

    def _refuse_what_cards_lack(self, objects: Sequence[Compiled]) -> None:
        """Refuse calls of the host in kernels, and accesses that no checker would see."""
        checked = [Checked(Elf(each.data), each.unseen, each.source) for each in objects if is_elf(each.data)]
        functions = Functions(self.simulator.library, [str(word) for word in self.compiler.command])
        folder = Path(mkdtemp(dir=self._work))
        try:
            messages = messages_of(checked, functions, folder)
        finally:
            remove_tree(folder)
        if messages:
            raise CompileError("\n".join(messages))

    def _headers_in(self, listed: Path) -> dict[str, str]:
        own = (*_OF_SYSTEM, f"{self._work}/", f"{self.simulator.include}/")
        found = dependencies_in(listed) if listed.exists() else []
        return states_of(path for path in found if not path.startswith(own))

    def run_compiler(self, text: str, source: Source, words: Sequence[str], target: Path, step: str = "-c") -> str:
        """Compile a translated source as far as `step` says, and return the warnings of the compiler.

        Raises
        ------
        CompileError
            If the compiler refuses it.
        """
        self._announce()
        folder = Path(mkdtemp(dir=self._work))
        try:
            file = folder / "source.cpp"
            words, before = behind_headers(words, self.simulator.include, source.own)
            with file.open("w", encoding="utf-8", errors="surrogateescape", newline="") as opened:
                opened.write(before + text)
            # Findings and messages of the machine name the source, not this file. GCC does not
            # escape all characters.
            named = f"-ffile-prefix-map={file}={printable(source.name)}"
            command: list[str | Path] = [*self.compiler.command, *words, named, "-x", "c++", step, file, "-o", target]
            said = readable(warnings_of(command, folder), str(self.simulator.include), source.text, text)
        except CompileError as error:
            raise CompileError(readable(str(error), str(self.simulator.include), source.text, text)) from None
        finally:
            remove_tree(folder)
        if not target.exists():
            raise CompileError(f"{source.name}: the compiler wrote nothing: an option makes it do something else")
        return said

    def _announce(self) -> None:
        """Announce a long step of the compiler that happens once."""
        if not self.compiler.is_zig:
            return
        mark = f"zig-{digest(self.compiler.identity)}.mark"
        if self._store.read(mark) is not None:
            return
        print("pymluops: the compiler of the package ziglang builds its C++ library once: a minute", file=sys.stderr)
        folder = Path(mkdtemp(dir=self._work))
        try:
            source = folder / "empty.cpp"
            source.touch()
            warnings_of([*self.compiler.command, "-shared", "-fPIC", source, "-o", folder / "empty.so"], folder)
        finally:
            remove_tree(folder)
        with self._store.writer() as writer:
            writer.put(mark, b"", {})

    def compile_options(self, first: str = "mluops_module.h") -> list[str]:
        """Return the options for a translated source, which sees the header `first` before all else."""
        return [
            *kernel_options(self.arch, self.compiler.kind),
            *("-O2", "-ffunction-sections", *self._taken()),
            *(_coverage.COMPILE if self.counted is not None else ()),
            *(f"-I{folder}" for folder in self.include_dirs),
            *("-isystem", str(self.simulator.include)),  # messages are then about the source, not about our macros
            "-Wno-unknown-pragmas",  # those of BANG C
            *extensions(self.compiler.kind),
            *("-include", first),
        ]

    def _taken(self) -> list[str]:
        """Return the options as the compiler takes them, whose messages have no colours."""
        words = for_compiler(self.options, self.compiler.kind)
        plain = [word for word in words if not word.startswith("-fdiagnostics-color")]
        return as_clang_warns(plain, self.compiler.command, self.compiler.kind)

    # -- Files --

    def _link(self, name: str, objects: Sequence[Compiled]) -> bytes:
        """Link objects, and return the library."""
        with self._store.writer() as writer:
            folder = Path(mkdtemp(dir=self._work))
            try:
                files = [folder / f"{i}.o" for i in range(len(objects))]
                for file, each in zip(files, objects, strict=True):
                    file.write_bytes(each.data)
                library, target = self.simulator.library, folder / name
                options = ["-shared", f"-Wl,-rpath,{library.parent}", "-Wl,-z,defs", "-Wl,-Bsymbolic"]
                options += [*(_coverage.LINK if self.counted is not None else ()), "-o", str(target)]
                command: list[str | Path] = [*self.compiler.command, *files, library, *options]
                try:
                    warnings_of(command, folder)
                except CompileError:
                    absent = absent_functions([each.data for each in objects], command, folder)
                    if absent is None:
                        raise
                    warnings_of([*command, *self._stand_ins(absent, folder)], folder)
                hide_constructors(target)
                data = target.read_bytes()
            finally:
                remove_tree(folder)
            writer.put(name, data, {})
        return data

    def _stand_ins(self, names: Sequence[str], folder: Path) -> list[Path]:
        """Compile functions in place of those that nothing defines, and return the object file."""
        source, target = folder / "absent.cpp", folder / "absent.o"
        source.write_text(stand_ins(names), encoding="ascii")
        warnings_of([*self.compiler.command, "-fPIC", "-O1", "-c", source, "-o", target], folder)
        return [target]

    def _loaded(self, name: str) -> Path | None:
        """Return the library that an entry of the cache holds; None if there is none that can be loaded."""
        path = loaded(name)
        if path is not None:
            return path
        entry = self._store.read(name)
        try:
            return None if entry is None else loaded(name, entry.data, self._work)
        except NotInitializedError:  # the simulator that it was linked with has changed
            return None


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _place_of(source: Input) -> str:
    return "" if source.folder is None else str(source.folder.absolute())


def _stem(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", Path(name).stem, flags=re.ASCII)[:60] or "_"
