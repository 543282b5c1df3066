"""One chart of the speed of operators: our times divided by those of others, from the results of the benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "epyc-2-cpus.json"
#: Contenders that are no other implementations.
OURS = ("pymluops", "memcpy", "float32", "one thread")


def draw(folder: Path) -> None:
    """Draw the chart."""
    cases: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["cases"]
    bars = [(case["family"], *_part(case)) for case in _first_of_families(cases)]
    figure = Figure(figsize=(8, 2.6), dpi=100, layout="constrained")
    axes = figure.subplots()
    axes.barh([f"{label}\nagainst {peer}" for label, peer, _ in bars], [part for _, _, part in bars], color="#2f6f9f")
    for row, (_, _, part) in enumerate(bars):
        axes.text(part + 0.01, row, f"{part:.2f}", va="center")
    axes.axvline(1, color="#888888", linewidth=1)
    axes.set(
        xlim=(0, 1.05),
        xlabel="our time / that of the fastest other, two threads on 2 virtual CPUs of an AMD EPYC; less is faster",
    )
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    figure.savefig(folder / "speed.png", pil_kwargs={"optimize": True})


def _first_of_families(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first case of each family, which goes forward."""
    found: dict[str, dict[str, Any]] = {}
    for case in cases:
        found.setdefault(case["family"], case)
    return list(found.values())


def _part(case: dict[str, Any]) -> tuple[str, float]:
    """Return the fastest other, and our time divided by its."""
    threads = max(one["threads"] for one in case["contenders"])
    times = {one["name"]: float(one["seconds"]["median"]) for one in case["contenders"] if one["threads"] == threads}
    others = {name: time for name, time in times.items() if name not in OURS}
    best = min(others, key=lambda name: others[name])
    ratios = {one["to"]: float(one["median"]) for one in case["ratios"] if one["threads"] == threads}
    return best, ratios[best]
