"""ThreeInterpolate: the interpolation of features at points of PointNet++."""

from __future__ import annotations

from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["three_interpolate"]

_FORWARD = TorchOperator(described("three_interpolate_forward"), validate=True, sample={"C": 3, "M": 7})
_BACKWARD = TorchOperator(described("three_interpolate_backward"), validate=True, autocast=False)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"features": "out"}, linear=("features",))
_BACKWARD.differentiate(_FORWARD, "features", {"grad_output": "out"}, linear=("grad_output",))


def _formula(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Gather three features for each point and add them up."""
    batch, channels, _ = features.shape
    places = indices.long().flatten(1)[:, None].expand(-1, channels, -1)
    parts = features.gather(2, places).reshape(batch, channels, indices.shape[1], 3) * weight[:, None]
    return parts[..., 0] + parts[..., 1] + parts[..., 2]


_INTERPOLATE = TensorFunction(_FORWARD, formula=_formula)


@_INTERPOLATE
def three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Interpolate features at n points as weighted sums over three of m points each.

    ::

        output[b, c, n] = sum over i of weight[b, n, i] * features[b, c, indices[b, n, i]]

    As in mmcv, the gradient flows to `features` only.

    Parameters
    ----------
    features : Tensor, shape [B, C, m]
        C features at each of m points; any floating type.
    indices : Tensor, shape [B, n, 3], int32 or int64
        For each of n points the numbers of its three neighbours, 0 to m-1.
    weight : Tensor, shape [B, n, 3], like `features`
        Their weights.

    Returns
    -------
    Tensor, shape [B, C, n]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described; an index out of range is named.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[[10.0, 20.0, 40.0]]])
    >>> indices, weight = torch.tensor([[[0, 1, 2]]]), torch.tensor([[[0.5, 0.25, 0.25]]])
    >>> pymluops.torch.three_interpolate(features, indices, weight).item()
    20.0
    """
    return (_INTERPOLATE.through_torch if compiling() else _INTERPOLATE.direct)(features, indices, weight)
