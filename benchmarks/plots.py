"""Results as pictures. Needs matplotlib; nothing here touches a display or matplotlib's global state."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.verdicts import best_peer, contender, max_threads
from pymluops._whole_file import whole_file

_STYLE: dict[Any, Any] = {"font.size": 9, "axes.titlesize": 11, "savefig.dpi": 120,
                          "axes.spines.top": False, "axes.spines.right": False}  # fmt: skip
_LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
_COLOURS = {"pymluops": "#1b6ca8", "numpy": "#8a8a8a", "torch": "#ee6c4d", "numba": "#3a9d5d", "spconv": "#8e5aa8"}


def draw_all(document: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write one PNG a subject into the folder and return their paths."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it reports where it puts its cache of fonts
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Figure] = {}
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):
        for group in sorted({case["group"] for case in document.get("cases", ())}):
            figures[f"ratio-{group}"] = _bars([case for case in document["cases"] if case["group"] == group], document)
        if document.get("sizes"):
            figures["time-against-size"] = _growth(document["sizes"], document)
        paths = []
        for name, figure in figures.items():
            paths.append(folder / f"{name}.png")
            with whole_file(paths[-1]) as file:
                figure.savefig(file)
    return paths


def _bars(cases: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> Figure:
    """Ours and the best peer as multiples of memcpy, with the limits as marks."""
    figure = Figure(figsize=(11, 1.6 + 0.34 * len(cases)), layout="constrained")
    axes = figure.subplots()
    named: set[str] = set()

    def bar(place: float, value: float, name: str) -> None:
        axes.barh(place, value, 0.38, color=_COLOURS.get(name, "#444444"), label=None if name in named else name)
        text = f"{value:.2f}" if value < 10 else f"{value:.0f}"
        axes.text(value * 1.04, place, text, va="center", fontsize=7, zorder=5, bbox=_LABEL)
        named.add(name)

    for row, case in enumerate(cases):
        threads = max_threads(case)
        copied, ours = contender(case, "memcpy", threads), contender(case, "pymluops", threads)
        peer = best_peer(case, threads)
        if copied is None or ours is None:
            continue
        unit = copied["seconds"]["median"]
        bar(row - 0.2, ours["seconds"]["median"] / unit, "pymluops")
        if peer is not None:
            bar(row + 0.2, peer["seconds"]["median"] / unit, peer["name"])
        if "memcpy" in case["limits"]:
            axes.plot([case["limits"]["memcpy"]] * 2, [row - 0.45, row + 0.45], color="black", linewidth=1.5)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_yticks(range(len(cases)), [case["id"] for case in cases])
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.set_xlabel("time as a multiple of a memcpy of the same bytes; the mark is the limit")
    axes.set_title(f"pymluops and its best peer, {document['machine']['cpu']['model']}")
    axes.legend(loc="lower right", frameon=False)
    return figure


def _growth(entries: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> Figure:
    """Time against number of elements for each operator."""
    names = list(dict.fromkeys(entry["operator"] for entry in entries))
    columns = 4
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.9 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for place, axes in enumerate(grid.flat):
        if place >= len(names):
            axes.set_visible(False)
            continue
        mine = [entry for entry in entries if entry["operator"] == names[place]]
        elements = [entry["elements"] for entry in mine]
        _line(axes, elements, [entry["memcpy_seconds"] for entry in mine], "memcpy", "black")
        for peer in sorted({name for entry in mine for name in entry["peer_seconds"]}):
            some = [entry for entry in mine if peer in entry["peer_seconds"]]
            _line(axes, [entry["elements"] for entry in some], [entry["peer_seconds"][peer] for entry in some], peer,
                  _COLOURS.get(peer, "#444444"))  # fmt: skip
        _line(axes, elements, [entry["seconds"] for entry in mine], "pymluops", _COLOURS["pymluops"])
        axes.set_title(names[place])
        axes.grid(True, which="major", linewidth=0.3)
        axes.set_xscale("log")
        axes.set_yscale("log")
    grid[0][0].legend(frameon=False)
    figure.supxlabel("elements of inputs and outputs")
    figure.supylabel("seconds")
    figure.suptitle(f"Time against size, {entries[0]['threads']} threads, {document['machine']['cpu']['model']}")
    return figure


def _line(axes: Any, elements: Sequence[float], times: Sequence[Mapping[str, float]], name: str, colour: str) -> None:
    style = "--" if name == "memcpy" else "-"
    axes.plot(elements, [time["median"] for time in times], style, marker=".", color=colour, label=name)
    low, high = ([time[end] for time in times] for end in ("low_quartile", "high_quartile"))
    axes.fill_between(elements, low, high, color=colour, alpha=0.2, linewidth=0)
