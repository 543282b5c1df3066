"""The machine of a measurement, and its load by other processes."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS
from pymluops.info import collect


def describe() -> dict[str, Any]:
    """Return the CPU, its caches, and the versions of everything that is compared."""
    found = collect()
    return {
        "cpu": found["cpu"],
        "caches": _caches(),
        "platform": found["platform"],
        "kernel": platform.release(),
        "python": found["python"],
        "pymluops": found["version"],
        "instruction_level": found["backends"]["cpu"]["instruction_level"],
        "peers": {peer.name: peer.version for peer in PEERS},
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _caches() -> dict[str, str]:
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_line(folder / name) for name in ("level", "type", "size"))
        if kind in ("Data", "Unified"):
            found[f"L{level}"] = size
    return found


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


class OtherWork:
    """How many CPUs other processes and the hypervisor kept busy, on average, while this object's block ran."""

    def __init__(self) -> None:
        self.cpus: float | None = None

    def __enter__(self) -> OtherWork:
        self._start = self._now()
        return self

    def __exit__(self, *exc: object) -> None:
        before, after = self._start, self._now()
        if before is not None and after is not None and after[0] > before[0]:
            seconds = after[0] - before[0]
            self.cpus = round(max(0.0, (after[1] - before[1]) - (after[2] - before[2])) / seconds, 2)

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        """Return the time, and the CPU seconds spent by all and by this process."""
        line = _line(Path("/proc/stat")).partition("\n")[0].split()
        if len(line) < 9:
            return None
        user, nice, system, _, _, irq, softirq, steal = (int(field) for field in line[1:9])
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy, time.process_time()
