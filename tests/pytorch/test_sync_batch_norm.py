"""SyncBatchNorm for CPU tensors, with one process and with two, and its steps."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import pymluops.torch as ours

TYPES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
SHAPES = [(9, 3), (4, 3, 5), (4, 3, 5, 6), (2, 3, 2, 3, 4)]


def values(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, last: bool = False) -> tuple[Any, Any]:
    """Values and a gradient."""
    generator = torch.Generator().manual_seed(len(shape))
    made = [(torch.randn(shape, generator=generator) * 2 + shift).to(dtype) for shift in (3, 0)]
    made = [one.to(memory_format=torch.channels_last) if last else one for one in made]
    return made[0], made[1]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_training_is_that_of_batch_norm(dtype: torch.dtype, last: bool) -> None:
    for shape in [SHAPES[2]] if last else SHAPES:
        x, gradient = values(shape, dtype, last)
        weight, bias = torch.rand(3, dtype=torch.float64) + 0.5, torch.rand(3, dtype=torch.float64)
        kind = torch.float64 if dtype == torch.float64 else torch.float32
        leaves = [x.clone(), weight.to(kind), bias.to(kind)]
        wide = [leaf.double().requires_grad_() for leaf in leaves]
        running = [torch.zeros(3, dtype=kind), torch.ones(3, dtype=kind)]
        moved = [one.double().clone() for one in running]
        expected = torch.nn.functional.batch_norm(wide[0], *moved, *wide[1:], training=True, momentum=0.3, eps=0.01)
        leaves = [leaf.requires_grad_() for leaf in leaves]
        found = ours.sync_batch_norm(leaves[0], running[0], running[1], leaves[1], leaves[2], 0.3, 0.01)
        assert found.dtype == dtype
        assert found.stride() == expected.stride()
        pairs = [(found, expected), *zip(running, moved, strict=True)]
        wanted = torch.autograd.grad(expected, wide, gradient.double())
        pairs += zip(torch.autograd.grad(found, leaves, gradient), wanted, strict=True)
        for one, other in pairs:
            tolerance = TYPES[dtype] * max(1, float(other.detach().abs().max()))
            torch.testing.assert_close(one.double(), other, rtol=0, atol=tolerance)


def test_a_network_is_converted() -> None:
    """torch.nn.SyncBatchNorm.convert_sync_batchnorm makes layers that refuse CPU tensors between processes."""
    norms = torch.nn.BatchNorm2d(3, 0.1, 0.2), torch.nn.SyncBatchNorm(3), torch.nn.BatchNorm1d(3, affine=False)
    bare = torch.nn.BatchNorm3d(3, momentum=None, track_running_stats=False)
    net = torch.nn.Sequential(*norms[:2], torch.nn.Sequential(norms[2], torch.nn.InstanceNorm2d(3)), bare).eval()
    wanted = {name: value.clone() for name, value in net.state_dict().items()}
    group = object()
    converted = ours.SyncBatchNorm.convert_sync_batchnorm(net, group)
    assert converted is net and not any(layer.training for layer in net.modules())
    layers = [layer for layer in net.modules() if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm)]
    assert [type(layer) for layer in layers] == [ours.SyncBatchNorm] * 4 and type(net[2][1]) is torch.nn.InstanceNorm2d
    for layer, before in zip(layers, (*norms, bare), strict=True):
        for name in ("num_features", "eps", "momentum", "affine", "track_running_stats", "weight", "running_var"):
            assert getattr(layer, name) is getattr(before, name), name
        assert layer.process_group is group
    assert net.state_dict().keys() == wanted.keys()
    assert ours.SyncBatchNorm.convert_sync_batchnorm(layers[0]) is layers[0]
    x, _ = values(SHAPES[2])
    torch.testing.assert_close(
        ours.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm2d(3))(x), torch.nn.BatchNorm2d(3)(x)
    )


def test_a_layer_counts_its_batches() -> None:
    x, _ = values(SHAPES[2])
    for momentum in (0.1, None):
        for options in ({}, {"affine": False}, {"track_running_stats": False}):
            layer = ours.SyncBatchNorm(3, momentum=momentum, **options)
            plain = torch.nn.BatchNorm2d(3, momentum=momentum, **options)
            for one in (x, x + 1):
                torch.testing.assert_close(layer(one), plain(one))
            layer.eval()
            plain.eval()
            torch.testing.assert_close(layer(x), plain(x))
            for key, value in plain.state_dict().items():
                torch.testing.assert_close(layer.state_dict()[key], value)


def test_gradients_and_programs() -> None:
    x, gradient = values(SHAPES[1], torch.float64)
    channel = torch.rand(2, 3, dtype=torch.float64) + 0.5
    leaves = [one.clone().requires_grad_() for one in (x, *channel)]
    assert torch.autograd.gradcheck(lambda x, weight, bias: ours.sync_batch_norm(x, None, None, weight, bias), leaves)
    found = ours.sync_batch_norm(leaves[0], None, None)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        torch.autograd.grad(found, leaves[0], gradient, create_graph=True)
    with pytest.raises(NotImplementedError, match="a step of SyncBatchNorm"):
        ours.batch_norm_elemt(leaves[0], None, None, *channel).sum().backward()


@pytest.mark.thorough
def test_compiled() -> None:
    for shape in SHAPES[:3]:
        x, gradient = values(shape)
        layer = ours.SyncBatchNorm(3)
        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        given = [x.clone().requires_grad_() for _ in range(2)]
        found, expected = compiled(given[0]), layer(given[1])
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
        for one in (found, expected):
            one.backward(gradient)
        torch.testing.assert_close(given[0].grad, given[1].grad, rtol=0, atol=0)


@pytest.mark.parametrize("last", [False, True])
def test_steps_make_up_the_whole(last: bool) -> None:
    """As in the code that calls PyTorch's functions on a GPU, here with the values of two processes."""
    x, gradient = values(SHAPES[2], last=last)
    weight, bias = torch.rand(3) + 0.5, torch.rand(3)
    running, moved = [torch.zeros(3), torch.ones(3)], [torch.zeros(3), torch.ones(3)]
    leaves = [one.clone().requires_grad_() for one in (x, weight, bias)]
    expected = torch.nn.functional.batch_norm(leaves[0], *moved, *leaves[1:], training=True)
    wanted = torch.autograd.grad(expected, leaves, gradient)
    counts = [30.0, 90.0]
    parts, gradients = x.split([1, 3]), gradient.split([1, 3])
    stats = [ours.batch_norm_stats(part, 1e-5) for part in parts]
    means, invstds = (torch.stack(one) for one in zip(*stats, strict=True))
    numbers = (0.1, 1e-5, torch.tensor(counts))
    mean, invstd = ours.batch_norm_gather_stats_with_counts(x, means, invstds, running[0], running[1], *numbers)
    found = torch.cat([ours.batch_norm_elemt(part, weight, bias, mean, invstd, 1e-5) for part in parts])
    torch.testing.assert_close(found, expected)
    for one, other in zip(running, moved, strict=True):
        torch.testing.assert_close(one, other)
    sums = [ours.batch_norm_backward_reduce(g, part, mean, invstd) for g, part in zip(gradients, parts, strict=True)]
    total: Any = [sum(one) for one in zip(*sums, strict=True)]
    torch.testing.assert_close(total[2], wanted[1], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(total[3], wanted[2], rtol=1e-4, atol=1e-4)
    pairs = zip(gradients, parts, strict=True)
    count = torch.tensor([30, 90])
    backward = [
        ours.batch_norm_backward_elemt(g, part, mean, invstd, weight, total[0], total[1], count) for g, part in pairs
    ]
    torch.testing.assert_close(torch.cat(backward), wanted[0], rtol=1e-4, atol=1e-5)
    nothing = ours.batch_norm_backward_reduce(gradient, x, mean, invstd, None, False, False, False)
    assert nothing == (None, None, None, None)


def test_refused_arguments() -> None:
    x, _ = values(SHAPES[1])
    one = torch.ones(3)
    with pytest.raises(ValueError, match=r"^sync_batch_norm: input: expected shape \[N, C, \*\], got \[3\]$"):
        ours.sync_batch_norm(one, None, None)
    with pytest.raises(ValueError, match=r"^sync_batch_norm: input: expected more than 1 value of each channel"):
        ours.sync_batch_norm(x[:1, :, :1], None, None)
    with pytest.raises(ValueError, match=r"^batch_norm_backward_reduce: input: expected shape \[4, 3, 5\], got "):
        ours.batch_norm_backward_reduce(x, x[:1], one, one)
    with pytest.raises(TypeError, match=r"^batch_norm_stats: input: expected a tensor of PyTorch, got list$"):
        ours.batch_norm_stats([1.0], 1e-5)
    for wrong in (one[:2], torch.ones(3, 1)):
        with pytest.raises(ValueError, match="invstd"):
            ours.batch_norm_elemt(x, None, None, one, wrong)
    with pytest.raises(ValueError, match=r"^batch_norm_elemt: input: expected floating values, got int32$"):
        ours.batch_norm_elemt(x.int(), None, None, one, one)


# Compares with BatchNorm2d over the values of all processes, some of which may have none.
_TRAINING = """
import sys
import torch
import torch.distributed as dist
from pymluops.torch import SyncBatchNorm
rank, size, place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=size)
torch.manual_seed(1)
for counts in ([3] * size, [3, *range(size - 1)], [2, *range(1, size)]):
    joint = torch.randn(sum(counts), 4, 5, 6) * 3 + 50
    gradient = torch.randn_like(joint)
    layer, plain = SyncBatchNorm(4), torch.nn.BatchNorm2d(4)
    plain.weight.data.copy_(torch.rand(4) + 0.5)
    layer.load_state_dict(plain.state_dict())
    first = sum(counts[:rank])
    mine = slice(first, first + counts[rank])
    wanted, found = joint.clone().requires_grad_(), joint[mine].clone().requires_grad_()
    expected, output = plain(wanted), layer(found)
    torch.testing.assert_close(output, expected[mine], rtol=1e-5, atol=1e-5)
    for one, other in zip(layer.buffers(), plain.buffers(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    expected.backward(gradient)
    output.backward(gradient[mine])
    torch.testing.assert_close(found.grad, wanted.grad[mine], rtol=1e-4, atol=1e-5)
    for one, other in ((layer.weight, plain.weight), (layer.bias, plain.bias)):
        dist.all_reduce(one.grad)
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)
dist.barrier()
dist.destroy_process_group()
print("done")
"""


@pytest.fixture
def running() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes, which end with the test."""
    found: list[subprocess.Popen[str]] = []
    yield found
    for process in found:
        process.kill()
        process.communicate()


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 2])
def test_training_over_all_processes(tmp_path: Path, running: list[subprocess.Popen[str]], size: int) -> None:
    for rank in range(size):
        command = [sys.executable, "-P", "-W", "ignore", "-c", _TRAINING, str(rank), str(size), str(tmp_path / "store")]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert output.endswith("done\n"), errors
