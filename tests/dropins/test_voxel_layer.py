"""``voxel_layer`` of BEVFusion, in code of its form that trains and predicts, and of mmdetection3d."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import dynamic_point_to_voxel as scatter_oracle
from pymluops.oracle import voxelization as oracle

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]
BEVFUSION, OTHER = "projects.BEVFusion.bevfusion.ops.voxel.voxel_layer", "mmdet3d.ops.voxel.voxel_layer"
SIZE, RANGE = [0.5, 0.4, 1.0], [-2.0, -2, -1, 2, 2, 3]
#: Points of a space with different numbers of cells along its axes: 8 x 10 x 4; some lie outside.
POINTS = np.random.default_rng(0).uniform(-2.4, 2.4, (300, 4)).astype(np.float32)


class Voxelize(torch.autograd.Function):
    """The calls of BEVFusion's Python code."""

    @staticmethod
    def forward(ctx: Any, layer: Any, points: Any, most_points: int, most_voxels: int) -> Any:
        if most_points == -1:
            coors = points.new_zeros((len(points), 3), dtype=torch.int)
            layer.dynamic_voxelize(points, coors, SIZE, RANGE, 3)
            return coors
        voxels = points.new_zeros((most_voxels, most_points, points.shape[1]))
        coors = points.new_zeros((most_voxels, 3), dtype=torch.int)
        counts = points.new_zeros((most_voxels,), dtype=torch.int)
        found = layer.hard_voxelize(
            points, voxels, coors, counts, SIZE, RANGE, most_points, most_voxels, 3, True
        )  # fmt: skip
        return voxels[:found], coors[:found], counts[:found]


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, layer: Any, feats: Any, coors: Any, reduce: str) -> Any:
        made, places, rows, counts = layer.dynamic_point_to_voxel_forward(feats, coors, reduce)
        ctx.layer, ctx.reduce = layer, reduce
        ctx.save_for_backward(feats, made, rows, counts)
        ctx.mark_non_differentiable(places)
        return made, places

    @staticmethod
    def backward(ctx: Any, grad: Any, _places: Any) -> Any:
        feats, made, rows, counts = ctx.saved_tensors
        result = torch.zeros_like(feats)
        ctx.layer.dynamic_point_to_voxel_backward(
            result, grad.contiguous(), feats, made, rows, counts, ctx.reduce
        )  # fmt: skip
        return None, result, None, None


@pytest.fixture(params=[(BEVFUSION, True), (OTHER, False)], ids=["BEVFusion", "mmdet3d"])
def layer(load: Load, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, bool]:
    name, turned = request.param
    if not turned:  # without the package beside it that the fixture has written
        from pymluops.dropins.extensions import voxel_layer

        names = {key: voxel_layer.prepare("without.bev_pool.beside.it")[key] for key in ("hard_voxelize",)}
        names["dynamic_voxelize"] = voxel_layer.prepare("nothing")["dynamic_voxelize"]
        made = ModuleType(name)
        vars(made).update({key: getattr(load(name), key) for key in voxel_layer.__all__}, **names)
        return made, turned
    return load(name), turned


def test_hard_voxels(layer: tuple[Any, bool]) -> None:
    module, turned = layer
    size, extent = np.array(SIZE, np.float32), np.array(RANGE, np.float32)
    rows, coors, counts, number = oracle.voxels(POINTS, size, extent, 3, 60)
    voxels, places, numbers = Voxelize.apply(module, torch.from_numpy(POINTS), 3, 60)
    assert len(voxels) == int(number[0] if np.ndim(number) else number) == 60
    np.testing.assert_array_equal(voxels.numpy(), rows)
    np.testing.assert_array_equal(places.numpy(), coors[:, ::-1] if turned else coors)
    np.testing.assert_array_equal(numbers.numpy(), counts)
    assert places[:, 0 if turned else 2].max() < 8
    assert places[:, 1].max() == 9


