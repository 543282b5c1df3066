"""Features of neighbours in pointops: grouped, subtracted, added up with weights, and attention between them.

One neighbour of all points is added at a time, so that the order of sums is that of the neighbours
and memory does not grow with their number.
"""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._tensors import check_floats, check_indices, check_int32, check_shape, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = [
    "aggregation_backward_cuda",
    "aggregation_forward_cuda",
    "attention_fusion_step_backward_cuda",
    "attention_fusion_step_forward_cuda",
    "attention_relation_step_backward_cuda",
    "attention_relation_step_forward_cuda",
    "grouping_backward_cuda",
    "grouping_forward_cuda",
    "interpolation_backward_cuda",
    "interpolation_forward_cuda",
    "subtraction_backward_cuda",
    "subtraction_forward_cuda",
]


def _check(name: str, tensors: dict[str, tuple[Tensor, tuple[int | None, ...]]]) -> None:
    check_floats(name, **{argument: tensor for argument, (tensor, _) in tensors.items()})
    for argument, (tensor, shape) in tensors.items():
        check_shape(name, argument, tensor, shape)


def _rows(name: str, argument: str, numbers: Tensor, shape: tuple[int, ...], end: int) -> Tensor:
    """Check numbers of rows and return them as PyTorch takes them."""
    check_int32(name, **{argument: numbers})
    check_shape(name, argument, numbers, shape)
    check_indices(name, argument, numbers, end)
    return numbers.detach().long()


@extension_function
def grouping_forward_cuda(m: int, nsample: int, c: int, input: Tensor, idx: Tensor, output: Tensor) -> None:
    """Write the rows idx [m, nsample] of input [n, c] into output [m, nsample, c]."""
    name = "grouping_forward_cuda"
    _check(name, {"input": (input, (None, c)), "output": (output, (m, nsample, c))})
    output.detach().copy_(input.detach()[_rows(name, "idx", idx, (m, nsample), len(input))])


@extension_function
def grouping_backward_cuda(m: int, nsample: int, c: int, grad_output: Tensor, idx: Tensor, grad_input: Tensor) -> None:
    """Write the gradient of the rows."""
    name = "grouping_backward_cuda"
    _check(name, {"grad_output": (grad_output, (m, nsample, c)), "grad_input": (grad_input, (None, c))})
    rows = _rows(name, "idx", idx, (m, nsample), len(grad_input))
    grad_input.detach().zero_().index_add_(0, rows.flatten(), grad_output.detach().reshape(-1, c))


@extension_function
def interpolation_forward_cuda(
    n: int, c: int, k: int, input: Tensor, idx: Tensor, weight: Tensor, output: Tensor
) -> None:
    """Write sums of k rows of input [m, c], chosen and weighted by idx and weight [n, k], into output [n, c]."""
    name = "interpolation_forward_cuda"
    _check(name, {"input": (input, (None, c)), "weight": (weight, (n, k)), "output": (output, (n, c))})
    rows, features, weights = _rows(name, "idx", idx, (n, k), len(input)), input.detach(), weight.detach()
    total = features.new_zeros(n, c)
    for i in range(k):
        total += features[rows[:, i]] * weights[:, i, None]
    output.detach().copy_(total)


@extension_function
def interpolation_backward_cuda(
    n: int, c: int, k: int, grad_output: Tensor, idx: Tensor, weight: Tensor, grad_input: Tensor
) -> None:
    """Write the gradient of the rows."""
    name = "interpolation_backward_cuda"
    given: dict[str, Any] = {"grad_output": (grad_output, (n, c)), "weight": (weight, (n, k))}
    _check(name, {**given, "grad_input": (grad_input, (None, c))})
    rows, weights, result = _rows(name, "idx", idx, (n, k), len(grad_input)), weight.detach(), grad_input.detach()
    result.zero_()
    for i in range(k):
        result.index_add_(0, rows[:, i], grad_output.detach() * weights[:, i, None])


