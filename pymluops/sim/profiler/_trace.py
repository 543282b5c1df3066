"""The modelled timeline as a trace in the JSON format of Chrome, which Perfetto reads too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pymluops.sim.profiler._launch import UNITS, LaunchProfile

#: Between two launches, in microseconds: they are shown one after the other.
_GAP = 1.0


def trace_of(launches: Sequence[LaunchProfile]) -> str:
    """Return the trace: a process for each cluster, a lane for each unit of its cores; times in microseconds."""
    events: list[dict[str, Any]] = []
    named: set[tuple[int, int]] = set()
    if launches:
        events += [_name("process_name", 0, 0, "launches"), _name("thread_name", 0, 0, "kernels")]
    start = 0.0
    for launch in launches:
        events.append(_launch_event(launch, start))
        for index, core in enumerate(launch.cores):
            if core.runs:
                _name_lanes(events, named, launch, index)
        events.extend(_events(launch, start))
        start += launch.estimate_ns / 1e3 + _GAP
    trace = {
        "displayTimeUnit": "ns",
        "otherData": {"times": "estimates by the time model of pymluops, no measurements"},
        "traceEvents": events,
    }
    return json.dumps(trace, separators=(",", ":"), allow_nan=False) + "\n"


def _lane(launch: LaunchProfile, core: int, unit: str) -> tuple[int, int]:
    """Return the numbers of process and thread; process 0 has the launches."""
    use = launch.cores[core]
    within = launch.cores_per_cluster if use.core == 0x80 else use.core
    return use.cluster + 1, within * len(UNITS) + UNITS.index(unit) + 1


def _launch_event(launch: LaunchProfile, start: float) -> dict[str, Any]:
    details = {
        "bottleneck": launch.bottleneck,
        "io_efficiency": launch.io_efficiency,
        "compute_efficiency": launch.compute_efficiency,
        "modelled_share": launch.modelled_share,
    }
    length = launch.estimate_ns / 1e3
    event = {"ph": "X", "cat": "launch", "name": launch.kernel, "pid": 0, "tid": 0, "ts": start, "dur": length}
    return {**event, "args": details}


def _name_lanes(events: list[dict[str, Any]], named: set[tuple[int, int]], launch: LaunchProfile, index: int) -> None:
    use = launch.cores[index]
    memory_core = use.core == 0x80
    for unit in UNITS:
        pid, tid = _lane(launch, index, unit)
        if (pid, tid) in named or (memory_core and unit == "compute"):
            continue
        core = "memory core" if memory_core else f"core {use.core}"
        if not any(process == pid for process, _ in named):
            events.append(_name("process_name", pid, tid, f"cluster {use.cluster}"))
        named.add((pid, tid))
        events.append(_name("thread_name", pid, tid, f"{core} {unit}"))
        events.append({"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}})


def _name(key: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": key, "pid": pid, "tid": tid, "args": {"name": name}}


def _events(launch: LaunchProfile, start: float) -> list[dict[str, Any]]:
    lanes = {
        (core, unit): _lane(launch, core, unit) for core, use in enumerate(launch.cores) if use.runs for unit in UNITS
    }
    events: list[dict[str, Any]] = []
    rows: list[tuple[float, float, int, int, int]] = launch.events.tolist()
    for begin, end, moved, core, number in rows:
        site = launch.sites[number]
        pid, tid = lanes[core, site.unit]
        event: dict[str, Any] = {
            "ph": "X",
            "cat": "wait" if site.waits else site.unit,
            "name": f"{site.name} {site.direction}".rstrip(),
            "pid": pid,
            "tid": tid,
            "ts": round(start + begin / 1e3, 6),
            "dur": round((end - begin) / 1e3, 6),
        }
        details: dict[str, Any] = {"bytes": moved} if moved else {}
        if site.file:
            details["line"] = f"{site.file}:{site.line}"
        if details:
            event["args"] = details
        events.append(event)
    return events
