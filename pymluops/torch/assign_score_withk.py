"""AssignScoreWithK: the weighted features of neighbours of PAConv."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["assign_score_withk"]

_AGGREGATES = ("sum", "avg", "max")
_GRADIENTS = {"scores": "grad_scores", "points": "grad_points", "centers": "grad_centers"}

_FORWARD = TorchOperator(described("assign_score_withk_forward"), validate=True)
_BACKWARD = TorchOperator(described("assign_score_withk_backward"), validate=True, autocast=False)
_FORWARD.differentiate(_BACKWARD, "grad_output", _GRADIENTS, linear=("scores",))
_BACKWARD.refuse_gradient("the gradient of assign_score_withk cannot be differentiated again")


def _formula(points: Tensor, centers: Tensor, scores: Tensor, knn_idx: Tensor) -> Tensor:
    """Gather the features of neighbours and centres, and multiply."""
    batch, centres, neighbours = knn_idx.shape
    shape = (batch, centres, neighbours, *points.shape[2:])

    def gathered(bank: Tensor, numbers: Tensor) -> Tensor:
        rows = numbers.reshape(batch, -1, 1, 1).long().expand(-1, -1, *bank.shape[2:])
        return bank.gather(1, rows).reshape(shape)

    first = knn_idx[:, :, :1].expand(-1, -1, neighbours)
    apart = gathered(points, knn_idx) - gathered(centers, first)
    return torch.einsum("bnkmo,bnkm->bonk", apart, scores)


_ASSIGN = TensorFunction(
    _FORWARD, formula=_formula, public=lambda points, centers, scores, knn_idx: (scores, points, centers, knn_idx)
)


@_ASSIGN
def assign_score_withk(
    scores: Tensor, point_features: Tensor, center_features: Tensor, knn_idx: Tensor, aggregate: str = "sum"
) -> Tensor:
    """Add up the features of the neighbours of some points, weighted by scores.

    ::

        output[b, o, n, k] = sum over m of scores[b, n, k, m]
            * (point_features[b, i, m, o] - center_features[b, c, m, o])

    with ``i = knn_idx[b, n, k]`` and ``c = knn_idx[b, n, 0]``.

    Parameters
    ----------
    scores : Tensor, shape [B, N1, K, M]
        Weights of M matrices for K neighbours of N1 points; any floating type.
    point_features : Tensor, shape [B, N0, M, O], like `scores`
        Features of N0 points by each matrix.
    center_features : Tensor, shape [B, N0, M, O], like `scores`
        The same for points as centres.
    knn_idx : Tensor, shape [B, N1, K], int32 or int64
        Numbers of the neighbours, 0 to N0-1; the first one is the centre.
    aggregate : {"sum", "avg", "max"}
        Without an effect, as in mmcv: neighbours are not aggregated.

    Returns
    -------
    Tensor, shape [B, O, N1, K]
        Like `scores`.

    Raises
    ------
    ValueError
        If an argument is not as described; a number out of range is named.

    References
    ----------
    Xu et al.: PAConv: Position Adaptive Convolution with Dynamic Kernel Assembling on Point Clouds.
    CVPR 2021, arXiv:2103.14635.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([1.0, 10]).reshape(1, 2, 1, 1)
    >>> scores, neighbours = torch.tensor([[[[2.0], [3]]]]), torch.tensor([[[0, 1]]])
    >>> pymluops.torch.assign_score_withk(scores, features, features, neighbours).tolist()
    [[[[0.0, 27.0]]]]
    """
    if aggregate not in _AGGREGATES:
        raise ValueError(f"assign_score_withk: aggregate: expected one of {', '.join(_AGGREGATES)}, got {aggregate!r}")
    way = _ASSIGN.through_torch if compiling() else _ASSIGN.direct
    return way(point_features, center_features, scores, knn_idx)
