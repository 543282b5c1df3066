"""The functions of mmcv's extension for chamfer_distance."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import chamfer_distance as oracle

from .values import any_strides, every_dtype, exact, laid, near, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize(("first", "second"), [(9, 9), (12, 5)])
def test_both_directions(torch: Any, ext: ModuleType, dtype: str, strided: bool, first: int, second: int) -> None:
    rng = np.random.default_rng(3)
    # Small integers, with which every type is exact.
    xyz1, xyz2 = (tensor(torch, rng.integers(-4, 5, (2, count, 2)), dtype) for count in (first, second))
    clouds = [laid(torch, cloud, strided) for cloud in (xyz1, xyz2)]
    dists = [torch.full((2, count), 9, dtype=xyz1.dtype) for count in (first, second)]
    idx = [torch.full((2, count), 9, dtype=torch.int32) for count in (first, second)]
    ext.chamfer_distance_forward(*clouds, *dists, *idx)
    wanted = oracle.forward(exact(xyz1), exact(xyz2))
    for found, values in zip(dists, wanted, strict=False):
        near(torch, found, values, dtype)
    for found, values in zip(idx, wanted[2:], strict=True):
        np.testing.assert_array_equal(found.numpy(), values)
    grads = [tensor(torch, rng.integers(-4, 5, dist.shape), dtype) for dist in dists]
    results = [torch.full_like(cloud, 9) for cloud in (xyz1, xyz2)]
    given = [laid(torch, grad, strided) for grad in grads], [laid(torch, result, strided) for result in results]
    ext.chamfer_distance_backward(*clouds, *idx, *given[0], *given[1])
    gradients = oracle.backward(exact(xyz1), exact(xyz2), wanted[2], wanted[3], *map(exact, grads))
    for found, values in zip(given[1], gradients, strict=True):
        near(torch, found, values, dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shape", [(2, 600, 2), (1, 1, 2), (7, 7, 2)])
def test_distances_as_numpy_computes_them(torch: Any, ext: ModuleType, dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    xyz1, xyz2 = (rng.uniform(-10, 10, shape).astype(dtype) for _ in range(2))
    dists = [torch.zeros(shape[:2], dtype=getattr(torch, dtype)) for _ in range(2)]
    idx = [torch.zeros(shape[:2], dtype=torch.int32) for _ in range(2)]
    ext.chamfer_distance_forward(torch.from_numpy(xyz1), torch.from_numpy(xyz2), *dists, *idx)
    squared = ((xyz1[:, :, None] - xyz2[:, None]) ** 2).sum(-1)
    for found, number, axis in ((dists[0], idx[0], 2), (dists[1], idx[1], 1)):
        np.testing.assert_array_equal(found.numpy(), squared.min(axis))
        np.testing.assert_array_equal(number.numpy(), squared.argmin(axis))


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    xyz, none = torch.rand(2, 3, 2), torch.rand(2, 0, 2)
    dist, idx = torch.full((2, 3), 9.0), torch.full((2, 3), 9, dtype=torch.int32)
    ext.chamfer_distance_forward(xyz, none, dist, torch.zeros(2, 0), idx, torch.zeros(2, 0, dtype=torch.int32))
    assert not dist.any() and not idx.any()
    grad = torch.full((2, 3, 2), 9.0)
    empty = torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.int32)
    ext.chamfer_distance_backward(xyz, none, idx, empty[1], dist, empty[0], grad, none)
    assert not grad.any()
    for arguments, text in (
        ((xyz, xyz[:1], dist, dist, idx, idx), r"xyz2: expected shape \[2, any, 2\], got shape \[1, 3, 2\]"),
        ((xyz, xyz, dist, dist.double(), idx, idx), "dist2: expected float32, like xyz1, got float64"),
        ((xyz, xyz, dist, dist, idx, idx.long()), "idx2: expected int32, got int64"),
    ):
        with pytest.raises(RuntimeError, match=f"^chamfer_distance_forward: {text}"):
            ext.chamfer_distance_forward(*arguments)
