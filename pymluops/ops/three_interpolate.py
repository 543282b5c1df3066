"""Interpolation of point features from three neighbours, from PointNet++ (arXiv:1706.02413)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops._work import RULES, per_element
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["three_interpolate_backward", "three_interpolate_forward"]

_INDICES = Tensor("indices", INT32, "B N 3", positive="N", within=("M",), axes=("batch", "position", "neighbour"))

_FORWARD = Operator(
    "mluOpThreeInterpolateForward",
    "three_interpolate_forward",
    (
        Tensor("features", FLOATS, "B C M", positive="B C M"),
        _INDICES,
        Tensor("weights", "features", "B N 3"),
        Tensor("out", "features", "B C N", output=True, parameter="output"),
    ),
)
_BACKWARD = Operator(
    "mluOpThreeInterpolateBackward",
    "three_interpolate_backward",
    (
        Tensor("grad_output", FLOATS, "B C N", positive="B C N"),
        _INDICES,
        Tensor("weights", "grad_output", "B N 3"),
        Tensor("out", "grad_output", "B C M", output=True, parameter="grad_features"),
    ),
    (Scalar("num_features", symbol="M"),),
)

RULES[_FORWARD.function], RULES[_BACKWARD.function] = per_element(3, 5), per_element(0, 9)


def three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Interpolate features at N points as weighted sums over three of M points each.

    ::

        output[b, c, n] = sum over i of weights[b, n, i] * features[b, c, indices[b, n, i]]

    Parameters
    ----------
    features : array, shape [B, C, M], float16 or float32
        C features at each of M points.
    indices : array, shape [B, N, 3], int32
        For each of N points the numbers of its three neighbours, 0 to M-1.
    weights : array, shape [B, N, 3], like `features`
        Their weights.
    out : array or DeviceArray, optional
        Where to write, shape [B, C, N], like `features`; it must not overlap an input.
    validate : bool
        Refuse indices outside 0 to M-1. If False, such an index adds 0. Indices in device memory
        are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, C, N] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qi et al.: PointNet++. NIPS 2017, arXiv:1706.02413.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([10, 20, 40], np.float32).reshape(1, 1, 3)
    >>> indices = np.array([0, 1, 2], np.int32).reshape(1, 1, 3)
    >>> weights = np.array([0.5, 0.25, 0.25], np.float32).reshape(1, 1, 3)
    >>> pymluops.three_interpolate_forward(features, indices, weights).item()
    20.0
    """
    return _FORWARD(handle, (features, indices, weights, out), (), validate)


def three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `three_interpolate_forward` with respect to the features.

    ::

        grad_features[b, c, m] = sum over (n, i) with indices[b, n, i] == m of
            weights[b, n, i] * grad_output[b, c, n]

    Parameters
    ----------
    grad_output : array, shape [B, C, N], float16 or float32
        Gradient with respect to the output of the forward direction.
    indices : array, shape [B, N, 3], int32
        As in the forward direction.
    weights : array, shape [B, N, 3], like `grad_output`
        As in the forward direction.
    num_features : int
        M, the number of points that carry features, > 0.
    out : array or DeviceArray, optional
        Where to write, shape [B, C, M], like `grad_output`; it must not overlap an input.
    validate : bool
        Refuse indices outside 0 to M-1. If False, such an index adds nothing. Indices in device
        memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, C, M] of the kind of the first argument. A point that no
        index names gets 0.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qi et al.: PointNet++. NIPS 2017, arXiv:1706.02413.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> indices = np.array([0, 1, 1], np.int32).reshape(1, 1, 3)
    >>> weights = np.array([0.5, 0.25, 0.25], np.float32).reshape(1, 1, 3)
    >>> grad = pymluops.three_interpolate_backward(np.ones((1, 1, 1), np.float32), indices, weights, 3)
    >>> grad.ravel().tolist()
    [0.5, 0.5, 0.0]
    """
    return _BACKWARD(handle, (grad_output, indices, weights, out), (num_features,), validate)
