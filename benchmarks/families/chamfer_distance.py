"""chamfer_distance: nearest points of two clouds in a plane, and the gradients of both."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

#: Of the largest value; another order of the sums rounds otherwise.
_TOLERANCE = {"float32": 1e-5, "float16": 4e-3}


def build(case: Case) -> Problem:
    """Draw both clouds evenly in a square, or around a line."""
    facts, rng = case.parameters, generator(case)
    shape = facts["batch"], facts["points"], 2
    xyz1, xyz2 = (rng.random(shape, np.float32) for _ in range(2))
    if facts.get("line"):
        for cloud in (xyz1, xyz2):
            cloud[..., 1] *= 1e-3
    xyz1, xyz2 = xyz1.astype(case.dtype), xyz2.astype(case.dtype)
    if case.operator.endswith("backward"):
        return _backward(case, xyz1, xyz2)

    call: Any = pymluops.chamfer_distance_forward

    def run(out: Arrays) -> Arrays:
        call(xyz1, xyz2, **out)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name in ("dist1", "dist2"):
            close(name, expected[name], found[name], _TOLERANCE[case.dtype])
        for own, other, number in ((xyz1, xyz2, 1), (xyz2, xyz1, 2)):
            _are_at(own, other, found[f"idx{number}"], expected[f"dist{number}"], _TOLERANCE[case.dtype])

    kinds = {"dist1": xyz1.dtype, "dist2": xyz1.dtype, "idx1": np.dtype(np.int32), "idx2": np.dtype(np.int32)}
    outputs = {name: (shape[:2], kind) for name, kind in kinds.items()}
    return Problem(case, {"xyz1": xyz1, "xyz2": xyz2}, outputs, run, check)


def _are_at(points: Array, others: Array, idx: Array, dist: Array, tolerance: float) -> None:
    """Check that the points named are at the distances; of those at the same distance any will do."""
    if (idx < 0).any() or (idx >= others.shape[1]).any():
        raise WrongResultError("idx: not all values are indices")
    named = np.take_along_axis(others, idx[..., None].astype(np.int64), 1).astype(np.float32)
    close("idx", dist, np.square(named - points.astype(np.float32)).sum(-1), tolerance)


def _backward(case: Case, xyz1: Any, xyz2: Any) -> Problem:
    found = pymluops.chamfer_distance_forward(xyz1, xyz2)
    arrays = {"xyz1": xyz1, "xyz2": xyz2, "idx1": found.idx1, "idx2": found.idx2, "g1": found.dist1, "g2": found.dist2}

    call: Any = pymluops.chamfer_distance_backward

    def run(out: Arrays) -> Arrays:
        call(*arrays.values(), **out, validate=False)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name in ("grad_xyz1", "grad_xyz2"):
            close(name, expected[name], found[name], _TOLERANCE[case.dtype])

    outputs: dict[str, Any] = dict.fromkeys(("grad_xyz1", "grad_xyz2"), (xyz1.shape, xyz1.dtype))
    return Problem(case, arrays, outputs, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow both clouds to 4096 points, then the batch."""
    points = min(4096, max(4, round(elements / 8)))
    return {"": {"batch": max(1, round(elements / 8 / points)), "points": points}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three points."""
    cloud = np.random.default_rng(7).random((1, 3, 2), np.float32)
    found = pymluops.chamfer_distance_forward(cloud, cloud.copy())
    arrays: dict[str, Array] = {"x": cloud, "y": cloud.copy()}
    arrays |= dict(zip("deij", (array.copy() for array in found), strict=True))
    grads = {"g": np.empty_like(cloud), "h": np.empty_like(cloud)}
    return [
        TinyCall("chamfer_distance_forward", "op(x, y, dist1=d, dist2=e, idx1=i, idx2=j)", arrays, limit=4000.0),
        TinyCall("chamfer_distance_backward", "op(x, y, i, j, d, e, grad_xyz1=g, grad_xyz2=h)", {**arrays, **grads},
                 limit=4000.0),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    cloud = np.random.default_rng(0).random((1, 3, 2), np.float32)
    given = tensor(cloud)
    return TensorCall(
        "chamfer_distance",
        lambda: pymluops.chamfer_distance_forward(cloud, cloud),
        lambda: ops.chamfer_distance(given, given),
    )
