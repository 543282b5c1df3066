"""diff_iou_rotated_2d and diff_iou_rotated_3d of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function_of,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["diff_iou_rotated_sort_vertices_forward"]

ROWS = (
    Row(
        "diff_iou_rotated_2d, diff_iou_rotated_3d",
        ("diff_iou_rotated_sort_vertices_forward",),
        "forward, backward",
        "mluOpDiffIouRotatedSortVerticesForward (float32), PyTorch",
        "mmcv's own code finds the corners, and may miss some of boxes that coincide; "
        "`pymluops.torch.diff_iou_rotated_2d` and `_3d` do not.",
    ),
)


@extension_function_of(vertices="B N 24 2", mask="B N 24", num_valid="B N")
def diff_iou_rotated_sort_vertices_forward(vertices: Tensor, mask: Tensor, num_valid: Tensor) -> Tensor:
    """Return the vertices [B, N, 24, 2] of each polygon in the order of their angles: numbers [B, N, 9], int32."""
    name = "diff_iou_rotated_sort_vertices_forward"
    given = check_floats(name, vertices=vertices)
    check_tensors(name, ("bool",), {"mask": mask})
    check_int32(name, num_valid=num_valid)
    check_shape(name, "vertices", vertices, (None, None, 24, 2))
    check_shape(name, "mask", mask, tuple(vertices.shape[:3]))
    check_shape(name, "num_valid", num_valid, tuple(vertices.shape[:2]))
    torch = load_torch()
    if not num_valid.numel():
        return torch.empty(*num_valid.shape, 9, dtype=torch.int32)
    tensors = dense(vertices, compute_type(given, torch.float32)), dense(mask), dense(num_valid), None
    found: Tensor = run(described(name), tensors)
    return found
