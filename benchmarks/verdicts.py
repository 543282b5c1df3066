"""What the numbers must show, and whether they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Differences below this are taken for none.
TOLERANCE = 1.02

#: An operator this close to memcpy is at the limit that memory sets; more threads do not help it.
AT_MEMORY_LIMIT = 1.25

#: What two threads must be faster than one by.
SPEED_UP = 1.6

#: Calls shorter than this, in seconds, are not worth waking a thread for.
SHORT = 1e-4

#: Ours, the yardstick, and ours in float32.
_NOT_PEERS = ("pymluops", "memcpy", "float32")


def judge(cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one entry for each rule that applies to a case: value, limit, and whether it holds."""
    verdicts: list[dict[str, Any]] = []
    for case in cases:
        threads = max_threads(case)
        verdicts += _limits(case, threads)
        verdicts += _fastest(case, threads)
        verdicts += _speed_up(case)
        verdicts += _float16(case, threads)
    return verdicts


def max_threads(case: Mapping[str, Any]) -> int:
    """Return the largest number of threads that a case was measured with."""
    return max(int(contender["threads"]) for contender in case["contenders"])


def contender(case: Mapping[str, Any], name: str, threads: int) -> Mapping[str, Any] | None:
    """Return the measurement of a contender."""
    found = (c for c in case["contenders"] if c["name"] == name and c["threads"] == threads)
    return next(found, None)


def ratio(case: Mapping[str, Any], to: str, threads: int) -> Mapping[str, Any] | None:
    """Return how ours compares with a contender."""
    return next((r for r in case["ratios"] if r["to"] == to and r["threads"] == threads), None)


def all_peers(case: Mapping[str, Any], threads: int) -> list[Mapping[str, Any]]:
    """Return the measurements of all contenders that are neither ours nor a memcpy."""
    return [c for c in case["contenders"] if c["name"] not in _NOT_PEERS and c["threads"] == threads]


def best_peer(case: Mapping[str, Any], threads: int) -> Mapping[str, Any] | None:
    """Return the measurement of the fastest peer."""
    return min(all_peers(case, threads), key=lambda c: float(c["seconds"]["median"]), default=None)


def _entry(case: Mapping[str, Any], threads: int, rule: str, found: float, limit: float, holds: bool) -> dict[str, Any]:
    return {"case": case["id"], "threads": threads, "rule": rule, "found": found, "limit": limit, "holds": holds}


def _at_most(case: Mapping[str, Any], threads: int, rule: str, to: str, limit: float) -> list[dict[str, Any]]:
    found = ratio(case, to, threads)
    if found is None:
        return []
    return [_entry(case, threads, rule, found["median"], limit, found["median"] <= limit)]


def _limits(case: Mapping[str, Any], threads: int) -> list[dict[str, Any]]:
    verdicts = []
    if "memcpy" in case["limits"]:
        verdicts += _at_most(case, threads, "times memcpy", "memcpy", case["limits"]["memcpy"])
    peer = best_peer(case, threads)
    if "peer" in case["limits"] and peer is not None:
        verdicts += _at_most(case, threads, f"times {peer['name']}", peer["name"], case["limits"]["peer"])
    return verdicts


def _fastest(case: Mapping[str, Any], threads: int) -> list[dict[str, Any]]:
    peer = best_peer(case, threads)
    if peer is None or "peer" in case["limits"]:
        return []
    return _at_most(case, threads, f"not slower than {peer['name']}", peer["name"], TOLERANCE)


def _speed_up(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    one, two = contender(case, "pymluops", 1), contender(case, "pymluops", 2)
    memory, gain = ratio(case, "memcpy", 2), ratio(case, "one thread", 2)
    if one is None or two is None or memory is None or gain is None:
        return []
    copied = contender(case, "memcpy", 2)
    alone = one["seconds"]["median"]
    if alone < SHORT or copied is None or alone <= AT_MEMORY_LIMIT * copied["seconds"]["median"]:
        return []
    found = 1 / gain["median"]
    holds = found >= SPEED_UP or memory["median"] <= AT_MEMORY_LIMIT
    return [_entry(case, 2, "two threads against one", found, SPEED_UP, holds)]


def _float16(case: Mapping[str, Any], threads: int) -> list[dict[str, Any]]:
    """float16 must not be slower than float32 of the same shape, which was measured in the same rounds."""
    return _at_most(case, threads, "float16 against float32", "float32", TOLERANCE)
