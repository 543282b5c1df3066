"""RoIPointPool3d of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Row, binding, result, values

__all__ = ["roipoint_pool3d_forward"]

ROWS = (
    Row(
        "RoIPointPool3d",
        ("roipoint_pool3d_forward",),
        "forward",
        "mluOpRoiPointPool3d (float16, float32)",
        "A box without points is written too: zeros.",
    ),
)


def _check(call: Call) -> None:
    found, wanted = call.sizes["W"], 3 + call.sizes["C"]
    if found != wanted:
        raise call.refuse("pooled_features", f"{wanted} columns", found)


roipoint_pool3d_forward = binding(
    "roipoint_pool3d_forward",
    "roi_point_pool3d",
    values("xyz", "B N 3", "points"),
    values("boxes3d", "B M 7", "boxes3d"),
    values("pts_feature", "B N C", "point_features"),
    result("pooled_features", "B M S W", "pooled_features"),
    result("pooled_empty_flag", "B M", "pooled_empty_flag", types=("int32",)),
    scalars={
        "batch_size": lambda call: call.sizes["B"],
        "pts_num": lambda call: call.sizes["N"],
        "boxes_num": lambda call: call.sizes["M"],
        "feature_in_len": lambda call: call.sizes["C"],
        "sampled_pts_num": lambda call: call.sizes["S"],
    },
    check=_check,
    empty="keep",
)
