"""Host functions of kernels, called in a process with a simulated device.

Host functions are ``extern "C"``; they launch kernels through CNRT and return what CNRT said. They
are called in a process of their own, so that neither a device that another test set nor a kernel
that hangs matters to anything else.
"""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import pymluops
from pymluops import sim
from pymluops.sim import Finding
from pymluops.sim.toolchain import Simulator, card_of

HERE = Path(__file__).resolve().parent
SECONDS_PER_CALL = 120

#: cnrtSuccess, and what a launch that a checker or the machine ended returns.
SUCCESS, KERNEL_TRAP = 0, 100132


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
        self._arguments = str(simulator.library), card_of(arch)["name"]
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
        rules: str = "",
        seconds: float = SECONDS_PER_CALL,
    ) -> Outcome:
        """Call a host function. Arrays go as pointers, Python numbers as int and float, NumPy scalars as what they are.

        `checks` names the checkers, separated by commas; `rules` are those of
        `pymluops.sim.set_rules`. The caller's arrays hold what the function wrote.
        """
        if self._pipe is None:
            self._start()
        assert self._pipe is not None
        self._pipe.send((str(library), function, arguments, checks, rules))
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
        mine, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *self._arguments), daemon=True)
        self._process.start()
        theirs.close()
        self._pipe = mine


def serve(pipe: Connection, library: str, model: str) -> None:
    """The other side of :class:`Device`: answers calls until the pipe is closed."""
    ctypes.CDLL(library)  # the machine, which may be that of another build
    pymluops.use("sim")
    sim.set_device(model)
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        try:
            answer: Outcome | BaseException = perform(*request)
        except Exception as error:
            answer = error
        pipe.send(answer)


def perform(library: str, function: str, arguments: Sequence[Any], checks: str, rules: str) -> Outcome:
    sim.set_checks(checks)
    sim.set_rules(rules)
    sim.clear_findings()
    arrays = [np.ascontiguousarray(argument) for argument in arguments if isinstance(argument, np.ndarray)]
    rest = iter(arrays)
    passed = [as_c(next(rest) if isinstance(argument, np.ndarray) else argument) for argument in arguments]
    code = getattr(ctypes.CDLL(library), function)(*passed)
    return Outcome(code, arrays, sim.findings(), sim.report())


def as_c(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, np.generic):
        return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())
    if isinstance(argument, float):
        return ctypes.c_float(argument)
    return None if argument is None else ctypes.c_int(argument)
