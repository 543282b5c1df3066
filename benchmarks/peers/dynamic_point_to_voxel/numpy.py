"""dynamic_point_to_voxel with NumPy: places as single numbers, and reductions of sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way of the direction; places of the problem fit into 21 bits."""
    if problem.case.operator.endswith("backward"):
        return {"take": lambda: _backward(problem, outputs)}
    return {"unique": lambda: _forward(problem, outputs)}


def _forward(problem: Problem, outputs: Arrays) -> Arrays:
    feats, coors = problem.inputs["feats"], problem.inputs["coors"].astype(np.int64)
    keys: Any = (coors[:, 0] << 42) | (coors[:, 1] << 21) | coors[:, 2]
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = len(first)
    reduce = np.maximum if problem.case.parameters["reduce"] == "max" else np.add
    found = reduce.reduceat(feats[order], starts, axis=0)
    if problem.case.parameters["reduce"] == "mean":
        found /= counts[:, None]
    outputs["voxel_feats"][:number], outputs["voxel_coors"][:number] = found, coors[first]
    outputs["point2voxel_map"][...], outputs["voxel_points_count"][:number] = inverse, counts
    outputs["voxel_num"][0] = number
    outputs["voxel_feats"][number:] = -np.inf if reduce is np.maximum else 0
    outputs["voxel_coors"][number:], outputs["voxel_points_count"][number:] = -1, 0
    return outputs


def _backward(problem: Problem, outputs: Arrays) -> Arrays:
    grad, feats, values, mapping, counts = problem.inputs.values()
    own = problem.case.operator == "dynamic_scatter_backward"
    if own and problem.case.parameters["reduce"] == "mean":
        np.take(grad / counts[:, None], mapping, axis=0, out=outputs["out"])
    else:  # no two features are equal
        np.multiply(grad[mapping], feats == values[mapping], out=outputs["out"])
    return outputs
