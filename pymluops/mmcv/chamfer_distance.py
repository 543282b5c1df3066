"""chamfer_distance of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row, binding, indices, result, values

__all__ = ["chamfer_distance_backward", "chamfer_distance_forward"]

ROWS = (
    Row(
        "chamfer_distance",
        ("chamfer_distance_forward", "chamfer_distance_backward"),
        "forward, backward",
        "mluopsExtChamferDistanceForward, Backward (float16, float32)",
        "The gradient is right for clouds of different sizes too; a compiled mmcv confuses their sizes then.",
    ),
)

chamfer_distance_forward = binding(
    "chamfer_distance_forward",
    "chamfer_distance_forward",
    values("xyz1", "b n 2", "xyz1"),
    values("xyz2", "b m 2", "xyz2"),
    result("dist1", "b n", "dist1"),
    result("dist2", "b m", "dist2"),
    result("idx1", "b n", "idx1", types=("int32",)),
    result("idx2", "b m", "idx2", types=("int32",)),
    empty="zero",
)
chamfer_distance_backward = binding(
    "chamfer_distance_backward",
    "chamfer_distance_backward",
    values("xyz1", "b n 2", "xyz1"),
    values("xyz2", "b m 2", "xyz2"),
    indices("idx1", "b n", "idx1"),
    indices("idx2", "b m", "idx2"),
    values("graddist1", "b n", "grad_dist1"),
    values("graddist2", "b m", "grad_dist2"),
    result("gradxyz1", "b n 2", "grad_xyz1"),
    result("gradxyz2", "b m 2", "grad_xyz2"),
    empty="zero",
)
