"""voxelization and dynamic_scatter for tensors of PyTorch, whose results have as many rows as there are voxels."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import pymluops.torch as ours
from pymluops.oracle import dynamic_point_to_voxel, voxelization
from support.torch_samples import all_equal

SIZE, RANGE = [0.5, 0.3, 1.0], [-1.0, -1, 0, 1, 1, 3]
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def cloud(seed: int = 0, count: int = 50, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(np.round(rng.uniform(-1.4, 3.4, (count, 4)), 1)).to(dtype)


def places(seed: int = 0, count: int = 50) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(-1, 3, (count, 3)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_voxels_and_cells(dtype: torch.dtype) -> None:
    points = cloud(dtype=dtype)
    real = np.float64 if dtype == torch.float64 else np.float32
    given = (points.double().numpy().astype(real), np.float32(SIZE).astype(real), np.float32(RANGE).astype(real))
    rows, coors, counts, number = voxelization.voxels(*given, 3, 20)
    found = ours.voxelization(points, SIZE, RANGE, 3, 20)
    assert found[0].dtype == dtype and found[1].dtype == found[2].dtype == torch.int32
    wanted = (torch.from_numpy(rows).to(dtype), torch.from_numpy(coors), torch.from_numpy(counts))
    all_equal(found, tuple(one[: number[0]] for one in wanted))
    for most in ((-1, 5), (5, -1)):
        all_equal(ours.voxelization(points, SIZE, RANGE, *most), torch.from_numpy(voxelization.cells(*given)))
    assert not any(one.requires_grad for one in ours.voxelization(points.requires_grad_(), SIZE, RANGE, 3, 20))


@pytest.mark.parametrize("reduce", ["max", "sum", "mean"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scattered_features(dtype: torch.dtype, reduce: str) -> None:
    feats = torch.from_numpy(np.random.default_rng(1).integers(-3, 4, (50, 3))).to(dtype)
    wanted = dynamic_point_to_voxel.scatter(feats.double().numpy(), places().numpy(), reduce)
    number = int(wanted.number[0])
    for coors in (places(), places().int()):
        found, where = ours.dynamic_scatter(feats, coors, reduce)
        assert found.dtype == dtype and where.dtype == coors.dtype
        all_equal(where, torch.from_numpy(wanted.coors[:number]).to(coors.dtype))
        all_equal(found.double(), torch.from_numpy(wanted.feats[:number]), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("reduce", ["max", "sum", "mean"])
def test_gradients(reduce: str) -> None:
    torch.manual_seed(0)
    feats = torch.rand(30, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda one: ours.dynamic_scatter(one, places(count=30), reduce)[0], (feats,))
    found, _ = ours.dynamic_scatter(feats, places(count=30), reduce)
    first = torch.autograd.grad(found.square().sum(), feats, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        first.sum().backward()


def test_nothing_to_do() -> None:
    empty = ours.voxelization(torch.zeros(0, 4), SIZE, RANGE, 3, 20)
    assert [tuple(one.shape) for one in empty] == [(0, 3, 4), (0, 3), (0,)]
    feats = torch.zeros(0, 2, requires_grad=True)
    found, where = ours.dynamic_scatter(feats, torch.zeros(0, 3, dtype=torch.int64))
    assert found.shape == (0, 2) and where.shape == (0, 3)
    found.sum().backward()
    assert feats.grad is not None
    found, where = ours.dynamic_scatter(torch.zeros(2, 0), torch.zeros(2, 3, dtype=torch.int64))
    assert found.shape == (1, 0) and where.tolist() == [[0, 0, 0]]
    outside = ours.dynamic_scatter(torch.ones(2, 1), torch.full((2, 3), -1))
    assert [tuple(one.shape) for one in outside] == [(0, 1), (0, 3)]


class Pillars(nn.Module):
    """Both kinds of voxels, with a layer between."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 5)

    def forward(self, points: torch.Tensor) -> tuple[torch.Tensor, ...]:
        voxels, coors, counts = ours.voxelization(points, SIZE, RANGE, 3, 20)
        where = ours.voxelization(points, SIZE, RANGE, -1)
        feats, cells = ours.dynamic_scatter(self.layer(points), where, "max")
        return self.layer(voxels).sum((0, 1)) + feats.sum(0), coors, counts, cells


