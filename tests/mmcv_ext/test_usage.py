"""What programs and mmcv's own tests do with these operators: all types, empty tensors, modules of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)

# mmcv's code uses what newer releases of PyTorch warn of.
pytestmark = pytest.mark.filterwarnings("ignore")

every_dtype = pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])


@pytest.fixture(scope="module")
def ops() -> Iterator[Any]:
    import pymluops.mmcv

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops

    yield mmcv.ops
    pymluops.mmcv.uninstall()


def values(torch: Any, dtype: str, *shape: int) -> Any:
    return torch.rand(shape, generator=torch.Generator().manual_seed(3)).to(getattr(torch, dtype)).requires_grad_()


@every_dtype
@pytest.mark.parametrize("shape", [(0, 3, 4, 2), (2, 0, 4, 2), (2, 3, 4, 0), (1, 1, 2, 1)])
def test_a_small_or_empty_clip(torch: Any, ops: Any, dtype: str, shape: tuple[int, ...]) -> None:
    clip = values(torch, dtype, *shape)
    moved = ops.tin_shift(clip, torch.zeros(shape[0], 2, dtype=torch.int32))
    moved.backward(torch.ones_like(moved))
    assert (moved.dtype, moved.shape, clip.grad.dtype) == (clip.dtype, clip.shape, clip.dtype)
    assert torch.equal(moved, clip) and bool((clip.grad == 1).all())


def test_the_gradient_of_a_shift_is_as_near_as_mmcv_asks_for(torch: Any, ops: Any) -> None:
    """mmcv's rule differs from the derivative, by at most 1 in each place."""
    clip = values(torch, "float64", 2, 4, 6, 1)
    for rows in ([[0, 1, 2], [3, -1, 4]], [[-2, -1, 9], [0, 0, 1]]):
        shift = torch.tensor(rows, dtype=torch.int32)
        assert torch.autograd.gradcheck(ops.tin_shift, (clip, shift), atol=1, rtol=0.1)


@every_dtype
@pytest.mark.parametrize("kind", ["collect", "distribute"])
def test_masks_of_one_cell_and_none(torch: Any, ops: Any, dtype: str, kind: str) -> None:
    """A mask of 1 x 1 is the diagonal; strides of a dim of one element may be anything."""
    masks = values(torch, dtype, 2, 1, 3, 4)
    spread = ops.PSAMask(kind, (1, 1))(masks)
    expected = torch.diag_embed(masks.reshape(2, 12)).reshape(2, 12, 3, 4)
    assert torch.equal(spread, expected)
    weight = values(torch, dtype, *spread.shape).detach()
    (gradient,) = torch.autograd.grad(spread, masks, weight)
    assert torch.equal(gradient.reshape(2, 12), weight.reshape(2, 12, 12).diagonal(dim1=1, dim2=2))
    nothing = values(torch, dtype, 0, 9, 3, 4)
    ops.PSAMask(kind, (3, 3))(nothing).sum().backward()
    assert nothing.grad.shape == nothing.shape
    with pytest.raises(AssertionError):
        ops.PSAMask("other", (3, 3))


@every_dtype
@pytest.mark.parametrize("pool_size", [1, 2, 10])
def test_a_constant_map_has_constant_borders(torch: Any, ops: Any, dtype: str, pool_size: int) -> None:
    features = torch.full((1, 8, 5, 6), 0.5, dtype=getattr(torch, dtype), requires_grad=True)
    boxes = torch.tensor([[[0, 0, 3, 4], [1, 1, 2, 2], [2, 0, 2, 4]]], dtype=features.dtype)
    borders = ops.BorderAlign(pool_size)(features, boxes)
    assert borders.shape == (1, 2, 3, 4) and bool((borders == 0.5).all())
    borders.backward(torch.ones_like(borders))
    assert features.grad.sum() == 2 * 3 * 4  # every border gives its gradient to the map
    none = ops.border_align(features, boxes[:, :0], pool_size)
    assert none.shape == (1, 2, 0, 4)


