"""bbox_overlaps of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, compute_type, dense, extension_function_of, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described
from pymluops.ops.bbox_overlaps import aligned_operator

__all__ = ["bbox_overlaps"]

ROWS = (
    Row(
        "bbox_overlaps",
        ("bbox_overlaps",),
        "forward",
        "mluOpBboxOverlaps (float32, float16)",
        "The divisor is at least the offset, as in mmcv for CUDA.",
    ),
)


@extension_function_of(bboxes1="N 4", bboxes2="M 4", ious="N M|N")
def bbox_overlaps(bboxes1: Tensor, bboxes2: Tensor, ious: Tensor, mode: int, aligned: bool, offset: int) -> None:
    """Write the overlaps of boxes in the same rows, [N], or of all pairs, [N, M]."""
    name = "bbox_overlaps"
    tensors = {"bboxes1": bboxes1, "bboxes2": bboxes2, "ious": ious}
    torch = load_torch()
    if isinstance(bboxes1, torch.Tensor) and not bboxes1.is_floating_point():  # integers, as in mmcv for the CPU
        tensors = {key: tensor.double() for key, tensor in tensors.items()}
    given = check_floats(name, **tensors)
    check_shape(name, "bboxes1", bboxes1, (None, 4))
    check_shape(name, "bboxes2", bboxes2, (len(bboxes1) if aligned else None, 4))
    check_shape(name, "ious", ious, (len(bboxes1),) if aligned else (len(bboxes1), len(bboxes2)))
    if mode not in (0, 1):
        raise refuse(name, "mode", "0 (iou) or 1 (iof)", mode)
    if offset not in (0, 1):
        raise refuse(name, "offset", "0 or 1", offset)
    if not ious.numel():
        return
    kind = compute_type(given)
    operator = aligned_operator() if aligned else described(name)
    boxes = dense(tensors["bboxes1"], kind), dense(tensors["bboxes2"], kind)
    ious.detach().copy_(run(operator, (*boxes, None), (mode, bool(aligned), offset)))
