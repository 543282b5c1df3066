"""The functions of mmcv's extension for convex_iou, convex_giou and min_area_polygons."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import point_sets as oracle

from .values import TOLERANCES, any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


def problem(torch: Any, dtype: str) -> tuple[Any, Any]:
    """Sets and quadrilaterals that have areas."""
    rng = np.random.default_rng(3)
    corners = np.array([-1, -1, 1, -1, 1.5, 1, -1, 1]) * rng.uniform(0.5, 2, (6, 1)) + rng.integers(-1, 2, (6, 1))
    return tensor(torch, rng.normal(size=(6, 18)), dtype), tensor(torch, corners, dtype)


@every_dtype
@any_strides
def test_values(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    sets, polygons = problem(torch, dtype)
    given, limit = (laid(torch, sets, strided), laid(torch, polygons, strided)), 10 * max(TOLERANCES[dtype], 1e-12)
    ious, output, boxes = (
        laid(torch, torch.full(shape, 9, dtype=sets.dtype), strided) for shape in ((6, 4), (6, 19), (6, 8))
    )
    ext.convex_iou(given[0], given[1][:4], ious)
    np.testing.assert_allclose(exact(ious), oracle.ious(exact(sets), exact(polygons)[:4]), atol=limit)
    ext.convex_giou(*given, output)
    gious, gradients = oracle.gious(exact(sets), exact(polygons))
    np.testing.assert_allclose(exact(output), np.column_stack([gradients, gious]), atol=limit)
    ext.min_area_polygons(given[0], boxes)
    kind = np.float64 if dtype == "float64" else np.float32
    np.testing.assert_allclose(exact(boxes), oracle.rectangles(exact(sets).astype(kind)), atol=3 * limit)


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    sets, polygons = problem(torch, "float32")
    ext.convex_iou(sets[:0], polygons, torch.zeros(0, 6))
    ext.convex_giou(sets[:0], polygons[:0], torch.zeros(0, 19))
    ext.min_area_polygons(sets[:0], polygons[:0])
    refused: list[tuple[str, tuple[Any, ...], str]] = [
        ("convex_iou", (sets, polygons, torch.zeros(6, 5)), r"ious: expected shape \[6, 6\]"),
        ("convex_iou", (sets[:, :16], polygons, torch.zeros(6, 6)), "pointsets: expected shape"),
        ("convex_giou", (sets, polygons[:5], torch.zeros(6, 19)), r"polygons: expected shape \[6, 8\]"),
        ("convex_giou", (sets, polygons, torch.zeros(6, 18)), r"output: expected shape \[6, 19\]"),
        ("convex_giou", (sets, polygons.half(), torch.zeros(6, 19)), "polygons: expected float32, like pointsets"),
        ("min_area_polygons", (sets, polygons[:5]), r"polygons: expected shape \[6, 8\]"),
    ]
    for name, arguments, text in refused:
        with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
            getattr(ext, name)(*arguments)
