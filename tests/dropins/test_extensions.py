"""Compiled extensions of others: what all have in common, and those of boxes, cells and groups."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.dropins._extensions import extensions
from pymluops.oracle import bev_pool as bev_pool_oracle
from pymluops.oracle import ingroup_indices as ingroup_oracle

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]
NAMES = [name for extension in extensions() for name in extension.MODULES]


@pytest.mark.parametrize("name", NAMES)
def test_a_package_finds_its_extension(load: Load, name: str) -> None:
    package, _, child = name.rpartition(".")
    extension = load(name)
    assert not package or getattr(load(package), child) is extension
    declared = next(one for one in extensions() if name in one.MODULES)
    assert all(callable(getattr(extension, function)) for function in declared.__all__)
    assert sorted(" ".join(row.functions for row in declared.ROWS).split()) == sorted(declared.__all__)
    assert not hasattr(extension, "__wrapped__")
    with pytest.raises(NotImplementedError, match=f"^other of {name} is no function of pymluops"):
        extension.other(1, two=2)


def boxes(count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    columns = [rng.uniform(0, 12, (count, 2)), rng.normal(0, 1, (count, 1)), rng.uniform(0.5, 5, (count, 3))]
    return torch.from_numpy(np.concatenate([*columns, rng.uniform(-4, 4, (count, 1))], 1).astype(np.float32))


def test_overlaps_of_boxes(load: Load) -> None:
    extension, a, b = load("pcdet.ops.iou3d_nms.iou3d_nms_cuda"), boxes(9, 0), boxes(7, 1)
    pairs = {"boxes_overlap_bev_gpu": "boxes_overlap_bev", "boxes_iou_bev_gpu": "boxes_iou_bev"}
    for name, operator in {**pairs, "boxes_iou_bev_cpu": "boxes_iou_bev"}.items():
        out = torch.zeros(9, 7)
        assert getattr(extension, name)(a, b, out) == 1
        assert torch.equal(out, getattr(pymluops, operator)(a, b))
        assert 0 < torch.count_nonzero(out) < 63
        wide = torch.zeros(7, 18)
        getattr(extension, name)(b.double(), a.double(), wide[:, ::2].double())
        strided = torch.full((9, 14), 5.0)
        getattr(extension, name)(a, b, strided[:, ::2])
        assert torch.equal(strided[:, ::2], out)
        assert (strided[:, 1::2] == 5).all()
        assert getattr(extension, name)(a[:0], b, torch.zeros(0, 7)) == 1
        with pytest.raises(RuntimeError, match=f"^{name}: ans: expected shape \\[9, 7\\]"):
            getattr(extension, name)(a, b, torch.zeros(7, 9))
    rows = {
        "boxes_aligned_overlap_bev_gpu": "boxes_overlap_bev",
        "paired_boxes_overlap_bev_gpu": "boxes_overlap_bev",
        "boxes_aligned_iou_bev_cpu": "boxes_iou_bev",
    }
    for name, operator in rows.items():
        out = torch.zeros(7, 1)
        assert getattr(extension, name)(a[:7], b, out) == 1
        assert torch.equal(out[:, 0], getattr(pymluops, operator)(a[:7], b).diagonal())
        with pytest.raises(RuntimeError, match=f"^{name}: boxes_b: expected shape"):
            getattr(extension, name)(a, b, torch.zeros(9, 1))


@pytest.mark.parametrize("name", ["nms_gpu", "nms_normal_gpu"])
def test_suppression(load: Load, name: str) -> None:
    extension, given = load("pcdet.ops.iou3d_nms.iou3d_nms_cuda"), boxes(60, 2)
    if name == "nms_normal_gpu":
        flat = given.clone()
        flat[:, 6] = 0
        overlaps = pymluops.boxes_iou_bev(flat, flat)
    else:
        overlaps = pymluops.boxes_iou_bev(given, given)
    wanted: list[int] = []
    for i in range(60):
        if all(overlaps[j, i] <= 0.1 for j in wanted):
            wanted.append(i)
    keep = torch.full((60,), -7, dtype=torch.int64)
    count = getattr(extension, name)(given, keep, 0.1)
    assert (type(count), keep[:count].tolist()) == (int, wanted)
    assert 5 < count < 50
    assert getattr(extension, name)(given[:0], keep[:0], 0.1) == 0
    with pytest.raises(RuntimeError, match="keep: expected int64"):
        getattr(extension, name)(given, keep.int(), 0.1)


@pytest.mark.parametrize("package", ["pcdet.ops.bev_pool", "projects.BEVFusion.bevfusion.ops.bev_pool"])
def test_bev_pool(load: Load, package: str) -> None:
    extension, rng = load(f"{package}.bev_pool_ext"), np.random.default_rng(3)
    cells = np.sort(rng.integers(0, 24, 50))
    b, d, h, w = np.unravel_index(cells, (2, 1, 3, 4))
    geometry = np.stack([h, w, d, b], 1).astype(np.int32)
    starts = np.flatnonzero(np.diff(cells, prepend=-1)).astype(np.int32)
    lengths = np.diff(starts, append=50).astype(np.int32)
    features = rng.normal(size=(50, 6)).astype(np.float32)
    places = [torch.from_numpy(array) for array in (geometry, lengths, starts)]
    sizes = (torch.tensor(2), 1, torch.tensor(3), 4)
    out = extension.bev_pool_forward(torch.from_numpy(features), *places, *sizes)
    np.testing.assert_array_equal(
        out.numpy(), bev_pool_oracle.forward(features, geometry, lengths, starts, (2, 1, 3, 4))
    )
    grad = extension.bev_pool_backward(out, *places, *sizes)
    np.testing.assert_array_equal(grad.numpy(), bev_pool_oracle.backward(out.numpy(), geometry, lengths, starts))
    none = [place[:0] for place in places]
    assert extension.bev_pool_forward(torch.zeros(0, 6), *none, *sizes).shape == (2, 1, 3, 4, 6)
    assert extension.bev_pool_backward(out, *none, *sizes).shape == (0, 6)
    with pytest.raises(RuntimeError, match=r"^bev_pool_forward: geom_feats: expected shape \[50, 4\]"):
        extension.bev_pool_forward(torch.from_numpy(features), places[0][:4], *places[1:], *sizes)
    long = [places[0], places[1].clone(), places[2]]
    long[1][-1] += 1
    far = [places[0] + torch.tensor([0, 0, 1, 0], dtype=torch.int32), *places[1:]]
    for name, first in (("bev_pool_forward", torch.from_numpy(features)), ("bev_pool_backward", out)):
        with pytest.raises(RuntimeError, match=f"^{name}: interval_starts: expected intervals of 50 rows, got"):
            getattr(extension, name)(first, *long, *sizes)
        with pytest.raises(
            RuntimeError, match=rf"^{name}: geom_feats: expected cells of a grid of \[3, 4, 1, 2\], got"
        ):
            getattr(extension, name)(first, *far, *sizes)


def test_numbers_within_groups(load: Load) -> None:
    extension, rng = load("pcdet.ops.ingroup_inds.ingroup_inds_cuda"), np.random.default_rng(4)
    for groups in (rng.integers(0, 9, 100), rng.integers(-4, 4, 100) * 2**40, np.zeros(0, np.int64)):
        out = torch.full((len(groups),), -1, dtype=torch.int64)
        assert extension.forward(torch.from_numpy(groups), out) is None
        np.testing.assert_array_equal(out.numpy(), ingroup_oracle.ingroup_indices(groups))
    with pytest.raises(RuntimeError, match=r"^forward: out: expected int64"):
        extension.forward(torch.zeros(2, dtype=torch.int64), torch.zeros(2, dtype=torch.int32))


@pytest.mark.parametrize("step", [1, 3, 64])
def test_deformable_attention(load: Load, step: int) -> None:
    """The shapes of the original's own test, and any step."""
    extension, rng = load("MultiScaleDeformableAttention"), torch.Generator().manual_seed(5)
    shapes = torch.tensor([[6, 4], [3, 2]])
    starts = torch.tensor([0, 24])
    value = torch.rand(2, 30, 2, 2, generator=rng, dtype=torch.float64) * 0.01
    places = torch.rand(2, 2, 2, 2, 2, 2, generator=rng, dtype=torch.float64)
    weights = torch.rand(2, 2, 2, 2, 2, generator=rng, dtype=torch.float64) + 1e-5
    weights /= weights.sum((-1, -2), keepdim=True)
    leaves = [tensor.requires_grad_() for tensor in (value, places, weights)]
    maps = value.split([24, 6], 1)
    grid, parts = 2 * places - 1, []
    for level, (height, width) in enumerate(shapes.tolist()):
        one = maps[level].permute(0, 2, 3, 1).reshape(4, 2, height, width)
        at = grid[:, :, :, level].transpose(1, 2).flatten(0, 1)
        parts.append(torch.nn.functional.grid_sample(one, at, align_corners=False))
    samples = torch.stack(parts, -2).flatten(-2)  # [B*M, D, Q, L*P]
    wanted = (samples * weights.transpose(1, 2).reshape(4, 1, 2, 4)).sum(-1).view(2, 4, 2).transpose(1, 2)
    given = (value.detach(), shapes, starts, places.detach(), weights.detach())
    found = extension.ms_deform_attn_forward(*given, step)
    torch.testing.assert_close(found, wanted)
    grad = torch.rand(2, 4, 2, generator=rng, dtype=torch.float64).transpose(1, 2)  # of any strides
    gradients = extension.ms_deform_attn_backward(*given, grad, step)
    assert isinstance(gradients, list)
    torch.testing.assert_close(gradients, list(torch.autograd.grad((wanted * grad).sum(), leaves)))
    with pytest.raises(RuntimeError, match="im2col_step: expected at least 1, got 0"):
        extension.ms_deform_attn_forward(*given, 0)
    several = [one if one.dtype == torch.int64 else torch.cat([one] * 35) for one in given]  # a batch of 70
    torch.testing.assert_close(extension.ms_deform_attn_forward(*several, step), torch.cat([wanted] * 35))