def test_dynamic_voxels(layer: tuple[Any, bool]) -> None:
    module, turned = layer
    size, extent = np.array(SIZE, np.float32), np.array(RANGE, np.float32)
    wanted = oracle.cells(POINTS, size, extent)
    found = Voxelize.apply(module, torch.from_numpy(POINTS), -1, -1).numpy()
    np.testing.assert_array_equal(found, wanted[:, ::-1] if turned else wanted)
    assert 0 < (found == -1).all(1).sum() < 150
    first = np.floor((POINTS[:, 0] - -2) / 0.5)  # the cell along x, by the formula alone
    inside = found[:, 0] >= 0
    np.testing.assert_array_equal(found[inside, 0 if turned else 2], first[inside])


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_pooled_points(layer: tuple[Any, bool], reduce: str) -> None:
    module, _ = layer
    points = torch.from_numpy(POINTS)
    coors = Voxelize.apply(module, points, -1, -1)
    feats = points.clone().requires_grad_()
    made, places = Scatter.apply(module, feats, coors, reduce)
    wanted = scatter_oracle.scatter(POINTS, coors.numpy(), reduce)
    np.testing.assert_allclose(made.detach().numpy(), wanted[0][: len(made)], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(places.numpy(), wanted[1][: len(made)])
    weights = torch.linspace(-1, 1, made.numel()).view(made.shape)
    (made * weights).sum().backward()
    own = feats.detach().double().requires_grad_()
    total = torch.zeros(())
    for row, place in enumerate(places):
        members = own[(coors == place).all(1)]
        value = members.amax(0) if reduce == "max" else members.sum(0)
        total = total + ((value / len(members) if reduce == "mean" else value) * weights[row]).sum()
    total.backward()
    torch.testing.assert_close(feats.grad.double(), own.grad, rtol=1e-5, atol=1e-6)


def test_a_network_of_its_form_trains_and_predicts(load: Load) -> None:
    """Points to pillars to a map to a loss, as BEVFusion's lidar branch; the loss falls."""
    module, generator = load(BEVFUSION), torch.Generator().manual_seed(1)
    encoder, head = torch.nn.Linear(4, 6), torch.nn.Conv2d(6, 1, 3, padding=1)
    torch.nn.init.normal_(encoder.weight, generator=generator)
    points, target = torch.from_numpy(POINTS), torch.zeros(1, 1, 8, 10)
    target[0, 0, :4] = 1

    def predict() -> Any:
        coors = Voxelize.apply(module, points, -1, -1)
        made, places = Scatter.apply(module, encoder(points), coors, "max")
        canvas = torch.zeros(8, 10, 6).index_put((places[:, 0].long(), places[:, 1].long()), made, accumulate=True)
        return head(canvas.permute(2, 0, 1)[None])

    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 0.05)
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(predict(), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert encoder.weight.grad.abs().max() > 0
    assert losses[-1] < 0.6 * losses[0]
    with torch.no_grad():
        assert ((predict() > 0) == target.bool()).double().mean() > 0.8
    voxels, coors, counts = Voxelize.apply(module, points, 5, 500)
    assert len(voxels) == len(coors) == len(counts) == len(coors.unique(dim=0))


def test_wrong_input_is_refused_by_name(load: Load) -> None:
    module, points = load(BEVFUSION), torch.from_numpy(POINTS)
    coors = torch.zeros(300, 3, dtype=torch.int32)
    with pytest.raises(RuntimeError, match=r"^dynamic_voxelize: voxel_size: expected 3 numbers"):
        module.dynamic_voxelize(points, coors, [1.0, 2], RANGE, 3)
    with pytest.raises(RuntimeError, match=r"^dynamic_voxelize: coors: expected shape \[300, 3\]"):
        module.dynamic_voxelize(points, coors[:9], SIZE, RANGE, 3)
    given = (points, torch.zeros(9, 3, 4), coors[:9], torch.zeros(9, dtype=torch.int32))
    with pytest.raises(RuntimeError, match=r"^hard_voxelize: voxels: expected shape \[8, 3, 4\]"):
        module.hard_voxelize(*given, SIZE, RANGE, 3, 8)
    with pytest.raises(RuntimeError, match=r"^dynamic_point_to_voxel_forward: reduce_type"):
        module.dynamic_point_to_voxel_forward(points, coors, "min")
