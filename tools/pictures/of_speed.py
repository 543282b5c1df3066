"""One chart of the speed of operators: times of others divided by ours, from the results of the benchmark."""

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
    bars = [(case["family"], *_gain(case)) for case in _first_of_families(cases)]
    figure = Figure(figsize=(8, 2.6), dpi=100, layout="constrained")
    axes = figure.subplots()
    axes.barh([f"{label}\nagainst {peer}" for label, peer, _ in bars], [gain for _, _, gain in bars], color="#2f6f9f")
    for row, (_, _, gain) in enumerate(bars):
        axes.text(gain + 0.05, row, f"{gain:.1f} x", va="center")
    axes.axvline(1, color="#888888", linewidth=1)
    axes.set(
        xlim=(0, max(gain for _, _, gain in bars) * 1.12),
        xlabel="time of the fastest other / ours, two threads",
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


def _gain(case: dict[str, Any]) -> tuple[str, float]:
    """Return the fastest other, and how many times as long it takes."""
    threads = max(one["threads"] for one in case["contenders"])
    times = {one["name"]: float(one["seconds"]["median"]) for one in case["contenders"] if one["threads"] == threads}
    others = {name: time for name, time in times.items() if name not in OURS}
    best = min(others, key=lambda name: others[name])
    return best, others[best] / times["pymluops"]