@extension_function
def subtraction_forward_cuda(
    n: int, nsample: int, c: int, input1: Tensor, input2: Tensor, idx: Tensor, output: Tensor
) -> None:
    """Write rows of input1 [n, c] less those of input2 that idx [n, nsample] names into output [n, nsample, c]."""
    name = "subtraction_forward_cuda"
    _check(name, {"input1": (input1, (n, c)), "input2": (input2, (None, c)), "output": (output, (n, nsample, c))})
    rows = _rows(name, "idx", idx, (n, nsample), len(input2))
    for i in range(nsample):
        output.detach()[:, i] = input1.detach() - input2.detach()[rows[:, i]]


@extension_function
def subtraction_backward_cuda(
    n: int, nsample: int, c: int, idx: Tensor, grad_output: Tensor, grad_input1: Tensor, grad_input2: Tensor
) -> None:
    """Write both gradients."""
    name = "subtraction_backward_cuda"
    grads: dict[str, Any] = {"grad_input1": (grad_input1, (n, c)), "grad_input2": (grad_input2, (None, c))}
    _check(name, {"grad_output": (grad_output, (n, nsample, c)), **grads})
    rows, given = _rows(name, "idx", idx, (n, nsample), len(grad_input2)), grad_output.detach()
    grad_input1.detach().copy_(given.sum(1))
    result = grad_input2.detach().zero_()
    for i in range(nsample):
        result.index_add_(0, rows[:, i], given[:, i], alpha=-1)


def _spread(name: str, weight: Tensor, w_c: int, c: int) -> Tensor:
    """Return which of the w_c weights each of the c channels has."""
    if w_c < 1 and c:
        raise refuse(name, "w_c", "at least 1", w_c)
    return load_torch().arange(c) % max(1, w_c)


@extension_function
def aggregation_forward_cuda(
    n: int,
    nsample: int,
    c: int,
    w_c: int,
    input: Tensor,
    position: Tensor,
    weight: Tensor,
    idx: Tensor,
    output: Tensor,
) -> None:
    """Write sums over neighbours of (input + position) * weight into output [n, c]; channel i has weight i % w_c."""
    name = "aggregation_forward_cuda"
    given: dict[str, Any] = {"input": (input, (None, c)), "position": (position, (n, nsample, c))}
    _check(name, {**given, "weight": (weight, (n, nsample, w_c)), "output": (output, (n, c))})
    rows, channels = _rows(name, "idx", idx, (n, nsample), len(input)), _spread(name, weight, w_c, c)
    total = output.detach().zero_()
    for i in range(nsample):
        total += (input.detach()[rows[:, i]] + position.detach()[:, i]) * weight.detach()[:, i, channels]


@extension_function
def aggregation_backward_cuda(
    n: int,
    nsample: int,
    c: int,
    w_c: int,
    input: Tensor,
    position: Tensor,
    weight: Tensor,
    idx: Tensor,
    grad_output: Tensor,
    grad_input: Tensor,
    grad_position: Tensor,
    grad_weight: Tensor,
) -> None:
    """Write the gradients of input, position and weight."""
    name = "aggregation_backward_cuda"
    values, places, weights = (None, c), (n, nsample, c), (n, nsample, w_c)
    shapes: dict[str, Any] = {
        "input": (input, values), "grad_input": (grad_input, (len(input), c)), "position": (position, places),
        "grad_position": (grad_position, places), "weight": (weight, weights), "grad_weight": (grad_weight, weights),
        "grad_output": (grad_output, (n, c)),
    }  # fmt: skip
    _check(name, shapes)
    rows, channels = _rows(name, "idx", idx, (n, nsample), len(input)), _spread(name, weight, w_c, c)
    grad, result = grad_output.detach(), grad_input.detach().zero_()
    grad_weight.detach().zero_()
    for i in range(nsample):
        weighted = grad * weight.detach()[:, i, channels]
        grad_position.detach()[:, i] = weighted
        result.index_add_(0, rows[:, i], weighted)
        sums = grad * (input.detach()[rows[:, i]] + position.detach()[:, i])
        grad_weight.detach()[:, i].index_add_(1, channels, sums)


