"""How cost grows: our operators and memcpy from a thousand elements to a hundred million."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.cases import FAMILIES, Case, dtypes, operators
from benchmarks.driver import run_case
from benchmarks.families import sized
from benchmarks.peers import Peer
from benchmarks.timing import Plan
from benchmarks.verdicts import all_peers, contender, ratio

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
QUICK_SIZES = (10**3, 10**5, 10**7)

#: The time of a byte may grow by this much from ten million elements to the most; by more only as
#: far as memcpy's does, which shows what leaving the cache costs.
MOST_GROWTH = 1.25

_BASE = 0.8e7


def size_cases(sizes: Sequence[int]) -> Iterator[list[Case]]:
    """Yield for each operator and mode its cases from small to large."""
    for family in FAMILIES:
        dtype = dtypes(family)[0]
        by_size = [(size, sized(family, size)) for size in sizes]
        for operator in operators(family):
            for mode in by_size[0][1]:
                name = f"{operator}/{mode}" if mode else operator
                yield [Case(f"{name}/{size:.0e}", family, operator, str(size), "sizes", dtype, facts[mode])
                       for size, facts in by_size]  # fmt: skip


def run_sizes(cases: Sequence[Case], peers: Sequence[Peer], threads: int, plan: Plan) -> list[dict[str, Any]]:
    """Measure one operator at all sizes."""
    found = [_measure(case, peers, threads, plan) for case in cases]
    base = next((entry for entry in found if entry["elements"] >= _BASE), None)
    for entry in found:
        larger = base is not None and entry["bytes"] > base["bytes"]
        for name, times in (("growth", "seconds"), ("memcpy_growth", "memcpy_seconds")):
            entry[name] = _growth(entry, base, times) if base is not None and larger else None
    return found


def _growth(entry: dict[str, Any], base: dict[str, Any], times: str) -> float:
    slower = float(entry[times]["median"] / base[times]["median"])
    return slower * float(base["bytes"] / entry["bytes"])


def _measure(case: Case, peers: Sequence[Peer], threads: int, plan: Plan) -> dict[str, Any]:
    result = run_case(case, peers, [threads], plan)
    ours, copied = contender(result, "pymluops", threads), contender(result, "memcpy", threads)
    if ours is None or copied is None:
        raise AssertionError("every case measures both")
    return {
        "operator": case.id.rpartition("/")[0],
        "threads": threads,
        "parameters": result["parameters"],
        "elements": result["elements"],
        "bytes": result["bytes_read"] + result["bytes_written"],
        "seconds": ours["seconds"],
        "memcpy_seconds": copied["seconds"],
        "peer_seconds": {peer["name"]: peer["seconds"] for peer in all_peers(result, threads)},
        "to_memcpy": ratio(result, "memcpy", threads),
        "wrong": result["wrong"],
    }


def judge(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return whether the time of the largest problems grows with the bytes."""
    return [
        {
            "case": f"{entry['operator']}, {entry['elements']:.2g} elements",
            "threads": entry["threads"],
            "rule": "growth of the time of a byte",
            "found": entry["growth"],
            "limit": (limit := MOST_GROWTH * max(1.0, entry["memcpy_growth"])),
            "holds": entry["growth"] <= limit,
        }
        for entry in entries
        if entry["growth"] is not None
    ]
