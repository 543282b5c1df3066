"""point_sets: hulls of nine points against quadrilaterals, and the smallest rectangles around them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

_FLOAT = np.dtype(np.float32)


def build(case: Case) -> Problem:
    """Draw sets of points, and rectangles among them."""
    facts, rng = case.parameters, generator(case)
    sets, polygons = drawn(rng, facts["sets"], facts["polygons"])
    if case.operator == "min_area_polygons":
        outputs: dict[str, Any] = {"out": ((len(sets), 8), _FLOAT)}
        return Problem(case, {"pointsets": sets}, outputs, lambda out: _surround(sets, out), check)
    if case.operator == "convex_iou":
        outputs = {"out": ((len(sets), len(polygons)), _FLOAT)}
        given = {"pointsets": sets, "polygons": polygons}
        return Problem(case, given, outputs, lambda out: _compare(sets, polygons, out), check)
    polygons = polygons[rng.integers(0, len(polygons), len(sets))]
    outputs = {"gious": ((len(sets),), _FLOAT), "gradients": ((len(sets), 18), _FLOAT)}
    given = {"pointsets": sets, "polygons": polygons}
    return Problem(case, given, outputs, lambda out: _differentiate(sets, polygons, out), check)


def drawn(rng: np.random.Generator, sets: int, polygons: int) -> tuple[Array, Array]:
    """Return sets of points and turned rectangles of 8 to 64 pixels, in an image of 1024."""
    places, sizes = rng.uniform(0, 1024, (sets, 1, 2)), rng.uniform(4, 32, (sets, 1, 2))
    points = places + rng.uniform(-1, 1, (sets, 9, 2)) * sizes
    centres, angles = rng.uniform(0, 1024, (polygons, 1, 2)), rng.uniform(0, 2 * np.pi, (polygons, 1))
    along = np.stack([np.cos(angles), np.sin(angles)], -1) * rng.uniform(4, 32, (polygons, 1, 1))
    across = np.stack([-np.sin(angles), np.cos(angles)], -1) * rng.uniform(4, 32, (polygons, 1, 1))
    corners = np.concatenate([-along - across, along - across, along + across, across - along], 1) + centres
    return points.reshape(sets, 18).astype(np.float32), corners.reshape(polygons, 8).astype(np.float32)


def _surround(sets: Array, out: Arrays) -> Arrays:
    pymluops.min_area_polygons(sets, out=out["out"])
    return out


def _compare(sets: Array, polygons: Array, out: Arrays) -> Arrays:
    pymluops.convex_iou(sets, polygons, out=out["out"])
    return out


def _differentiate(sets: Array, polygons: Array, out: Arrays) -> Arrays:
    pymluops.convex_giou(sets, polygons, gious=out["gious"], gradients=out["gradients"])
    return out


def check(expected: Arrays, found: Arrays) -> None:
    """Compare overlaps and gradients, and of rectangles, which may begin with any corner, the areas."""
    for name, array in expected.items():
        if array.shape[-1:] != (8,) or name != "out":
            close(name, array, found[name], 1e-4)
        elif not np.allclose(_areas(array), _areas(found[name]), rtol=1e-3):
            raise WrongResultError("out: the areas differ")


def _areas(boxes: Array) -> Array:
    sides = np.linalg.norm(np.diff(boxes.reshape(-1, 4, 2).astype(np.float64), axis=1), axis=2)
    return np.asarray(sides[:, 0] * sides[:, 1])


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of sets, with 10 quadrilaterals or as many as there are sets."""
    return {"": {"sets": max(1, round(elements / 40)), "polygons": 10}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two sets."""
    sets, polygons = drawn(np.random.default_rng(7), 2, 2)
    given = {"s": sets, "p": polygons, "o": np.zeros((2, 2), np.float32)}
    rows = {"s": sets, "p": polygons, "g": np.zeros(2, np.float32), "d": np.zeros((2, 18), np.float32)}
    boxes = {"s": sets, "o": np.zeros((2, 8), np.float32)}
    return [
        TinyCall("convex_iou", "op(s, p, out=o)", given, limit=8000.0),
        TinyCall("convex_giou", "op(s, p, gious=g, gradients=d)", rows, limit=30000.0),
        TinyCall("min_area_polygons", "op(s, out=o)", boxes, limit=8000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    sets, polygons = drawn(np.random.default_rng(0), 2, 2)
    sets_t, polygons_t = tensor(sets), tensor(polygons)
    return TensorCall(
        "convex_iou", lambda: pymluops.convex_iou(sets, polygons), lambda: ops.convex_iou(sets_t, polygons_t)
    )
