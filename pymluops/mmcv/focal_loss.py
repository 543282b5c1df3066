"""Focal losses of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_floats, check_shape, check_tensors, compute_type, dense, extension_function_of
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = [
    "sigmoid_focal_loss_backward",
    "sigmoid_focal_loss_forward",
    "softmax_focal_loss_backward",
    "softmax_focal_loss_forward",
]

ROWS = (
    Row(
        "sigmoid_focal_loss, SigmoidFocalLoss",
        ("sigmoid_focal_loss_forward", "sigmoid_focal_loss_backward"),
        "forward, backward",
        "mluOpFocalLossSigmoidForward, Backward (float32, float16)",
        "A target outside 0..C-1 counts as background; mmcv for CUDA refuses targets above C.",
    ),
    Row(
        "softmax_focal_loss, SoftmaxFocalLoss",
        ("softmax_focal_loss_forward", "softmax_focal_loss_backward"),
        "forward, backward",
        "mluopsExtSoftmaxFocalLossForward, Backward (float32, float16)",
        "The loss of a target outside 0..C-1 is 0; mmcv for CUDA refuses targets above C.",
    ),
)
_PREFER, _REDUCTION = "high_precision", "none"


@extension_function_of(input="N C", target="N", weight="C", output="N C")
def sigmoid_focal_loss_forward(
    input: Tensor, target: Tensor, weight: Tensor, output: Tensor, gamma: float, alpha: float
) -> None:
    """Write the losses, [N, C]."""
    kind, classes, weights = _check("sigmoid_focal_loss_forward", input, target, weight, output=output)
    tensors = dense(input, kind), classes, weights, None
    found = run(described("focal_loss_sigmoid_forward"), tensors, (_PREFER, _REDUCTION, alpha, gamma))
    output.detach().copy_(found)


@extension_function_of(input="N C", target="N", weight="C", grad_input="N C")
def sigmoid_focal_loss_backward(
    input: Tensor, target: Tensor, weight: Tensor, grad_input: Tensor, gamma: float, alpha: float
) -> None:
    """Write the derivatives of the losses by the scores, [N, C]."""
    kind, classes, weights = _check("sigmoid_focal_loss_backward", input, target, weight, grad_input=grad_input)
    tensors = dense(input, kind), classes, weights, None
    found = run(described("focal_loss_sigmoid_backward"), tensors, (_PREFER, _REDUCTION, alpha, gamma))
    grad_input.detach().copy_(found)


@extension_function_of(input="N C", target="N", weight="C", output="N")
def softmax_focal_loss_forward(
    input: Tensor, target: Tensor, weight: Tensor, output: Tensor, gamma: float, alpha: float
) -> None:
    """Write the losses of rows of probabilities, [N]."""
    name = "softmax_focal_loss_forward"
    kind, classes, weights = _check(name, input, target, weight)
    check_floats(name, input=input, output=output)
    check_shape(name, "output", output, (len(input),))
    if not input.numel():
        return
    losses = run(described(name), (dense(input, kind), classes, None), (True, alpha, gamma))
    output.detach().copy_(losses * _of_rows(weights, classes, losses))


@extension_function_of(input="N C", target="N", weight="C", buff="N", grad_input="N C")
def softmax_focal_loss_backward(
    input: Tensor, target: Tensor, weight: Tensor, buff: Tensor, grad_input: Tensor, gamma: float, alpha: float
) -> None:
    """Write the gradient by what the softmax is of, [N, C], and what its rows have in common, [N]."""
    name = "softmax_focal_loss_backward"
    kind, classes, weights = _check(name, input, target, weight, grad_input=grad_input)
    check_floats(name, input=input, buff=buff)
    check_shape(name, "buff", buff, (len(input),))
    if not input.numel():
        return
    torch = load_torch()
    values = dense(input, kind)
    factors = _of_rows(weights, classes, values.new_ones(len(values))).contiguous()
    grad_input.detach().copy_(run(described(name), (factors, values, classes, None), (True, alpha, gamma)))
    known = (classes >= 0) & (classes < values.shape[1])
    rows = torch.where(known, classes, 0).long()[:, None]
    p = values.gather(1, rows)[:, 0].double()
    log = p.clamp(min=torch.finfo(torch.float32).tiny).log()
    power = torch.where((p == 1) & (gamma < 1), 0, (1 - p) ** (gamma - 1))
    common = alpha * (gamma * power * p * log - (1 - p) ** gamma) * factors
    buff.detach().copy_(torch.where(known, common, 0))


def _check(name: str, input: Tensor, target: Tensor, weight: Tensor, **results: Tensor) -> tuple[Any, Any, Any]:
    """Return the type to compute in, the classes as int32, and the weights, None without any."""
    given = check_floats(name, input=input, **results)
    check_shape(name, "input", input, (None, None))
    check_tensors(name, ("int64", "int32"), {"target": target})
    check_shape(name, "target", target, (len(input),))
    for key, tensor in results.items():
        check_shape(name, key, tensor, tuple(input.shape))
    kind = compute_type(given)
    classes = dense(target).clamp(-1, input.shape[1]).to(load_torch().int32)
    if weight.numel() == 0:
        return kind, classes, None
    check_floats(name, input=input, weight=weight)
    check_shape(name, "weight", weight, (input.shape[1],))
    return kind, classes, dense(weight, kind)


def _of_rows(weights: Any, classes: Any, like: Any) -> Any:
    """Return the weight of each row; 1 without weights or a class."""
    torch = load_torch()
    if weights is None:
        return torch.ones_like(like)
    known = (classes >= 0) & (classes < len(weights))
    return torch.where(known, weights[torch.where(known, classes, 0).long()], 1)
