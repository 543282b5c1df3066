"""SyncBatchNorm for CPU tensors, and its steps under the names that PyTorch has for a GPU alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn import SyncBatchNorm as PlainSyncBatchNorm

from pymluops._core import Operator
from pymluops.ops._described import described
from pymluops.ops._double import is_floating
from pymluops.ops._schema import FLOAT32
from pymluops.torch._channel_statistics import Steps, Synchronised, flat, has_channels_last, move, or_all, shaped
from pymluops.torch._counts import need_tensors
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule
from pymluops.torch._numbers import flag

if TYPE_CHECKING:
    from torch.nn.modules.batchnorm import _BatchNorm

__all__ = [
    "SyncBatchNorm",
    "batch_norm_backward_elemt",
    "batch_norm_backward_reduce",
    "batch_norm_elemt",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_stats",
    "sync_batch_norm",
]


def _registered(name: str, **sample: Any) -> TorchOperator:
    """Register an operator of one floating type, none of whose tensors may be missing."""
    known = described(name)
    first = known.tensors[0]
    tensors = tuple(
        replace(tensor, optional=False, dtype=FLOAT32 if tensor is first else first.name)
        if is_floating(known, tensor)
        else tensor
        for tensor in known.tensors
    )
    made = TorchOperator(Operator(known.function, name, tensors, known.scalars), folds=False, sample=sample)
    made.refuse_gradient("is a step of SyncBatchNorm, which has a gradient as a whole")
    return made


_STATS = _registered("sync_batch_norm_stats", eps=0.5)
_GATHER = _registered("sync_batch_norm_gather_stats_with_counts", eps=0.5)
_ELEMT = _registered("sync_batch_norm_elemt")
_REDUCE = _registered("sync_batch_norm_backward_reduce")
_BACKWARD = _registered("sync_batch_norm_backward_elemt")
_STEPS = (_STATS, _GATHER, _ELEMT, _REDUCE, _BACKWARD)


def _check(function: str, **values: Tensor) -> None:
    need_tensors(function, **values)
    (first, tensor), *others = values.items()
    if tensor.ndim < 2:
        raise ValueError(f"{function}: {first}: expected shape [N, C, *], got {list(tensor.shape)}")
    if not tensor.is_floating_point():
        raise ValueError(
            f"{function}: {first}: expected floating values, got {str(tensor.dtype).removeprefix('torch.')}"
        )
    for name, other in others:
        if other.shape != tensor.shape:
            raise ValueError(f"{function}: {name}: expected shape {list(tensor.shape)}, got {list(other.shape)}")


# ---- Steps ---------------------------------------------------------------------------------------


def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Find mean and inverse standard deviation of each channel, as `torch.batch_norm_stats` does on a GPU.

    Parameters
    ----------
    input : Tensor, shape [N, C, *]
        Values of any floating type; maps may be in memory format `torch.channels_last`.
    eps : float
        What is added to the variance.

    Returns
    -------
    mean, invstd : Tensor, shape [C]
        float64 for float64, else float32.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> [one.tolist() for one in pymluops.torch.batch_norm_stats(torch.tensor([[1.0], [3]]), 3.0)]
    [[2.0], [0.5]]
    """
    _check("batch_norm_stats", input=input)
    return cast("tuple[Tensor, Tensor]", _STATS(flat(input, has_channels_last(input)), float(eps)))


def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """Join the statistics of processes and move running ones, as the function of PyTorch does on a GPU.

    Parameters
    ----------
    input : Tensor
        Not looked at.
    mean, invstd : Tensor, shape [D, C]
        What `batch_norm_stats` found in each process.
    running_mean, running_var : Tensor, shape [C], or None
        Changed in place, towards the mean and the unbiased variance.
    momentum : float
        How much the new statistics count.
    eps : float
        What is added to the variance.
    counts : Tensor, shape [D]
        How many values a channel has in each process.

    Returns
    -------
    mean, invstd : Tensor, shape [C]
        Of all values together.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> means, counts = torch.tensor([[1.0], [3]]), torch.tensor([2.0, 2])
    >>> found = pymluops.torch.batch_norm_gather_stats_with_counts(
    ...     means, means, torch.ones(2, 1), None, None, 0.1, 1.0, counts
    ... )
    >>> [round(one.item(), 4) for one in found]
    [2.0, 0.7071]
    """
    need_tensors("batch_norm_gather_stats_with_counts", mean=mean, invstd=invstd, counts=counts)
    found, deviation, var = _GATHER(mean, invstd.to(mean.dtype), counts.to(mean.dtype), float(eps))
    move(running_mean, found, momentum)
    move(running_var, var, momentum)
    return found, deviation


