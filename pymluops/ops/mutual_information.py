"""Log-probabilities of all monotonic alignments of two sequences, and their gradient (RNN-T, arXiv:2206.13236)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import FLOAT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["mutual_information_backward", "mutual_information_forward"]

_SEQUENCES = (
    Tensor("px", FLOAT32, "B S T+1"),
    Tensor("py", "px", "B S+1 T"),
    Tensor("opt_boundary", (DataType.INT64,), "B 4", optional=True),
)
_P = Tensor("p", "px", "B S+1 T+1")

_FORWARD = Operator(
    "mluOpMutualInformationForward",
    "mutual_information_forward",
    (*_SEQUENCES, Tensor("ans", "px", "B", output=True), replace(_P, output=True, zeroed=True)),
    workspace="mluOpGetMutualInformationForwardWorkspaceSize",
)
_BACKWARD = Operator(
    "mluOpMutualInformationBackward",
    "mutual_information_backward",
    (
        *_SEQUENCES,
        _P,
        Tensor("ans_grad", "px", "B", in_place=True),
        Tensor("px_grad", "px", "B S T+1", output=True),
        Tensor("py_grad", "px", "B S+1 T", output=True),
    ),
    (Scalar("overwrite_ans_grad"),),
    workspace="mluOpGetMutualInformationBackwardWorkspaceSize",
)


def mutual_information_forward(
    px: Array,
    py: Array,
    opt_boundary: Array | None = None,
    *,
    ans: Any = None,
    p: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]:
    """Add up the probabilities of all ways through tables, as logarithms.

    A way goes from the begin of the region to its end, by steps to the next row or the next column.
    ``px[b, s, t]`` is the logarithm of the probability of the step from [s, t] to [s+1, t], and
    ``py[b, s, t]`` that of the step to [s, t+1]. ``p[b, s, t]`` belongs to all ways to [s, t]: 0 at
    the begin, and the logarithm of the sum of what both steps bring elsewhere. That is NaN if what
    the step to the next row brings is; a NaN that only the other step brings does not count, as in
    mlu-ops. `pymluops.torch.mutual_information_recursion` lets no NaN get lost.

    Parameters
    ----------
    px : array, shape [B, S, T+1], float32
        Logarithms of the probabilities of steps to the next row; -infinity for none.
    py : array, shape [B, S+1, T], like `px`
        Those of steps to the next column.
    opt_boundary : array, shape [B, 4], int64, optional
        The regions: s_begin, t_begin, s_end, t_end, with rows from 0 to S and columns from 0 to T.
        Begin and end belong to it. It is empty where an end lies before its begin. Without it they
        are the whole tables.
    ans : array or DeviceArray, optional
        Where to write the result, shape [B], like `px`; no output may overlap another argument.
    p : array or DeviceArray, optional
        Where to write the tables, shape [B, S+1, T+1], like `px`. Cells beside the region stay as
        they are; without it they are 0.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ans : array or DeviceArray, shape [B]
        `p` at the end of the region; 0 for an empty one.
    p : array or DeviceArray, shape [B, S+1, T+1]
        The tables.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a region does not lie in its table.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Kuang et al.: Pruned RNN-T for fast, memory-efficient ASR training. Interspeech 2022,
    arXiv:2206.13236. Functions for PyTorch: ``k2.mutual_information_recursion``.

    Examples
    --------
    Three ways of two steps, each with the probability 1/4:

    >>> import numpy as np, pymluops
    >>> px, py = np.full((1, 1, 3), np.log(0.5), np.float32), np.full((1, 2, 2), np.log(0.5), np.float32)
    >>> ans, p = pymluops.mutual_information_forward(px, py, np.array([[0, 0, 1, 1]]))
    >>> np.exp(ans).round(3).tolist(), np.exp(p[0]).round(3).tolist()
    ([0.5], [[1.0, 0.5, 1.0], [0.5, 0.5, 1.0]])
    """
    ans, p = _FORWARD(handle, (px, py, opt_boundary, ans, p))
    return ans, p


def mutual_information_backward(
    px: Array,
    py: Array,
    opt_boundary: Array | None,
    p: Array,
    ans_grad: Array,
    overwrite_ans_grad: bool = False,
    *,
    px_grad: Any = None,
    py_grad: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]:
    """Gradient of `mutual_information_forward` with respect to the steps.

    A step gets the gradient of `ans` times the share of its ways in the probability of all. The
    share is 0 where it would be NaN or infinite, as in mlu-ops.

    Parameters
    ----------
    px : array, shape [B, S, T+1], float32
        Logarithms of the probabilities of steps to the next row.
    py : array, shape [B, S+1, T], like `px`
        Those of steps to the next column.
    opt_boundary : array, shape [B, 4], int64, or None
        The regions of the forward direction.
    p : array, shape [B, S+1, T+1], like `px`
        The tables of the forward direction.
    ans_grad : array, shape [B], like `px`
        Gradient with respect to `ans`. It must be writable.
    overwrite_ans_grad : bool
        Write the gradient that arrives at the begin of each region into `ans_grad`. If `p` is the
        result of the forward direction, this is the old value, except for rounding.
    px_grad : array or DeviceArray, optional
        Where to write, shape [B, S, T+1], like `px`; no output may overlap another argument.
    py_grad : array or DeviceArray, optional
        Where to write, shape [B, S+1, T], like `px`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    px_grad : array or DeviceArray, shape [B, S, T+1]
        Gradient with respect to `px`, 0 beside the regions.
    py_grad : array or DeviceArray, shape [B, S+1, T]
        Gradient with respect to `py`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a region does not lie in its table.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    One way of two begins with a step to the next row:

    >>> import numpy as np, pymluops
    >>> px, py = np.zeros((1, 1, 2), np.float32), np.zeros((1, 2, 1), np.float32)
    >>> ans, p = pymluops.mutual_information_forward(px, py)
    >>> found = pymluops.mutual_information_backward(px, py, None, p, np.ones(1, np.float32))
    >>> found[0].round(3).tolist(), found[1].round(3).tolist()
    ([[[0.5, 0.5]]], [[[0.5], [0.5]]])
    """
    arrays = (px, py, opt_boundary, p, ans_grad, px_grad, py_grad)
    _, px_grad, py_grad = _BACKWARD(handle, arrays, (overwrite_ans_grad,))  # what is changed in place comes first
    return px_grad, py_grad
