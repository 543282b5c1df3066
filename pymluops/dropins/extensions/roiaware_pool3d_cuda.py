"""``roiaware_pool3d_cuda`` of OpenPCDet: pooling in the cells of boxes, and points in boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymluops.dropins._declarations import Call, Number, Row, extension, indices, int32_result, result, values
from pymluops.mmcv._tensors import check_floats, check_int32, check_shape, extension_function
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["backward", "forward", "points_in_boxes_cpu", "points_in_boxes_gpu"]

DROP_IN = "openpcdet"
MODULES = ("pcdet.ops.roiaware_pool3d.roiaware_pool3d_cuda",)
ROWS = (
    Row(
        "forward backward",
        "mluOpRoiAwarePool3dForward, Backward",
        "a point up to 0.00001 beside a box is outside of it, inside of it there; an axis may have 256 cells and more",
    ),
    Row("points_in_boxes_gpu", "mluopsExtPointsInBoxesPart"),
    Row("points_in_boxes_cpu", "mluopsExtPointsInBoxesAll"),
)
CHANGES = ("nothing in its own functions; callers that prepare data move boxes and points to a GPU",)

_METHOD = Number("pool_method", choices={0: "max", 1: "avg"})
_VOXELS = "R X Y Z"
_SYMBOLS = {
    "boxes_num": "R",
    "pts_num": "P",
    "channels": "C",
    "max_pts_each_voxel": "K",
    "out_x": "X",
    "out_y": "Y",
    "out_z": "Z",
}


def _size(symbol: str) -> Callable[[Call], Any]:
    return lambda call: call.sizes[symbol]


_SIZES = {name: _size(symbol) for name, symbol in _SYMBOLS.items()}

_forward = extension(
    "forward",
    "roi_aware_pool3d_forward",
    values("rois", "R 7", "rois"),
    values("pts", "P 3", "pts"),
    values("pts_feature", "P C", "pts_feature"),
    int32_result("argmax", f"{_VOXELS} C", "argmax"),
    int32_result("pts_idx_of_voxels", f"{_VOXELS} K", "pts_idx_of_voxels"),
    result("pooled_features", f"{_VOXELS} C", "pooled_features"),
    _METHOD,
    scalars=_SIZES,
    empty="keep",
)
backward = extension(
    "backward",
    "roi_aware_pool3d_backward",
    indices("pts_idx_of_voxels", f"{_VOXELS} K", "pts_idx_of_voxels"),
    indices("argmax", f"{_VOXELS} C", "argmax"),
    values("grad_out", f"{_VOXELS} C", "grad_out"),
    result("grad_in", "P C", "out"),
    _METHOD,
    scalars=_SIZES,
    empty="zero",
)


def standing(boxes: Any) -> Any:
    """Return boxes whose height is that of their bottom, which the operators take, of those with that of the centre."""
    if not isinstance(boxes, load_torch().Tensor) or not boxes.is_floating_point() or boxes.shape[-1:] != (7,):
        return boxes  # which is refused
    found = boxes.detach().clone()
    found[..., 2] -= found[..., 5] / 2
    return found


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
    """Pool the features of the points in the cells of each box [R, 7]; boxes have the height of their centre."""
    _forward(standing(rois), pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features, pool_method)
    return 1


#: How far outside of its sides a point may lie.
_MARGIN, _MARGIN_ON_CPU = 1e-5, 1e-2


def _rule(margin: float) -> dict[str, Callable[[Call], Any]]:
    return {"margin": lambda _call: margin, "centred": lambda _call: True}


points_in_boxes_gpu = extension(
    "points_in_boxes_gpu",
    "points_in_boxes_part",
    values("boxes", "B T 7", "boxes"),
    values("pts", "B M 3", "points"),
    int32_result("box_idx_of_points", "B M", "out"),
    scalars=_rule(_MARGIN),
    empty="keep",
)
_all = extension(
    "points_in_boxes_cpu",
    "points_in_boxes_all",
    values("boxes", "B T 7", "boxes"),
    values("pts", "B M 3", "points"),
    int32_result("pts_indices", "B M T", "out"),
    scalars=_rule(_MARGIN_ON_CPU),
    empty="keep",
)


@extension_function
def points_in_boxes_cpu(boxes: Tensor, pts: Tensor, pts_indices: Tensor) -> int:
    """Write for boxes [T, 7] whether each holds each point [M, 3]: 1 or 0, [T, M]."""
    name = "points_in_boxes_cpu"
    check_floats(name, boxes=boxes, pts=pts)
    check_int32(name, pts_indices=pts_indices)
    check_shape(name, "boxes", boxes, (None, 7))
    check_shape(name, "pts", pts, (None, 3))
    check_shape(name, "pts_indices", pts_indices, (boxes.shape[0], pts.shape[0]))
    _all(boxes[None], pts[None], pts_indices.t()[None])
    return 1