def batch_norm_elemt(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float = 0.0
) -> Tensor:
    """Normalise values: ``(input - mean) * invstd * weight + bias``, as `torch.batch_norm_elemt` does on a GPU.

    Parameters
    ----------
    input : Tensor, shape [N, C, *]
        Values of any floating type.
    weight, bias : Tensor, shape [C], or None
        Factors and addends; 1 and 0 if None.
    mean, invstd : Tensor, shape [C]
        Statistics.
    eps : float
        Has no effect: `invstd` contains it.

    Returns
    -------
    Tensor
        Like `input`, in its memory format.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> one = torch.ones(1)
    >>> pymluops.torch.batch_norm_elemt(torch.tensor([[1.0], [3]]), None, one, one, one * 0.5).tolist()
    [[1.0], [2.0]]
    """
    _check("batch_norm_elemt", input=input)
    last = has_channels_last(input)
    values = flat(input, last)
    mean, invstd = mean.to(values.dtype), invstd.to(values.dtype)
    found = _ELEMT(values, mean, invstd, or_all(weight, 1, mean), or_all(bias, 0, mean))
    return shaped(found, input, last)


def batch_norm_backward_reduce(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None = None,
    input_g: bool = True,
    weight_g: bool = True,
    bias_g: bool = True,
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    """Sum up what the gradients need, as `torch.batch_norm_backward_reduce` does on a GPU.

    Parameters
    ----------
    grad_out : Tensor, shape [N, C, *]
        Gradient of the normalised values.
    input : Tensor, shape [N, C, *]
        Values.
    mean, invstd : Tensor, shape [C]
        Statistics.
    weight : Tensor, optional
        Not looked at.
    input_g, weight_g, bias_g : bool
        What is wanted: the sums, and the gradients of weight and bias.

    Returns
    -------
    sum_dy, sum_dy_xmu, grad_weight, grad_bias : Tensor, shape [C], or None
        Sums of the gradient and of its products with ``input - mean``, and the gradients.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> grad, values, two = torch.tensor([[1.0], [2]]), torch.tensor([[1.0], [3]]), torch.tensor([2.0])
    >>> [one.item() for one in pymluops.torch.batch_norm_backward_reduce(grad, values, two, two)]
    [3.0, 1.0, 2.0, 3.0]
    """
    name = "batch_norm_backward_reduce"
    _check(name, grad_out=grad_out, input=input)
    input_g, weight_g = flag(name, "input_g", input_g), flag(name, "weight_g", weight_g)
    bias_g = flag(name, "bias_g", bias_g)
    last = has_channels_last(input)
    values = flat(input, last)
    given = flat(grad_out, last).to(values.dtype), values, mean.to(values.dtype), invstd.to(values.dtype)
    weights, biases, sums, products = _REDUCE(*given)
    return (
        sums if input_g else None,
        products if input_g else None,
        weights if weight_g else None,
        biases if bias_g else None,
    )


def batch_norm_backward_elemt(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
) -> Tensor:
    """Find the gradient of the values, as `torch.batch_norm_backward_elemt` does on a GPU.

    Parameters
    ----------
    grad_out : Tensor, shape [N, C, *]
        Gradient of the normalised values.
    input : Tensor, shape [N, C, *]
        Values.
    mean, invstd : Tensor, shape [C]
        Statistics.
    weight : Tensor, shape [C], or None
        Factors; 1 if None.
    sum_dy, sum_dy_xmu : Tensor, shape [C]
        What `batch_norm_backward_reduce` found, added over the processes.
    count : Tensor, shape [D]
        How many values a channel has in each process.

    Returns
    -------
    Tensor
        Like `input`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> values, two, none = torch.tensor([[1.0], [3]]), torch.tensor([2.0]), torch.zeros(1)
    >>> pymluops.torch.batch_norm_backward_elemt(values, values, two, two, None, two, none, two).tolist()
    [[0.0], [4.0]]
    """
    _check("batch_norm_backward_elemt", grad_out=grad_out, input=input)
    last = has_channels_last(input)
    values = flat(input, last)
    mean, invstd, total = mean.to(values.dtype), invstd.to(values.dtype), count.sum()
    means = sum_dy.to(values.dtype) / total, sum_dy_xmu.to(values.dtype) / total
    grad = flat(grad_out, last).to(values.dtype)
    return shaped(_BACKWARD(grad, values, mean, invstd, or_all(weight, 1, mean), *means), input, last)


# ---- The whole -----------------------------------------------------------------------------------


def sync_batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    momentum: float = 0.1,
    eps: float = 1e-5,
    process_group: Any = None,
) -> Tensor:
    """Normalise values by the statistics of their channels over all processes, as in training.

    Without a process group of `torch.distributed` it is `torch.nn.functional.batch_norm`. Gradients
    flow to `input`, `weight` and `bias`; those of the latter two are of this process alone, as
    DistributedDataParallel wants them. The order of sums does not depend on the number of threads.

    Parameters
    ----------
    input : Tensor, shape [N, C, *]
        Values of any floating type; N may be 0 in some processes.
    running_mean, running_var : Tensor, shape [C], or None
        Running statistics, changed in place.
    weight, bias : Tensor, shape [C], optional
        Factors and addends.
    momentum : float
        How much new statistics count.
    eps : float
        What is added to the variance.
    process_group : ProcessGroup, optional
        The processes; all of them if not given.

    Returns
    -------
    Tensor
        Like `input`.

    Raises
    ------
    ValueError
        If an argument is not as described, or a channel has less than 2 values in all processes.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> x = torch.tensor([[1.0], [3]], requires_grad=True)
    >>> pymluops.torch.sync_batch_norm(x, None, None, eps=3.0).tolist()
    [[-0.5], [0.5]]
    """
    _check("sync_batch_norm", input=input)
    running, numbers = (running_mean, running_var), (float(eps), momentum)
    found: Tensor = cast("Any", Synchronised).apply(
        input, weight, bias, running, numbers, process_group, Steps("sync_batch_norm", *_STEPS)
    )
    return found