@pytest.fixture
def capturing_counts() -> Iterator[None]:
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        yield
    torch._dynamo.reset()


@pytest.mark.usefixtures("capturing_counts")
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_without_a_break(dynamic: bool) -> None:
    network = Pillars()
    compiled = torch.compile(copy.deepcopy(network), backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for seed in (0, 1):
        given = cloud(seed, 50 + 7 * seed * dynamic)
        results = [one(given) for one in (network, compiled)]
        all_equal(results[1], results[0], rtol=1e-5, atol=1e-5)
        grads = [torch.autograd.grad(one[0].square().sum(), net.layer.weight)
                 for one, net in zip(results, (network, compiled), strict=True)]  # fmt: skip
        all_equal(grads[1], grads[0], rtol=1e-4, atol=1e-4)


# The rest of a broken graph gets tensors that are no leaves.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_compiled_with_breaks_and_exported() -> None:
    torch._dynamo.reset()
    network = Pillars()
    all_equal(torch.compile(network, backend="eager")(cloud()), network(cloud()), rtol=1e-6, atol=1e-6)
    program = torch.export.export(network, (cloud(),), strict=False)
    called = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert {"pymluops.voxelization.default", "pymluops.dynamic_scatter_forward.default"} <= called
    all_equal(program.module()(cloud(3)), network(cloud(3)), rtol=1e-6, atol=1e-6)


def test_modules() -> None:
    layer = ours.Voxelization(SIZE, RANGE, 3, (20, 4))
    assert layer.grid_size.tolist() == [4, 7, 3] and [int(size) for size in layer.pcd_shape] == [1, 7, 4]
    assert len(layer(cloud())[1]) == 6 and len(layer.eval()(cloud())[1]) == 4
    assert "max_voxels=(20, 4)" in repr(layer) and len(pickle.loads(pickle.dumps(layer))(cloud())) == 3
    for average, reduce in ((True, "mean"), (False, "max")):
        scatter = ours.DynamicScatter(SIZE, RANGE, average)
        assert f"average_points={average}" in repr(scatter)
        all_equal(scatter(cloud(), places()), ours.dynamic_scatter(cloud(), places(), reduce))
        batch = torch.arange(50)[:, None] // 20
        found, where = scatter(cloud(), torch.cat([batch, places()], 1))
        parts = [ours.dynamic_scatter(cloud()[i], places()[i], reduce) for i in (batch[:, 0] == b for b in range(3))]
        all_equal(found, torch.cat([part[0] for part in parts]))
        all_equal(where[:, 1:], torch.cat([part[1] for part in parts]))
        assert where[:, 0].tolist() == [b for b in range(3) for _ in parts[b][1]]
        none = scatter(cloud()[:0], torch.zeros(0, 4, dtype=torch.int64))
        assert none[0].shape == (0, 4) and none[1].shape == (0, 4)


def test_refusals() -> None:
    calls: dict[str, Any] = {
        "points: expected a tensor": lambda: ours.voxelization(cloud().numpy(), SIZE, RANGE),  # type: ignore[arg-type]
        "F >= 3": lambda: ours.voxelization(cloud()[:, :2], SIZE, RANGE),
        "voxel_size: expected shape": lambda: ours.voxelization(cloud(), [1.0], RANGE),
        "coors: expected a tensor": lambda: ours.dynamic_scatter(cloud(), places().numpy()),  # type: ignore[arg-type]
        "reduce_type: expected 'max', 'sum' or 'mean', got 'min'": lambda: ours.dynamic_scatter(
            cloud(), places(), "min"
        ),
        "coors: expected shape": lambda: ours.dynamic_scatter(cloud(), places()[:3]),
    }
    for text, call in calls.items():
        with pytest.raises((ValueError, TypeError), match=text):
            call()
