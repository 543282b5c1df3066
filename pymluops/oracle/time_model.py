"""The time model of profiles, slow and clear: cores that run lists of instructions, with pipes and a shared bandwidth.

An instruction is a name and a number of bytes. ``load`` and ``store`` go off chip, ``copy`` stays
on chip; with ``_async`` they enter a pipe, without they hold the core up. ``compute`` works on so
many bytes. ``sync`` waits for all pipes, ``sync_io``, ``sync_move`` and ``sync_compute`` for one,
``barrier`` for all pipes and then for the cores of the cluster. ``near`` and ``far`` are scalar
accesses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Instruction = tuple[str, int]


@dataclass
class Copy:
    """A copy off chip in its pipe."""

    issued: float
    left: float


@dataclass
class Core:
    """What a core has done so far: its clock, and when each pipe is free."""

    program: Sequence[Instruction]
    cluster: int
    time: float = 0.0
    compute: float = 0.0
    io: float = 0.0
    move: float = 0.0
    at: int = 0
    copies: list[Copy] = field(default_factory=list)
    entered: bool = False  # its synchronous copy off chip is in the pipe
    waits: bool = False  # at a barrier

    @property
    def done(self) -> bool:
        return self.at == len(self.program)


def estimate(programs: Sequence[Sequence[Instruction]], clusters: Sequence[int], figures: Mapping[str, float]) -> float:
    """Return the time in ns at which the last core and pipe is done; a cycle is a ns."""
    cores = [Core(program, cluster) for program, cluster in zip(programs, clusters, strict=True)]
    clock = 0.0
    while True:
        while any(_advance(core, figures) for core in cores) or _leave_barriers(cores, figures):
            pass
        starts = [
            (max(core.copies[0].issued + figures["off_chip_latency_ns"], core.io), core)
            for core in cores
            if core.copies
        ]
        if not starts:
            assert all(core.done for core in cores)
            return max(max(core.time, core.compute, core.io, core.move) for core in cores)
        flowing = [core for start, core in starts if start <= clock]
        rates = _rates(flowing, figures)
        ends = [clock + core.copies[0].left / rate for core, rate in zip(flowing, rates, strict=True)]
        until = min([*ends, *(start for start, _ in starts if start > clock)])
        for core, rate, end in zip(flowing, rates, ends, strict=True):
            core.copies[0].left -= rate * (until - clock)
            if end <= until:
                core.copies.pop(0)
                core.io = until
        clock = until


def _rates(flowing: Sequence[Core], figures: Mapping[str, float]) -> list[float]:
    return [
        min(
            figures["bandwidth_gb_s"] / len(flowing),
            figures["cluster_bandwidth_gb_s"] / sum(other.cluster == core.cluster for other in flowing),
        )
        for core in flowing
    ]


def _advance(core: Core, figures: Mapping[str, float]) -> bool:
    """Do the next instruction if it is known when it ends."""
    if core.done or core.waits:
        return False
    name, size = core.program[core.at]
    issue = figures["issue_cycles"]
    match name:
        case "load_async" | "store_async":
            core.copies.append(Copy(core.time, size))
            core.time += issue
        case "load" | "store":
            if not core.entered:
                if core.copies:
                    return False
                core.time = max(core.time, core.compute)
                core.copies.append(Copy(core.time, size))
                core.entered = True
            if core.copies:
                return False
            core.entered = False
            core.time = core.compute = max(core.time, core.io)
        case "copy_async" | "copy":
            begin = max(core.time, core.move, core.compute if name == "copy" else 0.0)
            core.move = begin + figures["on_chip_latency_cycles"] + math.ceil(size / figures["on_chip_bytes_per_cycle"])
            core.time += issue
            if name == "copy":
                core.time = core.compute = core.move
        case "compute":
            cycles = math.ceil(max(size, 128) / figures["vector_bytes_per_cycle"])
            core.compute = max(core.time, core.compute) + figures["vector_startup_cycles"] + cycles
            core.time += issue
        case "near":
            core.time = max(core.time, core.compute) + figures["scalar_on_chip_cycles"]
        case "far":
            core.time += figures["scalar_off_chip_ns"]
        case _:
            pipes = ("compute", "io", "move") if name in ("sync", "barrier") else (name.removeprefix("sync_"),)
            if "io" in pipes and core.copies:
                return False
            core.time = max(core.time, *(getattr(core, pipe) for pipe in pipes)) + issue
            core.waits = name == "barrier"
    core.at += 1
    return True


def _leave_barriers(cores: Sequence[Core], figures: Mapping[str, float]) -> bool:
    for cluster in {core.cluster for core in cores if core.waits}:
        members = [core for core in cores if core.cluster == cluster]
        if all(core.waits for core in members):
            together = max(core.time for core in members) + figures["barrier_cycles"]
            for core in members:
                core.time, core.waits = together, False
            return True
    return False
