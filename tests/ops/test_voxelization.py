"""voxelization and dynamic_voxelize."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import voxelization as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples

SIZE, RANGE = np.array([0.5, 0.25, 1], np.float32), np.array([-1, -1, 0, 1, 1, 3], np.float32)

CLOUDS = st.fixed_dictionaries(
    {
        "points": st.integers(1, 60) | st.integers(3000, 5000),
        "features": st.integers(3, 7),
        "max_points": st.integers(1, 5) | st.just(300),
        "max_voxels": st.integers(1, 9) | st.integers(100, 300),
        "whole": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def cloud(s: dict[str, Any]) -> np.ndarray:
    """Points in the grid and beside it, on cell faces if they are whole; a few of them not finite."""
    rng = np.random.default_rng(s["seed"])
    points = rng.uniform(-2, 4, (s["points"], s["features"]))
    if s["whole"]:
        points = np.round(points * 4) / 4
    odd = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0, 3e38, -1e-45]), points.shape)
    return np.where(rng.random(points.shape) < 0.02, odd, points).astype(np.float32)


def check(points: np.ndarray, size: np.ndarray, extent: np.ndarray, max_points: int, max_voxels: int) -> Any:
    found = pymluops.voxelization(points, size, extent, max_points, max_voxels)
    for array, wanted in zip(found, oracle.voxels(points, size, extent, max_points, max_voxels), strict=True):
        assert_same_bits(array, wanted)
    assert_same_bits(pymluops.dynamic_voxelize(points, size, extent), oracle.cells(points, size, extent))
    return found


# ---- values --------------------------------------------------------------------------------------


@examples(150)
@given(s=CLOUDS)
def test_voxels_are_those_of_the_rule(s: dict[str, Any]) -> None:
    check(cloud(s), SIZE, RANGE, s["max_points"], s["max_voxels"])


@examples(100)
@given(s=CLOUDS, kind=st.sampled_from(["float16", "float64"]))
def test_cells_in_other_types(s: dict[str, Any], kind: str) -> None:
    with np.errstate(over="ignore"):
        points, size, extent = (a.astype(kind) for a in (cloud(s), SIZE * 0.7, RANGE))
    known = described("dynamic_voxelize")
    operator = double_of(known) if kind == "float64" else known
    assert_same_bits(operator(None, (points, size, extent, None)), oracle.cells(points, size, extent))
    if kind == "float64":
        arrays = (points, size, extent, None, None, None, None)
        found = double_of(described("voxelization"))(None, arrays, (s["max_points"], s["max_voxels"], 3, True))
        wanted = oracle.voxels(points, size, extent, s["max_points"], s["max_voxels"])
        for array, values in zip(found, wanted, strict=True):
            assert_same_bits(array, values)


@examples(100)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = any_bits(rng, (40, 3), np.float32)
    size, extent = SIZE.copy(), RANGE.copy()
    for array in (size, extent):
        odd = any_bits(rng, array.shape, np.float32)
        array[...] = np.where(rng.random(array.shape) < 0.2, odd, array)
    check(points, size, extent, 2, 30)


@pytest.mark.parametrize(
    ("size", "extent"),
    [
        ((0, 1, 1), (0, 0, 0, 4, 4, 4)),
        ((-1, 1, 1), (4, 0, 0, 0, 4, 4)),
        ((np.nan, 1, 1), (0, 0, 0, 4, 4, 4)),
        ((np.inf, 1, 1), (0, 0, 0, 4, 4, 4)),
        ((1, 1, 1), (0, 0, 0, np.inf, 4, 4)),
        ((1, 1, 1), (-np.inf, 0, 0, 4, 4, 4)),
        ((1, 1, 1), (0, 0, np.nan, 4, 4, 4)),
        ((1, 1, 1), (0, 4, 0, 4, 4, 4)),
        ((1, 9, 1), (0, 0, 0, 4, 4, 4)),
    ],
)
def test_axes_without_cells(size: Any, extent: Any) -> None:
    points = np.array([[1, 1, 1], [0, 0, 0], [4, 4, 4]], np.float32)
    found = check(points, np.array(size, np.float32), np.array(extent, np.float32), 2, 3)
    assert found.voxel_num.tolist() == [0]
    assert not any(array.any() for array in found)


def test_grids_beyond_int32() -> None:
    # 2^40 cells along each axis, of which an int32 can name the first 2^31.
    size, extent = np.full(3, 1, np.float32), np.array([0, 0, 0, 2**40, 2**40, 2**40], np.float32)
    points = np.array([[5, 6, 7], [2**30, 2**31 - 128, 2**30], [2**31, 0, 0], [2**39, 1, 1]], np.float32)
    found = check(points, size, extent, 1, 4)
    assert found.coors[: found.voxel_num.item()].tolist() == [[7, 6, 5], [2**30, 2**31 - 128, 2**30]]


def test_cell_counts_are_rounded_half_away_from_zero_and_faces_belong_to_the_upper_cell() -> None:
    size, extent = np.ones(3, np.float32), np.array([0, 0, 0, 2.5, 1.4, 1], np.float32)
    points = np.array([[2.9, 0, 0], [3, 0, 0], [1, 0.5, 0.5], [0, 1, 0], [0, 0, 1], [0, -1e-30, 0]], np.float32)
    assert pymluops.dynamic_voxelize(points, size, extent).tolist() == [
        [0, 0, 2], [-1] * 3, [0, 0, 1], [-1] * 3, [-1] * 3, [-1] * 3,
    ]  # fmt: skip


def test_voxels_that_are_full_and_cells_that_come_too_late() -> None:
    size, extent = np.ones(3, np.float32), np.array([0, 0, 0, 9, 1, 1], np.float32)
    points = np.array([[x + 0.5, 0, 0, i] for i, x in enumerate([3, 1, 3, 5, 1, 3, 5])], np.float32)
    found = check(points, size, extent, 2, 2)
    assert found.voxels[..., 3].tolist() == [[0, 2], [1, 4]] and found.voxel_num.tolist() == [2]


def test_degenerate_clouds() -> None:
    size, extent = np.full(3, 0.1, np.float32), np.array([0, 0, 0, 4, 4, 4], np.float32)
    one = np.full((20000, 3), 1.05, np.float32)
    assert check(one, size, extent, 5, 7).num_points_per_voxel.tolist() == [5] + [0] * 6
    line = np.zeros((3000, 3), np.float32)
    line[:, 0] = np.linspace(-1, 5, 3000)
    check(line, size, extent, 3, 20)


def test_the_shape_of_a_network() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(0, 20, (30000, 5)).astype(np.float32)
    size, extent = np.array([0.1, 0.1, 0.2], np.float32), np.array([-51.2, -51.2, -5, 51.2, 51.2, 3], np.float32)
    check(points, size, extent, 20, 3000)


def test_nothing_to_do() -> None:
    points = np.ones((4, 3), np.float32)
    for most in ((0, 5), (5, 0)):
        found = pymluops.voxelization(points, SIZE, RANGE, *most)
        assert found.voxels.shape == (most[1], most[0], 3) and found.voxel_num.tolist() == [0]
    assert pymluops.dynamic_voxelize(points[:0], SIZE, RANGE).shape == (0, 3)


def test_any_number_of_threads_gives_the_same() -> None:
    points = cloud({"points": 50000, "features": 4, "whole": False, "seed": 3})
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            found.append(pymluops.voxelization(points, SIZE / 20, RANGE, 3, 20000))
    finally:
        pymluops.set_num_threads(before)
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert_same_bits(one, other)


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    return {
        "points": np.ones((5, 4), np.float32),
        "voxel_size": SIZE.copy(),
        "coors_range": RANGE.copy(),
        "voxels": canary((3, 2, 4), "float32"),
        "coors": canary((3, 3), "int32"),
        "counts": canary((3,), "int32"),
        "voxel_num": canary((1,), "int32"),
    }


def _call(raw: Raw, arrays: dict[str, Any], *, most: Any = (2, 3), ndim: int = 3, deterministic: bool = True) -> int:
    memory = np.zeros(1 << 12, np.uint8)
    tensors = [Tensor(value) if isinstance(value, np.ndarray) else value for value in arrays.values()]
    workspace = (raw.ffi.cast("void *", memory.ctypes.data), memory.nbytes)
    return raw.status("mluOpVoxelization", *tensors[:3], *most, ndim, deterministic, *workspace, *tensors[3:])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"deterministic": False, "ndim": 2}, "deterministic"),
        ({"ndim": 2}, "NDim"),
        ({"most": (2, 4)}, "voxels_desc"),
        ({"most": (-2, 3)}, "voxels_desc"),
    ],
)
def test_refused_numbers(raw: Raw, changes: dict[str, Any], told: str) -> None:
    arrays = _arrays()
    assert _call(raw, arrays, **changes) == BAD_PARAM
    assert f"mluOpVoxelization: {told}: expected" in raw.reason()
    assert all(is_canary(arrays[name]) for name in ("voxels", "coors", "counts", "voxel_num"))


def test_two_columns_are_refused(raw: Raw) -> None:
    arrays = {**_arrays(), "points": np.ones((5, 2), np.float32), "voxels": canary((3, 2, 2), "float32")}
    assert _call(raw, arrays) == BAD_PARAM
    assert "points_desc: expected [N, F] with x, y and z in the first 3 of F columns" in raw.reason()
    with pytest.raises(pymluops.BadParamError, match="F >= 3"):
        pymluops.voxelization(arrays["points"], SIZE, RANGE, 2, 3)


def test_no_voxels_write_nothing(raw: Raw) -> None:
    arrays = {**_arrays(), "voxels": Descriptor((3, 0, 4), "float32", pair=True)}
    assert _call(raw, arrays, most=(0, 3)) == SUCCESS
    assert all(is_canary(arrays[name]) for name in ("coors", "counts", "voxel_num"))
    size = raw.ffi.new("size_t *", 77)
    descs = [Descriptor(array.shape, array.dtype.name) for array in _arrays().values()]
    descs[3] = Descriptor((3, 0, 4), "float32")
    assert raw.status("mluOpGetVoxelizationWorkspaceSize", *descs[:3], 0, 3, 3, True, *descs[3:], size) == SUCCESS
    assert size[0] == 77


def test_not_deterministic_is_refused_in_python() -> None:
    with pytest.raises(pymluops.BadParamError, match="deterministic: expected True, got False"):
        pymluops.voxelization(np.ones((2, 3), np.float32), SIZE, RANGE, 2, 3, 3, False)
