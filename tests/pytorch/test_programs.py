"""torch.compile, torch.export, modules, and programs that use them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import nn

import pymluops.torch as ours
from support.torch_samples import DIFFERENTIABLE, FUNCTIONS, all_equal, arguments, asking_for_gradients, mapped, tensors


class Network(nn.Module):
    """Every function with a gradient, one behind the other."""

    def __init__(self) -> None:
        super().__init__()
        self.shift, self.mask, self.borders = ours.TINShift(), ours.PSAMask("collect", 3), ours.BorderAlign(4)
        self.scale = nn.Parameter(torch.rand(8, 1, 1))

    def forward(self, x: torch.Tensor, boxes: torch.Tensor, shifts: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        moved = self.shift(x.reshape(batch, 2, channels // 2, height * width), shifts).reshape(x.shape) * self.scale
        spread = self.mask(torch.cat([moved, moved[:, :1]], 1)).sum(1, keepdim=True)
        borders = self.borders(moved + spread, boxes)  # [N, 2, K, 4]
        dist, idx = ours.three_nn(boxes[..., :3], boxes[..., 1:])
        near = ours.ball_query(0.0, 9.0, 3, boxes[..., :3].contiguous(), boxes[..., 1:].contiguous())
        return ours.three_interpolate(borders[..., 0], idx, dist).square().mean() + near.float().mean()


def inputs(batch: int, boxes: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(batch)
    corners = torch.rand(batch, boxes, 2) * 3
    x = torch.randn(batch, 8, 5, 6)
    return x, torch.cat([corners, corners + 2], -1), torch.randint(-1, 2, (batch, 2))


@pytest.mark.parametrize(("backend", "dynamic"), [("eager", False), ("aot_eager", True)])
def test_compiled_without_a_break(backend: str, dynamic: bool) -> None:
    torch._dynamo.reset()
    network = Network()
    compiled = torch.compile(copy.deepcopy(network), backend=backend, fullgraph=True, dynamic=dynamic)
    for sizes in ((2, 4), (3, 5)) if dynamic else ((2, 4),):
        made = inputs(*sizes)
        for one in (network, compiled):
            one.zero_grad()
            one(*made).backward()
        all_equal(compiled(*made), network(*made), rtol=1e-6, atol=1e-6)
        all_equal(next(compiled.parameters()).grad, network.scale.grad, rtol=1e-5, atol=1e-6)


def test_exported_with_a_batch_of_any_size() -> None:
    batch = torch.export.Dim("batch", min=1, max=64)
    made = inputs(2, 4)
    program = torch.export.export(Network(), made, dynamic_shapes=({0: batch}, {0: batch}, {0: batch}))
    called = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert {"pymluops.tin_shift_forward.default", "pymluops.border_align_forward.default"} <= called
    network = Network()
    network.load_state_dict(program.state_dict)
    other = inputs(5, 4)
    all_equal(program.module()(*other), network(*other), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_compiled_for_all_sizes(name: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(FUNCTIONS[name], backend="aot_eager", fullgraph=True, dynamic=True)
    for batch, seed in ((2, 0), (3, 1)):
        made = tensors(name, batch=batch, seed=seed)
        all_equal(compiled(*made), FUNCTIONS[name](*made))
        gradients = []
        for function in (compiled, FUNCTIONS[name]) if DIFFERENTIABLE[name] else ():
            given = asking_for_gradients(name, made)
            result = function(*given).square().sum()
            gradients.append(torch.autograd.grad(result, [given[i] for i in DIFFERENTIABLE[name]]))
        for one, other in zip(*gradients, strict=True) if gradients else ():
            all_equal(one, other, rtol=1e-6, atol=1e-6)


class One(nn.Module):
    """One function."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, made: tuple[torch.Tensor, ...]) -> Any:
        return FUNCTIONS[self.name](*made)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_exported_with_a_batch_of_any_size(name: str) -> None:
    batch = torch.export.Dim("batch", min=1, max=64)
    sizes = (tuple(None if dim is None else {dim: batch} for dim in mapped(name)),)
    program = torch.export.export(One(name), (tensors(name),), dynamic_shapes=sizes).module()
    for size in (2, 5):
        made = tensors(name, batch=size)
        all_equal(program(made), FUNCTIONS[name](*made))


