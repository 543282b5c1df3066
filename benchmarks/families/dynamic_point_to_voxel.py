"""dynamic_point_to_voxel and dynamic_scatter: features of the voxels that points make, and their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator
from benchmarks.scans import street

_WHOLE = np.dtype(np.int32)


def build(case: Case) -> Problem:
    """Make the cells of a scan and features, which are counted from 1, so that no two are equal; or a gradient."""
    facts, rng = case.parameters, generator(case)
    cells = np.floor((street(rng, facts["points"])[:, :3] + [100, 100, 10]) / facts["size"]).astype(np.int32)
    coors = np.ascontiguousarray(cells[:, ::-1])
    values = rng.permutation(facts["points"] * facts["channels"]).reshape(facts["points"], facts["channels"])
    feats = ((values + 1) / values.size).astype(case.dtype)
    reduce = "max" if case.operator == "dynamic_point_to_voxel_backward" else facts["reduce"]
    voxels = pymluops.dynamic_scatter_forward(feats, coors, reduce)
    number = int(voxels.voxel_num[0])
    if case.operator.endswith("forward"):
        return _forward(case, feats, coors, reduce, number)
    grad = rng.standard_normal((number, facts["channels"]), np.float32).astype(case.dtype)
    return _backward(case, grad, feats, reduce, voxels)


def _forward(case: Case, feats: Array, coors: Array, reduce: str, number: int) -> Problem:
    own = case.operator == "dynamic_scatter_forward"
    rows = len(feats) if own else number

    def run(out: Arrays) -> Arrays:
        given: dict[str, Any] = {**out}
        if own:
            pymluops.dynamic_scatter_forward(feats, coors, reduce, **given)
        else:
            pymluops.dynamic_point_to_voxel_forward(feats, coors, reduce, rows, **given)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name, array in expected.items():
            rows = number if name.startswith(("voxel_feats", "voxel_coors")) else len(array)
            close(name, array[:rows], found[name][:rows], 1e-5 if name == "voxel_feats" else 0.0)
            if not np.array_equal(array[rows:], found[name][rows:]):
                raise WrongResultError(f"{name}: the rows behind the voxels differ")

    outputs = {
        "voxel_feats": ((rows, feats.shape[1]), feats.dtype), "voxel_coors": ((rows, 3), _WHOLE),
        "point2voxel_map": ((len(feats),), _WHOLE), "voxel_points_count": ((rows,), _WHOLE),
        "voxel_num": ((1,), _WHOLE),
    }  # fmt: skip
    return Problem(case, {"feats": feats, "coors": coors}, outputs, run, check)


def _backward(case: Case, grad: Array, feats: Array, reduce: str, voxels: Any) -> Problem:
    number = len(grad)
    values, counts = voxels.voxel_feats[:number].copy(), voxels.voxel_points_count[:number].copy()
    mapping, count = voxels.point2voxel_map, voxels.voxel_num
    inputs = {"grad": grad, "feats": feats, "values": values, "map": mapping, "counts": counts}

    def run(out: Arrays) -> Arrays:
        if case.operator == "dynamic_scatter_backward":
            pymluops.dynamic_scatter_backward(grad, feats, values, mapping, counts, reduce, out=out["out"])
        else:
            pymluops.dynamic_point_to_voxel_backward(grad, feats, values, mapping, counts, count, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-6)

    return Problem(case, inputs, {"out": (feats.shape, feats.dtype)}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points, with 8 channels."""
    return {"": {"points": max(4, elements // 24), "channels": 8, "size": [0.5, 0.5, 0.5], "reduce": "mean"}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three points."""
    feats, coors = np.array([[1], [3], [5]], np.float32), np.array([[0, 0, 1], [0, 0, 1], [2, 2, 2]], np.int32)
    outputs = dict(
        zip("vcmnk", (array.copy() for array in pymluops.dynamic_scatter_forward(feats, coors, 2)), strict=True)
    )
    written = "voxel_feats=v, voxel_coors=c, point2voxel_map=m, voxel_points_count=n, voxel_num=k"
    arrays = {"x": feats, "p": coors, **outputs}
    kept = {"g": np.ones((3, 1), np.float32), "o": np.empty_like(feats)}
    return [
        TinyCall("dynamic_point_to_voxel_forward", f"op(x, p, 2, 3, {written})", arrays, limit=4000.0),
        TinyCall("dynamic_point_to_voxel_backward", "op(g, x, v, m, n, k, 2, out=o)", {**arrays, **kept}, limit=4000.0),
        TinyCall("dynamic_scatter_forward", f"op(x, p, 2, {written})", arrays, limit=4000.0),
        TinyCall("dynamic_scatter_backward", "op(g, x, v, m, n, 2, out=o)", {**arrays, **kept}, limit=4000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    feats, coors = np.ones((3, 2), np.float32), np.zeros((3, 3), np.int32)
    feats_t, coors_t = tensor(feats), tensor(coors)
    return TensorCall(
        "dynamic_scatter",
        lambda: pymluops.dynamic_scatter_forward(feats, coors, 2),
        lambda: ops.dynamic_scatter(feats_t, coors_t),
    )
