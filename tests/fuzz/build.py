"""Compiles the C++ fuzz targets, the broken libraries that prove them alive, and a library with the sanitizers."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
NATIVE = REPOSITORY / "native"
INCLUDES = (NATIVE / "include", NATIVE / "sim" / "include", HERE / "native", NATIVE / "tests")
HEADERS = (
    *(INCLUDES[0] / name for name in ("mlu_op.h", "mluops_ext.h")),
    *(INCLUDES[1] / name for name in ("cnrt.h", "mlusim.h", "mlusim_profile.h")),
)
PROBLEM_FILE = NATIVE / "tests" / "problem_file.h"

#: The sources of each target beside those that all have.
TARGETS = {
    "abi_any": ("abi_any",),
    "abi_operators": ("abi_operators", "problem", "store"),
    "cnrt": ("cnrt", "device_model"),
}
COMMON = ("abi", "finding", "memory", "objects")
SANITIZE = (
    "-fsanitize=address,undefined",
    "-fno-sanitize=enum",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def installed_library(kind: str) -> Path:
    """The library of the installed package, ``cpu`` or ``sim``."""
    import pymluops

    return Path(pymluops.load(kind).path)


def run_tool(command: Sequence[str | Path]) -> None:
    """Run a compiler or CMake; what it says is shown if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


@dataclass
class Build:
    """Compiles into a folder, where it finds again what it compiled before."""

    folder: Path
    compiler: str = os.environ.get("MLUOPS_TEST_COMPILER", "g++")
    sanitize: bool = False
    libfuzzer: bool = False

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        state = hashlib.sha256(repr(self.options).encode())
        for path in (*HEADERS, *sorted((HERE / "native").glob("*.h")), PROBLEM_FILE, HERE / "table.py"):
            state.update(path.read_bytes())
        state.update(subprocess.run([self.compiler, "--version"], capture_output=True, check=True).stdout)
        self.state = state

    @property
    def options(self) -> list[str]:
        options = ["-std=c++17", "-O1", "-g", "-fPIC", *WARNINGS, *(f"-I{path}" for path in INCLUDES)]
        if self.libfuzzer:
            options.append("-fsanitize=fuzzer-no-link")
        return [*options, *SANITIZE] if self.sanitize else options

    def _key(self, *parts: bytes) -> str:
        state = self.state.copy()
        for part in parts:
            state.update(part)
        return state.hexdigest()[:16]

    def _object(self, source: Path) -> Path:
        target = self.folder / f"{source.stem}-{self._key(source.read_bytes())}.o"
        if not target.is_file():
            unfinished = target.with_suffix(f".{os.getpid()}.part")
            run_tool([self.compiler, *self.options, "-c", source, "-o", unfinished])
            unfinished.rename(target)
        return target

    def _table(self) -> Path:
        path = self.folder / "table.cpp"
        run_tool([sys.executable, HERE / "table.py", path, *HEADERS])
        return path

    def _link(self, objects: Sequence[Path], name: str, options: Sequence[str]) -> Path:
        target = self.folder / f"{name}-{self._key(*(path.name.encode() for path in objects))}"
        if not target.is_file():
            unfinished = target.with_suffix(f".{os.getpid()}.part")
            extra = SANITIZE if self.sanitize else ()
            run_tool([self.compiler, *objects, *extra, *options, "-o", unfinished, "-ldl", "-lpthread"])
            unfinished.rename(target)
        return target

    def targets(self, names: Sequence[str]) -> dict[str, Path]:
        """The programs of targets."""
        sources = [HERE / "native" / f"{stem}.cpp" for name in names for stem in TARGETS[name]]
        common = [self._table(), *(HERE / "native" / f"{stem}.cpp" for stem in COMMON)]
        if not self.libfuzzer:
            common.append(HERE / "native" / "driver.cpp")
        if "abi_operators" in names:
            run_tool([sys.executable, REPOSITORY / "tests" / "problem_files", self.folder, "varied"])
        every = [*common, *sources]
        with ThreadPoolExecutor(2) as pool:
            objects = dict(zip(every, pool.map(self._object, every)))
        options = ["-fsanitize=fuzzer"] if self.libfuzzer else []
        return {
            name: self._link(
                [objects[path] for path in (*common, *(HERE / "native" / f"{stem}.cpp" for stem in TARGETS[name]))],
                name,
                options,
            )
            for name in names
        }

    def broken(self, name: str) -> Path:
        """The library of ``broken/NAME.cpp``, whose functions are called instead of the true ones."""
        return self._link([self._object(HERE / "broken" / f"{name}.cpp")], f"broken_{name}", ["-shared"])


def sanitized_library(folder: Path, kind: str) -> Path:
    """The library of this repository with AddressSanitizer and UndefinedBehaviorSanitizer, built with CMake."""
    if shutil.which("cmake") is None or shutil.which("ninja") is None:
        raise SystemExit("--sanitize needs cmake and ninja")
    run_tool(
        [
            "cmake", "-S", REPOSITORY, "-B", folder, "-G", "Ninja", "-DMLUOPS_SANITIZE=ON",
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DMLUOPS_TARGETS={'cpu' if kind == 'cpu' else 'cpu;sim'}",
        ]
    )  # fmt: skip
    run_tool(["cmake", "--build", folder, "--parallel", "--target", f"mluops_{kind}"])
    return folder / "native" / ("sim" if kind == "sim" else "") / f"libmluops_{kind}.so"
