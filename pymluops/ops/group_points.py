"""Features of points by their indices, and of groups of points, from PointNet++ (arXiv:1706.02413)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "gather_points_backward",
    "gather_points_forward",
    "group_points_backward",
    "group_points_forward",
    "stack_group_points_backward",
    "stack_group_points_forward",
]

_POINTS = Tensor("idx", INT32, "B M", positive="M", within=("N",), axes=("batch", "position"))
_GROUPS = Tensor("idx", INT32, "B M S", positive="M S", within=("N",), axes=("batch", "group", "sample"))
_NUM_POINTS = Scalar("num_points", symbol="N")

_GATHER = Operator(
    "mluopsExtGatherPointsForward",
    "gather_points_forward",
    (
        Tensor("features", FLOATS, "B C N", positive="B C N"),
        _POINTS,
        Tensor("out", "features", "B C M", output=True, parameter="output"),
    ),
)
_GATHER_BACKWARD = Operator(
    "mluopsExtGatherPointsBackward",
    "gather_points_backward",
    (
        Tensor("grad_output", FLOATS, "B C M", positive="B C M"),
        _POINTS,
        Tensor("out", "grad_output", "B C N", output=True, parameter="grad_features"),
    ),
    (_NUM_POINTS,),
)
_GROUP = Operator(
    "mluopsExtGroupPointsForward",
    "group_points_forward",
    (
        Tensor("features", FLOATS, "B C N", positive="B C N"),
        _GROUPS,
        Tensor("out", "features", "B C M S", output=True, parameter="output"),
    ),
)
_GROUP_BACKWARD = Operator(
    "mluopsExtGroupPointsBackward",
    "group_points_backward",
    (
        Tensor("grad_output", FLOATS, "B C M S", positive="B C M S"),
        _GROUPS,
        Tensor("out", "grad_output", "B C N", output=True, parameter="grad_features"),
    ),
    (_NUM_POINTS,),
)
_STACK = Operator(
    "mluopsExtStackGroupPointsForward",
    "stack_group_points_forward",
    (
        Tensor("features", FLOATS, "N C", positive="N C"),
        Tensor("features_batch_cnt", INT32, "B", counts="N", axes=("batch",)),
        Tensor("idx", INT32, "M S", positive="M S"),
        Tensor("idx_batch_cnt", INT32, "B", positive="B", counts="M", axes=("batch",)),
        Tensor("out", "features", "M C S", output=True, parameter="output"),
    ),
)
_STACK_BACKWARD = Operator(
    "mluopsExtStackGroupPointsBackward",
    "stack_group_points_backward",
    (
        Tensor("grad_output", FLOATS, "M C S", positive="M C S"),
        Tensor("idx", INT32, "M S"),
        Tensor("idx_batch_cnt", INT32, "B", counts="M", axes=("batch",)),
        Tensor("features_batch_cnt", INT32, "B", positive="B", counts="N", axes=("batch",)),
        Tensor("out", "grad_output", "N C", output=True, parameter="grad_features"),
    ),
    (_NUM_POINTS,),
)


def gather_points_forward(
    features: Array, idx: Array, *, out: Any = None, validate: bool = True, handle: Handle | None = None
) -> Any:
    """Take the features of some points.

    ::

        output[b, c, m] = features[b, c, idx[b, m]]

    Parameters
    ----------
    features : array, shape [B, C, N], float16 or float32
        C features of each of N points.
    idx : array, shape [B, M], int32
        Numbers of M points, 0 to N-1.
    out : array or DeviceArray, optional
        Where to write, shape [B, C, M], like `features`; it must not overlap an input.
    validate : bool
        Whether to check the indices first, and to refuse one outside of the points. If False, such
        an index gives zeros.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, C, M] of the kind of the first argument.

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
    >>> features = np.array([[[10, 20, 30]]], np.float32)
    >>> pymluops.gather_points_forward(features, np.array([[2, 0]], np.int32)).tolist()
    [[[30.0, 10.0]]]
    """
    return _GATHER(handle, (features, idx, out), (), validate)


def gather_points_backward(
    grad_output: Array,
    idx: Array,
    num_points: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `gather_points_forward` with respect to its features.

    The gradients of a point are added up in the order of `idx`.

    Parameters
    ----------
    grad_output : array, shape [B, C, M], float16 or float32
        Gradient with respect to the output of the forward direction.
    idx : array, shape [B, M], int32
        The indices of the forward direction.
    num_points : int
        Number of points N.
    out : array or DeviceArray, optional
        Where to write, shape [B, C, N], like `grad_output`; it must not overlap an input.
    validate : bool
        Whether to check the indices first, and to refuse one outside of the points. If False, such
        an index gives zeros.
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
    >>> grad, idx = np.array([[[1, 2, 4]]], np.float32), np.array([[2, 0, 2]], np.int32)
    >>> pymluops.gather_points_backward(grad, idx, 3).tolist()
    [[[2.0, 0.0, 5.0]]]
    """
    return _GATHER_BACKWARD(handle, (grad_output, idx, out), (num_points,), validate)


