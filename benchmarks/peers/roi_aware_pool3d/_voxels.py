"""The lists of points of the voxels, with PyTorch or with NumPy's names of the same functions."""

from __future__ import annotations

from typing import Any


def keys(torch: Any, rois: Any, pts: Any, out: list[int]) -> tuple[Any, Any]:
    """Return the number of the voxel and that of the point of each pair of a box and a point in it, in order."""
    x, y = pts[:, 0] - rois[:, 0, None], pts[:, 1] - rois[:, 1, None]
    z = pts[:, 2] - rois[:, 2, None]
    cosine, sine = torch.cos(-rois[:, 6, None]), torch.sin(-rois[:, 6, None])
    half = rois[:, 3:6] / 2
    places = (x * cosine - y * sine, x * sine + y * cosine)
    held = (abs(places[0]) < half[:, 0, None]) & (abs(places[1]) < half[:, 1, None])
    held &= abs(z - half[:, 2, None]) <= half[:, 2, None]
    box, point = torch.where(held)
    number = box
    starts = (places[0][box, point] + half[box, 0], places[1][box, point] + half[box, 1], z[box, point])
    for axis, start in enumerate(starts):
        step = torch.floor(start / (rois[box, 3 + axis] / out[axis]))
        number = number * out[axis] + torch.clip(step, 0, out[axis] - 1)
    return number, point
