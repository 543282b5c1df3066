"""dynamic_point_to_voxel and dynamic_scatter, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import dynamic_point_to_voxel as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

REDUCTIONS = ("sum", "mean", "max")

POINTS = st.fixed_dictionaries(
    {
        "points": st.integers(1, 40) | st.integers(1000, 2500),
        "channels": st.integers(1, 9) | st.just(300),
        "most": st.sampled_from([0, 1, 3, 40, 1000, 2**20, 2**31 - 1]),
        "kind": st.sampled_from(["float32", "float64"]),
        "odd": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Features, places that many points share, some of them negative, and what drew them."""
    rng = np.random.default_rng(s["seed"])
    points = min(s["points"], 60) if s["channels"] > 100 else s["points"]
    feats = any_bits(rng, (points, s["channels"]), s["kind"]) if s["odd"] else rng.normal(size=(points, s["channels"]))
    places = rng.integers(0, s["most"], (max(points // 3, 1), 3), endpoint=True)
    coors = places[rng.integers(0, len(places), points)].astype(np.int32)
    coors[rng.random(coors.shape) < 0.03] = rng.choice([-1, -7, -(2**31)])
    return feats.astype(s["kind"]), coors, rng


def scatter(feats: np.ndarray, coors: np.ndarray, reduce: str) -> Any:
    known = described("dynamic_scatter_forward")
    operator = double_of(known) if feats.dtype == np.float64 else known
    return operator(None, (feats, coors, *[None] * 5), (reduce,))


def gradient(*arrays: np.ndarray, reduce: str) -> Any:
    known = described("dynamic_scatter_backward")
    operator = double_of(known) if arrays[0].dtype == np.float64 else known
    return operator(None, (*arrays, None), (reduce,))


# ---- values --------------------------------------------------------------------------------------


@examples(150)
@given(s=POINTS, reduce=st.sampled_from(REDUCTIONS))
def test_voxels_have_the_values_of_the_rule(s: dict[str, Any], reduce: str) -> None:
    feats, coors, _ = problem(s)
    before = coors.copy()
    for found, wanted in zip(scatter(feats, coors, reduce), oracle.scatter(feats, coors, reduce), strict=True):
        assert_same_values(found, wanted)
    assert_same_bits(coors, before)


@examples(150)
@given(s=POINTS, reduce=st.sampled_from(REDUCTIONS), spoilt=st.booleans())
def test_gradients_have_the_values_of_the_rule(s: dict[str, Any], reduce: str, spoilt: bool) -> None:
    feats, coors, rng = problem(s)
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        feats = np.round(feats)  # several points have the maximum
    voxels = oracle.scatter(feats, coors, reduce)
    rows = max(int(voxels.number[0]), 1)
    grad = rng.normal(size=(rows, feats.shape[1])).astype(feats.dtype)
    values, mapping, counts = voxels.feats[:rows], voxels.mapping.copy(), voxels.counts[:rows]
    if spoilt:
        mapping[rng.random(len(mapping)) < 0.2] = rng.choice([-5, rows, 2**31 - 1])
    found = gradient(grad, feats, values, mapping, counts, reduce=reduce)
    assert_same_values(found, oracle.gradient(grad, feats, values, mapping, counts, reduce))


@examples(80)
@given(s=POINTS, reduce=st.sampled_from(["mean", "max"]), more=st.integers(0, 3))
def test_the_functions_of_the_abi(s: dict[str, Any], reduce: str, more: int) -> None:
    feats, coors, rng = problem({**s, "kind": "float32"})
    wanted = oracle.scatter(feats, coors, reduce)
    rows = min(int(wanted.number[0]) + more, len(feats))
    wanted = oracle.scatter(feats, coors, reduce, rows)
    marked = oracle.marked(coors)
    found = pymluops.dynamic_point_to_voxel_forward(feats, coors, reduce, rows)
    for array, values in zip(found, wanted, strict=True):
        assert_same_values(array, values)
    assert_same_bits(coors, marked)
    if reduce == "max" and rows:
        grad = rng.normal(size=found.voxel_feats.shape).astype(np.float32)
        for number in (found.voxel_num.item(), rows + 5, 0, -3):
            kept = found.voxel_feats, found.point2voxel_map, found.voxel_points_count, np.array([number], np.int32)
            expected = oracle.gradient(grad, feats, *(kept[:3]), "max", max(number, 0))
            assert_same_bits(pymluops.dynamic_point_to_voxel_backward(grad, feats, *kept), expected)


def test_the_worked_example() -> None:
    coors = np.array([[-3, 5, 2], [-2, 1, 4], [6, 7, 8], [6, 7, 8], [2, 4, 6]], np.int32)
    feats = np.arange(5, dtype=np.float32)[:, None]
    found = pymluops.dynamic_point_to_voxel_forward(feats, coors, "mean", 5)
    assert coors[:2].tolist() == [[-1] * 3] * 2
    assert found.voxel_coors[:2].tolist() == [[2, 4, 6], [6, 7, 8]]
    assert found.point2voxel_map.tolist() == [-1, -1, 1, 1, 0]
    assert found.voxel_points_count[:2].tolist() == [1, 2] and found.voxel_num.tolist() == [2]
    assert found.voxel_feats[:2, 0].tolist() == [4, 2.5]


#: Points, channels, rows and reduction of the vendor's cases and of networks, some of them smaller.
NAMED = [(6, 6, 4, "mean"), (5, 2, 5, "max"), (1756, 4, 1375, "mean"), (1756, 64, 1375, "max"), (34, 5, 34, "max")]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[int, int, int, str]) -> None:
    points, channels, rows, reduce = case
    rng = np.random.default_rng(5)
    feats = rng.uniform(-100, 100, (points, channels)).astype(np.float32)
    coors = rng.integers(0, 200, (rows, 3))[rng.integers(0, rows, points)].astype(np.int32)
    found = pymluops.dynamic_point_to_voxel_forward(feats, coors, reduce, rows)
    for array, wanted in zip(found, oracle.scatter(feats, coors, reduce, rows), strict=True):
        assert_same_values(array, wanted)


def test_no_point_in_a_voxel() -> None:
    feats, coors = np.ones((4, 2), np.float32), np.full((4, 3), -2, np.int32)
    for rows in (0, 3):
        found = pymluops.dynamic_point_to_voxel_forward(feats, coors.copy(), "max", rows)
        assert found.voxel_num.tolist() == [0] and (found.point2voxel_map == -1).all()
        assert (found.voxel_feats == -np.inf).all() and found.voxel_feats.shape == (rows, 2)
        kept = found.voxel_feats, found.point2voxel_map, found.voxel_points_count, found.voxel_num
        assert not pymluops.dynamic_point_to_voxel_backward(found.voxel_feats.copy(), feats, *kept).any()


def test_nan_is_no_maximum_and_zeros_of_both_signs_are_equal() -> None:
    feats = np.array([[np.nan, np.nan, -0.0], [1, np.nan, 0.0]], np.float32)
    coors = np.zeros((2, 3), np.int32)
    found = pymluops.dynamic_scatter_forward(feats, coors, "max")
    assert_same_bits(found.voxel_feats[0], np.array([1, -np.inf, -0.0], np.float32))
    grad = np.array([[5, 6, 7]], np.float32)
    kept = np.array([[1, -np.inf, 0.0]], np.float32), found.point2voxel_map, found.voxel_points_count[:1]
    assert pymluops.dynamic_scatter_backward(grad, feats, *kept, "max").tolist() == [[0, 0, 7], [5, 0, 0]]


def test_any_number_of_threads_gives_the_same() -> None:
    s = {"points": 30000, "channels": 9, "most": 20, "kind": "float32", "odd": False, "seed": 4}
    feats, coors, _ = problem(s)
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            for reduce in REDUCTIONS:
                voxels = pymluops.dynamic_scatter_forward(feats, coors, reduce)
                kept = voxels.voxel_feats, voxels.point2voxel_map, voxels.voxel_points_count
                grad = np.random.default_rng(1).normal(size=feats.shape).astype(np.float32)
                found.append([*voxels, pymluops.dynamic_scatter_backward(grad, feats, *kept, reduce)])
    finally:
        pymluops.set_num_threads(before)
    for i, results in enumerate(found):
        for one, other in zip(results, found[i % len(REDUCTIONS)], strict=True):
            assert_same_bits(one, other)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("most", [30, 2**20, 2**31 - 1])
def test_many_points_are_sorted_in_chunks(threads: int, most: int) -> None:
    rng = np.random.default_rng(most)
    coors = rng.integers(0, most, (40_000, 3), endpoint=True).astype(np.int32)
    coors[20_000:] = coors[rng.permutation(20_000)]
    coors[rng.random(len(coors)) < 0.05, 1] = -3
    number = np.arange(len(coors), dtype=np.float32)[:, None]
    before = pymluops.get_num_threads()
    try:
        pymluops.set_num_threads(threads)
        voxels = pymluops.dynamic_scatter_forward(number, coors, "max")
    finally:
        pymluops.set_num_threads(before)
    inside = (coors >= 0).all(1)
    places, first, counts = np.unique(coors[inside], axis=0, return_inverse=True, return_counts=True)
    mapping = np.full(len(coors), -1)
    mapping[inside] = first.ravel()
    assert int(voxels.voxel_num[0]) == len(places)
    assert_same_bits(voxels.voxel_coors[: len(places)], places)
    assert_same_bits(voxels.point2voxel_map, mapping.astype(np.int32))
    assert_same_bits(voxels.voxel_points_count[: len(places)], counts.astype(np.int32))


def test_sums_add_many_points_in_their_order() -> None:
    rng = np.random.default_rng(5)
    coors = rng.integers(0, 3, (40_000, 3)).astype(np.int32)
    feats = rng.normal(size=(len(coors), 2)).astype(np.float32)
    voxels = pymluops.dynamic_scatter_forward(feats, coors, "sum")
    sums = np.zeros((27, 2), np.float32)
    np.add.at(sums, (coors @ [9, 3, 1]), feats)  # one after another
    assert_same_bits(voxels.voxel_feats[:27], sums)


def test_too_few_rows_are_refused_with_the_number_needed(raw: Raw) -> None:
    coors = np.array([[1, 2, 3], [-4, 5, 6], [3, 2, 1], [3, 2, 0]], np.int32)
    before, feats = coors.copy(), np.ones((4, 2), np.float32)
    outputs = [canary(shape, kind) for shape, kind in (((2, 2), "float32"), ((2, 3), "int32"), ((4,), "int32"))]
    outputs += [canary((2,), "int32"), canary((1,), "int32")]
    memory = np.zeros(1 << 12, np.uint8)
    workspace = (raw.ffi.cast("void *", memory.ctypes.data), memory.nbytes)
    tensors = [Tensor(array) for array in (feats, coors, *outputs)]
    status = raw.status("mluOpDynamicPointToVoxelForward", 1, *tensors[:2], *workspace, *tensors[2:])
    assert status == BAD_PARAM
    assert "voxel_feats_desc: expected [V, C] with V at least 3, the number of voxels" in raw.reason()
    assert_same_bits(coors, before)
    assert all(map(is_canary, outputs[:4])) and outputs[4].tolist() == [3]
    with pytest.raises(pymluops.BadParamError, match="V at least 3"):
        pymluops.dynamic_point_to_voxel_forward(feats, coors, "max", 2)


@pytest.mark.parametrize("reduce", ["sum", 0, "min", 3, -1])
def test_reductions_that_are_none(reduce: Any) -> None:
    feats, coors = np.ones((2, 1), np.float32), np.zeros((2, 3), np.int32)
    with pytest.raises(pymluops.BadParamError, match="reduce_type"):
        pymluops.dynamic_point_to_voxel_forward(feats, coors, reduce, 2)
    if reduce not in ("sum", 0):
        with pytest.raises(pymluops.BadParamError, match="reduce_type"):
            pymluops.dynamic_scatter_forward(feats, coors, reduce)


def test_the_gradient_of_the_abi_is_that_of_maxima() -> None:
    one, whole = np.ones((1, 1), np.float32), np.zeros(1, np.int32)
    with pytest.raises(pymluops.BadParamError, match="reduce_type"):
        pymluops.dynamic_point_to_voxel_backward(one, one, one, whole, whole, whole, "mean")
