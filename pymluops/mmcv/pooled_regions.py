"""RoIPool of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Number, Row, binding, indices, result, values

__all__ = ["roi_pool_backward", "roi_pool_forward"]

ROWS = (
    Row(
        "roi_pool, RoIPool",
        ("roi_pool_forward", "roi_pool_backward"),
        "forward, backward",
        "mluopsExtRoiPoolForward, Backward (float16, float32)",
        "A region without a size has no pixels: its argmax is -1, where a compiled mmcv leaves 0 and moves its "
        "gradient to the first pixel.",
    ),
)

_LAST = (0, 2, 3, 1)
_MAP, _POOLED = "B C H W", "R C pooled_height pooled_width"
_NUMBERS = (
    Number("pooled_height", least=1),
    Number("pooled_width", least=1),
    Number("spatial_scale", real=True),
)

roi_pool_forward = binding(
    "roi_pool_forward",
    "roi_pool_forward",
    values("input", _MAP, "input", order=_LAST),
    values("rois", "R 5", "rois"),
    result("output", _POOLED, "out", order=_LAST),
    result("argmax", _POOLED, "argmax", order=_LAST, types=("int32",)),
    *_NUMBERS,
    scalars={"rounded": lambda _: False},
    empty="zero",
)
roi_pool_backward = binding(
    "roi_pool_backward",
    "roi_pool_backward",
    values("grad_output", _POOLED, "grad_output", order=_LAST),
    values("rois", "R 5", "rois"),
    indices("argmax", _POOLED, "argmax", order=_LAST),
    result("grad_input", _MAP, "out", order=_LAST),
    *_NUMBERS,
    empty="zero",
)
