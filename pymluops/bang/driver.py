"""``bangcc``: compiles and links BANG C from the command line, as the vendor's compiler does, for the simulated MLU.

Options that only matter to a card are ignored; those of a C++ compiler go to the one that is found
here. The device header ``bang.h`` is included before each ``.mlu`` file. A host source in which
BANG C stands, or which includes a header with BANG C, is treated like a ``.mlu`` file; others are
compiled as they are.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from pymluops._cache.scratch import temporary_folder
from pymluops._regular import require_regular
from pymluops._shown import one_line, path_text
from pymluops._whole_file import whole_file
from pymluops.bang._build import Build
from pymluops.bang._c_names import with_c_names
from pymluops.bang._clang_options import extensions, for_compiler
from pymluops.bang._compilers import Compiler, find_compiler, warnings_of
from pymluops.bang._dependencies import for_make
from pymluops.bang._headers import CONSTRUCTS, Expander, Source, read_text
from pymluops.bang._macros import behind_headers
from pymluops.bang._options import Options, UsageError, read_options
from pymluops.bang._variants import can_merge, merge
from pymluops.bang._warnings import as_clang_warns
from pymluops.cli import fill_standard_streams
from pymluops.errors import MluOpError
from pymluops.sim._neuware import neuware
from pymluops.sim.toolchain import CompileError, Simulator, kernel_options

__all__ = ["main"]

VERSION = "v4.0.0"  # of the toolkit whose language and headers this one stands for
_HELP = """usage: bangcc [option]... file...

Compiles BANG C (.mlu) and C++ (.cpp, .cc, .cxx) for the simulated MLU, and links objects, libraries and programs.

  --bang-mlu-arch=ARCH   mtp_270, mtp_290, mtp_372 or mtp_592 (the default); of several, the device chooses at run time
  -c -S -E -o FILE       as a C++ compiler does; so do -I -isystem -D -U -include -O -g -std -f -m -W -w -x
  -fsyntax-only          only messages; @FILE stands for the words in a file
  -shared -L -l -Wl,     for the linker; -lcnrt and -lcndrv are the simulator
  -M -MM -MD -MMD        dependencies; with -MF -MT -MQ -MP
  --print-neuware        print a folder to set NEUWARE_HOME to
  --version --help

PYMLUOPS_CXX names the C++ compiler, PYMLUOPS_CACHE_DIR the folder for compiled files. Programs and libraries run on
the card of their architecture, or on the one that PYMLUOPS_SIM_DEVICE names when they start.
"""
#: Code that a program runs before main() and at its end: it refuses unknown cards, and reports
#: findings.
_CARD_SOURCE = """#include <cstdio>
#include <cstdlib>
#include "mlusim.h"
__attribute__((constructor)) static void choose_card() {
  const char *name = std::getenv("PYMLUOPS_SIM_DEVICE");
  if (name == nullptr || *name == 0 || mlusimSetDeviceByName(name) == 0) return;
  std::fprintf(stderr, "PYMLUOPS_SIM_DEVICE: %s\\n", mlusimGetLastError());
  std::exit(2);
}
__attribute__((destructor)) static void tell_findings() {
  mlusimTellFindings();
}
"""
#: Steps that compile to objects; "" goes on to the linker.
_OBJECTS = ("", "-c", "-fsyntax-only")
#: What compilers say about options that they do not know.
_UNKNOWN_OPTION = re.compile(
    r"^(\S+): error: (?:unrecognized command-line option|unknown argument:?) [‘'](.*?)[’'].*$", re.MULTILINE
)
#: Macros that a source defines for the headers of the system.
_FEATURES = re.compile(r"^[ \t]*#[ \t]*define[ \t]+_(?:\w*SOURCE\w*|FILE_OFFSET_BITS)\b[^\n]*", re.MULTILINE)
_SIMULATOR_LIBRARIES = ("-lcnrt", "-lcndrv")
_TENSOR_LIBRARY = "-lcnnl"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 1 if a source or the linker is refused, 2 for bad arguments."""
    fill_standard_streams()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            _run(sys.argv[1:] if arguments is None else arguments)
    except UsageError as error:
        return _fail(f"bangcc: {error} (see bangcc --help)", 2)
    except MluOpError as error:
        return _fail(f"bangcc: {one_line(error.detail)}", 2)
    except CompileError as error:
        return _fail(
            _UNKNOWN_OPTION.sub(r"bangcc: \2: is no option of this compiler, nor of \1", str(error)).rstrip("\n"), 1
        )
    except OSError as error:
        name = f"{path_text(error.filename)}: " if error.filename else ""
        return _fail(f"bangcc: {name}{error.strerror}", 1)
    except MemoryError:
        return _fail("bangcc: there is not enough memory", 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    return 0


def _run(arguments: Sequence[str]) -> None:
    options = read_options(arguments)
    if options.answer:
        _print_answer(options.answer)
    else:
        _Driver(options).run()


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"bangcc: {one_line(str(message))}", file=sys.stderr)


