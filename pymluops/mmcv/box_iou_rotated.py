"""box_iou_rotated of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, compute_type, dense, extension_function_of, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described
from pymluops.ops.box_iou_rotated import aligned_operator

__all__ = ["box_iou_rotated"]

ROWS = (Row("box_iou_rotated", ("box_iou_rotated",), "forward", "mluOpBoxIouRotated (float32)"),)


@extension_function_of(boxes1="N 5", boxes2="M 5", ious="N M|N")
def box_iou_rotated(boxes1: Tensor, boxes2: Tensor, ious: Tensor, mode_flag: int, aligned: bool) -> None:
    """Write the overlaps of boxes in the same rows, [N], or of all pairs, [N*M] or [N, M]."""
    name = "box_iou_rotated"
    given = check_floats(name, boxes1=boxes1, boxes2=boxes2, ious=ious)
    check_shape(name, "boxes1", boxes1, (None, 5))
    check_shape(name, "boxes2", boxes2, (len(boxes1) if aligned else None, 5))
    wanted = (len(boxes1),) if aligned else (len(boxes1), len(boxes2))
    if ious.ndim == 1 and not aligned:
        check_shape(name, "ious", ious, (len(boxes1) * len(boxes2),))
    else:
        check_shape(name, "ious", ious, wanted)
    if mode_flag not in (0, 1):
        raise refuse(name, "mode_flag", "0 (iou) or 1 (iof)", mode_flag)
    kind = compute_type(given, load_torch().float32)
    operator = aligned_operator() if aligned else described("box_iou_rotated")
    found = run(operator, (dense(boxes1, kind), dense(boxes2, kind), None), (mode_flag, bool(aligned)))
    ious.detach().copy_(found.view(ious.shape))