@every_dtype
def test_points_that_are_few(torch: Any, ops: Any, dtype: str) -> None:
    kind = getattr(torch, dtype)
    target, source = torch.zeros(1, 2, 3, dtype=kind), torch.tensor([[[1, 0, 0], [0, 2, 0], [0, 0, 3]]], dtype=kind)
    distance, index = ops.three_nn(target, source)
    assert distance.tolist() == [[[1, 2, 3]] * 2] and index.tolist() == [[[0, 1, 2]] * 2]
    assert (distance.dtype, index.dtype) == (kind, torch.int32)
    features = values(torch, dtype, 1, 4, 3)
    weight = torch.tensor([[[1, 0, 0], [0, 0, 1]]], dtype=kind)
    ops.three_interpolate(features, index, weight).sum().backward()
    assert features.grad.tolist() == [[[1, 0, 1]] * 4]
    for points, centres in ((0, 2), (3, 0), (0, 0)):
        found = ops.ball_query(0, 1, 2, source[:, :points].contiguous(), target[:, :centres].contiguous())
        assert (found.shape, found.dtype) == ((1, centres, 2), torch.int32) and not found.any()
    with pytest.raises(AssertionError):
        ops.ball_query(0, 1, 2, source.transpose(1, 2), target)


@pytest.mark.parametrize("kind", ["SubMConv3d", "SparseConv3d", "SparseConvTranspose3d"])
@pytest.mark.parametrize("size", [3, (1, 1, 3), (3, 1, 1)], ids=str)
def test_a_block_out_of_the_registry(torch: Any, ops: Any, kind: str, size: Any) -> None:
    """A convolution as a detector's configuration asks for it, its normalisation, and the inverse of it."""
    from mmcv.cnn import build_conv_layer, build_norm_layer

    torch.manual_seed(4)
    rows = torch.tensor([[0, 12, 19, 31], [0, 16, 7, 36], [1, 16, 5, 32], [1, 35, 30, 9]], dtype=torch.int32)
    layer = build_conv_layer({"type": kind, "indice_key": "key"}, 4, 16, size, bias=False)
    _, norm = build_norm_layer({"type": "BN1d", "eps": 1e-3, "momentum": 0.01}, 16)
    block = ops.SparseSequential(layer, norm, torch.nn.ReLU(inplace=True))
    features = values(torch, "float32", 4, 4)
    result = block(ops.SparseConvTensor(features, rows, [41, 40, 48], 2))
    assert isinstance(block[0], getattr(ops, kind)) and result.features.shape[1] == 16
    back = ops.SparseInverseConv3d(16, 4, size, indice_key="key")(result)
    assert back.features.shape == (4, 4) and torch.equal(back.indices, rows)
    back.features.square().sum().backward()
    assert features.grad.shape == (4, 4) and bool(features.grad.isfinite().all())
    assert all(parameter.grad is not None for parameter in block.parameters())


@pytest.mark.parametrize("kind", ["SubMConv3d", "SparseConv3d", "SparseConvTranspose3d", "SparseMaxPool3d"])
def test_no_voxels(torch: Any, ops: Any, kind: str) -> None:
    layer = ops.SparseMaxPool3d(3) if kind == "SparseMaxPool3d" else getattr(ops, kind)(4, 5, 3)
    features = torch.zeros(0, 4, requires_grad=True)
    result = layer(ops.SparseConvTensor(features, torch.zeros(0, 4, dtype=torch.int32), [8, 8, 8], 1))
    result.features.sum().backward()
    assert result.features.shape == (0, 4 if kind == "SparseMaxPool3d" else 5)
    assert features.grad.shape == (0, 4)


def test_types_that_mmcv_refuses_for_sparse_convolutions(torch: Any, ops: Any) -> None:
    rows = torch.tensor([[0, 1, 1, 1]], dtype=torch.int32)
    with pytest.raises(NotImplementedError):
        ops.SubMConv3d(4, 4, 3).double()(ops.SparseConvTensor(torch.rand(1, 4).double(), rows, [8, 8, 8], 1))
    with pytest.raises(RuntimeError, match="indices: expected int32, got int64"):
        ops.SubMConv3d(4, 4, 3)(ops.SparseConvTensor(torch.rand(1, 4), rows.long(), [8, 8, 8], 1))


def test_a_given_grid_changes_nothing(torch: Any, ops: Any) -> None:
    torch.manual_seed(5)
    rows = torch.tensor([[0, 1, 1, 1], [0, 1, 2, 1], [0, 6, 7, 5]], dtype=torch.int32)
    layer, features = ops.SparseConv3d(4, 5, 3, stride=2, padding=1), torch.rand(3, 4)
    expected = layer(ops.SparseConvTensor(features, rows, [8, 8, 8], 1))
    found = layer(ops.SparseConvTensor(features, rows, [8, 8, 8], 1, grid=torch.full((64,), -1, dtype=torch.int32)))
    assert torch.equal(found.features, expected.features) and torch.equal(found.indices, expected.indices)


