"""Focal losses of sigmoids and softmaxes and their gradients, from RetinaNet (arXiv:1708.02002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "focal_loss_sigmoid_backward",
    "focal_loss_sigmoid_forward",
    "sigmoid_focal_loss_backward",
    "sigmoid_focal_loss_forward",
    "softmax_focal_loss_backward",
    "softmax_focal_loss_forward",
]

_INPUT = Tensor("input", FLOATS, "N C")
_TARGET = Tensor("target", INT32, "N")
_WEIGHT = Tensor("weight", "input", "C", optional=True)
_ALPHA = Scalar("alpha", infinite=True, nan=True)
_GAMMA = Scalar("gamma", infinite=True, nan=True)

_FORWARD = Operator(
    "mluOpFocalLossSigmoidForward",
    "focal_loss_sigmoid_forward",
    (_INPUT, _TARGET, _WEIGHT, Tensor("out", "input", "N C", output=True, parameter="output")),
    (
        Scalar("prefer", choices={"fast": 0, "high_precision": 1}),
        Scalar("reduction", choices={"none": 0}),
        _ALPHA,
        Scalar("gamma", minimum=0, infinite=True),
    ),
)
_BACKWARD = Operator(
    "mluOpFocalLossSigmoidBackward",
    "focal_loss_sigmoid_backward",
    (_INPUT, _TARGET, _WEIGHT, Tensor("out", "input", "N C", output=True, parameter="grad_input")),
    (
        Scalar("prefer", choices={"high_precision": 1}),
        Scalar("reduction", choices={"none": 0}),
        _ALPHA,
        Scalar("gamma", minimum=0, maximum=10000),
    ),
)
_SIGMOID_FORWARD = Operator(
    "mluopsExtSigmoidFocalLossForward",
    "sigmoid_focal_loss_forward",
    (_INPUT, _TARGET, Tensor("out", "input", "N C", output=True, parameter="output")),
    (_ALPHA, _GAMMA),
)
_SIGMOID_BACKWARD = Operator(
    "mluopsExtSigmoidFocalLossBackward",
    "sigmoid_focal_loss_backward",
    (
        Tensor("grad_output", FLOATS, "N C"),
        Tensor("input", "grad_output", "N C"),
        _TARGET,
        Tensor("out", "grad_output", "N C", output=True, parameter="grad_input"),
    ),
    (_ALPHA, _GAMMA),
)
_SOFTMAX_FORWARD = Operator(
    "mluopsExtSoftmaxFocalLossForward",
    "softmax_focal_loss_forward",
    (
        Tensor("input", FLOATS, "N C", positive="C"),
        _TARGET,
        Tensor("out", "input", "N", output=True, parameter="output"),
    ),
    (Scalar("of_probabilities"), _ALPHA, _GAMMA),
)
_SOFTMAX_BACKWARD = Operator(
    "mluopsExtSoftmaxFocalLossBackward",
    "softmax_focal_loss_backward",
    (
        Tensor("grad_output", FLOATS, "N"),
        Tensor("input", "grad_output", "N C", positive="C"),
        _TARGET,
        Tensor("out", "grad_output", "N C", output=True, parameter="grad_input"),
    ),
    (Scalar("of_probabilities"), _ALPHA, _GAMMA),
)


def _unless_empty(weight: Array | None) -> Array | None:
    """Return the weights, or None if there is none, which the C function takes for no weights."""
    return None if getattr(weight, "shape", None) == (0,) else weight


def focal_loss_sigmoid_forward(
    input: Array,
    target: Array,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = "high_precision",
    reduction: int | str = "none",
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Compute the focal loss of sigmoids.

    With p = sigmoid(x), the loss of the column that is the class of its row is ``-alpha *
    (1 - p)**gamma * log(p)``, that of any other one ``-(1 - alpha) * p**gamma * log(1 - p)``; a
    logarithm is at least that of the smallest normal float32.

    Parameters
    ----------
    input : array, shape [N, C], float32 or float16
        Scores x.
    target : array, shape [N], int32
        Classes. A target outside of 0 to C-1 counts as background.
    weight : array, shape [C], like `input`, optional
        What the losses of a row are multiplied by, for each class.
    alpha : float
        How much a class counts against others.
    gamma : float
        How much certain scores count less, >= 0.
    prefer : {"fast", "high_precision"}, or 0, 1
        What a device computes with; the CPU does the same for both.
    reduction : "none"
        No other one is supported.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N and C may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described, or `input` has 2**31 elements or more.

    References
    ----------
    Lin et al.: Focal Loss for Dense Object Detection. ICCV 2017, arXiv:1708.02002.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> scores = np.array([[0, 2], [-1, 0]], np.float32)
    >>> pymluops.focal_loss_sigmoid_forward(scores, np.array([0, 1], np.int32)).astype(float).round(3).tolist()
    [[0.043, 1.238], [0.017, 0.043]]
    """
    return _FORWARD(handle, (input, target, _unless_empty(weight), out), (prefer, reduction, alpha, gamma))