def group_points_forward(
    features: Array, idx: Array, *, out: Any = None, validate: bool = True, handle: Handle | None = None
) -> Any:
    """Take the features of groups of points.

    ::

        output[b, c, m, s] = features[b, c, idx[b, m, s]]

    Parameters
    ----------
    features : array, shape [B, C, N], float16 or float32
        C features of each of N points.
    idx : array, shape [B, M, S], int32
        Numbers of the S points of each of M groups, 0 to N-1.
    out : array or DeviceArray, optional
        Where to write, shape [B, C, M, S], like `features`; it must not overlap an input.
    validate : bool
        Whether to check the indices first, and to refuse one outside of the points. If False, such
        an index gives zeros.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, C, M, S] of the kind of the first argument.

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
    >>> features = np.array([[[10, 20, 30]]], np.float32)
    >>> pymluops.group_points_forward(features, np.array([[[2, 0], [1, 1]]], np.int32)).tolist()
    [[[[30.0, 10.0], [20.0, 20.0]]]]
    """
    return _GROUP(handle, (features, idx, out), (), validate)


def group_points_backward(
    grad_output: Array,
    idx: Array,
    num_points: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `group_points_forward` with respect to its features.

    The gradients of a point are added up in the order of `idx`.

    Parameters
    ----------
    grad_output : array, shape [B, C, M, S], float16 or float32
        Gradient with respect to the output of the forward direction.
    idx : array, shape [B, M, S], int32
        The indices of the forward direction.
    num_points : int
        Number of points N.
    out : array or DeviceArray, optional
        Where to write, shape [B, C, N], like `grad_output`; it must not overlap an input.
    validate : bool
        Whether to check the indices first, and to refuse one outside of the points. If False, such
        an index gives zeros.
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
    >>> grad, idx = np.array([[[[1, 2], [4, 8]]]], np.float32), np.array([[[2, 0], [1, 1]]], np.int32)
    >>> pymluops.group_points_backward(grad, idx, 3).tolist()
    [[[2.0, 12.0, 1.0]]]
    """
    return _GROUP_BACKWARD(handle, (grad_output, idx, out), (num_points,), validate)


def stack_group_points_forward(
    features: Array,
    features_batch_cnt: Array,
    idx: Array,
    idx_batch_cnt: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Take the features of groups of points in batches of different sizes.

    ::

        output[m, c, s] = features[first + idx[m, s], c]

    where ``first`` is the first row of the batch that group m belongs to. An index that is no row
    of the batch gives zeros, so that -1 can stand for a missing point.

    Parameters
    ----------
    features : array, shape [N, C], float16 or float32
        C features of the points of all batches, those of the first batch first.
    features_batch_cnt : array, shape [B], int32
        How many points each batch has; their sum is N. Points beyond it belong to the last batch.
    idx : array, shape [M, S], int32
        Numbers of the S points of each group, counted from the first point of the batch.
    idx_batch_cnt : array, shape [B], int32
        How many groups each batch has; their sum is M. Groups beyond it belong to the last batch.
    out : array or DeviceArray, optional
        Where to write, shape [M, C, S], like `features`; it must not overlap an input.
    validate : bool
        Refuse counts below 0, and counts of more rows than there are. If False, a negative count is
        0, and rows end where there are no more. Counts in device memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [M, C, S] of the kind of the first argument.

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
    >>> features, counts = np.array([[10], [20], [30]], np.float32), np.array([1, 2], np.int32)
    >>> idx, groups = np.array([[0, -1], [1, 0]], np.int32), np.array([1, 1], np.int32)
    >>> pymluops.stack_group_points_forward(features, counts, idx, groups).tolist()
    [[[10.0, 0.0]], [[30.0, 20.0]]]
    """
    return _STACK(handle, (features, features_batch_cnt, idx, idx_batch_cnt, out), (), validate)


def stack_group_points_backward(
    grad_output: Array,
    idx: Array,
    idx_batch_cnt: Array,
    features_batch_cnt: Array,
    num_points: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `stack_group_points_forward` with respect to its features.

    The gradients of a point are added up in the order of `idx`.

    Parameters
    ----------
    grad_output : array, shape [M, C, S], float16 or float32
        Gradient with respect to the output of the forward direction.
    idx : array, shape [M, S], int32
        The indices of the forward direction.
    idx_batch_cnt, features_batch_cnt : array, shape [B], int32
        How many groups and points each batch has.
    num_points : int
        Number of points N of all batches.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `grad_output`; it must not overlap an input.
    validate : bool
        Refuse counts below 0, and counts of more rows than there are. If False, a negative count is
        0, and rows end where there are no more. Counts in device memory are not looked at.
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
    >>> grad, idx = np.array([[[1, 2]], [[4, 8]]], np.float32), np.array([[0, -1], [1, 1]], np.int32)
    >>> groups, points = np.array([1, 1], np.int32), np.array([1, 2], np.int32)
    >>> pymluops.stack_group_points_backward(grad, idx, groups, points, 3).tolist()
    [[1.0], [0.0], [12.0]]
    """
    arrays = (grad_output, idx, idx_batch_cnt, features_batch_cnt, out)
    return _STACK_BACKWARD(handle, arrays, (num_points,), validate)