def test_gradients_by_torch_func() -> None:
    from torch.func import grad, vmap

    values, shifts = arguments("tin_shift_forward")
    factor = torch.rand_like(values)

    def loss(clip: torch.Tensor, shift: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return (ours.tin_shift(clip, shift) * weight).sum()

    all_equal(grad(loss)(values, shifts, factor), ours.tin_shift(factor, -shifts))
    each = vmap(grad(loss))(values[:, None], shifts[:, None], factor[:, None])
    all_equal(each[:, 0], ours.tin_shift(factor, -shifts))
    features, boxes, size = arguments("border_align_forward")
    given = features.permute(0, 3, 1, 2).clone().requires_grad_()
    ours.border_align(given, boxes, size).square().sum().backward()
    found = grad(lambda one: ours.border_align(one, boxes, size).square().sum())(given.detach())
    all_equal(found, given.grad)


def attention(**options: Any) -> tuple[nn.Module, dict[str, Any]]:
    torch.manual_seed(0)
    layer = ours.MultiScaleDeformableAttention(embed_dims=32, num_heads=4, num_levels=2, dropout=0.0, **options)
    shapes = torch.tensor([[3, 4], [2, 2]])
    maps = {"spatial_shapes": shapes, "level_start_index": torch.tensor([0, 12])}
    return layer, {"reference_points": torch.rand(2, 16, 2, 2), **maps}


def test_attention_module() -> None:
    layer, maps = attention(batch_first=True)
    turned, _ = attention()
    query = torch.randn(2, 16, 32)
    found = layer(query, query_pos=torch.ones(32), **maps)
    assert found.shape == query.shape
    swapped = turned(query.transpose(0, 1), query_pos=torch.ones(32), **maps)
    all_equal(swapped.transpose(0, 1), found, rtol=1e-5, atol=1e-6)
    padding = torch.zeros(2, 16, dtype=torch.bool)
    padding[:, 12:] = True
    masked = layer(query, value=query, key_padding_mask=padding, **maps)
    # Values of padded pixels do not matter.
    other = torch.where(padding[..., None], 99.0, query)
    all_equal(layer(query, value=other, key_padding_mask=padding, **maps), masked)
    found.sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    boxes = {**maps, "reference_points": torch.rand(2, 16, 2, 4)}
    assert layer(query, **boxes).shape == query.shape
    for wrong, error in ((torch.rand(2, 16, 2, 3), ValueError), (None, AssertionError)):
        with pytest.raises(error):
            layer(query, **{**maps, "reference_points": wrong})
    with pytest.raises(AssertionError, match="maps of 16 pixels"):
        layer(query, **{**maps, "spatial_shapes": torch.tensor([[3, 4], [2, 3]])})
    with pytest.raises(ValueError, match="multiple of num_heads=3"):
        ours.MultiScaleDeformableAttention(embed_dims=32, num_heads=3)


def test_the_first_samples_lie_around_the_reference_point() -> None:
    layer, _ = attention()
    offsets = layer.sampling_offsets.bias.reshape(4, 2, 4, 2)
    wanted = torch.tensor([[1.0, 0], [0, 1], [-1, 0], [0, -1]])[:, None, None] * torch.arange(1, 5.0)[:, None]
    all_equal(offsets.detach(), wanted.expand(4, 2, 4, 2), rtol=0, atol=1e-6)


def test_modules_can_be_copied_and_pickled() -> None:
    network = Network()
    made = inputs(2, 4)
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        all_equal(other(*made), network(*made))
    assert "pool_size=4" in repr(network) and "psa_type=collect" in repr(network)


def test_training_twice_gives_the_same_bits() -> None:
    before = torch.get_num_threads()
    weights = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            torch.manual_seed(1)
            network = Network()
            optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
            for step in range(3):
                optimizer.zero_grad()
                network(*inputs(step + 1, 4)).backward()
                optimizer.step()
            weights.append(network.scale.detach().clone())
    finally:
        torch.set_num_threads(before)
    all_equal(*weights)
