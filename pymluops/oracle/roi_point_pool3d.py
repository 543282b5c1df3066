"""roi_point_pool3d: the first points in each box with their features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad
from pymluops.oracle.upright_boxes import inside
from pymluops.oracle.ways import Way


def pool(points: np.ndarray, features: np.ndarray, boxes: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """(pooled_features [B, M, S, 3 + C], pooled_empty_flag [B, M])."""
    rows = np.concatenate([points, features], 2)
    pooled = np.zeros((*boxes.shape[:2], samples, rows.shape[2]), points.dtype)
    empty = np.zeros(boxes.shape[:2], np.int32)
    for b, m in np.ndindex(boxes.shape[:2]):
        found = np.flatnonzero(inside(boxes[b, m], points[b]))[:samples]
        if len(found):
            pooled[b, m] = rows[b, np.resize(found, samples)]
        else:
            empty[b, m] = 1
    return pooled, empty


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let most boxes hold some of the points."""
    boxes, points = arguments["boxes3d"], arguments["points"]
    boxes[..., :3] = rng.uniform(-2, 0, boxes[..., :3].shape)
    boxes[..., 3:6] = rng.uniform(1, 4, boxes[..., 3:6].shape)
    points[...] = rng.uniform(-2, 2, points.shape)


def in_double(_name: str, points: np.ndarray, features: np.ndarray, boxes: np.ndarray, *sizes: int) -> Any:
    """The results for float64 arrays and the scalars of the description."""
    return pool(points, features, boxes, sizes[-1])


def ways(size: int) -> Iterator[Way]:
    """Fewer and more points than samples, and wide rows."""
    for samples in (3, 200):
        sizes = {"batch_size": 2, "pts_num": 20 * size + 300, "boxes_num": 9, "feature_in_len": 4}
        yield Way("roi_point_pool3d", f"{samples} samples", {**sizes, "sampled_pts_num": samples})
    sizes = {"batch_size": 1, "pts_num": 5, "boxes_num": 2, "feature_in_len": 50 * size, "sampled_pts_num": 8}
    yield Way("roi_point_pool3d", "wide rows", sizes)


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """Nothing is empty; and the types of the function for the workspace, which the one in double asks too."""
    tensors = {name: tensor for name, tensor in problem.tensors.items() if tensor.dims is not None}
    kinds = [_KINDS.get(one.dtype, one.dtype) for name, one in tensors.items() if name != "pooled_empty_flag"]
    alike = all(kind in ("FLOAT", "HALF", "DOUBLE") and kind == kinds[0] for kind in kinds)
    return {
        "some": [bad(tensor.elements > 0, f"{name}_desc") for name, tensor in problem.tensors.items()],
        "reals": [bad(alike, *(f"{name}_desc" for name in problem.tensors if name != "pooled_empty_flag"))],
    }


#: Types by their numbers.
_KINDS = {1: "HALF", 2: "FLOAT", 14: "DOUBLE"}
_SHAPES = "ranks shapes packed"
REFUSALS = {
    "mluOpRoiPointPool3d": Refusals(
        order=f"handle objects {_SHAPES} types workspace some indexable data overlap",
        needs_workspace=False,
        checks=_checks,
    ),
    "mluOpGetRoiPointPool3dWorkspaceSize": Refusals(
        order=f"handle objects pointer {_SHAPES} reals types:pooled_empty_flag indexable some", checks=_checks
    ),
}
