"""roi_aware_pool3d: features of the points in each voxel of boxes, a point at a time, and their gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad, unsupported
from pymluops.oracle.upright_boxes import inside, place, wide
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("roi_aware_pool3d_forward", "roi_aware_pool3d_backward")

_METHODS = {0: "max", 1: "avg"}


def listed(rois: np.ndarray, pts: np.ndarray, slots: int, out: tuple[int, int, int]) -> np.ndarray:
    """pts_idx_of_voxels [R, ox, oy, oz, K]: the number of points of each voxel, and the points."""
    found = np.zeros((len(rois), *out, slots), np.int32)
    points = wide(pts)
    for r, roi in enumerate(rois):
        box = wide(roi)
        real = box.dtype.type
        along_x, along_y = place(box, points)
        for i in np.flatnonzero(inside(roi, pts)):
            with np.errstate(all="ignore"):
                starts = (along_x[i] + box[3] / real(2), along_y[i] + box[4] / real(2), points[i, 2] - box[2])
                at = [start / (box[3 + k] / real(out[k])) for k, start in enumerate(starts)]
            voxel = tuple(0 if not a > 0 else int(min(a, out[k] - 1)) for k, a in enumerate(at))
            row = found[(r, *voxel)]
            if row[0] < slots - 1:
                row[0] += 1
                row[row[0]] = i
    return found


def forward(
    rois: np.ndarray, pts: np.ndarray, feats: np.ndarray, method: str | int, slots: int, out: tuple[int, int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pooled_features, argmax, pts_idx_of_voxels), added up in the type that is computed in."""
    method = _METHODS.get(method, method)  # type: ignore[call-overload]
    lists, values = listed(rois, pts, slots, out), wide(feats)
    pooled = np.zeros((*lists.shape[:4], feats.shape[1]), values.dtype)
    argmax = np.full(pooled.shape, -1 if method == "max" else 0, np.int32)
    for voxel in np.ndindex(lists.shape[:4]):
        points = lists[voxel][1 : 1 + lists[voxel][0]]
        if method == "max":
            most = np.full(feats.shape[1], -np.inf, values.dtype)
            for point in points:
                larger = values[point] > most
                most[larger], argmax[voxel][larger] = values[point][larger], point
            pooled[voxel] = np.where(argmax[voxel] < 0, 0, most)
        elif len(points):
            with np.errstate(all="ignore"):
                for point in points:
                    pooled[voxel] += values[point]
                pooled[voxel] /= values.dtype.type(len(points))
    with np.errstate(over="ignore"):
        return pooled.astype(feats.dtype), argmax, lists


def backward(lists: np.ndarray, argmax: np.ndarray, grad: np.ndarray, method: str | int, points: int) -> np.ndarray:
    """The gradient [P, C] of the features, voxel after voxel."""
    method = _METHODS.get(method, method)  # type: ignore[call-overload]
    real = wide(grad).dtype.type
    found = np.zeros((points, grad.shape[4]), real)
    for voxel in np.ndindex(lists.shape[:4]):
        values = wide(grad[voxel])
        with np.errstate(all="ignore"):
            if method == "max":
                for c, point in enumerate(argmax[voxel].tolist()):
                    if 0 <= point < points:
                        found[point, c] += values[c]
                continue
            number = min(int(lists[voxel][0]), lists.shape[4] - 1)
            for point in lists[voxel][1 : 1 + max(number, 0)].tolist():
                if 0 <= point < points:
                    found[point] += (values * (real(1) / real(number))).astype(grad.dtype).astype(real)
    with np.errstate(over="ignore"):
        return found.astype(grad.dtype)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes hold most of the points, and the arguments of a gradient name points."""
    if "rois" in arguments:
        rois, pts = arguments["rois"], arguments["pts"]
        rois[:, :3] = rng.uniform(-1, 0, (len(rois), 3))
        rois[:, 3:6] = rng.uniform(2, 4, (len(rois), 3))
        pts[...] = rng.uniform(-1, 1, pts.shape)
        return
    lists, points = arguments["pts_idx_of_voxels"], arguments["pts_num"]
    lists[...] = rng.integers(0, points, lists.shape)
    lists[..., 0] = rng.integers(0, lists.shape[4], lists.shape[:4])
    arguments["argmax"][...] = rng.integers(-1, points, arguments["argmax"].shape)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "roi_aware_pool3d_forward":
        rois, pts, feats, method, _, _, _, slots, *out = given
        return forward(rois, pts, feats, method, slots, tuple(out))
    lists, argmax, grad, method, *rest = given
    return backward(lists, argmax, grad, method, rest[-1])


# ---- ways through the kernels --------------------------------------------------------------------


def ways(size: int) -> Iterator[Way]:
    """Both methods, several boxes with many points, and channels that tasks share."""
    for method in ("max", "avg"):
        boxes = {"boxes_num": 6, "out_x": 4, "out_y": 3, "out_z": 2, "max_pts_each_voxel": 9}
        sizes = {**boxes, "pts_num": 20 * size + 300, "channels": 5}
        yield Way("roi_aware_pool3d_forward", method, sizes, {"pool_method": method})
        sizes = {**boxes, "boxes_num": 2 * size + 3, "pts_num": 20, "channels": 40}
        yield Way("roi_aware_pool3d_backward", method, sizes, {"pool_method": method})


# ---- refusals ------------------------------------------------------------------------------------


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """Numbers from 65536 on, which are too large and not wrong, and so many pairs."""
    values = problem.values
    found = {
        "limits": [unsupported(values[name] < 65536, name) for name in ("boxes_num", "channels")],
        "numbers": [bad(values[name] > 0, name) for name in values if name in _NUMBERS],
    }
    if "pts_num" in values:
        pairs = values["boxes_num"] * values["pts_num"]
        found["pairs"] = [unsupported(pairs < 2**31, "boxes_num", "pts_num")]
    return found


_NUMBERS = ("boxes_num", "pts_num", "channels", "max_pts_each_voxel", "out_x", "out_y", "out_z")
_LATE = "ranks:argmax shapes:argmax types:argmax indexable:argmax data:argmax"
REFUSALS = {
    "mluOpRoiAwarePool3dForward": Refusals(
        order="handle objects ranks shapes types scalars:pool_method numbers packed limits indexable pairs workspace "
        f"data {_LATE} overlap",
        needs_workspace=False,
        checks=_checks,
    ),
    "mluOpGetRoiAwarePool3dForwardWorkspaceSize": Refusals(
        order="handle optional:rois optional:pts objects:pts_feature pointer"
    ),
    "mluOpRoiAwarePool3dBackward": Refusals(
        order="handle objects ranks shapes types scalars:pool_method numbers positive packed limits indexable data "
        "overlap",
        checks=_checks,
    ),
}
