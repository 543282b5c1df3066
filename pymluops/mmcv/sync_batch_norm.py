"""SyncBatchNorm of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function_of,
    is_ready,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = [
    "sync_bn_backward_data",
    "sync_bn_backward_param",
    "sync_bn_forward_mean",
    "sync_bn_forward_output",
    "sync_bn_forward_var",
]

ROWS = (
    Row(
        "SyncBatchNorm",
        (
            "sync_bn_forward_mean",
            "sync_bn_forward_var",
            "sync_bn_forward_output",
            "sync_bn_backward_param",
            "sync_bn_backward_data",
        ),
        "forward, backward",
        "mluopsExtSyncBatchNormStats, Elemt, BackwardReduce, BackwardElemt (float16, float32, float64)",
        "The wrapper of mmcv takes float16 and float32 only, and needs a process group; gloo will do.",
    ),
)

_CHANNEL = ("float32", "float64")


@extension_function_of(input="N C S", mean="C")
def sync_bn_forward_mean(input: Tensor, mean: Tensor) -> None:
    """Write the mean of each channel."""
    name = "sync_bn_forward_mean"
    _check(name, input)
    _check_channels(name, input, mean=mean)
    if input.numel():
        mean.detach().copy_(_stats(input)[0])


@extension_function_of(input="N C S", mean="C", var="C")
def sync_bn_forward_var(input: Tensor, mean: Tensor, var: Tensor) -> None:
    """Write the mean square of the distances from `mean`, which may be that of other values too."""
    name = "sync_bn_forward_var"
    _check(name, input)
    _check_channels(name, input, mean=mean, var=var)
    if input.numel():
        own, invstd = (found.double() for found in _stats(input))
        var.detach().copy_((1 / invstd) ** 2 + (own - mean.detach()) ** 2)


@extension_function_of(
    input="N C S",
    mean="C",
    var="C",
    weight="C",
    bias="C",
    running_mean="C",
    running_var="C",
    norm="N C S",
    std="C",
    output="N C S",
)
def sync_bn_forward_output(
    input: Tensor,
    mean: Tensor,
    var: Tensor,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    norm: Tensor,
    std: Tensor,
    output: Tensor,
    eps: float,
    momentum: Any,
    group_size: int,
) -> None:
    """Write normalised values, before and behind weight and bias, and move the running statistics.

    Tensors without elements, and None, stand for those that are missing.
    """
    name = "sync_bn_forward_output"
    kind = _check(name, input, output=output)
    weight, bias, running_mean, running_var, norm, std = (
        None if tensor is None or not tensor.numel() else tensor.detach()
        for tensor in (weight, bias, running_mean, running_var, norm, std)
    )
    given = {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var, "std": std}
    _check_channels(name, input, mean=mean, var=var, **{key: one for key, one in given.items() if one is not None})
    if norm is not None:
        check_tensors(name, _CHANNEL, {"norm": norm})
        check_shape(name, "norm", norm, tuple(input.shape))
    means, variances = mean.detach().double(), var.detach().double()
    deviations = (variances + float(eps)).sqrt()
    if input.numel():
        statistics = means, 1 / deviations
        _normalise(input, *statistics, weight, bias, output, kind)
        if norm is not None:
            _normalise(input, *statistics, None, None, norm, norm.dtype)
    if std is not None:
        std.copy_(deviations)
    moved = float(momentum)
    count = input.shape[0] * input.shape[2] * group_size
    if running_mean is not None:
        running_mean.copy_(moved * means + (1 - moved) * running_mean)
    if running_var is not None:
        unbiased = variances * (count / (count - 1)) if count > 1 else variances
        running_var.copy_(moved * unbiased + (1 - moved) * running_var)


@extension_function_of(grad_output="N C S", norm="N C S", grad_weight="C", grad_bias="C")
def sync_bn_backward_param(grad_output: Tensor, norm: Tensor, grad_weight: Tensor, grad_bias: Tensor) -> None:
    """Write the gradients of weight and bias."""
    name = "sync_bn_backward_param"
    kind = _check_gradient(name, grad_output, norm)
    _check_channels(name, grad_output, grad_weight=grad_weight, grad_bias=grad_bias)
    if not grad_output.numel():
        grad_weight.detach().zero_()
        grad_bias.detach().zero_()
        return
    last = _is_last(norm)
    values = _plain(grad_output, last, kind), _plain(norm, last, kind)
    none, one = _constants(values[0])
    weights, biases, _, _ = run(described("sync_batch_norm_backward_reduce"), (*values, none, one, *(None,) * 4))
    grad_weight.detach().copy_(weights)
    grad_bias.detach().copy_(biases)


@extension_function_of(
    grad_output="N C S", weight="C", grad_weight="C", grad_bias="C", norm="N C S", std="C", grad_input="N C S"
)
def sync_bn_backward_data(
    grad_output: Tensor,
    weight: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
    norm: Tensor,
    std: Tensor,
    grad_input: Tensor,
) -> None:
    """Write the gradient of the input."""
    name = "sync_bn_backward_data"
    kind = _check_gradient(name, grad_output, norm)
    check_floats(name, grad_output=grad_output, grad_input=grad_input)
    check_shape(name, "grad_input", grad_input, tuple(grad_output.shape))
    weight = None if weight is None or not weight.numel() else weight
    given = {"grad_weight": grad_weight, "grad_bias": grad_bias, "std": std}
    _check_channels(name, grad_output, **given, **({} if weight is None else {"weight": weight}))
    if not grad_output.numel():
        return
    last = _is_last(norm)
    values = _plain(grad_output, last, kind), _plain(norm, last, kind)
    none, one = _constants(values[0])
    count = grad_output.shape[0] * grad_output.shape[2]
    factors = (1 if weight is None else weight.detach().double()) / std.detach().double()
    channels = [
        dense(tensor, one.dtype)
        for tensor in (factors, grad_bias.detach().double() / count, grad_weight.detach().double() / count)
    ]
    target = _target(grad_input, last, kind)
    found = run(described("sync_batch_norm_backward_elemt"), (*values, none, one, *channels, target))
    _put(found, target, grad_input, last)


# ---- Values [N, C, S], whose channels may come last in memory ------------------------------------


def _is_last(values: Tensor) -> bool:
    """Whether the channels of values come last in memory."""
    return not values.is_contiguous() and bool(values.transpose(1, 2).is_contiguous())


def _plain(values: Tensor, last: bool, dtype: Any) -> Any:
    """Return values as an operator takes them, [N, C, S], or [N * S, C, 1] if the channels come last."""
    if not last:
        return dense(values, dtype)
    return dense(values.detach().transpose(1, 2), dtype).view(-1, values.shape[1], 1)


def _target(result: Tensor, last: bool, dtype: Any) -> Any:
    """Return what an operator can write so that it writes `result`, or None."""
    plain = result.detach()
    plain = plain.transpose(1, 2) if last else plain
    if not is_ready(plain, dtype):
        return None
    return plain.view(-1, result.shape[1], 1) if last else plain


def _put(found: Any, target: Any, result: Tensor, last: bool) -> None:
    """Write what an operator found into `result`, unless that is where it wrote."""
    if target is None:
        batches, channels, inner = result.shape
        result.detach().copy_(found.view(batches, inner, channels).transpose(1, 2) if last else found)


def _constants(values: Any) -> tuple[Any, Any]:
    """Return a 0 and a 1 for each channel."""
    zeros = values.new_zeros(values.shape[1])
    return zeros, zeros + 1


def _stats(input: Tensor) -> Any:
    """Return mean and inverse standard deviation of the channels."""
    values = _plain(input, _is_last(input), compute_type(input.dtype))
    return run(described("sync_batch_norm_stats"), (values, None, None), (0.0,))


def _normalise(input: Tensor, mean: Any, invstd: Any, weight: Any, bias: Any, result: Tensor, kind: Any) -> None:
    """Write normalised values; they are computed in the type `kind`."""
    torch = load_torch()
    last = _is_last(input)
    real = torch.float64 if kind is torch.float64 else torch.float32
    channels = [None if one is None else dense(one, real) for one in (mean, invstd, weight, bias)]
    target = _target(result, last, kind)
    found = run(described("sync_batch_norm_elemt"), (_plain(input, last, kind), *channels, target))
    _put(found, target, result, last)


# ---- Checks --------------------------------------------------------------------------------------


def _check(name: str, input: Tensor, **results: Tensor) -> Any:
    """Check values and results like them, and return the type to compute in."""
    given = check_floats(name, input=input, **results)
    check_shape(name, "input", input, (None, None, None))
    for key, tensor in results.items():
        check_shape(name, key, tensor, tuple(input.shape))
    return compute_type(given)


def _check_gradient(name: str, grad_output: Tensor, norm: Tensor) -> Any:
    """Check a gradient and normalised values, and return the type to compute in."""
    torch = load_torch()
    given = check_floats(name, grad_output=grad_output)
    check_shape(name, "grad_output", grad_output, (None, None, None))
    other = check_tensors(name, _CHANNEL, {"norm": norm})
    check_shape(name, "norm", norm, tuple(grad_output.shape))
    return torch.float64 if torch.float64 in (given, other) else torch.float32


def _check_channels(name: str, values: Tensor, **channels: Tensor) -> None:
    """Check tensors with a number for each channel."""
    for key, tensor in channels.items():
        check_tensors(name, _CHANNEL, {key: tensor})
        check_shape(name, key, tensor, (values.shape[1],))
