"""Sparse tensors of other tensors: distinct places, sums, channels side by side, batches, dense tensors."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")

SPACE = [4, 5]


def scene(seed: int, rows: int = 12, channels: int = 2, batch: int = 2, dtype: Any = torch.float64) -> Any:
    """Random places, some of them twice, with features that want gradients."""
    generator = torch.Generator().manual_seed(seed)
    columns = [torch.randint(0, size, (rows,), generator=generator) for size in (batch, *SPACE)]
    features = torch.randn(rows, channels, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    return sparse.SparseConvTensor(features, torch.stack(columns, 1), SPACE, batch)


def assert_ascending(x: Any) -> None:
    """Each place is there once, by batch and place."""
    rows = x.indices.tolist()
    assert rows == sorted({tuple(row) for row in rows}) or rows == [list(r) for r in sorted({tuple(r) for r in rows})]


def gradients(dense: Any, *inputs: Any) -> Any:
    weights = torch.randn(dense.shape, dtype=dense.dtype, generator=torch.Generator().manual_seed(9))
    return torch.autograd.grad((dense * weights).sum(), [x.features for x in inputs])


def assert_same(found: Any, wanted: Any, *inputs: Any) -> None:
    """Dense tensors and their gradients are the same."""
    torch.testing.assert_close(found, wanted, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(gradients(found, *inputs), gradients(wanted, *inputs), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_coalesce(reduce: str) -> None:
    x = scene(1, 30)
    x.indice_dict["k"] = object()
    once = x.coalesce(reduce)
    assert_ascending(once)
    assert not once.indice_dict
    combine = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax}[reduce]
    for place, row in zip(once.indices, once.features, strict=True):
        own = x.features[(x.indices == place).all(1)]
        assert len(own)
        torch.testing.assert_close(row, combine(own, 0), rtol=1e-14, atol=1e-14)
    assert len(once.indices) == len({tuple(row) for row in x.indices.tolist()}) < 30
    if reduce == "sum":
        assert_same(once.dense(), x.dense(), x)
    again = once.coalesce(reduce)
    assert torch.equal(again.indices, once.indices)
    assert torch.equal(again.features, once.features)
    with pytest.raises(ValueError, match=r"reduce: expected one of sum, mean, max, got 'min'"):
        x.coalesce("min")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_types_are_rounded_once(dtype: Any) -> None:
    rows = torch.full((4097, 1), 1.0, dtype=dtype)
    x = sparse.SparseConvTensor(rows, torch.zeros(4097, 2, dtype=torch.int32), [1], 1)
    assert x.coalesce().features.item() == torch.tensor(4097.0).to(dtype).item()
    assert x.coalesce("mean").features.item() == 1.0


def test_spaces_beyond_64_bits() -> None:
    space = [2**31 - 1] * 3
    places = [[1, 2**31 - 2, 5, 0], [0, 3, 3, 3], [1, 2**31 - 2, 5, 0], [0, 3, 3, 2]]
    x = sparse.SparseConvTensor(torch.tensor([[1.0], [2.0], [4.0], [8.0]]), torch.tensor(places), space, 4)
    once = x.coalesce()
    assert once.indices.tolist() == [places[3], places[1], places[0]]
    assert once.features.flatten().tolist() == [8.0, 2.0, 5.0]


def test_sums() -> None:
    x, y, z = scene(1), scene(2, 7), scene(3, 0)
    for found in (sparse.sparse_add(x, y, z), x + y + z, sum([x, y, z])):
        assert_ascending(found)
        assert_same(found.dense(), x.dense() + y.dense() + z.dense(), x, y)
    assert sparse.sparse_add(x).features is x.features
    kept = sparse.SubMConv2d(2, 2, 3, indice_key="k").double()(x)
    other = kept.replace_feature(kept.features * 2)
    both = kept + other
    assert both.indices is kept.indices
    assert list(both.indice_dict) == ["k"]
    assert torch.equal(both.features, 3 * kept.features)
    more = kept + kept.features
    assert torch.equal(more.features, 2 * kept.features)
    assert torch.equal((1 + kept).features, kept.features + 1)
    with pytest.raises(TypeError):
        kept + "1"


def test_channels_side_by_side() -> None:
    x, y = scene(1, channels=2), scene(2, 7, channels=3)
    found = sparse.sparse_cat(x, y, x)
    assert_ascending(found)
    assert_same(found.dense(), torch.cat([x.dense(), y.dense(), x.dense()], 1), x, y)


def test_batches_after_each_other() -> None:
    x, y = scene(1), scene(2, 7, batch=3)
    found = sparse.sparse_collate(x, y)
    assert found.batch_size == 5
    assert_same(found.dense(), torch.cat([x.dense(), y.dense()]), x, y)
    assert x.indices[:, 0].max() < 2  # the inputs stay


@pytest.mark.parametrize("name", ["sparse_add", "sparse_cat", "sparse_collate"])
def test_tensors_that_do_not_fit(name: str) -> None:
    function, x = getattr(sparse, name), scene(1)
    with pytest.raises(ValueError, match=f"^{name}: tensors: expected one or more, got none"):
        function()
    with pytest.raises(TypeError, match=f"^{name}: tensor 1: expected a SparseConvTensor, got Tensor"):
        function(x, x.features)
    wrong = {
        "spatial_shape": sparse.SparseConvTensor(x.features, x.indices, [4, 6], 2),
        "batch_size": sparse.SparseConvTensor(x.features, x.indices, SPACE, 3),
        "channels": sparse.SparseConvTensor(x.features[:, :1], x.indices, SPACE, 2),
    }
    allowed = {"sparse_add": [], "sparse_cat": ["channels"], "sparse_collate": ["batch_size"]}[name]
    for fact, other in wrong.items():
        if fact in allowed:
            function(x, other)
        else:
            with pytest.raises(ValueError, match=f"^{name}: tensor 1: expected {fact} "):
                function(x, other)


@pytest.mark.parametrize("channels_first", [True, False])
@pytest.mark.parametrize("space", [[7], [3, 4], [2, 3, 4], [2, 2, 2, 2]])
def test_dense_tensors(space: list[int], channels_first: bool) -> None:
    generator = torch.Generator().manual_seed(4)
    dense = torch.randn(2, *space, 3, generator=generator)
    dense = dense * (torch.rand(dense.shape[:-1], generator=generator) < 0.4)[..., None]
    dense[0, *[0] * len(space)] = torch.tensor([0.0, torch.nan, 0.0])
    dense = (dense.movedim(-1, 1) if channels_first else dense).double().requires_grad_()
    x = sparse.SparseConvTensor.from_dense(dense, channels_first)
    assert (x.batch_size, x.spatial_shape, x.indices.dtype) == (2, space, torch.int32)
    assert_ascending(x)
    torch.testing.assert_close(x.dense(channels_first), dense, rtol=0, atol=0, equal_nan=True)
    x.features.sum().backward()
    rows = x.with_rows(torch.ones_like(x.features), x.indices, space, {})
    assert torch.equal(dense.grad, rows.dense(channels_first))
    assert len(sparse.SparseConvTensor.from_dense(torch.zeros(2, *space, 3), False).indices) == 0
    with pytest.raises(ValueError, match=r"^SparseConvTensor: dense: expected shape \[batch_size, "):
        sparse.SparseConvTensor.from_dense(torch.zeros(2, 3), channels_first)
    with pytest.raises(TypeError, match=r"^SparseConvTensor: dense: expected a torch\.Tensor, got ndarray"):
        sparse.SparseConvTensor.from_dense(torch.zeros(2, 3).numpy(), channels_first)


def test_gradients_of_gradients() -> None:
    x, y = scene(1, 6), scene(2, 5)

    def function(first: Any, second: Any) -> Any:
        a, b = x.replace_feature(first), y.replace_feature(second)
        parts = [sparse.sparse_add(a, b), sparse.sparse_cat(a, b), a.coalesce("mean"), a.coalesce("max")]
        return torch.cat([part.features.flatten() ** 2 for part in parts])

    assert torch.autograd.gradcheck(function, (x.features, y.features))
    assert torch.autograd.gradgradcheck(function, (x.features, y.features))


def test_compiled_traced_and_registered() -> None:
    torch._dynamo.reset()
    x, y = scene(1), scene(2, 7)

    def function(first: Any, places: Any, second: Any, others: Any) -> Any:
        a = sparse.SparseConvTensor(first, places, SPACE, 2)
        b = sparse.SparseConvTensor(second, others, SPACE, 2)
        both = sparse.sparse_cat(sparse.sparse_add(a, b), a.coalesce("max"))
        again = sparse.SparseConvTensor.from_dense(both.dense())
        return again.dense(), sparse.SparseGlobalAvgPool()(both), sparse.SparseGlobalMaxPool()(again)

    arguments = x.features, x.indices, y.features, y.indices
    wanted = function(*arguments)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found = torch.compile(function, fullgraph=True, backend="aot_eager")(*arguments)
    torch.testing.assert_close(found, wanted)
    losses = (sum(part.square().sum() for part in parts) for parts in (found, wanted))
    torch.testing.assert_close(*(torch.autograd.grad(loss, (x.features, y.features)) for loss in losses))
    operators, group = torch.ops.pymluops, x.indices[:, 0]
    pairs = torch.stack([torch.arange(12, dtype=torch.int32), group])[None]
    num = torch.tensor([12])
    cells = torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(operators.sparse_distinct.default, (x.indices, 2, SPACE))
    torch.library.opcheck(operators.sparse_occupied.default, (x.dense().detach().movedim(1, -1),))
    torch.library.opcheck(operators.sparse_row_sums.default, (x.features, pairs, num, 0, 2))
    torch.library.opcheck(operators.sparse_row_products.default, (x.features, cells, pairs, num, 0, 2))
    torch.library.opcheck(
        operators.sparse_row_factors.default, (x.features, cells.detach().repeat(2, 1).requires_grad_(), pairs, num, 0)
    )
    torch.library.opcheck(operators.sparse_max_pool.default, (x.features, pairs, num, 2, True))
