"""points_in_boxes: the boxes that hold each point, one pair at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.upright_boxes import inside
from pymluops.oracle.ways import Way


def every(boxes: np.ndarray, points: np.ndarray, margin: float = 0.0, centred: bool = False) -> np.ndarray:
    """[B, N, M] int32: 1 where box m holds point n."""
    found = np.zeros((len(points), points.shape[1], boxes.shape[1]), np.int32)
    for b, m in np.ndindex(boxes.shape[:2]):
        found[b, :, m] = inside(boxes[b, m], points[b], margin, centred)
    return found


def first(boxes: np.ndarray, points: np.ndarray, margin: float = 0.0, centred: bool = False) -> np.ndarray:
    """[B, N] int32: the first box that holds each point, or -1."""
    pairs = every(boxes, points, margin, centred)
    if not boxes.shape[1]:
        return np.full(points.shape[:2], -1, np.int32)
    return np.where(pairs.any(axis=2), pairs.argmax(axis=2), -1).astype(np.int32)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes hold some of the points, away from their faces."""
    boxes, points = arguments["boxes"], arguments["points"]
    boxes[..., :3] = rng.uniform(-2, 2, boxes[..., :3].shape)
    boxes[..., 3:6] = rng.uniform(1, 4, boxes[..., 3:6].shape)
    points[...] = rng.uniform(-3, 3, points.shape)
    if "margin" in arguments:
        arguments["margin"] = float(rng.choice([0.0, 1e-5, 0.25]))


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "points_in_boxes":
        points, boxes = given
        return first(boxes, points, 1e-5, True)
    return (every if name.endswith("all") else first)(*given)


def ways(size: int) -> Iterator[Way]:
    """Several tiles of points, more boxes than a task reads."""
    for name in ("points_in_boxes", "points_in_boxes_part", "points_in_boxes_all"):
        scalars = {} if name == "points_in_boxes" else {"margin": 0.0, "centred": True}
        yield Way(name, "tiles", {"B": 2, "N": 6 * size + 300, "M": 20}, scalars)
        yield Way(name, "boxes", {"B": 1, "N": 7, "M": 6 * size + 300}, scalars)


REFUSALS = {
    "mluOpPointsInBoxes": Refusals(
        order="handle objects ranks types layouts shapes packed indexable data overlap",
        layouts=dict.fromkeys(("points", "boxes", "points_indices"), ("ARRAY",)),
        empty={"B": "", "N": "", "M": ""},
    ),
}
