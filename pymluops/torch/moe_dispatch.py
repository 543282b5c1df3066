"""MoeDispatch: samples at the places of their experts."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described, without_sizes
from pymluops.ops.moe_dispatch import crowded_dispatch
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["moe_dispatch"]

# Every sample has a row of its own, or none.
_SAMPLE = {
    "samples": 5,
    "capacity": 3,
    "num_experts": 2,
    "indices": [1, 0, 2, 0, 1],
    "locations": [0, 2, 1, 0, 2],
}


def _operator(name: str) -> TorchOperator:
    operator = without_sizes(described(name), "samples", "hidden", empty=True)
    return TorchOperator(operator, folds=False, autocast=False, sample=_SAMPLE)


_CARDS = without_sizes(described("moe_dispatch_forward"), "samples", "hidden", empty=True)
# The function of the header refuses more samples than places.
_FORWARD = TorchOperator(
    without_sizes(crowded_dispatch(), "samples", "hidden", empty=True), folds=False, on_mlu=_CARDS, sample=_SAMPLE
)
_DATA = _operator("moe_dispatch_backward_data")
_GATE = _operator("moe_dispatch_backward_gate")
# All three are products of two of gates, samples and rows, so each is the gradient of the others.
_FORWARD.differentiate(
    _DATA, "dispatch", {"input": "out"}, more=((_GATE, {"gates": "out"}),), linear=("gates", "input")
)
_DATA.differentiate(
    _FORWARD, "input", {"dispatch": "out"}, more=((_GATE, {"gates": "out"}),), linear=("gates", "dispatch")
)
_GATE.differentiate(
    _DATA, "gates", {"input": "out"}, more=((_FORWARD, {"dispatch": "out"}),), linear=("input", "dispatch")
)


def _formula(
    gates: Tensor, indices: Tensor, locations: Tensor, input: Tensor, capacity: int, num_experts: int
) -> Tensor:
    """Scatter the products; those of samples that go nowhere into a row behind the last one."""
    there = (indices >= 0) & (indices < num_experts) & (locations >= 0) & (locations < capacity)
    rows = num_experts * capacity
    places = torch.where(there, indices.long() * capacity + locations.long(), rows)
    found = torch.zeros((rows + 1, input.shape[1]), dtype=input.dtype)
    return found.scatter(0, places[:, None].expand(input.shape), gates[:, None] * input)[:rows]


_DISPATCH = TensorFunction(_FORWARD, formula=_formula)


@_DISPATCH
def moe_dispatch(
    gates: Tensor, indices: Tensor, locations: Tensor, input: Tensor, capacity: int, num_experts: int
) -> Tensor:
    """Bring samples to the places of their experts, times their gates.

    Row ``indices[i] * capacity + locations[i]`` is ``gates[i] * input[i]``, and 0 where no sample
    goes; of several samples of a row the last one counts. Gradients of any order flow to `gates`
    and `input`; of several samples of a row each gets its gradient as if it alone went there.

    Experts may have fewer places than there are samples (a capacity factor below 1). A sample whose
    place is `capacity` or more is dropped then: it adds nothing, and its gradients are 0.

    Parameters
    ----------
    gates : Tensor, shape [S], like `input`
        The factor of each sample.
    indices : Tensor, shape [S], int32 or int64
        The expert of each sample. A sample with an expert outside of 0 to num_experts-1 goes
        nowhere.
    locations : Tensor, shape [S], int32 or int64
        The place of each sample at its expert. A sample with a place outside of 0 to capacity-1
        is dropped.
    input : Tensor, shape [S, H]
        The samples; any floating type.
    capacity : int
        Places of each expert.
    num_experts : int
        Number of experts.

    Returns
    -------
    Tensor, shape [num_experts * capacity, H]
        Like `input`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> gates, input = torch.tensor([2.0, 3]), torch.tensor([[1.0, 4], [5, 6]])
    >>> indices, locations = torch.tensor([1, 0]), torch.tensor([0, 1])
    >>> pymluops.torch.moe_dispatch(gates, indices, locations, input, 2, 2).tolist()
    [[0.0, 0.0], [15.0, 18.0], [2.0, 8.0], [0.0, 0.0]]
    """
    call = _DISPATCH.through_torch if compiling() else _DISPATCH.direct
    found: Tensor = call(gates, indices, locations, input, capacity, num_experts)
    return found
