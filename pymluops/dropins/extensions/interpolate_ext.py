"""``interpolate_ext`` of mmdetection3d below 1.0: the three nearest points, and sums of their features."""

from __future__ import annotations

from pymluops.dropins._declarations import Row
from pymluops.dropins.extensions.pointnet2_batch_cuda import (
    three_interpolate_grad_wrapper,
    three_interpolate_wrapper,
    three_nn_wrapper,
)

__all__ = ["three_interpolate_grad_wrapper", "three_interpolate_wrapper", "three_nn_wrapper"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.interpolate.interpolate_ext",)
ROWS = (
    Row("three_nn_wrapper", "mluOpThreeNNForward"),
    Row("three_interpolate_wrapper three_interpolate_grad_wrapper", "mluOpThreeInterpolateForward, Backward"),
)
CHANGES = ("three_nn, three_interpolate: torch.cuda.IntTensor and FloatTensor",)