@extension_function
def attention_relation_step_forward_cuda(
    m: int,
    g: int,
    c: int,
    query: Tensor,
    key: Tensor,
    weight: Tensor,
    index_target: Tensor,
    index_refer: Tensor,
    output: Tensor,
) -> None:
    """Write the weighted products of queries and keys [n, g, c] of m pairs into output [m, g]."""
    name = "attention_relation_step_forward_cuda"
    given: dict[str, Any] = {"query": (query, (None, g, c)), "key": (key, (None, g, c)), "weight": (weight, (c,))}
    _check(name, {**given, "output": (output, (m, g))})
    target = _rows(name, "index_target", index_target, (m,), len(query))
    refer = _rows(name, "index_refer", index_refer, (m,), len(key))
    products = query.detach()[target] * key.detach()[refer]
    output.detach().copy_((products * weight.detach()).sum(2))


@extension_function
def attention_relation_step_backward_cuda(
    m: int,
    g: int,
    c: int,
    query: Tensor,
    grad_query: Tensor,
    key: Tensor,
    grad_key: Tensor,
    weight: Tensor,
    grad_weight: Tensor,
    index_target: Tensor,
    index_refer: Tensor,
    grad_output: Tensor,
) -> None:
    """Write the gradients of queries, keys and weights."""
    name = "attention_relation_step_backward_cuda"
    shapes: dict[str, Any] = {
        "query": (query, (None, g, c)), "grad_query": (grad_query, (len(query), g, c)), "key": (key, (None, g, c)),
        "grad_key": (grad_key, (len(key), g, c)), "weight": (weight, (c,)), "grad_weight": (grad_weight, (c,)),
        "grad_output": (grad_output, (m, g)),
    }  # fmt: skip
    _check(name, shapes)
    target = _rows(name, "index_target", index_target, (m,), len(query))
    refer = _rows(name, "index_refer", index_refer, (m,), len(key))
    queries, keys, grad = query.detach()[target], key.detach()[refer], grad_output.detach()[..., None]
    weighted = grad * weight.detach()
    grad_weight.detach().copy_((grad * queries * keys).sum((0, 1)))
    grad_query.detach().zero_().index_add_(0, target, weighted * keys)
    grad_key.detach().zero_().index_add_(0, refer, weighted * queries)


@extension_function
def attention_fusion_step_forward_cuda(
    m: int,
    g: int,
    c: int,
    weight: Tensor,
    value: Tensor,
    index_target: Tensor,
    index_refer: Tensor,
    output: Tensor,
) -> None:
    """Write the sums of the values [n, g, c] of m pairs with weights [m, g] into the targets of output [n, g, c]."""
    name = "attention_fusion_step_forward_cuda"
    given: dict[str, Any] = {"weight": (weight, (m, g)), "value": (value, (None, g, c))}
    _check(name, {**given, "output": (output, (None, g, c))})
    target = _rows(name, "index_target", index_target, (m,), len(output))
    refer = _rows(name, "index_refer", index_refer, (m,), len(value))
    output.detach().zero_().index_add_(0, target, weight.detach()[..., None] * value.detach()[refer])


@extension_function
def attention_fusion_step_backward_cuda(
    m: int,
    g: int,
    c: int,
    weight: Tensor,
    grad_weight: Tensor,
    value: Tensor,
    grad_value: Tensor,
    index_target: Tensor,
    index_refer: Tensor,
    grad_output: Tensor,
) -> None:
    """Write the gradients of weights and values."""
    name = "attention_fusion_step_backward_cuda"
    shapes: dict[str, Any] = {
        "weight": (weight, (m, g)), "grad_weight": (grad_weight, (m, g)), "value": (value, (None, g, c)),
        "grad_value": (grad_value, (len(value), g, c)), "grad_output": (grad_output, (None, g, c)),
    }  # fmt: skip
    _check(name, shapes)
    target = _rows(name, "index_target", index_target, (m,), len(grad_output))
    refer = _rows(name, "index_refer", index_refer, (m,), len(value))
    grad = grad_output.detach()[target]
    grad_weight.detach().copy_((grad * value.detach()[refer]).sum(2))
    grad_value.detach().zero_().index_add_(0, refer, weight.detach()[..., None] * grad)
