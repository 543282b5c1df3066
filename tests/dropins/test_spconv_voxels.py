"""Points to voxels against a loop over points."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

GRIDS = {
    1: ([0.5], [0, 4]),
    2: ([0.5, 1.0], [0, -2, 4, 2]),
    3: ([0.2, 0.3, 0.7], [-1, -1, -1, 1, 2, 1.1]),
    4: ([1, 1, 1, 0.5], [0, 0, 0, 0, 2, 2, 2, 2]),
}


def points(ndim: int, count: int, columns: int, seed: int = 0) -> np.ndarray:
    """Points in and around a space, some at its bounds, one not a number."""
    rng = np.random.default_rng(seed)
    bounds = np.array(GRIDS[ndim][1], np.float32).reshape(2, ndim)
    found = rng.uniform(-0.2, 1.2, (count, columns)).astype(np.float32)
    found[:, :ndim] = bounds[0] + found[:, :ndim] * (bounds[1] - bounds[0])
    if count > 4:
        found[1, :ndim], found[2, :ndim], found[3, 0] = bounds[0], bounds[1], np.nan
    return found


def by_loop(cloud: np.ndarray, ndim: int, columns: int, voxels: int, most: int) -> tuple[Any, ...]:
    """Voxels, cells, numbers of points, voxels of points."""
    sizes = np.array(GRIDS[ndim][0], np.float32)
    low, high = np.array(GRIDS[ndim][1], np.float32).reshape(2, ndim)
    cells = np.round((high - low) / sizes).astype(int)
    numbers: dict[tuple[int, ...], int] = {}
    rows: list[list[np.ndarray]] = []
    ids = []
    for point in cloud:
        place = np.floor((point[:ndim] - low) / sizes)
        if not ((place >= 0) & (place < cells)).all():
            ids.append(-1)
            continue
        key = tuple(int(c) for c in place[::-1])
        if key not in numbers and len(numbers) < voxels:
            numbers[key] = len(numbers)
            rows.append([])
        number = numbers.get(key, -1)
        ids.append(number)
        if number >= 0 and len(rows[number]) < most:
            rows[number].append(point[:columns])
    filled = np.zeros((len(rows), most, columns), np.float32)
    for number, own in enumerate(rows):
        filled[number, : len(own)] = own
    indices = np.array(list(numbers), np.int32).reshape(-1, ndim)
    return filled, indices, np.array([len(own) for own in rows], np.int32), np.array(ids, np.int64)


@pytest.mark.parametrize("limits", [(1000, 50), (7, 3), (1, 1)])
@pytest.mark.parametrize("count", [0, 1, 300])
@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_voxels(spconv: Any, ndim: int, count: int, limits: tuple[int, int]) -> None:
    columns = ndim + 1
    cloud = points(ndim, count, columns)
    sizes, bounds = GRIDS[ndim]
    wanted = by_loop(cloud, ndim, columns, *limits)
    make = spconv.utils.PointToVoxel(sizes, bounds, columns, *limits)
    found = make.generate_voxel_with_id(torch.from_numpy(cloud))
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (torch.from_numpy(want).dtype, want.shape)
        np.testing.assert_array_equal(got.numpy(), want)
    for got, want in zip(make(torch.from_numpy(cloud)), wanted, strict=False):
        np.testing.assert_array_equal(got.numpy(), want)
    keywords = dict(zip(("max_num_voxels", "max_num_points_per_voxel"), limits, strict=True))
    utils, tv = importlib.import_module("spconv.utils"), importlib.import_module("cumm.tensorview")
    arrays = getattr(utils, f"Point2VoxelCPU{ndim}d")(
        vsize_xyz=sizes, coors_range_xyz=bounds, num_point_features=columns, **keywords
    )
    for given in (tv.from_numpy(cloud), cloud):
        for got, want in zip(arrays.point_to_voxel(given), wanted, strict=False):
            np.testing.assert_array_equal(got.numpy(), want)
            assert got.shape == list(want.shape)
    assert make.grid_size == arrays.grid_size == by_size(ndim)


def by_size(ndim: int) -> list[int]:
    low, high = np.array(GRIDS[ndim][1]).reshape(2, ndim)
    return np.round((high - low) / np.array(GRIDS[ndim][0]))[::-1].astype(int).tolist()


def test_means_in_empty_places(spconv: Any) -> None:
    cloud = points(3, 200, 4)
    sizes, bounds = GRIDS[3]
    voxels, _, num = spconv.utils.PointToVoxel(sizes, bounds, 4, 50, 6)(torch.from_numpy(cloud), empty_mean=True)
    plain, *_ = by_loop(cloud, 3, 4, 50, 6)
    for voxel, given, count in zip(voxels.numpy(), plain, num.tolist(), strict=True):
        np.testing.assert_array_equal(voxel[:count], given[:count])
        mean = np.broadcast_to(given[:count].mean(0), voxel[count:].shape)
        np.testing.assert_allclose(voxel[count:], mean, rtol=1e-5, atol=1e-6)
    utils = importlib.import_module("spconv.utils")
    found = utils.Point2VoxelCPU3d(sizes, bounds, 4, 50, 6).point_to_voxel_empty_mean(cloud)
    np.testing.assert_array_equal(found[0].numpy(), voxels.numpy())


def test_features_of_points(spconv: Any) -> None:
    features, ids = torch.arange(6.0).view(3, 2), torch.tensor([2, -1, 0])
    gather = spconv.utils.gather_features_by_pc_voxel_id
    assert gather(features, ids, invalid_value=-7).tolist() == [[4.0, 5.0], [-7.0, -7.0], [0.0, 1.0]]
    assert gather(features[:0], ids * 0 - 1).tolist() == [[0.0, 0.0]] * 3


def test_refusals(spconv: Any) -> None:
    utils = importlib.import_module("spconv.utils")
    with pytest.raises(AssertionError, match="coors_range_xyz: expected 6 numbers"):
        spconv.utils.PointToVoxel([1, 1, 1], [0, 0, 1, 1], 3, 10, 10)
    with pytest.raises(AssertionError, match="expected cells on every axis"):
        spconv.utils.PointToVoxel([1, 1, 1], [0, 0, 0, 1, 1, 0], 3, 10, 10)
    with pytest.raises(AssertionError, match="expected the CPU"):
        spconv.utils.PointToVoxel([1, 1, 1], [0, 0, 0, 1, 1, 1], 3, 10, 10, device="cuda:0")
    make = spconv.utils.PointToVoxel([1, 1, 1], [0, 0, 0, 1, 1, 1], 4, 10, 10)
    with pytest.raises(AssertionError, match="pc: expected 4 columns, got 3"):
        make(torch.zeros(2, 3))
    with pytest.raises(AssertionError, match="pc: expected shape"):
        make(torch.zeros(4))
    with pytest.raises(AssertionError, match="vsize_xyz: expected 2 sizes, got 3"):
        utils.Point2VoxelCPU2d([1, 1, 1], [0, 0, 0, 1, 1, 1], 4, 10, 10)
    with pytest.raises(ImportError):
        importlib.import_module("spconv.utils.VoxelGeneratorV2")
    assert not hasattr(utils, "VoxelGeneratorV2")
    assert not hasattr(utils, "VoxelGenerator")


def test_data_and_comparisons_of_its_own_tests(spconv: Any) -> None:
    utils = importlib.import_module("spconv.test_utils")
    assert utils.params_grid([1, 2], ["a"], [3, 4]) == [[1, "a", 3], [1, "a", 4], [2, "a", 3], [2, "a", 4]]
    np.random.seed(3)
    made = utils.generate_sparse_data([4, 5, 6], [7, 9], 3)
    indices, features = made["indices"], made["features"]
    assert (indices.dtype, indices.shape, features.dtype, features.shape) == (np.int32, (16, 4), np.float32, (16, 3))
    assert indices[:, 3].tolist() == [0] * 7 + [1] * 9  # the number of the sample is the last column
    assert len(np.unique(indices, axis=0)) == 16
    assert (indices[:, :3].max(0) < [4, 5, 6]).all()
    assert features.min() >= -1
    assert features.max() < 1
    tensor = spconv.SparseConvTensor(
        torch.from_numpy(features), torch.from_numpy(indices[:, [3, 0, 1, 2]].copy()), [4, 5, 6], 2
    )
    np.testing.assert_array_equal(tensor.dense().numpy(), made["features_dense"])
    whole = utils.generate_sparse_data([3, 3], [9], 2, integer=True, data_range=(2, 5), with_dense=False)
    assert whole.keys() == {"features", "indices"}
    assert set(whole["features"].ravel().tolist()) <= {2.0, 3.0, 4.0}
    case = utils.TestCase()
    case.assertAllEqual([1.0, np.nan], np.array([1.0, np.nan]))
    case.assertAllClose({"a": [1.0]}, {"a": [1.0000001]})
    for call, wrong, error in (
        (case.assertAllEqual, ([1], [2]), AssertionError),
        (case.assertAllEqual, ([1], [1, 1]), AssertionError),
        (case.assertAllClose, ([1.0], [1.1]), AssertionError),
        (case.assertAllClose, ({"a": [1.0]}, {"b": [1.0]}), AssertionError),
        (case.assertAllClose, ({"a": [1.0]}, [1.0]), ValueError),
    ):
        with pytest.raises(error):
            call(*wrong)
