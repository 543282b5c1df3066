"""``bev_pool_ext`` of BEVFusion: sums of rows for the cells of a grid."""

from __future__ import annotations

from pymluops.dropins._declarations import Array, Number, Returned, Row, extension, indices, integers, values

__all__ = ["bev_pool_backward", "bev_pool_forward"]

DROP_IN = "openpcdet"
ALSO_IN = ("mmdet3d",)
MODULES = (
    "pcdet.ops.bev_pool.bev_pool_ext",
    "projects.BEVFusion.bevfusion.ops.bev_pool.bev_pool_ext",
    "mmdet3d.ops.bev_pool.bev_pool_ext",
)
ROWS = (Row("bev_pool_forward bev_pool_backward", "mluopsExtBevPoolForward, Backward (float32)"),)
CHANGES = ()

_PLACES: tuple[Array | Number, ...] = (
    indices("geom_feats", "n 4", "geometry"),
    indices("interval_lengths", "k", "interval_lengths"),
    indices("interval_starts", "k", "interval_starts"),
    *integers("B D H W"),
)

bev_pool_forward = extension(
    "bev_pool_forward",
    "bev_pool_forward",
    values("x", "n c", "features"),
    *_PLACES,
    returns=Returned("out", "B D H W c"),
    empty="zero",
)
bev_pool_backward = extension(
    "bev_pool_backward",
    "bev_pool_backward",
    values("out_grad", "B D H W c", "grad_output"),
    *_PLACES,
    returns=Returned("out", "n c"),
    empty="zero",
)
