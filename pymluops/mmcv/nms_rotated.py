"""nms_rotated of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, compute_type, dense, extension_function_of, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["nms_rotated"]

ROWS = (
    Row(
        "nms_rotated",
        ("nms_rotated",),
        "forward",
        "mluOpNmsRotated (float32)",
        "A box is suppressed by an overlap above the threshold, as in mmcv for CUDA; a compiled mmcv for the CPU "
        "suppresses at the threshold too. Labels are not compared, as in mmcv.",
    ),
)


@extension_function_of(dets="N D", scores="N")
def nms_rotated(
    dets: Tensor,
    scores: Tensor,
    order: Tensor,
    dets_sorted: Tensor,
    labels: Tensor,
    iou_threshold: float,
    multi_label: int,
) -> Tensor:
    """Return the numbers of the kept boxes, int64, in the order of their scores; `order` and what follows is unused."""
    name = "nms_rotated"
    given = check_floats(name, dets=dets, scores=scores)
    if dets.ndim != 2 or dets.shape[1] not in (5, 6):
        raise refuse(name, "dets", "shape [any, 5] or [any, 6]", f"shape {list(dets.shape)}")
    check_shape(name, "scores", scores, (len(dets),))
    kind = compute_type(given, load_torch().float32)
    kept, count = run(described(name), (dense(dets, kind), dense(scores, kind), None, None), (iou_threshold,))
    return kept[: int(count)].long()
