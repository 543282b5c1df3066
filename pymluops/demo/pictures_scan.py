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
from pymluops.demo.bulk import bulk
from pymluops.demo.pipeline import SparseRun
from pymluops.demo.scans import Scan

BACKGROUND = "#f4f4f4"
# Cells along the longer side of a panel in which points are counted; areas of points in square
# points of the page.
CELLS, SMALLEST, LARGEST = 160, 0.8, 14.0


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


class Frame:
    """The part of a picture that shows the bulk of places [N, 3]: one outlier does not shrink the rest.

    Points are drawn so that their area follows how close they lie: as large as their number leaves
    room for, none smaller than can be seen.
    """

    def __init__(self, xyz: Array, side: Side) -> None:
        self.side = side
        low, high = bulk(xyz)
        self.low = np.array([low[side.right], low[side.up]])
        self.high = np.maximum(np.array([high[side.right], high[side.up]]), self.low + 1e-3)
        plan = self.plan(xyz)
        self.inside: Array = np.all((plan >= self.low) & (plan <= self.high), axis=1)

    def plan(self, xyz: Array) -> Array:
        """Return the two coordinates that are seen."""
        return np.asarray(xyz[:, [self.side.right, self.side.up]])

    def scatter(self, ax: Axes, xyz: Array, values: Array, colours: str, limits: tuple[float, float]) -> Any:
        """Draw the places with a colour each, the nearest to the eye last."""
        order = np.argsort(-self.side.sign * xyz[:, self.side.away], kind="stable")
        order = order[self.inside[order]]
        plan = self.plan(xyz[order])
        return ax.scatter(
            plan[:, 0], plan[:, 1], c=np.asarray(values)[order], s=self._areas(ax, plan), cmap=colours,
            vmin=limits[0], vmax=limits[1], linewidths=0, rasterized=True,
        )  # fmt: skip

    def _areas(self, ax: Axes, plan: Array) -> Array:
        """Return the area of each point: a share of the room that it has in its cell of the panel."""
        width, height = self.high - self.low
        figure = ax.figure
        page = (
            np.array([figure.get_figwidth(), figure.get_figheight()] if isinstance(figure, Figure) else [8, 8]) * 72.0
        )
        scale = min(0.8 * float(page[0]) / width, 0.8 * float(page[1]) / height) / (2 if self.wide else 1)
        cell = max(width, height) / CELLS
        column = np.floor((plan - self.low) / cell).astype(np.int64)
        number = column[:, 0] * (CELLS + 1) + column[:, 1]
        _, of_point, count = np.unique(number, return_inverse=True, return_counts=True)
        room = (cell * scale) ** 2 / count[of_point.reshape(-1)]
        return np.asarray(np.clip(1.6 * room, SMALLEST, LARGEST))

    @property
    def ratio(self) -> float:
        """Height by width."""
        width, height = self.high - self.low
        return float(np.clip(height / width, 0.3, 2.0))

    @property
    def wide(self) -> bool:
        """Whether panels stand one above the other."""
        return self.ratio < 0.8


def site_figure(sparse: SparseRun, side: Side = SIDES["top"]) -> Figure:
    """How many inputs each output site has, sub-manifold and strided."""
    frame = Frame(sparse.scan.xyz, side)
    figure, axes = panels(frame, 2)
    figure.suptitle(f"get_indice_pairs, kernel 3 x 3 x 3, seen {side.words}\n{source_of(sparse.scan)}")
    for ax, title, result, factor in (
        (axes[0], "sub-manifold: sites stay where they are", sparse.submanifold.result, 1),
        (axes[1], "stride 2: a coarser grid of sites", sparse.strided.result, 2),
    ):
        sites, pairs, number = result
        inputs = np.bincount(
            np.concatenate([pairs[k, 1, :count] for k, count in enumerate(number)]), minlength=len(sites)
        )
        size = sparse.voxels.size * factor
        # With padding 1 a strided site lies in the middle of the cells it takes, half a fine cell
        # lower than its own.
        corner = sparse.voxels.origin - 0.5 * sparse.voxels.size * (factor - 1)
        raster, extent = _raster(sites, inputs, corner, size, side)
        drawn = ax.imshow(raster, origin="lower", extent=extent, cmap="viridis", vmin=1, interpolation="nearest")
        label = "inputs of a site (most along the line of sight)"
        figure.colorbar(drawn, ax=ax, label=label, shrink=0.85, ticks=MaxNLocator(integer=True))
        ax.set_title(f"{title}\n{len(sites):,} sites of {size:g} m, {int(number.sum()):,} pairs")
        _crop(ax, frame)
    return figure


def _crop(ax: Axes, frame: Frame) -> None:
    ax.set_xlim(frame.low[0], frame.high[0])
    ax.set_ylim(frame.low[1], frame.high[1])


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
    frame = Frame(sparse.scan.xyz, side)
    figure, axes = panels(frame, 2)
    figure.suptitle(
        f"three_interpolate, voxel features back on the points, seen {side.words}\n{source_of(sparse.scan)}"
    )
    xyz = sparse.scan.xyz
    height = interpolated[0, 0].astype(np.float64)
    error = np.abs(height - xyz[:, 2])
    low, high = (float(limit) for limit in np.quantile(xyz[frame.inside, 2], [0.01, 0.99]))
    worst = max(float(np.quantile(error, 0.99)), 1e-3)
    for ax, values, label, colours, limits in (
        (axes[0], height, "interpolated height (m)", "viridis", (low, max(high, low + 1e-3))),
        (axes[1], error, "distance from the measured height (m)", "magma_r", (0.0, worst)),
    ):
        drawn = frame.scatter(ax, xyz, values, colours, limits)
        figure.colorbar(drawn, ax=ax, label=label, shrink=0.85, extend="max" if ax is axes[1] else "both")
    rms = float(np.sqrt(np.mean(error**2)))
    channels, voxels = sparse.features.shape[1:]
    axes[0].set_title(f"{len(xyz):,} points from {channels} channels of {voxels:,} voxels")
    axes[1].set_title(f"voxels of {sparse.voxels.size:g} m lose {100 * rms:.1f} cm of height (root mean square)")
    return figure


def panels(frame: Frame, count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels over a scan as it is seen, one above the other where that is wide."""
    ratio = frame.ratio
    if frame.wide:
        figure = Figure(figsize=(11, count * (9.2 * ratio + 0.9) + 0.8), layout="constrained")
        axes = figure.subplots(count, 1, squeeze=False)
    else:
        figure = Figure(figsize=(14, 14 / count * 0.83 * ratio + 1.5), layout="constrained")
        axes = figure.subplots(1, count, squeeze=False)
    for ax in axes.flat:
        ax.set_aspect("equal")
        ax.set_facecolor(BACKGROUND)
        ax.set_xlabel(f"{'xyz'[frame.side.right]} (m)")
        ax.set_ylabel(f"{'xyz'[frame.side.up]} (m)")
        _crop(ax, frame)
    return figure, list(axes.flat)


def source_of(scan: Scan) -> str:
    """Return the name of a scan for a title."""
    return short_name(scan.source)


def short_name(source: str) -> str:
    """Return the source without its folders, in letters that can be drawn, and cut where too long for a title."""
    name = one_line(source.rsplit(os.sep, 1)[-1])
    return name if len(name) <= 80 else name[:77] + "..."
