"""The interpolation of stacked features at points of PV-RCNN."""

from __future__ import annotations

from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["stack_three_interpolate"]

_FORWARD = TorchOperator(
    described("stack_three_interpolate_forward"), validate=True, folds=False, sample={"C": 3, "M": 7}
)
_BACKWARD = TorchOperator(described("stack_three_interpolate_backward"), validate=True, folds=False, autocast=False)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"features": "out"}, linear=("features",))
_BACKWARD.differentiate(_FORWARD, "features", {"grad_output": "out"}, linear=("grad_output",))


def _formula(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Take three rows for each point and add them up."""
    parts = features[indices.long()] * weight[..., None]
    return parts[:, 0] + parts[:, 1] + parts[:, 2]


_INTERPOLATE = TensorFunction(_FORWARD, formula=_formula)


@_INTERPOLATE
def stack_three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Interpolate features at N points as weighted sums over three of M points each.

    ::

        output[n] = sum over i of weight[n, i] * features[indices[n, i]]

    The gradient flows to `features` only.

    Parameters
    ----------
    features : Tensor, shape [M, C]
        C features at each of M points, of all batches together; any floating type.
    indices : Tensor, shape [N, 3], int32 or int64
        For each of N points the rows of its three neighbours, 0 to M-1.
    weight : Tensor, shape [N, 3], like `features`
        Their weights.

    Returns
    -------
    Tensor, shape [N, C]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described; an index out of range is named.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[10.0], [20.0], [40.0]])
    >>> indices, weight = torch.tensor([[0, 1, 2]]), torch.tensor([[0.5, 0.25, 0.25]])
    >>> pymluops.torch.stack_three_interpolate(features, indices, weight).item()
    20.0
    """
    return (_INTERPOLATE.through_torch if compiling() else _INTERPOLATE.direct)(features, indices, weight)
