"""The function of mmcv's extension for knn: values of every type, any strides, mmcv's function."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.knn as oracle

from .values import any_strides, every_dtype, exact, laid, near, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize("k", [1, 5, 20])
def test_knn(torch: Any, ext: ModuleType, dtype: str, strided: bool, k: int) -> None:
    rng = np.random.default_rng(7)
    points, places = (tensor(torch, rng.integers(-4, 5, (2, n, 3)), dtype) for n in (33, 6))
    idx, dist2 = torch.full((2, 6, k), 9, dtype=torch.int32), torch.full((2, 6, k), 9, dtype=points.dtype)
    idx, dist2 = laid(torch, idx, strided), laid(torch, dist2, strided)
    ext.knn_forward(laid(torch, points, strided), laid(torch, places, strided), idx, dist2, b=2, n=33, m=6, nsample=k)
    wanted = oracle.nearest(exact(points), exact(places), k)
    np.testing.assert_array_equal(idx.numpy(), wanted[1])
    near(torch, dist2, wanted[0], dtype)


@every_dtype
def test_missing_points_and_distances_of_another_type(torch: Any, ext: ModuleType, dtype: str) -> None:
    points = tensor(torch, [[[1, 0, 0], [0, 2, 0]]], dtype)
    idx, dist2 = torch.full((1, 1, 4), 9, dtype=torch.int32), torch.full((1, 1, 4), 9.0)
    ext.knn_forward(points, torch.zeros_like(points[:, :1]), idx, dist2, 1, 2, 1, 4)
    assert idx.tolist() == [[[0, 1, 0, 0]]]
    assert dist2.tolist() == [[[1, 4, 1e10, 1e10]]]


def test_mmcvs_function_takes_tensors_on_the_cpu(torch: Any) -> None:
    import pymluops.mmcv

    pytest.importorskip("mmcv")
    pymluops.mmcv.install()
    ops: Any = importlib.import_module("mmcv.ops")
    points, places = torch.rand(2, 10, 3), torch.rand(2, 5, 3)
    wanted = oracle.nearest(points.numpy(), places.numpy(), 5)[1].transpose(0, 2, 1)
    assert ops.knn(5, points, places).tolist() == wanted.tolist()
    assert ops.knn(5, points.transpose(1, 2).contiguous(), places.transpose(1, 2).contiguous(), True).tolist() == (
        wanted.tolist()
    )
    wanted = oracle.nearest(points.numpy(), points.numpy(), 5)[1].transpose(0, 2, 1)
    assert ops.knn(5, points).tolist() == wanted.tolist()
    with pytest.raises(AssertionError, match="k should be"):
        ops.knn(100, points)
