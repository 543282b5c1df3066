"""The three nearest of a set of points, from PointNet++ (arXiv:1706.02413)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["ThreeNN", "stack_three_nn", "three_nn_forward"]

_Result = TypeVar("_Result")

_FORWARD = Operator(
    "mluOpThreeNNForward",
    "three_nn_forward",
    (
        Tensor("unknown", FLOATS, "B N 3", positive="B N"),
        Tensor("known", "unknown", "B M 3"),
        Tensor("dist2", "unknown", "B N 3", output=True),
        Tensor("idx", INT32, "B N 3", output=True),
    ),
    workspace="mluOpGetThreeNNForwardWorkspaceSize",
)
_STACK = Operator(
    "mluopsExtStackThreeNN",
    "stack_three_nn",
    (
        Tensor("unknown", FLOATS, "N 3", positive="N"),
        Tensor("unknown_batch_cnt", INT32, "B", positive="B", counts="N", axes=("batch",)),
        Tensor("known", "unknown", "M 3"),
        Tensor("known_batch_cnt", INT32, "B", counts="M", axes=("batch",)),
        Tensor("dist2", "unknown", "N 3", output=True),
        Tensor("idx", INT32, "N 3", output=True),
    ),
)


class ThreeNN(NamedTuple, Generic[_Result]):
    """What `three_nn_forward` and `stack_three_nn` return.

    Attributes
    ----------
    dist2 : array, shape [B, N, 3] or [N, 3], like the points
        Squared distances to the three nearest points, ascending.
    idx : array, shape [B, N, 3] or [N, 3], int32
        Their numbers.
    """

    dist2: _Result
    idx: _Result


def three_nn_forward(
    unknown: Array, known: Array, *, dist2: Any = None, idx: Any = None, handle: Handle | None = None
) -> ThreeNN[Any]:
    """Find the three nearest known points of each unknown point.

    With ``d2[b, n, m] = sum over the axes of (known[b, m] - unknown[b, n])**2``, the three smallest
    of ``d2[b, n]`` are returned in ascending order; of equal ones the first comes first.

    Parameters
    ----------
    unknown : array, shape [B, N, 3], float16 or float32
        The points to find neighbours for.
    known : array, shape [B, M, 3], like `unknown`
        The points among which they are found.
    dist2 : array or DeviceArray, optional
        Where to write the distances, shape [B, N, 3], like `unknown`; it must not overlap another
        argument.
    idx : array or DeviceArray, optional
        Where to write the indices, shape [B, N, 3], int32; it must not overlap another argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ThreeNN
        A named tuple ``(dist2, idx)``: the arrays given, or new ones of the kind of the first
        argument. Where there are fewer than three points at a finite distance, the rest is infinity
        with index 0.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B or N is 0. M may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qi et al.: PointNet++. NIPS 2017, arXiv:1706.02413.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> known = np.array([[[5, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]]], np.float32)
    >>> nearest = pymluops.three_nn_forward(np.zeros((1, 1, 3), np.float32), known)
    >>> nearest.dist2.tolist(), nearest.idx.tolist()
    ([[[1.0, 1.0, 4.0]]], [[[1, 3, 2]]])
    """
    return ThreeNN(*_FORWARD(handle, (unknown, known, dist2, idx)))


def stack_three_nn(
    unknown: Array,
    unknown_batch_cnt: Array,
    known: Array,
    known_batch_cnt: Array,
    *,
    dist2: Any = None,
    idx: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ThreeNN[Any]:
    """Find the three nearest known points of each unknown point, in batches of different sizes.

    Parameters
    ----------
    unknown : array, shape [N, 3], float16 or float32
        The points to find neighbours for, of all batches, those of the first batch first.
    unknown_batch_cnt : array, shape [B], int32
        How many of them each batch has; their sum is N. Those beyond it belong to the last batch.
    known : array, shape [M, 3], like `unknown`
        The points of all batches among which they are found.
    known_batch_cnt : array, shape [B], int32
        How many of them each batch has; their sum is M. Those beyond it belong to the last batch.
    dist2 : array or DeviceArray, optional
        Where to write the distances, shape [N, 3], like `unknown`; it must not overlap another
        argument.
    idx : array or DeviceArray, optional
        Where to write the indices, shape [N, 3], int32; it must not overlap another argument.
    validate : bool
        Refuse counts below 0, and counts of more rows than there are. If False, a negative count is
        0, and rows end where there are no more. Counts in device memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ThreeNN
        A named tuple ``(dist2, idx)`` of squared distances and rows of `known`: the arrays given,
        or new ones of the kind of the first argument. Where there are fewer than three points at a
        finite distance, the rest is infinity with the first row of the batch.

    Raises
    ------
    BadParamError
        If an argument is not as described, or N or B is 0. M may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shi et al.: PV-RCNN. CVPR 2020, arXiv:1912.13192.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> known = np.array([[7, 0, 0], [5, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]], np.float32)
    >>> one, counts = np.array([0, 1], np.int32), np.array([1, 4], np.int32)
    >>> nearest = pymluops.stack_three_nn(np.zeros((1, 3), np.float32), one, known, counts)
    >>> nearest.dist2.tolist(), nearest.idx.tolist()
    ([[1.0, 1.0, 4.0]], [[2, 4, 3]])
    """
    arrays = (unknown, unknown_batch_cnt, known, known_batch_cnt, dist2, idx)
    return ThreeNN(*_STACK(handle, arrays, (), validate))
