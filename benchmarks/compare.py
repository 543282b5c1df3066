"""Comparing results with older ones.

What counts is the ratio to memcpy, since it changes less than a time when the machine is busy or
another one. A case is slower, or faster, only if both the median ratio and the ratio of the least
times say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.verdicts import ratio

#: How much a ratio must change.
MEDIAN_CHANGE, LEAST_CHANGE = 1.10, 1.05


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one entry for each common case and number of threads, the worst change first."""
    before = {case["id"]: case for case in old.get("cases", ())}
    found: list[dict[str, Any]] = []
    for case in new.get("cases", ()):
        if case["id"] in before:
            for threads in sorted({int(entry["threads"]) for entry in case["contenders"]}):
                found += _change(before[case["id"]], case, threads)
    return sorted(found, key=lambda entry: -float(entry["change"]))


def regressions(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries that are slower."""
    return [entry for entry in changes if entry["verdict"] == "slower"]


def _change(old: Mapping[str, Any], new: Mapping[str, Any], threads: int) -> list[dict[str, Any]]:
    was, now = ratio(old, "memcpy", threads), ratio(new, "memcpy", threads)
    if was is None or now is None:
        return []
    change, least = now["median"] / was["median"], now["of_least"] / was["of_least"]
    verdict = "same"
    if change > MEDIAN_CHANGE and least > LEAST_CHANGE:
        verdict = "slower"
    elif change < 1 / MEDIAN_CHANGE and least < 1 / LEAST_CHANGE:
        verdict = "faster"
    return [
        {
            "case": new["id"],
            "threads": threads,
            "before": was["median"],
            "now": now["median"],
            "change": change,
            "change_of_least": least,
            "verdict": verdict,
        }
    ]


def render(changes: list[dict[str, Any]], old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the changes as text."""
    lines = []
    if old["machine"]["cpu"] != new["machine"]["cpu"]:
        lines.append("the older results come from another CPU")
    for entry in changes:
        if entry["verdict"] != "same":
            lines.append(
                f"{entry['verdict']}: {entry['case']}, {entry['threads']} threads: "
                f"{entry['before']:.2f} x memcpy before, {entry['now']:.2f} now"
            )
    counts = {name: sum(entry["verdict"] == name for entry in changes) for name in ("slower", "faster", "same")}
    lines.append(", ".join(f"{count} {name}" for name, count in counts.items()))
    return "\n".join(lines)
