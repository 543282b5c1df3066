"""Pictures of a scan from above: with the boxes of a detector, or with the classes of a segmenter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scenes import Array

from pymluops._whole_file import whole_file


@contextmanager
def _seen_from_above(path: Path, title: str, xyz: Array) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Give figure, axes and the settings of points; write the file at the end. The bulk of the points is shown."""
    from matplotlib.figure import Figure

    low, high = np.quantile(xyz[:, :2], 0.01, axis=0), np.quantile(xyz[:, :2], 0.99, axis=0)
    width, height = np.maximum(high - low, 1e-3)
    figure = Figure(figsize=(12, float(np.clip(11 * height / width, 3, 14)) + 1.2), layout="constrained")
    axes = figure.subplots()
    axes.set(
        aspect="equal", xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x (m)", ylabel="y (m)", title=title
    )
    axes.set_facecolor("#f4f4f4")
    size = float(np.clip(40_000 / len(xyz), 0.3, 6))
    yield figure, axes, {"s": size, "linewidths": 0, "rasterized": True}
    with whole_file(path) as file:
        figure.savefig(file, dpi=110)


def draw_boxes(path: Path, title: str, xyz: Array, found: Array, truth: Array | None) -> None:
    """Draw points by height, the corners [K, 4, 2] of boxes found, and of those of the scene if they are known."""
    with _seen_from_above(path, title, xyz) as (figure, axes, settings):
        low, high = np.quantile(xyz[:, 2], (0.01, 0.99))
        order = np.argsort(xyz[:, 2])
        drawn = axes.scatter(*xyz[order, :2].T, c=xyz[order, 2], cmap="viridis", vmin=low, vmax=high, **settings)
        figure.colorbar(drawn, ax=axes, label="height (m)", shrink=0.8)
        for boxes, colour, style, name in ((truth, "black", "--", "in the scene"), (found, "tab:red", "-", "found")):
            if boxes is None:
                continue
            for number, corners in enumerate(boxes):
                label = "" if number else name
                axes.plot(*corners[[0, 1, 2, 3, 0]].T, style, color=colour, linewidth=1.6, label=label)
            if not len(boxes):
                axes.plot([], [], style, color=colour, label=f"{name}: none")
        axes.legend(loc="upper right")


def draw_classes(path: Path, title: str, xyz: Array, labels: Array, names: Sequence[str]) -> None:
    """Draw points in the colour of their class, the most frequent first."""
    import matplotlib as mpl

    with _seen_from_above(path, title, xyz) as (_, axes, settings):
        counts = np.bincount(labels)
        colours = mpl.colormaps["tab20"]
        for label in np.argsort(-counts)[: np.count_nonzero(counts)]:
            chosen = labels == label
            name = names[label] if label < len(names) else f"class {label}"
            text = f"{name} ({counts[label] / len(labels):.0%})"
            axes.scatter(*xyz[chosen, :2].T, color=colours(label % 20), label=text, **settings)
        axes.legend(loc="upper right", markerscale=float(np.sqrt(40 / settings["s"])))
