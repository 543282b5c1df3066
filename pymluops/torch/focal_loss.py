"""Focal losses of sigmoids and softmaxes."""

from __future__ import annotations

from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule

__all__ = ["SigmoidFocalLoss", "SoftmaxFocalLoss", "sigmoid_focal_loss", "softmax_focal_loss"]

_REDUCTIONS = ("none", "mean", "sum")

_SAMPLE = {"alpha": 0.25, "gamma": 1.5}
_SIGMOID = TorchOperator(described("sigmoid_focal_loss_forward"), sample=_SAMPLE)
_SIGMOID_GRADIENT = TorchOperator(described("sigmoid_focal_loss_backward"), autocast=False)
_SIGMOID.differentiate(_SIGMOID_GRADIENT, "grad_output", {"input": "out"})
_SIGMOID_GRADIENT.refuse_gradient("the gradient of sigmoid_focal_loss cannot be differentiated again")
_SOFTMAX = TorchOperator(described("softmax_focal_loss_forward"), sample={**_SAMPLE, "of_probabilities": False})
_SOFTMAX_GRADIENT = TorchOperator(described("softmax_focal_loss_backward"), autocast=False)
_SOFTMAX.differentiate(_SOFTMAX_GRADIENT, "grad_output", {"input": "out"})
_SOFTMAX_GRADIENT.refuse_gradient("the gradient of softmax_focal_loss cannot be differentiated again")


def sigmoid_focal_loss(
    input: Tensor,
    target: Tensor,
    gamma: float = 2.0,
    alpha: float = 0.25,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Compute the focal loss of sigmoids (arXiv:1708.02002).

    With p = sigmoid(x), the loss of the column that is the class of its row is ``-alpha *
    (1 - p)**gamma * log(p)``, that of any other one ``-(1 - alpha) * p**gamma * log(1 - p)``.

    Parameters
    ----------
    input : Tensor, shape [N, C]
        Scores x; any floating type. The gradient flows to them.
    target : Tensor, shape [N], int64 or int32
        Classes; C for none.
    gamma : float
        How much certain scores count less.
    alpha : float
        How much a class counts against others.
    weight : Tensor, shape [C], optional
        What the losses of a row are multiplied by, for each class.
    reduction : {"mean", "sum", "none"}
        What is done with the losses; "mean" divides their sum by N.

    Returns
    -------
    Tensor
        The loss, or with "none" all of them, [N, C].

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> scores = torch.tensor([[1.0, 0], [0, 1]])
    >>> round(pymluops.torch.sigmoid_focal_loss(scores, torch.tensor([0, 1])).item(), 4)
    0.1356
    """
    _check("sigmoid_focal_loss", reduction)
    losses = _SIGMOID(input, target, alpha, gamma)
    if weight is not None:
        losses = losses * _weights(weight, target)[:, None]
    return _reduced(losses, reduction, input.shape[0])


def softmax_focal_loss(
    input: Tensor,
    target: Tensor,
    gamma: float = 2.0,
    alpha: float = 0.25,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Compute the focal loss of the softmax of each row.

    With the probability p of the class of a row, its loss is ``-alpha * (1 - p)**gamma * log(p)``;
    that of a row without a class is 0.

    Parameters
    ----------
    input : Tensor, shape [N, C]
        Scores; any floating type. The gradient flows to them.
    target : Tensor, shape [N], int64 or int32
        Classes; -1 or C for none.
    gamma : float
        How much certain rows count less.
    alpha : float
        What the losses are multiplied by.
    weight : Tensor, shape [C], optional
        What the loss of a row is multiplied by, for each class.
    reduction : {"mean", "sum", "none"}
        What is done with the losses.

    Returns
    -------
    Tensor
        The loss, or with "none" all of them, [N].

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> scores = torch.tensor([[1.0, 0], [0, 1]])
    >>> round(pymluops.torch.softmax_focal_loss(scores, torch.tensor([0, 1])).item(), 4)
    0.0057
    """
    _check("softmax_focal_loss", reduction)
    losses = _SOFTMAX(input, target, False, alpha, gamma)
    if weight is not None:
        losses = losses * _weights(weight, target)
    return _reduced(losses, reduction, input.shape[0])


def _check(name: str, reduction: str) -> None:
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{name}: reduction: expected 'none', 'mean' or 'sum', got {reduction!r}")


def _weights(weight: Tensor, target: Tensor) -> Tensor:
    """Return the weight of each row; 1 without a class."""
    known = (target >= 0) & (target < weight.shape[0])
    return weight[target.where(known, 0).long()].where(known, 1)


def _reduced(losses: Tensor, reduction: str, rows: int) -> Tensor:
    if reduction == "none":
        return losses
    return losses.sum() / rows if reduction == "mean" else losses.sum()


class SigmoidFocalLoss(TracedModule):
    """A module that calls `sigmoid_focal_loss`.

    Parameters
    ----------
    gamma, alpha : float
        How much certain scores count less, and how much a class counts against others.
    weight : Tensor, shape [C], optional
        What the losses of a row are multiplied by, for each class.
    reduction : {"mean", "sum", "none"}
        What is done with the losses.
    """

    weight: Tensor | None

    def __init__(self, gamma: float, alpha: float, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.gamma, self.alpha, self.reduction = gamma, alpha, reduction
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of scores [N, C] and classes [N]."""
        return sigmoid_focal_loss(input, target, self.gamma, self.alpha, self.weight, self.reduction)

    def extra_repr(self) -> str:
        """Return what is not the default."""
        return f"gamma={self.gamma}, alpha={self.alpha}, reduction={self.reduction}"


class SoftmaxFocalLoss(TracedModule):
    """A module that calls `softmax_focal_loss`.

    Parameters
    ----------
    gamma, alpha : float
        How much certain rows count less, and what the losses are multiplied by.
    weight : Tensor, shape [C], optional
        What the loss of a row is multiplied by, for each class.
    reduction : {"mean", "sum", "none"}
        What is done with the losses.
    """

    weight: Tensor | None

    def __init__(self, gamma: float, alpha: float, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.gamma, self.alpha, self.reduction = gamma, alpha, reduction
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of scores [N, C] and classes [N]."""
        return softmax_focal_loss(input, target, self.gamma, self.alpha, self.weight, self.reduction)

    def extra_repr(self) -> str:
        """Return what is not the default."""
        return f"gamma={self.gamma}, alpha={self.alpha}, reduction={self.reduction}"
