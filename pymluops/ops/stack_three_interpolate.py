"""Interpolation of stacked features of points from three neighbours, from PV-RCNN (arXiv:1912.13192)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["stack_three_interpolate_backward", "stack_three_interpolate_forward"]

_INDICES = Tensor("indices", INT32, "N 3", positive="N", within=("M",), axes=("position", "neighbour"))

_FORWARD = Operator(
    "mluopsExtStackThreeInterpolateForward",
    "stack_three_interpolate_forward",
    (
        Tensor("features", FLOATS, "M C", positive="M C"),
        _INDICES,
        Tensor("weights", "features", "N 3"),
        Tensor("out", "features", "N C", output=True, parameter="output"),
    ),
)
_BACKWARD = Operator(
    "mluopsExtStackThreeInterpolateBackward",
    "stack_three_interpolate_backward",
    (
        Tensor("grad_output", FLOATS, "N C", positive="N C"),
        _INDICES,
        Tensor("weights", "grad_output", "N 3"),
        Tensor("out", "grad_output", "M C", output=True, parameter="grad_features"),
    ),
    (Scalar("num_features", symbol="M"),),
)


def stack_three_interpolate_forward(
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

        output[n] = sum over i of weights[n, i] * features[indices[n, i]]

    Parameters
    ----------
    features : array, shape [M, C], float16 or float32
        C features at each of M points, of all batches together.
    indices : array, shape [N, 3], int32
        For each of N points the rows of its three neighbours, 0 to M-1.
    weights : array, shape [N, 3], like `features`
        Their weights.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `features`; it must not overlap an input.
    validate : bool
        Whether to check the indices first, and to refuse one outside of the rows. If False, such an
        index adds nothing.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shi et al.: PV-RCNN. CVPR 2020, arXiv:1912.13192.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[10], [20], [40]], np.float32)
    >>> indices, weights = np.array([[0, 1, 2]], np.int32), np.array([[0.5, 0.25, 0.25]], np.float32)
    >>> pymluops.stack_three_interpolate_forward(features, indices, weights).item()
    20.0
    """
    return _FORWARD(handle, (features, indices, weights, out), (), validate)


def stack_three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `stack_three_interpolate_forward` with respect to its features.

    The gradients of a row are added up in the order of `indices`.

    Parameters
    ----------
    grad_output : array, shape [N, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    indices : array, shape [N, 3], int32
        The indices of the forward direction.
    weights : array, shape [N, 3], like `grad_output`
        The weights of the forward direction.
    num_features : int
        Number of rows M of the features.
    out : array or DeviceArray, optional
        Where to write, shape [M, C], like `grad_output`; it must not overlap an input.
    validate : bool
        Whether to check the indices first, and to refuse one outside of the rows. If False, such an
        index adds nothing.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [M, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shi et al.: PV-RCNN. CVPR 2020, arXiv:1912.13192.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, indices = np.array([[8]], np.float32), np.array([[0, 1, 1]], np.int32)
    >>> weights = np.array([[0.5, 0.25, 0.25]], np.float32)
    >>> pymluops.stack_three_interpolate_backward(grad, indices, weights, 3).tolist()
    [[4.0], [4.0], [0.0]]
    """
    return _BACKWARD(handle, (grad_output, indices, weights, out), (num_features,), validate)