@every_dtype
def test_the_function_of_deformable_attention_is_its_formula_in_pytorch(torch: Any, ops: Any, dtype: str) -> None:
    from mmcv.ops.multi_scale_deform_attn import (
        MultiScaleDeformableAttnFunction,
        multi_scale_deformable_attn_pytorch,
    )

    sizes = torch.tensor([[6, 4], [3, 2]])
    starts = torch.tensor([0, 24])
    maps, places = values(torch, dtype, 1, 30, 2, 5), values(torch, dtype, 1, 2, 2, 2, 2, 2)
    weights = values(torch, dtype, 1, 2, 2, 2, 2)
    found = MultiScaleDeformableAttnFunction.apply(maps, sizes, starts, places, weights, 2)
    expected = multi_scale_deformable_attn_pytorch(maps.double(), sizes, places.double(), weights.double())
    assert found.dtype == maps.dtype
    tolerance = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    np.testing.assert_allclose(found.double().detach(), expected.detach(), rtol=tolerance, atol=0)


def test_the_module_of_deformable_attention(torch: Any, ops: Any) -> None:
    module = ops.MultiScaleDeformableAttention(32, 4, num_levels=2, num_points=2, batch_first=True)
    query, maps = values(torch, "float32", 2, 5, 32), values(torch, "float32", 2, 20, 32)
    sizes, starts = torch.tensor([[4, 4], [2, 2]]), torch.tensor([0, 16])
    where = torch.rand(2, 5, 2, 2)
    result = module(query, value=maps, reference_points=where, spatial_shapes=sizes, level_start_index=starts)
    result.sum().backward()
    assert result.shape == (2, 5, 32) and query.grad is not None
    with pytest.raises(ValueError, match="divisible"):
        ops.MultiScaleDeformableAttention(32, 7)


# ---- Results in place, and mmcv's own code -------------------------------------------------------


def test_results_can_be_changed_in_place(torch: Any, ops: Any) -> None:
    """No result of an autograd.Function is a view, which PyTorch would not let a program change."""
    from mmcv.ops.multi_scale_deform_attn import MultiScaleDeformableAttnFunction

    def attend(value: Any, queries: int) -> Any:
        places, weights = (torch.rand(1, queries, 1, 1, 2, 2, dtype=value.dtype), torch.rand(1, queries, 1, 1, 2))
        maps = torch.tensor([[2, 2]]), torch.tensor([0])
        return MultiScaleDeformableAttnFunction.apply(value, *maps, places, weights.to(value.dtype), 64)

    rows, near = torch.tensor([[0, 1, 1, 1], [0, 1, 2, 1]], dtype=torch.int32), torch.zeros(1, 5, 3, dtype=torch.int32)
    shift = torch.tensor([[1, 0]], dtype=torch.int32)
    functions = {
        "tin_shift": ((1, 3, 4, 2), lambda clip: ops.tin_shift(clip, shift)),
        "psa_mask": ((1, 9, 4, 4), ops.PSAMask("distribute", (3, 3))),
        "border_align": ((1, 8, 4, 4), lambda maps: ops.border_align(maps, 3 * torch.rand(1, 3, 4).to(maps.dtype), 3)),
        "three_interpolate": ((1, 3, 7), lambda f: ops.three_interpolate(f, near, torch.ones(1, 5, 3).to(f.dtype))),
        "ms_deform_attn": ((1, 4, 1, 2), lambda value: attend(value, 3)),
        "no queries": ((1, 4, 1, 2), lambda value: attend(value, 0)),
    }
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for name, (shape, function) in functions.items():
            given = values(torch, dtype, *shape)
            result = function(given)
            result += 1
            result.sum().backward()
            assert given.grad is not None and not given.grad._is_view() and not result._is_view(), (name, dtype)
            assert bool(given.grad.any()) == (name != "no queries")
    for layer in (ops.SubMConv3d(2, 3, 3), ops.SparseConv3d(2, 3, 3, 2), ops.SparseConvTranspose3d(2, 3, 3)):
        features = values(torch, "float32", 2, 2)
        result = layer(ops.SparseConvTensor(features, rows, [8, 8, 8], 1)).features
        result *= 2
        result.sum().backward()
        assert not any(one._is_view() for one in (features.grad, layer.weight.grad))
