"""BANG C sources compiled for the simulated device, and host functions of theirs called in another process.

A source is treated by the rewriter of the simulator, compiled once for each architecture and linked with the library of
the sim backend. Its host functions are ``extern "C"``; they launch kernels through CNRT and return what CNRT said. They
are called in a process of their own, so that neither a device that another test set nor a kernel that hangs is anybody
else's concern.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.resources
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
SECONDS_PER_CALL = 120

#: cnrtSuccess, and what a launch that a checker or the machine ended returns.
SUCCESS, KERNEL_TRAP = 0, 100132

#: Bits of mlusimCheck_t.
CHECKS = {"none": 0, "memory": 1, "init": 2, "race": 4, "sync": 8, "align": 16, "all": 31}

#: __BANG_ARCH__ with the sizes of NRAM, WRAM and SRAM in KiB and the model that has it.
ARCHS = {
    270: (512, 1024, 2048, "MLU270"),
    290: (512, 512, 2048, "MLU290"),
    372: (768, 1024, 4096, "MLU370-X8"),
    592: (512, 512, 2048, "MLU590"),
}


# ---- Compiling -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simulator:
    """The files that kernels are compiled with: of the installed package, or of a build folder next to the sources."""

    library: Path
    include: Path
    rewrite: Path

    @staticmethod
    def find() -> Simulator:
        built = os.environ.get("MLUOPS_TEST_SIM_LIBRARY")
        if built:
            sources = HERE.parents[1] / "native" / "sim"
            return Simulator(Path(built).resolve(), sources / "include", sources / "rewrite.py")
        package = Path(str(importlib.resources.files("pymluops")))
        return Simulator(
            (package / "libmluops_sim.so").resolve(), package / "_sim" / "include", package / "_sim" / "rewrite.py"
        )


def kernel_options(arch: int, compiler: str) -> list[str]:
    """What the build compiles kernels with."""
    nram, wram, sram, _ = ARCHS[arch]
    options = [
        "-x", "c++", "-std=c++17", "-O2", "-fPIC", "-ffp-contract=off",
        "-g1", "-gdwarf-4", "-fno-optimize-sibling-calls", "-fno-tree-vectorize", "-fsanitize=thread",
        "-D__BANG__=1", "-D__MLU__=1", f"-D__BANG_ARCH__={arch}",
        f"-D__MLU_NRAM_SIZE__={nram}", f"-D__MLU_WRAM_SIZE__={wram}", f"-D__MLU_SRAM_SIZE__={sram}",
    ]  # fmt: skip
    if "clang" in compiler:
        options += ["-Xclang", "-cl-single-precision-constant", "-Xclang", "-ffloat16-excess-precision=none"]
        options += ["-mllvm", "-tsan-instrument-func-entry-exit=0"]
    else:
        options += ["-fsingle-precision-constant", "--param=tsan-instrument-func-entry-exit=0"]
    return options


class CompileError(Exception):
    """The compiler or the rewriter refused a source; the text is what it said."""


def run_tool(command: Sequence[str | Path]) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise CompileError(done.stdout + done.stderr)


@dataclass
class Workshop:
    """Compiles into a folder, where it finds again what it compiled before."""

    folder: Path
    compiler: str = "g++"
    simulator: Simulator = field(default_factory=Simulator.find)

    def __post_init__(self) -> None:
        self._state = hashlib.sha256()
        headers = [path for folder in (self.simulator.include, HERE) for path in sorted(folder.rglob("*.h"))]
        for path in [*headers, self.simulator.rewrite]:
            self._state.update(path.read_bytes())
        version = subprocess.run([self.compiler, "--version"], capture_output=True, text=True, check=True).stdout
        self._state.update(f"{self.simulator.library} {version}".encode())

    def compile(
        self,
        source: Path | str,
        arch: int = 372,
        *,
        name: str = "source.mlu",
        options: Sequence[str] = (),
    ) -> Path:
        """The shared library of a source: of a file, or of the text of one with the `name` that messages call it by."""
        text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
        name = str(source) if isinstance(source, Path) else name
        options = [*kernel_options(arch, self.compiler), *options, f"-I{HERE}", f"-I{self.simulator.include}"]
        return self.link([self.object(text, name, options, treated=True)], Path(name).stem)

    def object(self, text: str, name: str, options: Sequence[str], *, treated: bool) -> Path:
        """The object file of a source in BANG C, which is `treated` by the rewriter, or in C++."""
        stem = self._stem(Path(name).stem, name, text, *options)
        target = stem.with_suffix(".o")
        if target.is_file():
            return target
        source = stem.with_suffix(".cpp")
        source.write_text(f'#line 1 "{name}"\n{text}', encoding="utf-8")
        if treated:
            original = stem.with_suffix(".mlu")
            original.write_text(text, encoding="utf-8")
            run_tool([sys.executable, self.simulator.rewrite, original, "--output", source, "--name", name])
        unfinished = stem.with_suffix(".part.o")
        run_tool([self.compiler, *options, "-c", source, "-o", unfinished])
        unfinished.rename(target)
        return target

    def link(self, objects: Sequence[Path], name: str) -> Path:
        """The shared library of object files, with the simulator."""
        target = self._stem(name, *(path.name for path in objects)).with_suffix(".so")
        if not target.is_file():
            # Without -fsanitize, which would link the library that the simulator stands in for.
            library, unfinished = self.simulator.library, target.with_suffix(".part.so")
            options = ["-shared", f"-Wl,-rpath,{library.parent}", "-Wl,-z,defs", "-o", unfinished]
            run_tool([self.compiler, *objects, library, *options])
            unfinished.rename(target)
        return target

    def _stem(self, name: str, *parts: str) -> Path:
        key = self._state.copy()
        key.update("\0".join(parts).encode())
        return self.folder / f"{name}-{key.hexdigest()[:20]}"


# ---- Running ---------------------------------------------------------------------------------------------------------


class CFinding(ctypes.Structure):
    """``mlusimFinding``."""

    _fields_ = [
        ("checker", ctypes.c_char * 16), ("rule", ctypes.c_char * 32), ("kernel", ctypes.c_char * 128),
        ("file", ctypes.c_char * 256), ("line", ctypes.c_int32),
        ("other_file", ctypes.c_char * 256), ("other_line", ctypes.c_int32),
        ("task", ctypes.c_int32), ("cluster", ctypes.c_int32), ("core", ctypes.c_int32), ("space", ctypes.c_char * 16),
        ("address", ctypes.c_uint64), ("size", ctypes.c_uint64), ("allocation", ctypes.c_char * 160),
        ("message", ctypes.c_char * 512), ("count", ctypes.c_uint64),
    ]  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """The members of ``mlusimFinding``."""

    checker: str
    rule: str
    kernel: str
    file: str
    line: int
    other_file: str
    other_line: int
    task: int
    cluster: int
    core: int
    space: str
    address: int
    size: int
    allocation: str
    message: str
    count: int


@dataclass(frozen=True)
class Outcome:
    """What a host function returned, the arrays as it left them, and what the simulator found meanwhile."""

    code: int
    arrays: list[np.ndarray]
    findings: list[Finding]
    report: str


class Device:
    """A process with a simulated device. Closes with the ``with`` block."""

    def __init__(self, simulator: Simulator, arch: int = 372) -> None:
        self._arguments = str(simulator.library), ARCHS[arch][3]
        self._process: Any = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._process.join(10)
            if self._process.is_alive():
                self._process.kill()
            self._pipe = None

    def call(
        self,
        library: Path,
        function: str,
        *arguments: Any,
        checks: str = "all",
        seconds: float = SECONDS_PER_CALL,
    ) -> Outcome:
        """Call a host function. Arrays go as pointers, Python numbers as int and float, NumPy scalars as what they are.

        `checks` names the checkers, separated by commas. The caller's arrays hold what the function wrote.
        """
        if self._pipe is None:
            self._start()
        assert self._pipe is not None
        mask = sum(CHECKS[name] for name in checks.split(","))
        self._pipe.send((str(library), function, arguments, mask))
        if not self._pipe.poll(seconds):
            self._process.kill()
            self._pipe = None
            raise TimeoutError(f"{function} did not return within {seconds} seconds")
        try:
            answer = self._pipe.recv()
        except EOFError:
            self._process.join()
            self._pipe = None
            raise RuntimeError(f"{function} ended the process with exit code {self._process.exitcode}") from None
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, Outcome)
        mine = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        for array, written in zip(mine, answer.arrays, strict=True):
            array[...] = written
        return answer

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *self._arguments), daemon=True)
        self._process.start()
        theirs.close()


def serve(pipe: Connection, library: str, model: str) -> None:
    """The other side of :class:`Device`: answers calls until the pipe is closed."""
    simulator = ctypes.CDLL(library)
    simulator.mlusimGetReport.restype = ctypes.c_char_p
    simulator.mlusimGetFindingCount.restype = ctypes.c_uint64
    simulator.mlusimGetFinding.argtypes = [ctypes.c_uint64, ctypes.c_void_p]
    assert simulator.mlusimSetDeviceByName(model.encode()) == 0
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        try:
            answer: Outcome | BaseException = perform(simulator, *request)
        except Exception as error:
            answer = error
        pipe.send(answer)


def perform(simulator: Any, library: str, function: str, arguments: Sequence[Any], mask: int) -> Outcome:
    assert simulator.mlusimSetChecks(mask) == 0
    simulator.mlusimClearFindings()
    arrays = [np.ascontiguousarray(argument) for argument in arguments if isinstance(argument, np.ndarray)]
    rest = iter(arrays)
    passed = [as_c(next(rest) if isinstance(argument, np.ndarray) else argument) for argument in arguments]
    code = getattr(ctypes.CDLL(library), function)(*passed)
    findings = []
    for index in range(simulator.mlusimGetFindingCount()):
        slot = CFinding()
        assert simulator.mlusimGetFinding(index, ctypes.byref(slot)) == 0
        findings.append(as_finding(slot))
    return Outcome(code, arrays, findings, simulator.mlusimGetReport().decode())


def as_c(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, np.generic):
        return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())
    if isinstance(argument, float):
        return ctypes.c_float(argument)
    return None if argument is None else ctypes.c_int(argument)


def as_finding(slot: CFinding) -> Finding:
    values = {}
    for member in CFinding._fields_:
        value = getattr(slot, member[0])
        values[member[0]] = value.decode() if isinstance(value, bytes) else value
    return Finding(**values)


# ---- In this process -------------------------------------------------------------------------------------------------

EMPTY = """
#include "bang.h"

__mlu_entry__ void empty() {}

extern "C" int launch_and_wait() {
  empty<<<cnrtDim3_t{4, 1, 1}, cnrtFuncTypeUnion1, nullptr>>>();
  return cnrtQueueSync(nullptr);
}
"""


def empty_launch(folder: Path) -> Callable[[], int]:
    """A function that launches a Union1 kernel without work, here and now, and waits for it."""
    launch: Callable[[], int] = ctypes.CDLL(str(Workshop(folder).compile(EMPTY, name="empty.mlu"))).launch_and_wait
    return launch
