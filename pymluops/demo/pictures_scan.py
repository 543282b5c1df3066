"""Pictures of the scan: the sites of get_indice_pairs, the features that three_interpolate carries back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pymluops._shown import one_line
from pymluops.demo.arrays import Array
from pymluops.demo.pipeline import SparseRun
from pymluops.demo.scans import Scan

BACKGROUND = "#f4f4f4"


@dataclass(frozen=True)
class Side:
    """From where a scan is drawn: its axes to the right, upwards and away from the eye, and the words for it.

    `sign` is -1 where the last axis points towards the eye.
    """

    right: int
    up: int
    away: int
    sign: int
    words: str


SIDES = {
    "top": Side(0, 1, 2, -1, "from above"),
    "front": Side(1, 2, 0, 1, "along x"),
    "side": Side(0, 2, 1, 1, "along y"),
}
"""The sides that can be chosen, by name."""


def site_figure(sparse: SparseRun, side: Side = SIDES["top"]) -> Figure:
    """How many inputs each output site has, sub-manifold and strided."""
    figure, axes = _panels(sparse.scan, side, 2)
    figure.suptitle(f"get_indice_pairs, kernel 3 x 3 x 3, seen {side.words}\n{_source(sparse.scan)}")
    for ax, title, result, factor in (
        (axes[0], "sub-manifold: sites stay where they are", sparse.submanifold.result, 1),
        (axes[1], "stride 2: a coarser grid of sites", sparse.strided.result, 2),
    ):
        sites, pairs, number = result
        inputs = np.bincount(
            np.concatenate([pairs[k, 1, :count] for k, count in enumerate(number)]), minlength=len(sites)
        )
        size = sparse.voxels.size * factor
        # With padding 1 a strided site lies in the middle of the cells it takes, half a fine cell lower than its own.
        corner = sparse.voxels.origin - 0.5 * sparse.voxels.size * (factor - 1)
        raster, extent = _raster(sites, inputs, corner, size, side)
        drawn = ax.imshow(raster, origin="lower", extent=extent, cmap="viridis", vmin=1, interpolation="nearest")
        label = "inputs of a site (most along the line of sight)"
        figure.colorbar(drawn, ax=ax, label=label, shrink=0.85, ticks=MaxNLocator(integer=True))
        ax.set_title(f"{title}\n{len(sites):,} sites of {size:g} m, {int(number.sum()):,} pairs")
    return figure


def _raster(
    sites: Array, values: Array, corner: Array, size: float, side: Side
) -> tuple[np.ma.MaskedArray[Any, Any], tuple[float, float, float, float]]:
    """Return the largest value over each line of cells, and the raster's extent in metres."""
    right, up = sites[:, 3 - side.right], sites[:, 3 - side.up]  # a site is batch, z, y, x
    height, width = int(up.max()) + 1, int(right.max()) + 1
    raster = np.zeros((height, width))
    np.maximum.at(raster, (up, right), values)
    x, y = float(corner[side.right]), float(corner[side.up])
    return np.ma.masked_equal(raster, 0), (x, x + width * size, y, y + height * size)


def interpolation_figure(sparse: SparseRun, interpolated: Array, side: Side = SIDES["top"]) -> Figure:
    """The height that the voxels give each point, and how far it is from the point's own."""
    figure, axes = _panels(sparse.scan, side, 2)
    figure.suptitle(f"three_interpolate, voxel features back on the points, seen {side.words}\n{_source(sparse.scan)}")
    xyz = sparse.scan.xyz
    height = interpolated[0, 0].astype(np.float64)
    error = np.abs(height - xyz[:, 2])
    order = np.argsort(-side.sign * xyz[:, side.away])  # the nearest is drawn last
    mark = float(np.clip(60_000 / len(xyz), 0.6, 12))
    low, high = np.quantile(xyz[:, 2], [0.01, 0.99])
    worst = max(float(np.quantile(error, 0.99)), 1e-3)
    for ax, values, label, colours, limits in (
        (axes[0], height, "interpolated height (m)", "viridis", (low, high)),
        (axes[1], error, "distance from the measured height (m)", "magma_r", (0.0, worst)),
    ):
        drawn = ax.scatter(
            xyz[order, side.right], xyz[order, side.up], c=values[order], s=mark, cmap=colours,
            vmin=limits[0], vmax=limits[1], linewidths=0, rasterized=True,
        )  # fmt: skip
        figure.colorbar(drawn, ax=ax, label=label, shrink=0.85, extend="max" if ax is axes[1] else "both")
    rms = float(np.sqrt(np.mean(error**2)))
    channels, voxels = sparse.features.shape[1:]
    axes[0].set_title(f"{len(xyz):,} points from {channels} channels of {voxels:,} voxels")
    axes[1].set_title(f"voxels of {sparse.voxels.size:g} m lose {100 * rms:.1f} cm of height (root mean square)")
    return figure


def _panels(scan: Scan, side: Side, count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels over the scan as it is seen, one above the other where that is wide."""
    plan = scan.xyz[:, [side.right, side.up]]
    width, height = np.maximum(plan.max(axis=0) - plan.min(axis=0), 1e-3)
    ratio = float(np.clip(height / width, 0.3, 2.0))
    if ratio < 0.8:
        figure = Figure(figsize=(11, count * (9.2 * ratio + 0.9) + 0.8), layout="constrained")
        axes = figure.subplots(count, 1, squeeze=False)
    else:
        figure = Figure(figsize=(14, 14 / count * 0.83 * ratio + 1.5), layout="constrained")
        axes = figure.subplots(1, count, squeeze=False)
    for ax in axes.flat:
        ax.set_aspect("equal")
        ax.set_facecolor(BACKGROUND)
        ax.set_xlabel(f"{'xyz'[side.right]} (m)")
        ax.set_ylabel(f"{'xyz'[side.up]} (m)")
    return figure, list(axes.flat)


def _source(scan: Scan) -> str:
    return short_name(scan.source)


def short_name(source: str) -> str:
    """Return the source without its folders, in letters that can be drawn, and cut where too long for a title."""
    name = one_line(source.rsplit(os.sep, 1)[-1])
    return name if len(name) <= 80 else name[:77] + "..."
