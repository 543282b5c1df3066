"""``SparseConvTensor`` of spconv, its modules that are no convolutions, and its functions."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from .scenes import SPACES, scene  # noqa: E402

nn = torch.nn


def test_members(spconv: Any) -> None:
    x = scene(spconv, 3, 2, voxel_num=torch.tensor([20]), benchmark=True, force_algo=spconv.ConvAlgo.Native)
    assert (x.spatial_shape, x.batch_size, x.spatial_size) == (SPACES[3], 3, 210)
    assert (x.grid.numel(), x.indice_dict, x.benchmark, x.benchmark_record) == (0, {}, True, {})
    assert (x.thrust_allocator, x._timer, x.int8_scale, x.is_quantized) == (None, None, None, False)
    assert (x.force_algo, x.voxel_num.item()) == (spconv.ConvAlgo.Native, 20)
    assert repr(x) == "SparseConvTensor[shape=[20, 2]]"
    with pytest.raises(ValueError, match=r"features cannot be set; use x = x\.replace_feature\(features\)"):
        x.features = x.features * 2
    with pytest.raises(ValueError, match="q_scale"):
        x.q_scale()
    for space in ((5, 6, 7), np.array([5, 6, 7]), torch.tensor([5, 6, 7]), [np.int64(5), 6, 7]):
        y = spconv.SparseConvTensor(x.features, x.indices, space, 3)
        assert y.spatial_shape == [5, 6, 7]
        assert all(type(size) is int for size in y.spatial_shape)
    keywords = {"features": x.features, "indices": x.indices, "spatial_shape": SPACES[3], "batch_size": 3}
    assert spconv.SparseConvTensor(**keywords, grid=torch.ones(1)).grid.item() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"features": torch.ones(2)}, "features: expected shape"),
        ({"indices": torch.ones(2, dtype=torch.int32)}, "indices: expected shape"),
        ({"indices": torch.zeros(2, 4)}, "indices: expected int32"),
        ({"indices": torch.zeros(2, 4, dtype=torch.int64)}, "indices: expected int32"),
        ({"spatial_shape": [4, 4]}, "spatial_shape: expected 3 sizes"),
        ({"batch_size": 0}, "batch_size: expected more than 0"),
    ],
)
def test_refusals(spconv: Any, change: dict[str, Any], told: str) -> None:
    good = {"features": torch.ones(2, 1), "indices": torch.zeros(2, 4, dtype=torch.int32)}
    good |= {"spatial_shape": [4, 4, 4], "batch_size": 1}
    spconv.SparseConvTensor(**good)
    with pytest.raises(AssertionError, match=told):
        spconv.SparseConvTensor(**(good | change))


def test_places_outside_are_refused_by_a_layer(spconv: Any) -> None:
    x = spconv.SparseConvTensor(torch.ones(2, 1), torch.tensor([[0, 1], [0, 9]], dtype=torch.int32), [4], 1)
    for use in (spconv.SubMConv1d(1, 1, 3), spconv.SparseMaxPool1d(2), spconv.ToDense()):
        with pytest.raises(ValueError, match="0 <= axis 0 < 4, got 9 at row 1"):
            use(x)


def test_copies(spconv: Any) -> None:
    x = spconv.SubMConv3d(2, 2, 3, indice_key="k").double()(scene(spconv, 3, 2))
    for y in (x.shadow_copy(), x.replace_feature(x.features * 2), x.minus()):
        assert y is not x
        assert y.indices is x.indices
        assert y.indice_dict is x.indice_dict
    assert x.shadow_copy().features is x.features
    assert torch.equal(x.minus().features, -x.features)
    chosen = x.select_by_index(torch.tensor([3, 1]))
    assert torch.equal(chosen.features, x.features[[3, 1]])
    assert torch.equal(chosen.indices, x.indices[[3, 1]])
    assert (chosen.indice_dict, list(x.indice_dict)) == ({}, ["k"])
    kept = spconv.SubMConv3d(2, 2, 3, indice_key="k").double()(chosen)
    assert len(kept.features) == 2


def test_other_numbers_of_rows(spconv: Any) -> None:
    """VoxelNeXt joins the rows of three strides so."""
    x = scene(spconv, 3, 2)
    y = x.replace_feature(torch.cat([x.features, x.features[:3]]))
    y.indices = torch.cat([x.indices, x.indices[:3]])
    assert (len(y.features), len(x.indices), len(x.features)) == (23, 20, 20)
    out = spconv.SparseConv3d(2, 2, 3, 2, 1).double()(y)
    out.features.sum().backward()
    assert x.features.grad.abs().sum() > 0


def test_dense(spconv: Any) -> None:
    x = scene(spconv, 2, 3)
    dense = torch.zeros(3, *SPACES[2], 3, dtype=torch.float64)
    dense[tuple(x.indices.long().unbind(1))] = x.features.detach()
    assert torch.equal(x.dense(channels_first=False), dense)
    assert torch.equal(x.dense(), dense.movedim(-1, 1))
    again = spconv.SparseConvTensor.from_dense(dense)
    assert isinstance(again, spconv.SparseConvTensor)
    assert torch.equal(again.dense(False), dense)
    assert torch.equal(again.indices, dense.to_sparse(3).indices().t().int())
    found = spconv.core.scatter_nd(x.indices.long(), x.features, [3, *SPACES[2], 3])
    assert torch.equal(found, dense)
    assert spconv.core.expand_nd(2, 3) == [3, 3]


def test_sums(spconv: Any) -> None:
    x = spconv.SubMConv3d(2, 2, 3, indice_key="k").double()(scene(spconv, 3, 2))
    y = x.replace_feature(x.features * 2)
    for total in (x + y, x + y.features, y + x):
        assert torch.equal(total.features, 3 * x.features)
        assert total.indice_dict is x.indice_dict
    torch.testing.assert_close(sum([x, y, y]).features, 5 * x.features)
    before = x
    x += y
    assert torch.equal(x.features, 3 * before.features)
    other = scene(spconv, 3, 2, (4, 5, 6))
    for function in (spconv.functional.sparse_add, spconv.functional.sparse_add_hash_based):
        both = function(before, other)
        assert isinstance(both, spconv.SparseConvTensor)
        torch.testing.assert_close(both.dense(), before.dense() + other.dense())
    assert torch.equal(spconv.tables.AddTableMisaligned()([before, other]).dense(), both.dense())


def test_tables(spconv: Any) -> None:
    x = scene(spconv, 3, 2)
    table = spconv.ConcatTable().add(spconv.Identity()).add(spconv.SubMConv3d(2, 2, 3).double())
    first, second = table(x)
    assert first is x
    joined, added = spconv.JoinTable()([first, second]), spconv.AddTable()([first, second])
    assert torch.equal(joined.features, torch.cat([x.features, second.features], 1))
    assert torch.equal(added.features, x.features + second.features)
    network = spconv.SparseSequential(table, spconv.AddTable(), spconv.SparseReLU())
    assert torch.equal(network(x).features, added.features.relu())
    for table in (spconv.JoinTable(), spconv.AddTable()):
        with pytest.raises(AssertionError, match="expected 20 rows, got 3"):
            table([x, scene(spconv, 3, 2, (1, 1, 1))])
        with pytest.raises(AssertionError, match="expected batch_size 3, got 2"):
            table([x, scene(spconv, 3, 2, (10, 10))])


def test_modules_of_features(spconv: Any) -> None:
    x = scene(spconv, 3, 4)
    plain, own = nn.BatchNorm1d(4).double(), spconv.SparseBatchNorm(4).double()
    assert torch.equal(own(x).features, plain(x.features))
    assert torch.equal(own(x.features), plain(x.features))
    assert torch.equal(spconv.SparseReLU()(x).features, x.features.relu())
    assert spconv.SparseIdentity()(x).features is x.features
    assert spconv.SparseIdentity()(x.features) is x.features
    assert torch.equal(spconv.ToDense()(x), x.dense())
    assert spconv.RemoveGrid()(x.shadow_copy()).grid is None
    modules = (own, spconv.SparseReLU(), spconv.Identity(), spconv.SubMConv3d(1, 1, 3))
    assert all(spconv.modules.is_spconv_module(module) for module in modules)
    assert not spconv.modules.is_spconv_module(plain)
    assert [spconv.modules.is_sparse_conv(module) for module in modules] == [False, False, False, True]
    assert isinstance(spconv.modules.SparseSyncBatchNorm(4), nn.SyncBatchNorm)


def test_sequences(spconv: Any) -> None:
    first, second = nn.ReLU(), nn.Linear(2, 5).double()
    network = spconv.SparseSequential(first, second, third=nn.ReLU())
    assert [name for name, _ in network.named_children()] == ["0", "1", "third"]
    named = spconv.SparseSequential(OrderedDict(a=first, b=second))
    assert [name for name, _ in named.named_children()] == ["a", "b"]
    assert (len(network), network[-2], network[0]) == (3, second, first)
    with pytest.raises(KeyError):
        network.add(first, "third")
    network.add(spconv.ToDense())
    with pytest.raises(TypeError):
        network[0:1]
    x = scene(spconv, 3, 2)
    assert torch.equal(network(x), x.replace_feature(second(x.features.relu()).relu()).dense())
    assert torch.equal(named(x.features), second(x.features.relu()))

    class Block(spconv.SparseModule):
        def __init__(self) -> None:
            super().__init__(name="block")
            self.conv = spconv.SubMConv3d(2, 2, 3, indice_key="b").double()

        def forward(self, x: Any) -> Any:
            assert isinstance(x, spconv.SparseConvTensor)
            out = self.conv(x)
            return out.replace_feature(out.features + x.features)

    whole = spconv.SparseSequential(Block(), nn.Identity())
    assert whole(x).features.shape == (20, 2)
    spconv.assign_name_for_sparse_modules(whole)
    assert (whole[0].name, whole[0]._sparse_unique_name, whole[0].conv._sparse_unique_name) == ("block", "0", "0.conv")


def test_pairs_and_products(spconv: Any) -> None:
    x = scene(spconv, 3, 2)
    ops = spconv.ops
    for subm, transpose in ((False, False), (True, False), (False, True)):
        window = (3, 1 if subm else 2, 1, 1)
        given = (x.indices, 3, SPACES[3], spconv.ConvAlgo.Native, *window, 0)
        out, pairs, num = ops.get_indice_pairs(*given, subm=subm, transpose=transpose)
        module = spconv.conv.SparseConvolution(3, 2, 4, *window, bias=False, subm=subm, transposed=transpose).double()
        wanted = module(x)
        assert torch.equal(out, wanted.indices)
        assert pairs.shape == (2, 27, 20)
        features, weight = x.features.detach().requires_grad_(), module.weight
        found = ops.indice_conv(features, weight, pairs, num, len(out), subm=subm)
        assert torch.equal(found, wanted.features)
        grad = torch.randn(found.shape, dtype=torch.float64)
        want = torch.autograd.grad((wanted.features * grad).sum(), [x.features, weight])
        torch.testing.assert_close(ops.indice_conv_backward(features, weight, grad, pairs, num, subm=subm), want)
        call = spconv.functional.indice_subm_conv if subm else spconv.functional.indice_conv
        assert torch.equal(call(features, weight, pairs, num, len(out), spconv.ConvAlgo.Native), found)
        if not subm:
            pooled = ops.indice_maxpool(features, pairs, num, len(out))
            want = torch.autograd.grad((pooled * grad[:, :2]).sum(), features)[0]
            assert torch.equal(ops.indice_maxpool_backward(features, pooled, grad[:, :2], pairs, num), want)
            back = spconv.functional.indice_inverse_conv(pooled, torch.ones(1, 3, 3, 3, 2).double(), pairs, num, 20)
            assert back.shape == (20, 1)
    assert ops.get_conv_output_size([5, 6], [3, -1], [2, 1], [1, 0], [1, 1]) == [3, 1]
    assert ops.get_deconv_output_size([5], [3], [2], [1], [7], [1]) == [10]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_hash_tables(spconv: Any, dtype: Any) -> None:
    table = spconv.hash.HashTable(torch.device("cpu"), dtype, torch.float32)
    keys = torch.tensor([7, -3, 7, 5], dtype=dtype)
    table.insert(keys, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    values, missing = table.query(torch.tensor([5, 6, 7, -3], dtype=dtype))
    assert (values.tolist(), missing.tolist()) == ([4.0, 0.0, 3.0, 2.0], [False, True, False, False])
    changed = table.insert_exist_keys(torch.tensor([5, 6], dtype=dtype), torch.tensor([9.0, 9.0]))
    assert changed.tolist() == [False, True]
    found = table.items()
    assert [part.tolist() for part in found] == [[-3, 5, 7], [2.0, 9.0, 3.0], [3]]
    assert table.assign_arange_().tolist() == [3]
    assert [part.tolist() for part in table.items(2)] == [[-3, 5], [0.0, 1.0], [2]]
    empty = spconv.hash.HashTable("cpu", dtype, torch.int32)
    assert empty.query(keys)[1].all()
    with pytest.raises(ValueError, match="keys: expected"):
        table.insert(keys.double())
    with pytest.raises(ValueError, match="values: expected"):
        table.insert(keys, torch.zeros(3))
