"""Runs of one launch: the same arguments again and again, and the results of each run."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pymluops._core import ArrayArgument, Backend, DeviceArray, Queue
from pymluops._finding import Finding
from pymluops.bang._module import Launch, release
from pymluops.bang._values import array_of
from pymluops.errors import ExecutionFailedError
from pymluops.sim._findings import clear_findings_of, findings_from
from pymluops.sim._schedules import Schedule, schedule_of, set_schedule_of

__all__ = ["Repeated", "Run"]

#: The log of findings holds 10000, and a launch adds 100 at most.
_MOST_BEFORE_RUN = 9000


class Run(NamedTuple):
    """One run of a launch.

    Attributes
    ----------
    schedule : Schedule
        That it followed.
    outputs : dict of str to ndarray
        By parameter, the contents of the arrays for pointers that are not const at its end, even if
        it failed.
    findings : tuple of Finding
        The findings of the run.
    error : str
        The report about the launch if it failed; else empty.
    """

    schedule: Schedule
    outputs: dict[str, NDArray[Any]]
    findings: tuple[Finding, ...]
    error: str


class Repeated:
    """A launch with its arguments, which `run` runs any number of times from the same start.

    Arrays in host memory stay as they are. `DeviceArray` arguments get back their first contents
    when the ``with`` statement ends that this is used in.

    Parameters
    ----------
    launch : Launch
        The kernel, with its dim and kind.
    arguments : sequence
        As for a call of the launch.

    Raises
    ------
    BadParamError
        If an argument does not fit the signature.
    """

    def __init__(self, launch: Launch, arguments: Sequence[Any]) -> None:
        self.launch = launch
        self.backend = launch.kernel.module.backend
        self._arguments = tuple(arguments)
        self._names = [parameter.name for parameter in launch.kernel.signature.parameters]
        self._arrays: list[int] = []  # the numbers of the arguments that are arrays
        self._writes: list[int] = []  # of those that the kernel may write to
        values = launch.convert(arguments)
        for number, value in enumerate(values):
            if isinstance(value, ArrayArgument):
                self._arrays.append(number)
                self._writes += [number] if value.writes else []
        release(values)
        self._on_device = [number for number in self._arrays if isinstance(arguments[number], DeviceArray)]
        self._start = {number: arguments[number].to_host() for number in self._on_device}

    def __enter__(self) -> Repeated:
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()

    def _restore(self) -> None:
        for number in self._on_device:
            self._arguments[number].copy_from(self._start[number])

    def run(self, schedule: Schedule | None = None) -> Run:
        """Run the launch and wait for it.

        Parameters
        ----------
        schedule : Schedule, optional
            Which it follows; if not given, that which is set.
        """
        self._restore()
        arguments = list(self._arguments)
        for number in self._arrays:
            if number not in self._on_device:
                arguments[number] = copy.deepcopy(arguments[number])
        first = _room_for_findings(self.backend)
        schedule = schedule or schedule_of(self.backend)
        error, left = self._follow(schedule, arguments)
        outputs = {
            self._names[number]: left[self._names[number]]
            if self._names[number] in left
            else self._content(number, arguments[number])
            for number in self._writes
        }
        return Run(schedule, outputs, tuple(findings_from(self.backend, first)), error)

    def _follow(self, schedule: Schedule, arguments: list[Any]) -> tuple[str, dict[str, NDArray[Any]]]:
        """Launch, and return the report of a failure, with the contents that arrays in host memory would get."""
        launch = self.launch
        before = schedule_of(self.backend)
        set_schedule_of(self.backend, str(schedule))
        try:
            with Queue(self.backend) as queue:
                launch.in_queue(queue)(*arguments)
                queue.sync()
        except ExecutionFailedError as failure:
            return str(failure), failure.outputs
        finally:
            set_schedule_of(self.backend, str(before))
        return "", {}

    def _content(self, number: int, array: Any) -> NDArray[Any]:
        if isinstance(array, DeviceArray):
            return array.to_host()
        value = self.launch.convert_one(number, array)
        try:
            return array_of(bytes_at(value.address, value.nbytes), value, array)
        finally:
            value.release()


def bytes_at(address: int, count: int) -> bytes:
    """Return a copy of memory of any size; `ctypes.string_at` counts with 32 bits."""
    return bytes((ctypes.c_char * count).from_address(address)) if count else b""


def _room_for_findings(backend: Backend) -> int:
    """Return the number of the next finding; forget all if there is no room for those of a run."""
    count = int(backend.lib.mlusimGetFindingCount())
    if count <= _MOST_BEFORE_RUN:
        return count
    clear_findings_of(backend)
    return 0
