"""The findings and counters of the simulator."""

from __future__ import annotations

from typing import NamedTuple

from pymluops._core import Backend, register_simulator
from pymluops._finding import Finding
from pymluops.sim._library import done, from_c, machine_of, simulator, text

#: By simulator: the number of its findings that `take_failure` has seen, reported or not.
_reported: dict[int, int] = {}


class Counters(NamedTuple):
    """The simulator's counts since the start of the process, and the numbers of live objects."""

    launches: int
    failed_launches: int
    tasks: int
    live_allocations: int
    live_bytes: int
    live_queues: int
    live_notifiers: int


class CoreState(NamedTuple):
    """Where one core was when a launch ended early.

    Attributes
    ----------
    task, cluster, core : int
        taskId, clusterId and coreId; the memory core is 0x80.
    state : str
        ``running``: it ended the launch; ``ready``: it could have gone on; ``waiting``: at a
        barrier or a lock; ``ended``.
    instruction : str
        The barrier or lock that it waits at, else the intrinsic that it called last.
    lock : int
        The number of the lock that it waits for; else -1.
    file, line : str, int
        Where that is in the source; empty and 0 if unknown.
    """

    task: int
    cluster: int
    core: int
    state: str
    instruction: str
    lock: int
    file: str
    line: int

    def __str__(self) -> str:
        core = "memory core" if self.core == 0x80 else f"task {self.task}, core {self.core}"
        text = f"cluster {self.cluster}, {core}: {self.state}"
        if self.instruction:
            text += f" at {self.instruction}" + (f" {self.lock}" if self.lock >= 0 else "")
        return f"{text} ({self.file}:{self.line})" if self.file else text


def core_states() -> list[CoreState]:
    """Return where each core was of the job that the last launch to end early was in.

    A launch ends early by a deadlock, the end of the time limit, an interrupt or a fault.
    """
    backend = simulator()
    described = backend.ffi.new("mlusimCoreState *")
    found: list[CoreState] = []
    while backend.lib.mlusimGetCoreState(len(found), described) == 0:
        found.append(from_c(CoreState, backend, described))
    return found


def findings() -> list[Finding]:
    """Return the findings of all launches since `clear_findings`, oldest first."""
    backend = simulator()
    return findings_from(backend, 0)


def clear_findings() -> None:
    """Forget all findings."""
    clear_findings_of(simulator())


def clear_findings_of(backend: Backend) -> None:
    """Forget all findings of one library."""
    backend.lib.mlusimClearFindings()
    _reported.pop(machine_of(backend), None)


def report() -> str:
    """Return the report about the launch that failed last, for people; empty if none failed."""
    return _report(simulator())


def counters() -> Counters:
    """Return the simulator's counts since the start of the process, and the numbers of live objects."""
    backend = simulator()
    counted = backend.ffi.new("mlusimCounters *")
    done(backend, "counters", backend.lib.mlusimGetCounters(counted))
    return from_c(Counters, backend, counted)


def take_failure(backend: Backend) -> tuple[str, tuple[Finding, ...]]:
    """Return report and findings that no exception has carried yet; for one that is about to be raised."""
    start = _reported.get(machine_of(backend), 0)
    if start > backend.lib.mlusimGetFindingCount():  # cleared by another caller
        start = 0
    found = findings_from(backend, start)
    _reported[machine_of(backend)] = start + len(found)
    # The report is about a launch that failed; a mistake of the host belongs to none.
    found = [finding for finding in found if finding.launch_failed]
    of_launches = tuple(finding for finding in found if finding.kernel)
    return (_report(backend), of_launches) if of_launches else ("\n".join(map(str, found)), tuple(found))


register_simulator(take_failure)


def findings_from(backend: Backend, start: int) -> list[Finding]:
    """Return the findings of one library, from that with the number `start` on."""
    described = backend.ffi.new("mlusimFinding *")
    found: list[Finding] = []
    while backend.lib.mlusimGetFinding(start + len(found), described) == 0:
        found.append(from_c(Finding, backend, described))
    return found


def _report(backend: Backend) -> str:
    return text(backend, backend.lib.mlusimGetReport())
