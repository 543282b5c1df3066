"""voxel_pooling: sums of the features of points in the columns of a grid, and the gradient of the features."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator, same_bits


def build(case: Case) -> Problem:
    """Draw cells of the grid, a tenth of them outside, as the frustums of cameras have them."""
    facts, rng = case.parameters, generator(case)
    batch, points, channels, voxels = (facts[name] for name in ("batch", "points", "channels", "voxels"))
    geom = np.floor(rng.uniform(-0.02, 1.02, (batch, points, 3)) * voxels).astype(np.int32)
    width, height, _ = voxels
    if case.operator.endswith("backward"):
        memo = pymluops.voxel_pooling_forward(geom, np.zeros((batch, points, 1), np.float32), batch, points, 1, voxels)[
            1
        ]
        grad = rng.standard_normal((batch, height, width, channels), np.float32)

        def back(out: Arrays) -> Arrays:
            pymluops.voxel_pooling_backward(grad, memo, out=out["out"])
            return out

        outputs = {"out": ((batch, points, channels), grad.dtype)}
        return Problem(case, {"grad": grad, "memo": memo}, outputs, back, same_bits)
    features = rng.standard_normal((batch, points, channels), np.float32)

    def run(out: Arrays) -> Arrays:
        given: dict[str, Any] = {**out}
        pymluops.voxel_pooling_forward(geom, features, batch, points, channels, voxels, **given)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("output_features", expected["output_features"], found["output_features"], 1e-4)
        close("pos_memo", expected["pos_memo"], found["pos_memo"], 0.0)

    results = {
        "output_features": ((batch, height, width, channels), features.dtype),
        "pos_memo": (geom.shape, geom.dtype),
    }
    return Problem(case, {"geom": geom, "features": features}, results, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the points, with 8 channels and a pixel for each four of them."""
    points = max(4, elements // 16)
    side = max(1, round((points / 4) ** 0.5))
    return {"": {"batch": 1, "points": points, "channels": 8, "voxels": [side, side, 1]}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three points."""
    geom, features = np.array([[[0, 0, 0], [1, 0, 0], [5, 0, 0]]], np.int32), np.ones((1, 3, 2), np.float32)
    sums, memo = pymluops.voxel_pooling_forward(geom, features, 1, 3, 2, (2, 1, 1))
    return [
        TinyCall("voxel_pooling_forward", "op(x, f, 1, 3, 2, v, output_features=o, pos_memo=m)",
                 {"x": geom, "f": features, "o": sums.copy(), "m": memo.copy()}, {"v": (2, 1, 1)}, limit=3000.0),
        TinyCall("voxel_pooling_backward", "op(g, m, out=o)", {"g": sums, "m": memo, "o": np.empty_like(features)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    geom, features = np.zeros((1, 3, 3), np.int32), np.ones((1, 3, 2), np.float32)
    geom_t, features_t = tensor(geom), tensor(features)
    return TensorCall(
        "voxel_pooling",
        lambda: pymluops.voxel_pooling_forward(geom, features, 1, 3, 2, (2, 2, 1)),
        lambda: ops.voxel_pooling(geom_t, features_t, (2, 2, 1)),
    )
