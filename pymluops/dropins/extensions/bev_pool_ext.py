"""``bev_pool_ext`` of BEVFusion: sums of rows for the cells of a grid."""

from __future__ import annotations

from pymluops.dropins._declarations import Array, Call, Number, Returned, Row, extension, indices, integers, values
from pymluops.mmcv._tensors import refuse

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


def _check(call: Call) -> None:
    """Refuse intervals beyond the rows, and those whose cell lies beyond the grid."""
    starts, lengths = call.arguments["interval_starts"].long(), call.arguments["interval_lengths"].long()
    wrong = (starts < 0) | (lengths < 0) | (starts + lengths > call.sizes["n"])
    if bool(wrong.any()):
        k = int(wrong.nonzero()[0])
        got = f"{int(lengths[k])} rows from row {int(starts[k])} on in interval {k}"
        raise refuse(call.function, "interval_starts", f"intervals of {call.sizes['n']} rows", got)
    rows = starts[lengths > 0]
    cells = call.arguments["geom_feats"][rows]
    grid = [call.sizes[symbol] for symbol in "HWDB"]
    outside = ((cells < 0) | (cells >= cells.new_tensor(grid))).any(1)
    if bool(outside.any()):
        k = int(outside.nonzero()[0])
        got = f"{cells[k].tolist()} in row {int(rows[k])}"
        raise refuse(call.function, "geom_feats", f"cells of a grid of {grid}", got)


bev_pool_forward = extension(
    "bev_pool_forward",
    "bev_pool_forward",
    values("x", "n c", "features"),
    *_PLACES,
    returns=Returned("out", "B D H W c"),
    check=_check,
    empty="zero",
)
bev_pool_backward = extension(
    "bev_pool_backward",
    "bev_pool_backward",
    values("out_grad", "B D H W c", "grad_output"),
    *_PLACES,
    returns=Returned("out", "n c"),
    check=_check,
    empty="zero",
)
