"""boxes_overlap_bev, boxes_iou3d, nms3d and nms3d_normal of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row, binding, result, values
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["iou3d_boxes_overlap_bev_forward", "iou3d_nms3d_forward", "iou3d_nms3d_normal_forward"]

ROWS = (
    Row(
        "boxes_overlap_bev, boxes_iou3d",
        ("iou3d_boxes_overlap_bev_forward",),
        "forward",
        "mluopsExtBoxesOverlapBev (float32)",
    ),
    Row("nms3d", ("iou3d_nms3d_forward",), "forward", "mluopsExtNms3d (float32)"),
    Row("nms3d_normal", ("iou3d_nms3d_normal_forward",), "forward", "mluopsExtNms3dNormal (float32)"),
)

iou3d_boxes_overlap_bev_forward = binding(
    "iou3d_boxes_overlap_bev_forward",
    "boxes_overlap_bev",
    values("boxes_a", "n 7", "boxes_a"),
    values("boxes_b", "m 7", "boxes_b"),
    result("ans_iou", "n m", "out"),
    scalars={"aligned": lambda _call: False},
)


@extension_function_of(boxes="N 7", keep="N")
def iou3d_nms3d_forward(boxes: Tensor, keep: Tensor, num_out: Tensor, nms_overlap_thresh: float) -> None:
    """Write which of boxes in the order of their scores are kept, and how many they are."""
    _suppress("iou3d_nms3d_forward", "nms3d", boxes, keep, num_out, nms_overlap_thresh)


@extension_function_of(boxes="N 7", keep="N")
def iou3d_nms3d_normal_forward(boxes: Tensor, keep: Tensor, num_out: Tensor, nms_overlap_thresh: float) -> None:
    """Do so without headings."""
    _suppress("iou3d_nms3d_normal_forward", "nms3d_normal", boxes, keep, num_out, nms_overlap_thresh)


def _suppress(name: str, operator: str, boxes: Tensor, keep: Tensor, num_out: Tensor, threshold: float) -> None:
    given = check_floats(name, boxes=boxes)
    check_shape(name, "boxes", boxes, (None, 7))
    check_tensors(name, ("int64",), {"keep": keep, "num_out": num_out})
    if keep.ndim != 1 or len(keep) < len(boxes):  # a longer one keeps what is behind the numbers
        check_shape(name, "keep", keep, (len(boxes),))
    if num_out.numel() != 1:
        raise refuse(name, "num_out", "one number", f"shape {list(num_out.shape)}")
    kind = compute_type(given, load_torch().float32)
    scores = load_torch().arange(len(boxes), 0, -1, dtype=kind)  # rounded ones are equal, and in order still
    kept, count = run(described(operator), (dense(boxes, kind), scores, None, None), (threshold,))
    number = int(count)
    keep[:number] = kept[:number]
    num_out.fill_(number)
