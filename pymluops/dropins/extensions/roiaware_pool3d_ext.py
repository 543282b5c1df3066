"""``roiaware_pool3d_ext`` of mmdetection3d below 1.0 and of its 1.0 before mmcv had it: points in boxes, pooling.

Boxes have the height of their bottom. Below 1.0 their sides are w, l, h and their angle turns
clockwise; from 1.0 on these are the sides along x, y and z and the angle turns the other way, as in
mmcv. The version of the package tells which.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv import points_in_boxes as points
from pymluops.mmcv import roi_aware_pool3d as pool
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = [
    "backward",
    "forward",
    "points_in_boxes_all",
    "points_in_boxes_batch",
    "points_in_boxes_cpu",
    "points_in_boxes_gpu",
    "points_in_boxes_part",
]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.roiaware_pool3d.roiaware_pool3d_ext",)
ROWS = (
    Row(
        "points_in_boxes_gpu points_in_boxes_batch points_in_boxes_cpu points_in_boxes_part points_in_boxes_all",
        "mluopsExtPointsInBoxesPart, All",
        "below 1.0, and of points_in_boxes_gpu and _batch always, angles turn clockwise",
    ),
    Row("forward backward", "mluOpRoiAwarePool3dForward, Backward", "from 1.0 on; below, NotSupportedError"),
)
CHANGES = ("points_in_boxes: torch.cuda.current_device() and set_device",)


def _turned(boxes: Any) -> Any:
    """Return boxes whose angles turn the other way."""
    if not isinstance(boxes, load_torch().Tensor) or not boxes.is_floating_point() or boxes.shape[-1:] != (7,):
        return boxes  # which is refused
    found = boxes.detach().clone()
    found[..., 6].neg_()
    return found


def _find(name: str, call: Callable[..., Any], clockwise: bool) -> Callable[..., int]:
    call = renamed(call, name)

    @extension_function
    def find(boxes: Tensor, pts: Tensor, out: Tensor) -> int:
        """Write which boxes hold which points."""
        call(_turned(boxes) if clockwise else boxes, pts, out)
        return 1

    return renamed(find, name)


points_in_boxes_gpu = _find("points_in_boxes_gpu", points.points_in_boxes_part_forward, clockwise=True)
points_in_boxes_batch = _find("points_in_boxes_batch", points.points_in_boxes_all_forward, clockwise=True)
points_in_boxes_part = _find("points_in_boxes_part", points.points_in_boxes_part_forward, clockwise=False)
points_in_boxes_all = _find("points_in_boxes_all", points.points_in_boxes_all_forward, clockwise=False)
points_in_boxes_cpu = _find("points_in_boxes_cpu", points.points_in_boxes_cpu_forward, clockwise=False)
_clockwise_on_cpu = _find("points_in_boxes_cpu", points.points_in_boxes_cpu_forward, clockwise=True)
_forward = renamed(pool.roiaware_pool3d_forward, "forward")
_backward = renamed(pool.roiaware_pool3d_backward, "backward")


@extension_function
def forward(
    rois: Tensor,
    pts: Tensor,
    pts_feature: Tensor,
    argmax: Tensor,
    pts_idx_of_voxels: Tensor,
    pooled_features: Tensor,
    pool_method: int,
) -> int:
    """Pool the features of the points in the cells of each box [R, 7]."""
    _forward(rois, pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features, pool_method)
    return 1


@extension_function
def backward(pts_idx_of_voxels: Tensor, argmax: Tensor, grad_out: Tensor, grad_in: Tensor, pool_method: int) -> int:
    """Write the gradient of the features of the points."""
    _backward(pts_idx_of_voxels, argmax, grad_out, grad_in, pool_method)
    return 1


def prepare(name: str) -> Mapping[str, Any]:
    """Return the functions that differ in a package below 1.0."""
    version = str(getattr(sys.modules.get(name.partition(".")[0]), "__version__", "0"))
    if version.partition(".")[0].isdecimal() and int(version.partition(".")[0]) >= 1:
        return {}
    from pymluops.dropins._extensions import refusal

    return {"points_in_boxes_cpu": _clockwise_on_cpu, "forward": refusal(name, "forward")}
