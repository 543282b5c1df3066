"""A profile as one HTML page: template, style and script are files beside this one, the data is put into them."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymluops.sim.profiler._launch import UNITS, LaunchProfile
from pymluops.sim.profiler._read import EVENT
from pymluops.sim.toolchain import cards

_FOLDER = Path(__file__).resolve().parent
#: Events of one launch that a page shows one by one; of more, those that lie close together are
#: shown as one.
_MOST_EVENTS = 30_000
_STEPS = 2_000
#: Lines of sources that are listed.
_MOST_LINES = 60
_MOST_SOURCE_BYTES = 1 << 20


def html_of(launches: Sequence[LaunchProfile]) -> str:
    """Return the page."""
    data = {"units": list(UNITS), "cards": list(cards()), "launches": [_launch(launch) for launch in launches]}
    # Inside a script element only its end tag and comments would be taken for HTML.
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    title = ", ".join(dict.fromkeys(launch.kernel for launch in launches)) or "no launches"
    parts = {"TITLE": html.escape(title), "STYLE": _file("page.css"), "SCRIPT": _file("page.js"), "DATA": text}
    page = _file("page.html")
    for name, part in parts.items():
        before, found, after = page.partition(f"<!--{name}-->")
        assert found
        page = before + part + after
    return page


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _launch(launch: LaunchProfile) -> dict[str, Any]:
    described = launch.as_dict()
    described["lines"] = [
        {**line, "text": _source_line(line["file"], line["line"])} for line in described["lines"][:_MOST_LINES]
    ]
    described["sites"] = [
        [site.name, site.direction, f"{site.file}:{site.line}" if site.file else "", UNITS.index(site.unit), site.waits]
        for site in launch.sites
    ]
    described["all_cores"] = [
        [index, f"{core.cluster}.{'M' if core.core == 0x80 else core.core}"]
        for index, core in enumerate(launch.cores)
        if core.runs and (core.core != 0x80 or launch.busy_ns[index].any())
    ]
    events, counts = _reduced(launch)
    described["events"] = [
        (round(begin, 2), round(end, 2), core, site, moved, number)
        for (begin, end, moved, core, site), number in zip(events.tolist(), counts.tolist(), strict=True)
    ]
    charged = sum(tally.charged for tally in launch.tallies)
    operations = sum(tally.operations for tally in launch.tallies)
    described["roofline"] = {
        "bandwidth": launch.model.bandwidth_gb_s,
        "peak": launch.peak_operations_per_ns,
        "units": launch.units,
        "counted": [operations, charged, launch.estimate_ns],
        "theory": [launch.theory.operations, launch.theory.io_bytes, launch.operator_ns],
    }
    return described


def _reduced(launch: LaunchProfile) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Return events, each with the number that it stands for: those of a unit in one step are one."""
    events = launch.events
    if len(events) <= _MOST_EVENTS:
        return events, np.ones(len(events), np.int64)
    units = np.array([UNITS.index(site.unit) for site in launch.sites])
    step = np.floor(events["begin_ns"] * (_STEPS / max(launch.estimate_ns, 1e-9))).astype(np.int64)
    lane = events["core"].astype(np.int64) * len(UNITS) + units[events["site"]]
    key = lane * (_STEPS + 2) + step
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(key[order]) != 0])
    counts = np.diff(np.r_[starts, len(order)])
    chosen = events[order]
    merged = np.zeros(len(starts), EVENT)
    merged["begin_ns"] = chosen["begin_ns"][starts]
    merged["end_ns"] = np.maximum.reduceat(chosen["end_ns"], starts)
    merged["bytes"] = np.add.reduceat(chosen["bytes"], starts)
    merged["core"] = chosen["core"][starts]
    merged["site"] = chosen["site"][starts]
    return merged, counts


def _source_line(file: str, line: int) -> str:
    lines = _source(file)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _source(file: str) -> list[str]:
    """Return the lines of a source; none if it cannot be read. Relative paths are those from the current folder."""
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size > _MOST_SOURCE_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
