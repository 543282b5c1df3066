"""Focal losses of sigmoids and softmaxes, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import BAD_PARAM, NOT_SUPPORTED, Refusals
from pymluops.oracle.ways import Way

#: Results may be rounded in other ways.
SUMS = (
    *("focal_loss_sigmoid_forward", "focal_loss_sigmoid_backward", "sigmoid_focal_loss_forward"),
    *("sigmoid_focal_loss_backward", "softmax_focal_loss_forward", "softmax_focal_loss_backward"),
)

LEAST_LOG = np.log(float(np.finfo(np.float32).tiny))


def _power(base: np.ndarray, gamma: float) -> np.ndarray:
    return np.where(np.isnan(base), base, np.power(base, gamma))


def sigmoid(
    x: np.ndarray, target: np.ndarray, weight: np.ndarray | None, alpha: float, gamma: float, gradient: bool = False
) -> np.ndarray:
    """Losses, or their derivatives, [N, C]."""
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        small = np.exp(-np.abs(x))
        p, q = np.where(x < 0, small, 1) / (1 + small), np.where(x < 0, 1, small) / (1 + small)
        log_p = np.maximum(np.where(x < 0, x, 0) - np.log1p(small), LEAST_LOG)
        log_q = np.maximum(np.where(x < 0, 0, -x) - np.log1p(small), LEAST_LOG)
        if gradient:
            own = -alpha * _power(q, gamma) * (q - gamma * p * log_p)
            other = -(1 - alpha) * _power(p, gamma) * (gamma * q * log_q - p)
        else:
            own, other = -alpha * _power(q, gamma) * log_p, -(1 - alpha) * _power(p, gamma) * log_q
    found = np.where(np.arange(x.shape[1]) == target[:, None], own, other)
    return found if weight is None else found * _of_rows(weight.astype(np.float64), target)[:, None]


def _of_rows(weight: np.ndarray, target: np.ndarray) -> np.ndarray:
    known = (target >= 0) & (target < len(weight))
    return np.where(known, weight[np.where(known, target, 0)], 1) if len(weight) else np.ones(len(target))


def softmax(
    x: np.ndarray,
    target: np.ndarray,
    of_probabilities: bool,
    alpha: float,
    gamma: float,
    grad_output: np.ndarray | None = None,
) -> np.ndarray:
    """Losses [N], or the gradient by what the softmax is of, [N, C]."""
    x = x.astype(np.float64)
    if not of_probabilities:
        x = np.exp(x - x.max(1, keepdims=True))
        x /= x.sum(1, keepdims=True)
    known = (target >= 0) & (target < x.shape[1])
    place = np.where(known, target, 0)
    with np.errstate(all="ignore"):
        p = x[np.arange(len(x)), place]
        log = np.maximum(np.log(p), LEAST_LOG)
        if grad_output is None:
            return np.where(known, -alpha * (1 - p) ** gamma * log, 0)
        part = np.where((p == 1) & (gamma < 1), 0, gamma * (1 - p) ** (gamma - 1) * p * log)
        common = np.where(known, alpha * (part - (1 - p) ** gamma) * grad_output.astype(np.float64), 0)
    shares = (np.arange(x.shape[1]) == target[:, None]) - x
    return np.where(known[:, None], common[:, None] * shares, 0)


def expected(name: str, tensors: list[np.ndarray], scalars: list[Any]) -> np.ndarray:
    """The result of an operator."""
    alpha, gamma = scalars[-2:]
    if name.startswith("focal_loss"):
        weight = tensors[2] if len(tensors) > 2 else None
        return sigmoid(tensors[0], tensors[1], weight, alpha, gamma, name.endswith("backward"))
    if name.startswith("sigmoid"):
        if name.endswith("forward"):
            return sigmoid(tensors[0], tensors[1], None, alpha, gamma)
        return sigmoid(tensors[1], tensors[2], None, alpha, gamma, True) * tensors[0].astype(np.float64)
    grad, x, target = tensors if name.endswith("backward") else [None, *tensors]
    return softmax(x, target, scalars[0], alpha, gamma, grad)  # type: ignore[arg-type]


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let classes be columns, or one beyond, and probabilities be such."""
    columns = arguments["input"].shape[1]
    arguments["target"][...] = rng.integers(-1, columns + 1, len(arguments["target"]))
    if arguments.get("of_probabilities"):
        arguments["input"][...] = rng.uniform(0.05, 0.95, arguments["input"].shape)
    arguments["gamma"] = float(rng.choice([0.0, 0.5, 1.0, 2.0, 3.3]))


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results in float64."""
    tensors = [one for one in given if isinstance(one, np.ndarray)]
    return expected(name, tensors, [one for one in given if not isinstance(one, np.ndarray) and one is not None])


def ways(size: int) -> Iterator[Way]:
    """Few columns and many, with and without weights."""
    scalars = {"alpha": 0.25, "gamma": 1.5}
    for name in SUMS:
        header = {"prefer": "high_precision", "reduction": "none"} if name.startswith("focal") else {}
        yield Way(name, "narrow", {"N": 200 * size, "C": 5}, {**scalars, **header}, change=prepare)
        yield Way(name, "wide", {"N": 3 * size, "C": 300}, {**scalars, **header}, change=prepare)


_EXTENSION = Refusals(order="handle objects ranks shapes packed types positive indexable empty data overlap")
REFUSALS = {
    "mluOpFocalLossSigmoidForward": Refusals(
        order="handle objects scalars ranks shapes types indexable packed empty data overlap",
        empty_is_none=("weight",),
        statuses={"scalars": NOT_SUPPORTED, "scalars:alpha": BAD_PARAM, "indexable": BAD_PARAM},
    ),
    "mluOpFocalLossSigmoidBackward": Refusals(
        order="handle objects ranks shapes types indexable packed scalars data:weight empty data overlap",
        empty_is_none=("weight",),
        statuses={"scalars": NOT_SUPPORTED, "scalars:alpha": BAD_PARAM, "packed": BAD_PARAM, "indexable": BAD_PARAM},
    ),
    "mluopsExtSigmoidFocalLossForward": _EXTENSION,
    "mluopsExtSigmoidFocalLossBackward": _EXTENSION,
    "mluopsExtSoftmaxFocalLossForward": _EXTENSION,
    "mluopsExtSoftmaxFocalLossBackward": _EXTENSION,
}
