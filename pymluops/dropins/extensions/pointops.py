"""``pointops._C`` of Pointcept and ``pointops_cuda`` of Point Transformer: neighbours of stacked clouds."""

from __future__ import annotations

from pymluops.dropins._declarations import Row
from pymluops.dropins.extensions import _pointops_sums
from pymluops.dropins.extensions._pointops_queries import (
    ball_query_cuda,
    farthest_point_sampling_cuda,
    furthestsampling_cuda,
    knn_query_cuda,
    knnquery_cuda,
    random_ball_query_cuda,
)
from pymluops.dropins.extensions._pointops_sums import (
    aggregation_backward_cuda,
    aggregation_forward_cuda,
    attention_fusion_step_backward_cuda,
    attention_fusion_step_forward_cuda,
    attention_relation_step_backward_cuda,
    attention_relation_step_forward_cuda,
    grouping_backward_cuda,
    grouping_forward_cuda,
    interpolation_backward_cuda,
    interpolation_forward_cuda,
    subtraction_backward_cuda,
    subtraction_forward_cuda,
)

__all__ = [
    "aggregation_backward_cuda",
    "aggregation_forward_cuda",
    "attention_fusion_step_backward_cuda",
    "attention_fusion_step_forward_cuda",
    "attention_relation_step_backward_cuda",
    "attention_relation_step_forward_cuda",
    "ball_query_cuda",
    "farthest_point_sampling_cuda",
    "furthestsampling_cuda",
    "grouping_backward_cuda",
    "grouping_forward_cuda",
    "interpolation_backward_cuda",
    "interpolation_forward_cuda",
    "knn_query_cuda",
    "knnquery_cuda",
    "random_ball_query_cuda",
    "subtraction_backward_cuda",
    "subtraction_forward_cuda",
]

DROP_IN = "pointops"
MODULES = ("pointops._C", "pointops_cuda")
ROWS = (
    Row(
        "knn_query_cuda knnquery_cuda",
        "mluopsExtKnn",
        "a missing neighbour is -1, in knnquery_cuda the first point of the cloud, at a squared distance of 1e10; "
        "knnquery_cuda takes the arguments of PointWeb and PAConv too",
    ),
    Row(
        "ball_query_cuda random_ball_query_cuda",
        "PyTorch",
        "points at distance 0, and from min_radius to below max_radius; ball_query_cuda has them by distance, and of "
        "more than nsample some at equal steps",
    ),
    Row(
        "farthest_point_sampling_cuda furthestsampling_cuda",
        "mluopsExtFurthestPointSampling",
        "of equal distances the first point is picked",
    ),
    Row(" ".join(_pointops_sums.__all__), "PyTorch", "sums are in the order of the neighbours, or of the pairs"),
)
CHANGES = ("functions: torch.cuda.IntTensor and FloatTensor in queries, grouping and interpolation",)
