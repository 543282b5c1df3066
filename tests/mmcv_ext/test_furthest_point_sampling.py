"""The functions of mmcv's extension for furthest point sampling: values of every type, any strides, mmcv's own."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.furthest_point_sampling as oracle

from .values import any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
def test_furthest_point_sampling(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(7)
    points = tensor(torch, rng.integers(-4, 5, (2, 40, 3)), dtype)
    temp, idx = torch.full((2, 40), 1e10).to(points.dtype), torch.full((2, 9), 77, dtype=torch.int32)
    temp, idx = laid(torch, temp, strided), laid(torch, idx, strided)
    ext.furthest_point_sampling_forward(laid(torch, points, strided), temp, idx, b=2, n=40, m=9)
    least, picks = oracle.of_batches(oracle.sample, exact(points), 9, 1e10)
    np.testing.assert_array_equal(idx.numpy(), picks)
    np.testing.assert_array_equal(exact(temp), least)


@every_dtype
@any_strides
def test_furthest_point_sampling_with_dist(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(8)
    matrix = tensor(torch, rng.integers(0, 200, (2, 15, 15)), dtype)
    temp, idx = torch.full((2, 15), 1e10).to(matrix.dtype), torch.zeros(2, 6, dtype=torch.int32)
    ext.furthest_point_sampling_with_dist_forward(laid(torch, matrix, strided), temp, idx, b=2, n=15, m=6)
    _, picks = oracle.of_batches(oracle.sample_by_matrix, exact(matrix), 6, 1e10)
    np.testing.assert_array_equal(idx.numpy(), picks)


def test_no_picks_and_more_than_points(torch: Any, ext: ModuleType) -> None:
    points, temp = torch.rand(1, 4, 3), torch.full((1, 4), 1e10)
    ext.furthest_point_sampling_forward(points, temp, torch.zeros(1, 0, dtype=torch.int32), b=1, n=4, m=0)
    idx = torch.full((1, 7), 9, dtype=torch.int32)
    ext.furthest_point_sampling_forward(points, temp, idx, b=1, n=4, m=7)
    assert sorted(idx[0, :4].tolist()) == [0, 1, 2, 3] and idx[0, 4:].tolist() == [0, 0, 0]


def test_far_points_count_as_at_the_first_distance(torch: Any, ext: ModuleType) -> None:
    points = torch.tensor([[[0.0, 0, 0], [2e5, 0, 0], [9e5, 0, 0]]])
    temp, idx = torch.full((1, 3), 1e10), torch.zeros(1, 2, dtype=torch.int32)
    ext.furthest_point_sampling_forward(points, temp, idx, b=1, n=3, m=2)
    assert idx.tolist() == [[0, 1]]


def test_mmcvs_function_takes_tensors_on_the_cpu(torch: Any) -> None:
    import pymluops.mmcv

    pytest.importorskip("mmcv")
    pymluops.mmcv.install()
    ops: Any = importlib.import_module("mmcv.ops")
    points = torch.rand(2, 30, 3)
    wanted = oracle.of_batches(oracle.sample, points.numpy(), 5, 1e10)[1]
    assert ops.furthest_point_sample(points, 5).tolist() == wanted.tolist()
    found = ops.points_sampler.PointsSampler([5], ["D-FPS"], [-1])(points, points.transpose(1, 2))
    assert found.tolist() == wanted.tolist()