class SyncBatchNorm(TracedModule, PlainSyncBatchNorm):
    """`torch.nn.SyncBatchNorm` for CPU tensors, with any backend of `torch.distributed`, such as gloo.

    The parameters are those of `torch.nn.SyncBatchNorm`. `convert_sync_batchnorm` puts layers of
    this class into a network, in place of its other layers of batch normalisation, those of
    `torch.nn.SyncBatchNorm` among them.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.SyncBatchNorm(1, eps=3.0)
    >>> layer(torch.tensor([[1.0], [3]])).tolist()
    [[-0.5], [0.5]]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return normalised values."""
        if not self.training:
            return super().forward(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        mean, var = (self.running_mean, self.running_var) if self.track_running_stats else (None, None)
        return sync_batch_norm(input, mean, var, self.weight, self.bias, momentum, self.eps, self.process_group)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Put layers of this class in place of all layers of batch normalisation.

        Parameters
        ----------
        module : Module
            A network, which is changed, or a layer.
        process_group : ProcessGroup, optional
            The processes; all of them if not given.

        Returns
        -------
        Module
            `module`, or the new layer in place of it, which has its parameters and statistics.
        """
        converted = module
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and not isinstance(module, cls):
            converted = cls._like(module, process_group)
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted

    @classmethod
    def _like(cls, layer: _BatchNorm, process_group: Any) -> SyncBatchNorm:
        """Return a layer with the parameters and statistics of another one."""
        made = cls(
            layer.num_features, layer.eps, layer.momentum, layer.affine, layer.track_running_stats, process_group
        )
        made.weight, made.bias = layer.weight, layer.bias
        made.running_mean, made.running_var = layer.running_mean, layer.running_var
        made.num_batches_tracked, made.training = layer.num_batches_tracked, layer.training
        return made