def _fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def _print_answer(asked: str) -> None:
    if asked == "--print-neuware":
        print(neuware())
    elif asked == "-dumpversion":
        print(VERSION.removeprefix("v"))
    elif asked == "--version":
        print(f"bangcc {VERSION}\nBANG C for the simulated MLU, pymluops {metadata.version('pymluops')}")
    else:
        print(_HELP, end="")


def _require_folder(file: Path) -> None:
    """Refuse a file that cannot be written: the messages of those who try would name others."""
    if file.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not file.parent.is_dir():
        raise OSError(errno.ENOENT, "there is no such folder", str(file))


class _Driver:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._simulator = Simulator.installed()
        folders = [Path(folder) for folder in (*options.include_dirs, *options.system_dirs)]
        self._expander = Expander(folders, [self._simulator.include])
        self._compiler: Compiler = find_compiler()
        options.compiler = for_compiler(options.compiler, self._compiler.kind)
        state = (os.getcwd(), *options.preprocessor, *options.compiler, *options.include_dirs, "", *options.system_dirs)
        archs = options.all_archs
        if len(archs) > 1 and (options.step not in _OBJECTS or not can_merge()):
            if options.step in _OBJECTS:
                said = "several architectures need as, ld, nm and objcopy on x86-64; compiling for the newest one"
                print(f"bangcc: {said}", file=sys.stderr)
            archs = [options.arch]
        self._builds = {arch: Build(self._compiler, arch, self._simulator, folders, state) for arch in archs}

    def run(self) -> None:
        options = self._options
        for name, language in options.inputs:
            require_regular(Path(name), os.stat(name))
            if not language and options.step:
                print(f"bangcc: {name}: is for the linker, which {options.step} leaves out", file=sys.stderr)
        for file in filter(None, (options.output, options.dependency_file)):
            _require_folder(Path(file))
        sources = [entry for entry in options.inputs if entry[1]]
        if options.step:
            for name, language in sources:
                self._compile(name, language, self._target(name))
            return
        with temporary_folder() as folder:
            objects = {name: folder / f"{i}.o" for i, (name, _) in enumerate(sources)}
            for name, language in sources:
                self._compile(name, language, objects[name])
            self._link(objects, folder)

    def _target(self, name: str) -> Path | None:
        suffix = {"-c": ".o", "-S": ".s"}.get(self._options.step)
        if self._options.step == "-fsyntax-only":
            return None
        if self._options.output is not None:
            return Path(self._options.output)
        return Path(Path(name).stem + suffix) if suffix else None

    # -- Sources --

    def _compile(self, name: str, language: str, target: Path | None) -> None:
        """Compile one source; None: to the standard output."""
        source = self._expander.expand(read_text(Path(name)), name, Path(name).parent)
        self._write_dependencies(source, target)
        if self._options.step == "-M":
            return
        if language == "device" or CONSTRUCTS.search(source.text):
            self._compile_device(source, target)
        else:
            self._compile_host(source, target)

    def _compile_device(self, source: Source, target: Path | None) -> None:
        options = self._options
        build = self._builds[options.arch]
        text = build.translated(source)
        if options.step in _OBJECTS:
            compiled = {arch: each.object(text, source, self._words(arch)) for arch, each in self._builds.items()}
            if target is None:  # only the syntax is asked for
                return
            with whole_file(target) as file:
                self._write_object({arch: each.data for arch, each in compiled.items()}, file)
                file.write_bytes(with_c_names(file.read_bytes(), text))
            return
        words = self._words(options.arch)
        if target is not None:
            with whole_file(target) as file:
                sys.stderr.write(build.run_compiler(text, source, words, file, options.step))
            return
        with temporary_folder() as folder:
            sys.stderr.write(build.run_compiler(text, source, words, folder / "out", options.step))
            sys.stdout.flush()
            sys.stdout.buffer.write((folder / "out").read_bytes())

    @staticmethod
    def _write_object(objects: dict[int, bytes], target: Path) -> None:
        """Write an object for one architecture, or one that chooses among several."""
        if len(objects) == 1:
            target.write_bytes(*objects.values())
            return
        with temporary_folder() as folder:
            files = {arch: folder / f"{arch}.o" for arch in objects}
            for arch, data in objects.items():
                files[arch].write_bytes(data)
            merge(files, target)

    def _words(self, arch: int) -> list[str]:
        """Return the options for a translated source."""
        words = [
            *kernel_options(arch, self._compiler.kind),
            *("-O2", "-ffunction-sections"),
            *self._standard(),
            *("-include", "bang.h"),  # before the headers that options include
            # Messages are made readable, which colours would prevent; and objects are read.
            *(word for word in self._common() if not word.startswith(("-fdiagnostics-color", "-flto"))),
            "-Wno-unknown-pragmas",  # those of BANG C
        ]
        self._say(words)
        return words

    def _compile_host(self, source: Source, target: Path | None) -> None:
        options, name = self._options, source.name
        standard = [f"-std={options.standard}"] if options.standard else []
        language = ["-x", "c"] if name.endswith(".c") else ["-x", "c++"]
        common, before = self._common(language[1]), ""
        if source.own:
            common, before = behind_headers(common, self._simulator.include, source.own)
        with temporary_folder() as folder:
            if before:
                # The headers of the system are read here for the first time.
                before = "".join(f"{found[0]}\n" for found in _FEATURES.finditer(source.text)) + before
                (folder / "macros.h").write_text(before, encoding="utf-8", errors="surrogateescape")
                common += ["-include", str(folder / "macros.h")]
            words = ["-fPIC", "-fno-strict-aliasing", *standard, *common, *language, options.step or "-c", name]
            self._say(words)
            if target is None and options.step != "-fsyntax-only":
                subprocess.run([*self._compiler.command, *words], check=False)
            else:
                output = [] if target is None else ["-o", str(target)]
                sys.stderr.write(warnings_of([*self._compiler.command, *words, *output], folder))

    def _common(self, language: str = "c++") -> list[str]:
        options = self._options
        return [
            *as_clang_warns(options.compiler, self._compiler.command, self._compiler.kind, language),
            *extensions(self._compiler.kind),
            *options.preprocessor,
            *(f"-I{folder}" for folder in options.include_dirs),
            *(word for folder in options.system_dirs for word in ("-isystem", folder)),
            *("-isystem", str(self._simulator.include)),
        ]

    def _standard(self) -> list[str]:
        """Return the language level, if it is one that the device header can be read with."""
        level = re.search(r"(\d\w)$", self._options.standard)
        return [f"-std={self._options.standard}"] if level and level[1] in ("17", "1z", "20", "2a", "23", "2b") else []

    # -- Dependencies --

    def _write_dependencies(self, source: Source, target: Path | None) -> None:
        options = self._options
        if not options.dependencies:
            return
        # A program that is linked at once leaves no object.
        output = target if options.step in ("-c", "-S", "-E") else None
        targets = options.dependency_targets or [for_make(str(output or Path(source.name).stem + ".o"))]
        names = [source.name, *map(str, source.files)]
        text = f"{' '.join(targets)}: {' '.join(map(for_make, names))}\n"
        if "-MP" in options.dependencies:
            text += "".join(f"{for_make(name)}:\n" for name in names[1:])
        file = options.dependency_file
        if file is None and options.step == "-M":
            file = options.output
        elif file is None:
            stem = Path(options.output) if options.output is not None else Path(Path(source.name).stem)
            file = str(stem.with_suffix(".d"))
        if file is None:
            sys.stdout.write(text)
        else:
            with whole_file(Path(file)) as whole:
                whole.write_text(text, encoding="utf-8", errors="surrogateescape")

    # -- Linking --

    def _link(self, objects: dict[str, Path], folder: Path) -> None:
        options = self._options
        library = self._simulator.library
        files = [str(objects.get(word, word)) for word in options.linker if word not in _SIMULATOR_LIBRARIES]
        files = [str(library.with_name("libmlusim_cnnl.so")) if word == _TENSOR_LIBRARY else word for word in files]
        if not options.shared:
            files.append(str(self._card_object(folder)))
        words = [
            *(word for word in options.compiler if not word.startswith(("-g", "-O", "-W", "-fsanitize"))),
            # Foreign libraries have functions that the simulator's library has too: theirs are
            # meant.
            *(("-shared", "-Wl,-Bsymbolic") if options.shared else ()),
            *files,
            *(str(library), f"-Wl,-rpath,{library.parent}"),
            *("-o", options.output or "a.out"),
        ]
        self._say(words)
        sys.stderr.write(warnings_of([*self._compiler.command, *words], folder))

    def _card_object(self, folder: Path) -> Path:
        source, target = folder / "card.cpp", folder / "card.o"
        source.write_text(_CARD_SOURCE, encoding="utf-8")
        words = ["-fPIC", "-O1", f"-I{self._simulator.include}", "-c", str(source), "-o", str(target)]
        warnings_of([*self._compiler.command, *words], folder)
        return target

    def _say(self, words: Sequence[str]) -> None:
        if self._options.verbose:
            print(" ".join([*self._compiler.command, *words]), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
