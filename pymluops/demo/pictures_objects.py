"""Pictures of the objects of a scan: neighbours of voxels, candidate boxes, and those that suppression keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pymluops.demo.arrays import Array
from pymluops.demo.objects import NEIGHBOURS
from pymluops.demo.objects_run import ObjectRun
from pymluops.demo.pictures_scan import SIDES, Frame, Side, panels, source_of

CANDIDATE, KEPT = "#56B4E9", "#D55E00"
#: The corners of a box, and those that its twelve edges join.
_CORNERS = np.array(list(np.ndindex(2, 2, 2))) - 0.5
_EDGES = [(i, j) for i in range(8) for j in range(i) if np.abs(_CORNERS[i] - _CORNERS[j]).sum() == 1]


def object_figure(run: ObjectRun, side: Side = SIDES["top"]) -> Figure:
    """How many neighbours each voxel has, and the boxes before and after suppression over the points by height."""
    places = run.places + run.task.origin
    frame = Frame(places, side)
    figure, (left, right) = panels(frame, 2)
    voxels, radius = len(places), run.radius
    figure.suptitle(
        f"voxelization, ball_query and nms3d, seen {side.words}\n{source_of(run.scan)}: {voxels:,} voxels of "
        f"{run.task.size:g} m"
    )
    counts = run.neighbour_counts
    drawn = frame.scatter(left, places, counts, "viridis", (1, max(2, int(np.quantile(counts, 0.99)))))
    figure.colorbar(
        drawn, ax=left, label=f"neighbours, at most {NEIGHBOURS}", shrink=0.85, ticks=MaxNLocator(integer=True)
    )
    left.set_title(f"ball_query: neighbours within {radius:g} m")
    low, high = (float(height) for height in np.quantile(run.heights, [0.01, 0.99]))
    drawn = frame.scatter(right, places, run.heights, "viridis", (low, max(high, low + 1e-3)))
    figure.colorbar(drawn, ax=right, label="height above the ground (m)", shrink=0.85, extend="both")
    boxes = run.candidates.boxes.astype(np.float64)
    boxes[:, :3] += run.task.origin
    right.add_collection(LineCollection(_edges(boxes, side), colors=CANDIDATE, linewidths=0.5, alpha=0.6))
    right.add_collection(LineCollection(_edges(boxes[run.kept], side), colors="white", linewidths=3.4))
    right.add_collection(LineCollection(_edges(boxes[run.kept], side), colors=KEPT, linewidths=1.8))
    right.set_title(
        f"nms3d keeps {len(run.kept):,} (thick) of {len(boxes):,} boxes around {run.number_of_groups:,} groups"
    )
    return figure


def _edges(boxes: Array, side: Side) -> Any:
    """Return the edges of boxes as they are seen, [edges, 2, 2]."""
    cos, sin = np.cos(boxes[:, 6]), np.sin(boxes[:, 6])
    turned = np.zeros((len(boxes), 3, 3))
    turned[:, 0, 0], turned[:, 0, 1], turned[:, 1, 0], turned[:, 1, 1], turned[:, 2, 2] = cos, -sin, sin, cos, 1.0
    corners = boxes[:, None, :3] + np.einsum("nij,ncj->nci", turned, _CORNERS * boxes[:, None, 3:6])
    seen = corners[:, :, [side.right, side.up]]
    return np.concatenate([seen[:, edge] for edge in _EDGES]) if len(boxes) else np.empty((0, 2, 2))
