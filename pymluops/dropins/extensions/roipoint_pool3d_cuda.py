"""``roipoint_pool3d_cuda`` of OpenPCDet: the points of boxes with their features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymluops.dropins._declarations import Call, Row, extension, int32_result, result, values
from pymluops.dropins.extensions.roiaware_pool3d_cuda import standing
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor

__all__ = ["forward"]

DROP_IN = "openpcdet"
MODULES = ("pcdet.ops.roipoint_pool3d.roipoint_pool3d_cuda",)
ROWS = (
    Row(
        "forward",
        "mluOpRoiPointPool3d",
        "a point up to 0.00001 beside a box is outside of it, inside of it there",
    ),
)
CHANGES = ("nothing in its own functions",)


def _size(symbol: str) -> Callable[[Call], Any]:
    return lambda call: call.sizes[symbol]


def _check(call: Call) -> None:
    found, wanted = call.sizes["W"], 3 + call.sizes["C"]
    if found != wanted:
        raise call.refuse("pooled_features", f"{wanted} columns", found)


_SYMBOLS = {"batch_size": "B", "pts_num": "N", "boxes_num": "M", "feature_in_len": "C", "sampled_pts_num": "S"}

_forward = extension(
    "forward",
    "roi_point_pool3d",
    values("xyz", "B N 3", "points"),
    values("boxes3d", "B M 7", "boxes3d"),
    values("pts_feature", "B N C", "point_features"),
    result("pooled_features", "B M S W", "pooled_features"),
    int32_result("pooled_empty_flag", "B M", "pooled_empty_flag"),
    scalars={name: _size(symbol) for name, symbol in _SYMBOLS.items()},
    check=_check,
    empty="keep",
)


@extension_function
def forward(
    xyz: Tensor, boxes3d: Tensor, pts_feature: Tensor, pooled_features: Tensor, pooled_empty_flag: Tensor
) -> int:
    """Write places and features of the first points in each box [B, M, 7]; boxes have the height of their centre."""
    _forward(xyz, standing(boxes3d), pts_feature, pooled_features, pooled_empty_flag)
    return 1
