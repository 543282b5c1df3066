"""box_iou_quadri and nms_quadri of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, compute_type, dense, extension_function_of, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described
from pymluops.ops.quadri_boxes import aligned_operator

__all__ = ["box_iou_quadri", "nms_quadri"]

ROWS = (
    Row(
        "box_iou_quadri",
        ("box_iou_quadri",),
        "forward",
        "mluopsExtBoxIouQuadri (float32)",
        "The overlap of boxes that are no rectangles is not exact, as in mmcv, unless they nearly coincide.",
    ),
    Row(
        "nms_quadri",
        ("nms_quadri",),
        "forward",
        "mluopsExtNmsQuadri (float32)",
        "A box is suppressed by an overlap above the threshold, as in mmcv for CUDA. Labels are not compared, as in "
        "mmcv.",
    ),
)


@extension_function_of(boxes1="N 8", boxes2="M 8", ious="N M|N")
def box_iou_quadri(boxes1: Tensor, boxes2: Tensor, ious: Tensor, mode_flag: int, aligned: bool) -> None:
    """Write the overlaps of boxes in the same rows, [N], or of all pairs, [N*M] or [N, M]."""
    name = "box_iou_quadri"
    given = check_floats(name, boxes1=boxes1, boxes2=boxes2, ious=ious)
    check_shape(name, "boxes1", boxes1, (None, 8))
    check_shape(name, "boxes2", boxes2, (len(boxes1) if aligned else None, 8))
    wanted = (len(boxes1),) if aligned else (len(boxes1), len(boxes2))
    if ious.ndim == 1 and not aligned:
        check_shape(name, "ious", ious, (len(boxes1) * len(boxes2),))
    else:
        check_shape(name, "ious", ious, wanted)
    if mode_flag not in (0, 1):
        raise refuse(name, "mode_flag", "0 (iou) or 1 (iof)", mode_flag)
    kind = compute_type(given, load_torch().float32)
    operator = aligned_operator() if aligned else described(name)
    mode = mode_flag + 2  # mmcv's rule
    found = run(operator, (dense(boxes1, kind), dense(boxes2, kind), None), (mode, bool(aligned)))
    ious.detach().copy_(found.view(ious.shape))


@extension_function_of(dets="N D", scores="N")
def nms_quadri(
    dets: Tensor, scores: Tensor, order: Tensor, dets_sorted: Tensor, iou_threshold: float, multi_label: int
) -> Tensor:
    """Return the numbers of the kept boxes, int64, in the order of their scores; `order` and what follows is unused."""
    name = "nms_quadri"
    given = check_floats(name, dets=dets, scores=scores)
    if dets.ndim != 2 or dets.shape[1] not in (8, 9):
        raise refuse(name, "dets", "shape [any, 8] or [any, 9]", f"shape {list(dets.shape)}")
    check_shape(name, "scores", scores, (len(dets),))
    kind = compute_type(given, load_torch().float32)
    tensors = (dense(dets[:, :8], kind), dense(scores, kind), None, None)
    kept, count = run(described(name), tensors, (iou_threshold,))
    return kept[: int(count)].long()