def focal_loss_sigmoid_backward(
    input: Array,
    target: Array,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = "high_precision",
    reduction: int | str = "none",
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Compute the derivative of each value of `focal_loss_sigmoid_forward` by its score.

    Parameters
    ----------
    input : array, shape [N, C], float32 or float16
        Scores.
    target : array, shape [N], int32
        Classes. A target outside of 0 to C-1 counts as background.
    weight : array, shape [C], like `input`, optional
        What the values of a row are multiplied by, for each class.
    alpha, gamma : float
        Those of the loss; gamma from 0 to 10000.
    prefer : "high_precision"
        No other one is supported.
    reduction : "none"
        No other one is supported.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N and C may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> scores = np.array([[0, 2], [-1, 0]], np.float32)
    >>> pymluops.focal_loss_sigmoid_backward(scores, np.array([0, 1], np.int32)).astype(float).round(3).tolist()
    [[-0.075, 0.808], [0.039, -0.075]]
    """
    return _BACKWARD(handle, (input, target, _unless_empty(weight), out), (prefer, reduction, alpha, gamma))


def sigmoid_focal_loss_forward(
    input: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Compute the focal loss of sigmoids without weights, as `focal_loss_sigmoid_forward`, for any gamma.

    Parameters
    ----------
    input : array, shape [N, C], float32 or float16
        Scores.
    target : array, shape [N], int32
        Classes. A target outside of 0 to C-1 counts as background.
    alpha, gamma : float
        How much a class counts against others, and how much certain scores count less.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N and C may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> scores = np.array([[0, 2], [-1, 0]], np.float32)
    >>> pymluops.sigmoid_focal_loss_forward(scores, np.array([0, 1], np.int32)).astype(float).round(3).tolist()
    [[0.043, 1.238], [0.017, 0.043]]
    """
    return _SIGMOID_FORWARD(handle, (input, target, out), (alpha, gamma))


def sigmoid_focal_loss_backward(
    grad_output: Array,
    input: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Compute the gradient of `sigmoid_focal_loss_forward` with respect to the scores.

    Parameters
    ----------
    grad_output : array, shape [N, C], float32 or float16
        The gradient with respect to the losses.
    input : array, shape [N, C], like `grad_output`
        Scores.
    target : array, shape [N], int32
        Classes. A target outside of 0 to C-1 counts as background.
    alpha, gamma : float
        Those of the loss.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N and C may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> scores, target = np.array([[0, 2]], np.float32), np.array([0], np.int32)
    >>> pymluops.sigmoid_focal_loss_backward(np.ones_like(scores), scores, target).astype(float).round(3).tolist()
    [[-0.075, 0.808]]
    """
    return _SIGMOID_BACKWARD(handle, (grad_output, input, target, out), (alpha, gamma))


def softmax_focal_loss_forward(
    input: Array,
    target: Array,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Compute the focal loss of the softmax of each row.

    With the probability p of the class of a row, its loss is ``-alpha * (1 - p)**gamma * log(p)``,
    with a logarithm of at least that of the smallest normal float32; without a class it is 0.

    Parameters
    ----------
    input : array, shape [N, C], float32 or float16
        Scores, C > 0.
    target : array, shape [N], int32
        Classes. The loss of a target outside of 0 to C-1 is 0.
    of_probabilities : bool
        Whether `input` has the probabilities of the softmax, not what it is of.
    alpha, gamma : float
        What the losses are multiplied by, and how much certain rows count less.
    out : array or DeviceArray, optional
        Where to write, shape [N], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> scores = np.array([[1, 0], [0, 1]], np.float32)
    >>> pymluops.softmax_focal_loss_forward(scores, np.array([0, 0], np.int32)).astype(float).round(4).tolist()
    [0.0057, 0.1755]
    """
    return _SOFTMAX_FORWARD(handle, (input, target, out), (of_probabilities, alpha, gamma))


def softmax_focal_loss_backward(
    grad_output: Array,
    input: Array,
    target: Array,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Compute the gradient of `softmax_focal_loss_forward` with respect to what the softmax is of.

    Parameters
    ----------
    grad_output : array, shape [N], float32 or float16
        The gradient with respect to the losses.
    input : array, shape [N, C], like `grad_output`
        Scores, C > 0.
    target : array, shape [N], int32
        Classes. The loss of a target outside of 0 to C-1 is 0.
    of_probabilities : bool
        Whether `input` has the probabilities of the softmax, not what it is of.
    alpha, gamma : float
        Those of the loss.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> scores, target = np.array([[1, 0]], np.float32), np.array([0], np.int32)
    >>> grad_output = np.ones(1, np.float32)
    >>> pymluops.softmax_focal_loss_backward(grad_output, scores, target).astype(float).round(4).tolist()
    [[-0.0131, 0.0131]]
    """
    return _SOFTMAX_BACKWARD(handle, (grad_output, input, target, out), (of_probabilities, alpha, gamma))
