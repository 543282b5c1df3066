"""PrRoIPool of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Number, Row, binding, result, values

__all__ = ["prroi_pool_backward", "prroi_pool_coor_backward", "prroi_pool_forward"]

ROWS = (
    Row(
        "prroi_pool, PrRoIPool",
        ("prroi_pool_forward", "prroi_pool_backward", "prroi_pool_coor_backward"),
        "forward, backward",
        "mluopsExtPrRoiPoolForward, Backward, CoorBackward (float16, float32)",
        "mmcv's own function refuses tensors that are not float32; if the batch index is out of range, the region's "
        "result is 0.",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP, _POOLED = "B C H W", "R C pooled_height pooled_width"
_NUMBERS = (
    Number("pooled_height", least=1),
    Number("pooled_width", least=1),
    Number("spatial_scale", real=True),
)
_ROIS = values("rois", "R 5", "rois")

prroi_pool_forward = binding(
    "prroi_pool_forward",
    "prroi_pool_forward",
    values("input", _MAP, "input", order=_LAST),
    _ROIS,
    result("output", _POOLED, "out", order=_LAST),
    *_NUMBERS,
    empty="zero",
)
prroi_pool_backward = binding(
    "prroi_pool_backward",
    "prroi_pool_backward",
    values("grad_output", _POOLED, "grad_output", order=_LAST),
    _ROIS,
    result("grad_input", _MAP, "out", order=_LAST),
    *_NUMBERS,
    empty="zero",
)
prroi_pool_coor_backward = binding(
    "prroi_pool_coor_backward",
    "prroi_pool_coor_backward",
    values("output", _POOLED, "output", order=_LAST),
    values("grad_output", _POOLED, "grad_output", order=_LAST),
    values("input", _MAP, "input", order=_LAST),
    _ROIS,
    result("grad_rois", "R 5", "out"),
    *_NUMBERS,
    empty="zero",
)
