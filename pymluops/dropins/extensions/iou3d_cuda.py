"""``iou3d_cuda`` of PointRCNN and of mmdetection3d below 1.0: overlaps of boxes of corners from above."""

from __future__ import annotations

from collections.abc import Callable

from pymluops.dropins._declarations import Row, renamed
from pymluops.dropins.extensions import iou3d_nms_cuda as centred
from pymluops.mmcv._tensors import check_floats, check_shape, extension_function
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["boxes_iou_bev_gpu", "boxes_overlap_bev_gpu", "nms_gpu", "nms_normal_gpu"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.iou3d.iou3d_cuda", "iou3d_cuda")
ROWS = (
    Row(
        "boxes_overlap_bev_gpu boxes_iou_bev_gpu",
        "mluopsExtBoxesOverlapBev, BoxesIouBev (float64)",
        "boxes are x1, y1, x2, y2 and an angle that turns clockwise",
    ),
    Row("nms_gpu nms_normal_gpu", "mluopsExtNms3d, Nms3dNormal (float64)"),
)
CHANGES = ("iou3d_utils: keep[:num_out].cuda(...) in nms_gpu and nms_normal_gpu",)


def _centred(name: str, argument: str, boxes: Tensor) -> Tensor:
    """Return boxes [N, 5] of corners and a clockwise angle as [N, 7] of centres, in float64, which loses nothing."""
    check_floats(name, **{argument: boxes})
    check_shape(name, argument, boxes, (None, 5))
    x1, y1, x2, y2, angle = boxes.detach().double().unbind(1)
    flat = x1.new_zeros(len(boxes)), x1.new_ones(len(boxes))
    columns = ((x1 + x2) / 2, (y1 + y2) / 2, flat[0], x2 - x1, y2 - y1, flat[1], -angle)
    made: Tensor = load_torch().stack(columns, 1)
    return made


def _all_pairs(name: str, compare: Callable[..., int]) -> Callable[..., int]:
    compare = renamed(compare, name)

    @extension_function
    def pairs(boxes_a: Tensor, boxes_b: Tensor, ans: Tensor) -> int:
        """Compare all boxes [N, 5] with all others [M, 5], into [N, M]."""
        check_floats(name, boxes_a=boxes_a, boxes_b=boxes_b, ans=ans)
        made = ans.detach().double()
        compare(_centred(name, "boxes_a", boxes_a), _centred(name, "boxes_b", boxes_b), made)
        ans.detach().copy_(made)
        return 1

    return renamed(pairs, name)


boxes_overlap_bev_gpu = _all_pairs("boxes_overlap_bev_gpu", centred.boxes_overlap_bev_gpu)
boxes_iou_bev_gpu = _all_pairs("boxes_iou_bev_gpu", centred.boxes_iou_bev_gpu)


@extension_function
def nms_gpu(boxes: Tensor, keep: Tensor, nms_overlap_thresh: float, device_id: object = None) -> int:
    """Write which of boxes [N, 5] in the order of their scores are kept into keep [N] of int64; return their number."""
    return centred.nms_gpu(_centred("nms_gpu", "boxes", boxes), keep, nms_overlap_thresh)


@extension_function
def nms_normal_gpu(boxes: Tensor, keep: Tensor, nms_overlap_thresh: float, device_id: object = None) -> int:
    """Do so without angles."""
    return centred.nms_normal_gpu(_centred("nms_normal_gpu", "boxes", boxes), keep, nms_overlap_thresh)
