"""``assign_score_withk_ext`` of mmdetection3d below 1.0: PAConv's weighted features of neighbours."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv._tensors import extension_function
from pymluops.mmcv._torch import Tensor
from pymluops.mmcv.assign_score_withk import assign_score_withk_backward, assign_score_withk_forward

__all__ = ["assign_score_withk_backward_wrapper", "assign_score_withk_forward_wrapper"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.paconv.assign_score_withk_ext",)
ROWS = (
    Row(
        "assign_score_withk_forward_wrapper assign_score_withk_backward_wrapper",
        "mluopsExtAssignScoreWithkForward, Backward",
        "aggregate has no effect, as in the compiled module",
    ),
)
CHANGES = ("nothing in its own functions",)

_FORWARD = renamed(assign_score_withk_forward, "assign_score_withk_forward_wrapper")
_BACKWARD = renamed(assign_score_withk_backward, "assign_score_withk_backward_wrapper")


@extension_function
def assign_score_withk_forward_wrapper(
    B: int,
    N0: int,
    N1: int,
    M: int,
    K: int,
    O: int,  # noqa: E741 - the original's name
    aggregate: int,
    points: Tensor,
    centers: Tensor,
    scores: Tensor,
    knn_idx: Tensor,
    output: Tensor,
) -> None:
    """Write the weighted features of neighbours."""
    _FORWARD(points, centers, scores, knn_idx, output, B, N0, N1, M, K, O, aggregate)


@extension_function
def assign_score_withk_backward_wrapper(
    B: int,
    N0: int,
    N1: int,
    M: int,
    K: int,
    O: int,  # noqa: E741 - the original's name
    aggregate: int,
    grad_out: Tensor,
    points: Tensor,
    centers: Tensor,
    scores: Tensor,
    knn_idx: Tensor,
    grad_points: Tensor,
    grad_centers: Tensor,
    grad_scores: Tensor,
) -> None:
    """Write the gradients of features and scores."""
    given = (grad_out, points, centers, scores, knn_idx, grad_points, grad_centers, grad_scores)
    _BACKWARD(*given, B, N0, N1, M, K, O, aggregate)
