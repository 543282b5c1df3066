"""RoIAwarePool3d of mmcv."""

from __future__ import annotations

from collections.abc import Callable

from pymluops.mmcv._binding import Call, Number, Row, binding, indices, result, values

__all__ = ["roiaware_pool3d_backward", "roiaware_pool3d_forward"]

ROWS = (
    Row(
        "RoIAwarePool3d",
        ("roiaware_pool3d_forward", "roiaware_pool3d_backward"),
        "forward, backward",
        "mluOpRoiAwarePool3dForward, Backward (float16, float32)",
        "argmax of means is written too: zeros. Voxels along an axis may be more than 255.",
    ),
)


_METHOD = Number("pool_method", choices={0: "max", 1: "avg"})
_VOXELS = "R X Y Z"
_SIZES: dict[str, Callable[[Call], int]] = {
    "boxes_num": lambda call: call.sizes["R"],
    "pts_num": lambda call: call.sizes["P"],
    "channels": lambda call: call.sizes["C"],
    "max_pts_each_voxel": lambda call: call.sizes["K"],
    "out_x": lambda call: call.sizes["X"],
    "out_y": lambda call: call.sizes["Y"],
    "out_z": lambda call: call.sizes["Z"],
}

roiaware_pool3d_forward = binding(
    "roiaware_pool3d_forward",
    "roi_aware_pool3d_forward",
    values("rois", "R 7", "rois"),
    values("pts", "P 3", "pts"),
    values("pts_feature", "P C", "pts_feature"),
    result("argmax", f"{_VOXELS} C", "argmax", types=("int32",)),
    result("pts_idx_of_voxels", f"{_VOXELS} K", "pts_idx_of_voxels", types=("int32",)),
    result("pooled_features", f"{_VOXELS} C", "pooled_features"),
    _METHOD,
    scalars=_SIZES,
    empty="keep",
)
roiaware_pool3d_backward = binding(
    "roiaware_pool3d_backward",
    "roi_aware_pool3d_backward",
    indices("pts_idx_of_voxels", f"{_VOXELS} K", "pts_idx_of_voxels"),
    indices("argmax", f"{_VOXELS} C", "argmax"),
    values("grad_out", f"{_VOXELS} C", "grad_out"),
    result("grad_in", "P C", "out"),
    _METHOD,
    scalars=_SIZES,
    empty="zero",
)
