"""Sparse tensors of random places for the tests of spconv, and dense forms of its filters."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

SPACES = {1: [13], 2: [7, 9], 3: [5, 6, 7], 4: [3, 4, 3, 4]}


def scene(
    spconv: Any,
    ndim: int,
    channels: int,
    counts: tuple[int, ...] = (9, 0, 11),
    dtype: Any = torch.float64,
    **options: Any,
) -> Any:
    """Random places, so many in each batch, with features that want gradients."""
    rng, space = np.random.default_rng(ndim), options.pop("space", SPACES[ndim])
    parts = []
    for batch, count in enumerate(counts):
        places = np.unravel_index(rng.permutation(int(np.prod(space)))[:count], space)
        parts.append(np.stack([np.full(len(places[0]), batch), *places], 1))
    indices = torch.from_numpy(np.concatenate(parts).astype(np.int32))
    features = torch.from_numpy(rng.normal(0, 1, (len(indices), channels))).to(dtype).requires_grad_()
    return spconv.SparseConvTensor(features, indices, space, len(counts), **options)


def occupied(x: Any) -> Any:
    """Whether each place has a row, [batch, 1, *space]."""
    ones = torch.ones(len(x.indices), 1, dtype=torch.float64)
    return x.with_rows(ones, x.indices, x.spatial_shape, {}).dense() > 0


def dense_filter(weight: Any) -> Any:
    """A filter [out, *kernel, in] as PyTorch's convolutions have it: [out, in, *kernel]."""
    return weight.movedim(-1, 1)


def transposed_filter(weight: Any) -> Any:
    """A filter [out, *kernel, in] as PyTorch's transposed convolutions have it: [in, out, *kernel]."""
    return weight.movedim(-1, 0)


def assert_follows(module: Any, x: Any, out: Any, dense: Any) -> None:
    """Values at the places of the output, and all gradients, are those of the dense convolution."""
    bias = 0 if module.bias is None else module.bias.view(1, -1, *[1] * module.ndim)
    wanted, found = torch.where(occupied(out), dense + bias, 0), out.dense()
    assert found.shape == wanted.shape
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    weights = torch.randn(found.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    inputs = [x.features, *module.parameters()]
    got = torch.autograd.grad((found * weights).sum(), inputs, retain_graph=True)
    want = torch.autograd.grad((wanted * weights).sum(), inputs, retain_graph=True)
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)
