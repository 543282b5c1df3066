"""torch.compile, torch.export, modules, and programs that use them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import nn

import pymluops.torch as ours
from torch_samples import all_equal, arguments


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


def naive(value: torch.Tensor, shapes: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """ms_deform_attn from grid_sample."""
    batch, _, heads, channels = value.shape
    queries = places.shape[1]
    levels = value.split([int(h * w) for h, w in shapes], 1)
    sampled = []
    for number, (height, width) in enumerate(shapes.tolist()):
        one = levels[number].permute(0, 2, 3, 1).reshape(batch * heads, channels, height, width)
        grid = 2 * places[:, :, :, number].transpose(1, 2).flatten(0, 1) - 1
        sampled.append(nn.functional.grid_sample(one, grid, align_corners=False))  # zeros outside
    weights = weights.transpose(1, 2).reshape(batch * heads, 1, queries, -1)
    total = (torch.stack(sampled, -2).flatten(-2) * weights).sum(-1)
    return total.reshape(batch, heads * channels, queries).transpose(1, 2)


def test_ms_deform_attn_is_what_grid_sample_gives() -> None:
    value, shapes, starts, places, weights, step = (
        a.double().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in arguments("ms_deform_attn_forward")
    )
    found, wanted = (
        ours.ms_deform_attn(value, shapes, starts, places, weights, step),
        naive(value, shapes, places, weights),
    )
    all_equal(found, wanted, rtol=1e-10, atol=1e-12)
    factor = torch.rand_like(found)
    for one, other in zip(
        torch.autograd.grad((found * factor).sum(), (value, places, weights)),
        torch.autograd.grad((wanted * factor).sum(), (value, places, weights)),
        strict=True,
    ):
        all_equal(one, other, rtol=1e-9, atol=1e-11)


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
