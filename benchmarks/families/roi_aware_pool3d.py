"""roi_aware_pool3d: features of the points in the voxels of boxes, and the gradient of the features."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

#: The most voxels, as a part of all, with another number of points: one lies at a face but for
#: rounding.
_OTHERS = 1e-3


def scene(rng: np.random.Generator, boxes: int, points: int, channels: int) -> tuple[Array, Array, Array]:
    """Return boxes of cars on the ground, points in and around them, and features, no two of which are equal."""
    places = rng.uniform(-30, 30, (boxes, 3)) * [1, 1, 0.02]
    sizes = rng.uniform([3.5, 1.5, 1.4], [5, 2.2, 2.5], (boxes, 3))
    rois = np.concatenate([places, sizes, rng.uniform(-np.pi, np.pi, (boxes, 1))], 1).astype(np.float32)
    near = rng.uniform(-0.8, 0.8, (points, 3)) * [3, 3, 2] + places[rng.integers(0, boxes, points)]
    features = (rng.permutation(points * channels) + 1).reshape(points, channels) / (points * channels)
    return rois, near.astype(np.float32), features.astype(np.float32)


def build(case: Case) -> Problem:
    """Make a scene, or the gradient of pooled features."""
    facts, rng = case.parameters, generator(case)
    rois, pts, feats = scene(rng, facts["boxes"], facts["points"], facts["channels"])
    sizes = (facts["slots"], *facts["out"])
    counts = (len(rois), len(pts), feats.shape[1])
    voxels = (len(rois), *facts["out"])
    if case.operator.endswith("backward"):
        pooled, argmax, lists = pymluops.roi_aware_pool3d_forward(rois, pts, feats, facts["method"], *counts, *sizes)
        grad = rng.standard_normal(pooled.shape, np.float32)
        return _backward(case, lists, argmax, grad, len(pts))

    def run(out: Arrays) -> Arrays:
        given: dict[str, Any] = {**out}
        pymluops.roi_aware_pool3d_forward(rois, pts, feats, facts["method"], *counts, *sizes, **given)
        return out

    whole = np.dtype(np.int32)
    outputs = {
        "pooled_features": ((*voxels, feats.shape[1]), feats.dtype),
        "argmax": ((*voxels, feats.shape[1]), whole),
        "pts_idx_of_voxels": ((*voxels, facts["slots"]), whole),
    }
    return Problem(case, {"rois": rois, "pts": pts, "feats": feats}, outputs, run, check)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the voxels that have the same points."""
    counts = expected["pts_idx_of_voxels"][..., 0], found["pts_idx_of_voxels"][..., 0]
    same = (expected["pts_idx_of_voxels"] == found["pts_idx_of_voxels"]).all(axis=-1)
    if (~same).mean() > _OTHERS or counts[0].shape != counts[1].shape:
        raise WrongResultError(f"pts_idx_of_voxels: {np.count_nonzero(~same)} of {same.size} voxels have other points")
    close("pooled_features", expected["pooled_features"][same], found["pooled_features"][same], 1e-5)
    close("argmax", expected["argmax"][same], found["argmax"][same], 0.0)


def _backward(case: Case, lists: Array, argmax: Array, grad: Array, points: int) -> Problem:
    boxes, *out, channels = grad.shape
    scalars: Any = (case.parameters["method"], boxes, *out, channels, lists.shape[4], points)

    def run(outputs: Arrays) -> Arrays:
        pymluops.roi_aware_pool3d_backward(lists, argmax, grad, *scalars, out=outputs["out"])
        return outputs

    def compare(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-5)

    # Of the lists only the points are read, of means no maxima.
    lengths = int(lists[..., 0].sum()) + lists[..., 0].size
    read = grad.nbytes + (argmax.nbytes if case.parameters["method"] == "max" else 4 * lengths)
    inputs = {"lists": lists, "argmax": argmax, "grad": grad}
    return Problem(case, inputs, {"out": ((points, channels), grad.dtype)}, run, compare, read)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of boxes, with 3 x 3 x 3 voxels of 9 slots and 8 channels, and the points."""
    boxes = max(1, elements // 800)
    points = max(4, elements // 60)
    return {"": {"boxes": boxes, "points": points, "channels": 8, "slots": 9, "out": [3, 3, 3], "method": "max"}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two points and a box."""
    rois, pts = np.array([[0, 0, 0, 2, 2, 2, 0]], np.float32), np.array([[0, 0, 1], [5, 0, 0]], np.float32)
    feats = np.ones((2, 1), np.float32)
    pooled, argmax, lists = pymluops.roi_aware_pool3d_forward(rois, pts, feats, 0, 1, 2, 1, 3, 1, 1, 1)
    arrays = {"b": rois, "x": pts, "f": feats, "o": pooled, "m": argmax, "n": lists}
    forward = "op(b, x, f, 0, 1, 2, 1, 3, 1, 1, 1, pooled_features=o, argmax=m, pts_idx_of_voxels=n)"
    back = {"n": lists.copy(), "m": argmax.copy(), "x": pooled.copy(), "o": np.empty_like(feats)}
    return [
        TinyCall("roi_aware_pool3d_forward", forward, arrays, limit=4000.0),
        TinyCall("roi_aware_pool3d_backward", "op(n, m, x, 0, 1, 1, 1, 1, 1, 3, 2, out=o)", back, limit=3000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    rois, pts, feats = np.ones((1, 7), np.float32), np.ones((3, 3), np.float32), np.ones((3, 2), np.float32)
    tensors = tuple(map(tensor, (rois, pts, feats)))
    return TensorCall(
        "roiaware_pool3d",
        lambda: pymluops.roi_aware_pool3d_forward(rois, pts, feats, 0, 1, 3, 2, 4, 2, 2, 2),
        lambda: ops.roiaware_pool3d(*tensors, 2, 4, 0),
    )
