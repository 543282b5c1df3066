"""Pools of sparse tensors: true maxima, means, whole batches; against PyTorch's dense pools and loops in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")
functional = torch.nn.functional

SPACES = {1: [11], 2: [7, 9], 3: [5, 6, 7], 4: [3, 4, 3, 4]}
WINDOWS = [(3, 2, 1, 1), (2, 2, 0, 1), (3, 1, 1, 2)]


def scene(ndim: int, channels: int = 3, counts: tuple[int, ...] = (9, 0, 10), dtype: Any = torch.float64) -> Any:
    """Random places, so many in each batch, with features of both signs that want gradients."""
    rng, space = np.random.default_rng(ndim), SPACES[ndim]
    parts = []
    for batch, count in enumerate(counts):
        places = np.unravel_index(rng.permutation(int(np.prod(space)))[:count], space)
        parts.append(np.stack([np.full(count, batch), *places], 1))
    indices = torch.from_numpy(np.concatenate(parts).astype(np.int32))
    features = torch.from_numpy(rng.normal(0, 1, (len(indices), channels))).to(dtype).requires_grad_()
    return sparse.SparseConvTensor(features, indices, space, len(counts))


def occupied(x: Any) -> Any:
    """1 at the places of a tensor, [batch, 1, *space]."""
    ones = torch.ones(len(x.indices), 1, dtype=torch.float64)
    return sparse.SparseConvTensor(ones, x.indices, x.spatial_shape, x.batch_size).dense()


def windows_of(x: Any, out: Any, window: tuple[int, ...]) -> list[list[int]]:
    """For each output row the input rows under its window."""
    size, stride, padding, dilation = window
    found = []
    for batch, *place in out.indices.tolist():
        rows = []
        for row, (other, *at) in enumerate(x.indices.tolist()):
            steps = [(a + padding - p * stride) / dilation for a, p in zip(at, place, strict=True)]
            if batch == other and all(step in range(size) for step in steps):
                rows.append(row)
        found.append(rows)
    return found


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_true_maxima_and_means(ndim: int, window: tuple[int, ...]) -> None:
    x = scene(ndim)
    values = x.features.detach().numpy()
    for kind, combine in (("Max", np.max), ("Avg", np.mean)):
        options = {"true_maximum": True} if kind == "Max" else {}
        out = getattr(sparse, f"Sparse{kind}Pool{ndim}d")(*window, **options)(x)
        rows = windows_of(x, out, window)
        assert all(rows)  # no place without a row, and each row under some window
        wanted = np.stack([combine(values[own], 0) for own in rows])
        np.testing.assert_allclose(out.features.detach().numpy(), wanted, rtol=1e-14, atol=1e-14)
        weights = torch.randn(out.features.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        (gradient,) = torch.autograd.grad((out.features * weights).sum(), x.features)
        expected = np.zeros_like(values)
        for own, best, weight in zip(rows, wanted, weights.numpy(), strict=True):
            for row in own:
                expected[row] += weight * (values[row] == best) if kind == "Max" else weight / len(own)
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_against_dense_pools(ndim: int) -> None:
    """PyTorch's pools have the same places and values where the others are -infinity, or 0 in numerator and count."""
    x, window = scene(ndim), (3, 2, 1)
    places = occupied(x)
    out = getattr(sparse, f"SparseMaxPool{ndim}d")(*window, true_maximum=True)(x)
    hidden = torch.where(places.bool(), x.dense(), -torch.inf)
    dense = getattr(functional, f"max_pool{ndim}d")(hidden, *window)
    reached = torch.isfinite(dense[:, :1])
    assert torch.equal(occupied(out).bool(), reached)
    assert torch.equal(out.dense(), torch.where(reached, dense, 0))
    mean = getattr(functional, f"avg_pool{ndim}d")
    out = getattr(sparse, f"SparseAvgPool{ndim}d")(*window)(x)
    dense = mean(x.dense(), *window) / mean(places, *window).clamp(min=1e-9)
    torch.testing.assert_close(out.dense(), torch.where(reached, dense, 0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_pools_of_batches(dtype: Any) -> None:
    x = scene(3, 4, (6, 0, 1, 9), dtype)
    largest, mean = sparse.SparseGlobalMaxPool()(x), sparse.SparseGlobalAvgPool()(x)
    assert (largest.dtype, mean.dtype, largest.shape, mean.shape) == (dtype, dtype, (4, 4), (4, 4))
    batches = [x.features.detach()[x.indices[:, 0] == b] for b in range(4)]
    for b, rows in enumerate(batches):
        assert torch.equal(largest[b], rows.amax(0) if len(rows) else torch.zeros(4, dtype=dtype))
        exact = rows.double().mean(0) if len(rows) else torch.zeros(4, dtype=torch.float64)
        torch.testing.assert_close(mean[b].double(), exact, rtol=torch.finfo(dtype).eps, atol=1e-6)
    (largest.sum() + mean.sum()).backward()
    for b, rows in enumerate(batches):
        own = x.indices[:, 0] == b
        wanted = (rows == largest[b]).to(dtype) + (1 / torch.tensor(max(1, len(rows)), dtype=dtype))
        torch.testing.assert_close(x.features.grad[own], wanted, rtol=2 * torch.finfo(dtype).eps, atol=0)


def test_negative_maxima_are_an_option() -> None:
    features = torch.tensor([[-1.0], [-2.0]], requires_grad=True)
    x = sparse.SparseConvTensor(features, torch.tensor([[0, 1], [0, 2]]), [4], 1)
    assert sparse.SparseMaxPool1d(4)(x).features.tolist() == [[0.0]]
    true = sparse.SparseMaxPool1d(4, true_maximum=True)
    assert true(x).features.tolist() == [[-1.0]]
    assert torch.autograd.grad(true(x).features.sum(), features)[0].tolist() == [[1.0], [0.0]]


def test_a_row_without_pairs_is_zero() -> None:
    pairs, num = torch.tensor([[[0, 1], [2, 2]]], dtype=torch.int32), torch.tensor([2])
    features = torch.tensor([[-1.0, torch.nan], [-3.0, 1.0]])
    found = sparse.indice_maxpool(features, pairs, num, 4, true_maximum=True)
    assert found[[0, 1, 3]].tolist() == [[0.0, 0.0]] * 3
    assert found[2, 0] == -1
    assert found[2, 1].isnan()
    assert sparse.indice_avgpool(features[:, :1], pairs, num, 4).tolist() == [[0.0], [0.0], [-2.0], [0.0]]
    lowest = torch.full((1, 1), -torch.inf)
    assert sparse.indice_maxpool(lowest, pairs[:, :, :1] * 0, num - 1, 1, true_maximum=True).tolist() == [[-torch.inf]]


@pytest.mark.parametrize(("side", "row"), [(0, 2), (1, 4), (0, -1), (1, -1)])
def test_means_of_rows_that_do_not_exist(side: int, row: int) -> None:
    pairs, num = torch.zeros((1, 2, 2), dtype=torch.int32), torch.tensor([2])
    pairs[0, side, 1] = row
    with pytest.raises(IndexError, match="indice_pairs: expected rows from 0"):
        sparse.indice_avgpool(torch.ones(2, 1), pairs, num, 4)
    with pytest.raises(ValueError, match="num_activate_out"):
        sparse.indice_avgpool(torch.ones(2, 1), pairs, num, -1)


def test_gradients_of_gradients() -> None:
    x = scene(2, 2, (4, 3))
    pool, mean = sparse.SparseMaxPool2d(3, 2, 1, true_maximum=True), sparse.SparseAvgPool2d(3, 2, 1)
    layers = (pool, mean, sparse.SparseGlobalMaxPool(), sparse.SparseGlobalAvgPool())
    for layer in layers:

        def function(features: Any, layer: Any = layer) -> Any:
            out = layer(x.replace_feature(features))
            return out if isinstance(out, torch.Tensor) else out.features

        assert torch.autograd.gradcheck(function, (x.features,))
        assert torch.autograd.gradgradcheck(function, (x.features,))


@pytest.mark.parametrize("pool", ["SparseMaxPool2d", "SparseAvgPool2d"])
def test_an_inverse_convolution_goes_back_from_a_pool(pool: str) -> None:
    x = scene(2)
    middle = getattr(sparse, pool)(2, 2, indice_key="down")(x)
    assert list(middle.indice_dict) == ["down"]
    up = sparse.SparseInverseConv2d(3, 5, 2, indice_key="down").double()
    assert torch.equal(up(middle).indices, x.indices)
    with pytest.raises(ValueError, match=f"^{pool}: indice_key: 'down' is that of another layer: expected kernel_size"):
        getattr(sparse, pool)(3, indice_key="down")(x.with_rows(x.features, x.indices, [7, 9], middle.indice_dict))


def test_pools_in_sequences_and_without_rows() -> None:
    network = sparse.SparseSequential(sparse.SubMConv3d(3, 4, 3), sparse.SparseGlobalAvgPool(), torch.nn.Linear(4, 2))
    network = network.double()
    assert network(scene(3)).shape == (3, 2)
    for layer in (sparse.SparseGlobalMaxPool(), sparse.SparseGlobalAvgPool()):
        empty = scene(3, 3, (0, 0))
        found = layer(empty)
        assert torch.equal(found, torch.zeros(2, 3, dtype=torch.float64))
        found.sum().backward()
        assert empty.features.grad.shape == (0, 3)
    with pytest.raises(TypeError, match="expected a SparseConvTensor, got Tensor"):
        sparse.SparseGlobalMaxPool()(torch.zeros(3, 3))
    with pytest.raises(TypeError, match="SparseAvgPool3d: input: expected a SparseConvTensor, got Tensor"):
        sparse.SparseAvgPool3d(2)(torch.zeros(3, 3))
    with pytest.raises(ValueError, match="expected 2 axes, got 3"):
        sparse.SparseMaxPool2d(2)(scene(3))
    assert repr(sparse.SparseMaxPool1d(2, indice_key="k")).endswith("dilation=[1], indice_key='k')")
