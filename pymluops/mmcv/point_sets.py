"""convex_iou, convex_giou and min_area_polygons of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row, binding, result, values
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, compute_type, dense, extension_function_of
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["convex_giou", "convex_iou", "min_area_polygons"]

ROWS = (
    Row(
        "convex_iou",
        ("convex_iou",),
        "forward",
        "mluopsExtConvexIou (float32)",
        "Points that are not finite give NaN, as do two without an area. float64 is not rounded to float32.",
    ),
    Row(
        "convex_giou",
        ("convex_giou",),
        "forward, with its gradient",
        "mluopsExtConvexGiou (float32)",
        "Points that are not finite give NaN and a gradient of 0. float64 is not rounded to float32.",
    ),
    Row(
        "min_area_polygons",
        ("min_area_polygons",),
        "forward",
        "mluopsExtMinAreaPolygons (float32)",
        "The least area may be above 1e12. float64 is not rounded to float32.",
    ),
)

convex_iou = binding(
    "convex_iou",
    "convex_iou",
    values("pointsets", "N 18", "pointsets"),
    values("polygons", "K 8", "polygons"),
    result("ious", "N K", "out"),
)
min_area_polygons = binding(
    "min_area_polygons",
    "min_area_polygons",
    values("pointsets", "N 18", "pointsets"),
    result("polygons", "N 8", "out"),
)


@extension_function_of(pointsets="N 18", polygons="N 8", output="N 19")
def convex_giou(pointsets: Tensor, polygons: Tensor, output: Tensor) -> None:
    """Write 18 values of the gradient of each row, then its generalised IoU."""
    name = "convex_giou"
    given = check_floats(name, pointsets=pointsets, polygons=polygons, output=output)
    check_shape(name, "pointsets", pointsets, (None, 18))
    check_shape(name, "polygons", polygons, (len(pointsets), 8))
    check_shape(name, "output", output, (len(pointsets), 19))
    kind = compute_type(given, load_torch().float32)
    gious, gradients = run(described(name), (dense(pointsets, kind), dense(polygons, kind), None, None))
    target = output.detach()
    target[:, :18].copy_(gradients)
    target[:, 18].copy_(gious)
