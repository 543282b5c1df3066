"""Features of the neighbours of points, weighted by scores, from PAConv (arXiv:2103.14635)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["AssignScoreGradients", "assign_score_withk_backward", "assign_score_withk_forward"]

_Result = TypeVar("_Result")

_BANK = "B N0 M O"
_SCORES = "B N1 K M"
_OUTPUT = "B O N1 K"
_NUMBERS = Tensor("knn_idx", INT32, "B N1 K", within=("N0",), axes=("batch", "centre", "neighbour"))

_FORWARD = Operator(
    "mluopsExtAssignScoreWithkForward",
    "assign_score_withk_forward",
    (
        Tensor("points", FLOATS, _BANK),
        Tensor("centers", "points", _BANK),
        Tensor("scores", "points", _SCORES),
        _NUMBERS,
        Tensor("out", "points", _OUTPUT, output=True, parameter="output"),
    ),
)
_BACKWARD = Operator(
    "mluopsExtAssignScoreWithkBackward",
    "assign_score_withk_backward",
    (
        Tensor("grad_output", FLOATS, _OUTPUT),
        Tensor("points", "grad_output", _BANK),
        Tensor("centers", "grad_output", _BANK),
        Tensor("scores", "grad_output", _SCORES),
        _NUMBERS,
        Tensor("grad_points", "grad_output", _BANK, output=True),
        Tensor("grad_centers", "grad_output", _BANK, output=True),
        Tensor("grad_scores", "grad_output", _SCORES, output=True),
    ),
)


class AssignScoreGradients(NamedTuple, Generic[_Result]):
    """What `assign_score_withk_backward` returns.

    Attributes
    ----------
    grad_points, grad_centers : array, shape [B, N0, M, O], like the gradient given
        Gradients of the features of the points, as neighbours and as centres.
    grad_scores : array, shape [B, N1, K, M], like the gradient given
        Gradient of the scores.
    """

    grad_points: _Result
    grad_centers: _Result
    grad_scores: _Result


def assign_score_withk_forward(
    points: Array,
    centers: Array,
    scores: Array,
    knn_idx: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Add up the features of the neighbours of some points, weighted by scores.

    ::

        output[b, o, n, k] = sum over m of points[b, i, m, o] * scores[b, n, k, m]
                                           - centers[b, c, m, o] * scores[b, n, k, m]

    with ``i = knn_idx[b, n, k]`` and ``c = knn_idx[b, n, 0]``: the first neighbour is the centre.
    float16 is added up in float32.

    Parameters
    ----------
    points : array, shape [B, N0, M, O], float16 or float32
        Features of N0 points by each of M weight matrices, O of them.
    centers : array, shape [B, N0, M, O], like `points`
        The same for points as centres.
    scores : array, shape [B, N1, K, M], like `points`
        Weights of the matrices for K neighbours of N1 points.
    knn_idx : array, shape [B, N1, K], int32
        Numbers of the neighbours, 0 to N0-1.
    out : array or DeviceArray, optional
        Where to write, shape [B, O, N1, K], like `points`; it must not overlap an input.
    validate : bool
        Refuse a number out of range and name it; else such a neighbour gives 0, and so do all
        neighbours of such a centre.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, O, N1, K] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. Any size may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Xu et al.: PAConv: Position Adaptive Convolution with Dynamic Kernel Assembling on Point Clouds.
    CVPR 2021, arXiv:2103.14635.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([1, 10], np.float32).reshape(1, 2, 1, 1)
    >>> scores, neighbours = np.array([[[[2], [3]]]], np.float32), np.array([[[0, 1]]], np.int32)
    >>> pymluops.assign_score_withk_forward(points, points, scores, neighbours).tolist()
    [[[[0.0, 27.0]]]]
    """
    return _FORWARD(handle, (points, centers, scores, knn_idx, out), (), validate)


def assign_score_withk_backward(
    grad_output: Array,
    points: Array,
    centers: Array,
    scores: Array,
    knn_idx: Array,
    *,
    grad_points: Any = None,
    grad_centers: Any = None,
    grad_scores: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> AssignScoreGradients[Any]:
    """Gradients of `assign_score_withk_forward` with respect to features and scores.

    Gradients of features are added up in the order of the N1 points and their neighbours; float16
    is added up in float32.

    Parameters
    ----------
    grad_output : array, shape [B, O, N1, K], float16 or float32
        Gradient with respect to the output of the forward direction.
    points, centers : array, shape [B, N0, M, O], like `grad_output`
        The features of the forward direction.
    scores : array, shape [B, N1, K, M], like `grad_output`
        The weights of the forward direction.
    knn_idx : array, shape [B, N1, K], int32
        Numbers of the neighbours, 0 to N0-1.
    grad_points, grad_centers, grad_scores : array or DeviceArray, optional
        Where to write, with the shapes of `points`, `centers` and `scores`, like `grad_output`;
        they must not overlap another argument.
    validate : bool
        Refuse a number out of range and name it; else it contributes nothing.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    AssignScoreGradients
        A named tuple ``(grad_points, grad_centers, grad_scores)``: the arrays given, or new ones of
        the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. Any size may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Xu et al.: PAConv: Position Adaptive Convolution with Dynamic Kernel Assembling on Point Clouds.
    CVPR 2021, arXiv:2103.14635.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([1, 10], np.float32).reshape(1, 2, 1, 1)
    >>> scores, neighbours = np.array([[[[2], [3]]]], np.float32), np.array([[[0, 1]]], np.int32)
    >>> grad = np.ones((1, 1, 1, 2), np.float32)
    >>> found = pymluops.assign_score_withk_backward(grad, points, points, scores, neighbours)
    >>> found.grad_points.ravel().tolist(), found.grad_scores.ravel().tolist()
    ([2.0, 3.0], [0.0, 9.0])
    """
    tensors = (grad_output, points, centers, scores, knn_idx, grad_points, grad_centers, grad_scores)
    return AssignScoreGradients(*_BACKWARD(handle, tensors, (), validate))
