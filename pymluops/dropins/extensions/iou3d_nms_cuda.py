"""``iou3d_nms_cuda`` of OpenPCDet: overlaps of boxes from above, and suppression by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymluops.dropins._declarations import Call, Row, extension, result, values
from pymluops.mmcv._tensors import check_floats, check_shape, dense, extension_function
from pymluops.mmcv._torch import Tensor, load_torch, operators
from pymluops.mmcv.boxes3d import iou3d_nms3d_forward, iou3d_nms3d_normal_forward

__all__ = [
    "boxes_aligned_iou_bev_cpu",
    "boxes_aligned_overlap_bev_gpu",
    "boxes_iou_bev_cpu",
    "boxes_iou_bev_gpu",
    "boxes_overlap_bev_gpu",
    "nms_gpu",
    "nms_normal_gpu",
    "paired_boxes_overlap_bev_gpu",
]

DROP_IN = "openpcdet"
MODULES = ("pcdet.ops.iou3d_nms.iou3d_nms_cuda", "det3d.ops.iou3d_nms.iou3d_nms_cuda")
ROWS = (
    Row(
        "boxes_overlap_bev_gpu boxes_aligned_overlap_bev_gpu paired_boxes_overlap_bev_gpu",
        "mluopsExtBoxesOverlapBev (float32)",
    ),
    Row("boxes_iou_bev_gpu boxes_iou_bev_cpu boxes_aligned_iou_bev_cpu", "mluopsExtBoxesIouBev (float32)"),
    Row("nms_gpu nms_normal_gpu", "mluopsExtNms3d, Nms3dNormal (float32)"),
)
CHANGES = (
    "iou3d_nms_utils: keep[:num_out].cuda() in nms_gpu and nms_normal_gpu, torch.cuda.FloatTensor in boxes_iou3d_gpu",
)


def _no(_call: Call) -> bool:
    return False


def _all_pairs(name: str, operator: str) -> Callable[..., Any]:
    return extension(
        name,
        operator,
        values("boxes_a", "n 7", "boxes_a"),
        values("boxes_b", "m 7", "boxes_b"),
        result("ans", "n m", "out"),
        scalars={"aligned": _no},
    )


boxes_overlap_bev_gpu = _all_pairs("boxes_overlap_bev_gpu", "boxes_overlap_bev")
boxes_iou_bev_gpu = _all_pairs("boxes_iou_bev_gpu", "boxes_iou_bev")
boxes_iou_bev_cpu = _all_pairs("boxes_iou_bev_cpu", "boxes_iou_bev")


def _compare_rows(name: str, operator: Any, boxes_a: Tensor, boxes_b: Tensor, ans: Tensor) -> int:
    """Compare the boxes of the same rows; the result is [N, 1]."""
    check_floats(name, boxes_a=boxes_a, boxes_b=boxes_b, ans=ans)
    check_shape(name, "boxes_a", boxes_a, (None, 7))
    check_shape(name, "boxes_b", boxes_b, (len(boxes_a), 7))
    check_shape(name, "ans", ans, (len(boxes_a), 1))
    kind = load_torch().float32
    if len(boxes_a):
        ans.copy_(operator(dense(boxes_a, kind), dense(boxes_b, kind), True)[:, None])
    return 1


@extension_function
def boxes_aligned_overlap_bev_gpu(boxes_a: Tensor, boxes_b: Tensor, ans_overlap: Tensor) -> int:
    """Write the areas that boxes [N, 7] of the same rows have in common into ans_overlap [N, 1]."""
    return _compare_rows("boxes_aligned_overlap_bev_gpu", operators.boxes_overlap_bev, boxes_a, boxes_b, ans_overlap)


@extension_function
def paired_boxes_overlap_bev_gpu(boxes_a: Tensor, boxes_b: Tensor, ans_overlap: Tensor) -> int:
    """Write the same."""
    return _compare_rows("paired_boxes_overlap_bev_gpu", operators.boxes_overlap_bev, boxes_a, boxes_b, ans_overlap)


@extension_function
def boxes_aligned_iou_bev_cpu(boxes_a: Tensor, boxes_b: Tensor, ans_iou: Tensor) -> int:
    """Write the quotients of common and joint areas of boxes [N, 7] of the same rows into ans_iou [N, 1]."""
    return _compare_rows("boxes_aligned_iou_bev_cpu", operators.boxes_iou_bev, boxes_a, boxes_b, ans_iou)


def _suppressed(call: Callable[..., None], boxes: Tensor, keep: Tensor, threshold: float) -> int:
    count = load_torch().zeros(1, dtype=load_torch().int64)
    call(boxes, keep, count, threshold)
    return int(count)


@extension_function
def nms_gpu(boxes: Tensor, keep: Tensor, nms_overlap_thresh: float) -> int:
    """Write which of boxes [N, 7] in the order of their scores are kept into keep [N] of int64; return their number."""
    return _suppressed(iou3d_nms3d_forward, boxes, keep, nms_overlap_thresh) if len(boxes) else 0


@extension_function
def nms_normal_gpu(boxes: Tensor, keep: Tensor, nms_overlap_thresh: float) -> int:
    """Do so without headings."""
    return _suppressed(iou3d_nms3d_normal_forward, boxes, keep, nms_overlap_thresh) if len(boxes) else 0
