"""``knn_ext`` of mmdetection3d below 1.0: the nearest points."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor
from pymluops.mmcv.knn import knn_forward

__all__ = ["knn_wrapper"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.knn.knn_ext",)
ROWS = (Row("knn_wrapper", "mluopsExtKnn", "of equal distances the first point comes first"),)
CHANGES = ("knn: torch.cuda.current_device() and set_device",)

_FIND = renamed(knn_forward, "knn_wrapper")


@extension_function
def knn_wrapper(b: int, n: int, m: int, nsample: int, xyz: Tensor, new_xyz: Tensor, idx: Tensor, dist2: Tensor) -> None:
    """Find the nearest points; where there are fewer, idx is 0 and dist2 is 1e10."""
    _FIND(xyz, new_xyz, idx, dist2, b, n, m, nsample)
