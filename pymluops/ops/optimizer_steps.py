"""A step of the optimiser AdamW, in place (arXiv:1711.05101)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["adam_w"]

_STEP = Operator(
    "mluopsExtAdamW",
    "adam_w",
    (
        Tensor("param", FLOAT32, "N", in_place=True, positive="N"),
        Tensor("momentum", "param", "N", in_place=True),
        Tensor("velocity", "param", "N", in_place=True),
        Tensor("grad", "param", "N"),
    ),
    (
        Scalar("step"),
        Scalar("lr"),
        Scalar("beta1", minimum=0, maximum=1),
        Scalar("beta2", minimum=0, maximum=1),
        Scalar("epsilon", minimum=0, above=True),
        Scalar("weight_decay"),
        Scalar("grad_scale"),
        Scalar("need_remove_nan"),
    ),
)


def adam_w(
    param: Array,
    momentum: Array,
    velocity: Array,
    grad: Array,
    step: int,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.01,
    grad_scale: float = 1.0,
    need_remove_nan: bool = False,
    *,
    handle: Handle | None = None,
) -> None:
    """Make a step of AdamW: `param`, `momentum` and `velocity` are changed.

    With ``g = grad / grad_scale``::

        momentum = beta1 * momentum + (1 - beta1) * g
        velocity = beta2 * velocity + (1 - beta2) * g * g
        param = param * (1 - lr * weight_decay) - lr * (momentum / (1 - beta1**step))
            / (sqrt(velocity / (1 - beta2**step)) + epsilon)

    ``mluOpAdamW``, which `pymluops.functions` has, computes the same for tensors of any shape, also
    with gradients of bfloat16 and a copy of the parameters in it.

    Parameters
    ----------
    param : array, shape [N], float32
        The parameters, read and written; N > 0. Of an array of another shape take
        ``param.reshape(-1)``.
    momentum : array, shape [N], like `param`
        The mean of the gradients, read and written; zeros before the first step.
    velocity : array, shape [N], like `param`
        The mean of their squares, read and written; zeros before the first step.
    grad : array, shape [N], like `param`
        The gradients.
    step : int
        The number of this step, from 1 on.
    lr : float
        The learning rate.
    beta1, beta2 : float
        How much stays of `momentum` and `velocity`, from 0 to 1.
    epsilon : float
        What is added to the root of `velocity`, > 0.
    weight_decay : float
        Which part of `lr` the parameters lose.
    grad_scale : float
        What the gradients are divided by.
    need_remove_nan : bool
        Leave an element as it is if its new parameter, momentum and velocity are all three not
        finite.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    None

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is not that for the CPU.

    References
    ----------
    Loshchilov and Hutter: Decoupled Weight Decay Regularization. ICLR 2019, arXiv:1711.05101.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> param, grad = np.ones(2, np.float32), np.array([3, -0.5], np.float32)
    >>> momentum, velocity = np.zeros(2, np.float32), np.zeros(2, np.float32)
    >>> pymluops.adam_w(param, momentum, velocity, grad, 1, lr=0.25, weight_decay=0.0)
    >>> param.tolist(), momentum.tolist()
    ([0.75, 1.25], [0.30000001192092896, -0.05000000074505806])
    """
    arrays = (param, momentum, velocity, grad)
    rates = (step, lr, beta1, beta2, epsilon, weight_decay, grad_scale, need_remove_nan)
    _STEP(handle, arrays, rates)
