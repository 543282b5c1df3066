"""points_in_polygons of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, compute_type, dense, extension_function_of
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["points_in_polygons_forward"]

ROWS = (
    Row(
        "points_in_polygons",
        ("points_in_polygons_forward",),
        "forward",
        "mluopsExtPointsInPolygons (float32)",
    ),
)


@extension_function_of(points="B 2", polygons="M 8", output="B M")
def points_in_polygons_forward(points: Tensor, polygons: Tensor, output: Tensor) -> None:
    """Write 1 where a point lies in a polygon, else 0; mmcv gives an output of float32 for points of any type."""
    name = "points_in_polygons_forward"
    given = check_floats(name, points=points, polygons=polygons)
    check_floats(name, output=output)
    check_shape(name, "points", points, (None, 2))
    check_shape(name, "polygons", polygons, (None, 8))
    check_shape(name, "output", output, (len(points), len(polygons)))
    kind = compute_type(given, load_torch().float32)
    output.detach().copy_(run(described("points_in_polygons"), (dense(points, kind), dense(polygons, kind), None)))
