"""ball_query."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import ball_query as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.clouds import KINDS, cloud
from support.comparison import assert_same_bits
from support.interrupts import interrupted
from support.processes import python_output
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


def ball_query(new_xyz: np.ndarray, xyz: np.ndarray, min_radius: float, max_radius: float, nsample: int) -> np.ndarray:
    """The operator; centres without a point have zeros."""
    idx = np.zeros((*new_xyz.shape[:2], nsample), np.int32)
    with Raw(pymluops.load("cpu")) as raw:
        assert status(raw, new_xyz, xyz, min_radius, max_radius, nsample, idx) == SUCCESS, raw.reason()
    return idx


def status(raw: Raw, new_xyz: Any, xyz: Any, low: float, high: float, nsample: int, idx: Any) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    new_xyz, xyz, idx = (Tensor(a) if isinstance(a, np.ndarray) else a for a in (new_xyz, xyz, idx))
    return raw.status("mluOpBallQuery", new_xyz, xyz, low, high, nsample, idx)


def expected(new_xyz: np.ndarray, xyz: np.ndarray, low: float, high: float, nsample: int) -> np.ndarray:
    idx = np.zeros((*new_xyz.shape[:2], nsample), np.int32)
    return oracle.ball_query(new_xyz, xyz, low, high, nsample, idx)


# ---- named shapes --------------------------------------------------------------------------------

#: Shapes of new_xyz and xyz, min_radius, max_radius, nsample, dtype.
NAMED = {
    "case 0": ((16, 128, 3), (16, 512, 3), 0, 0.8, 128, "float32"),
    "case 1": ((2, 16, 3), (2, 32, 3), 0, 0.4, 8, "float16"),
    "network 1": ((16, 512, 3), (16, 1024, 3), 0, 0.2, 32, "float32"),
    "network 2": ((16, 128, 3), (16, 512, 3), 0, 0.4, 64, "float16"),
    "mmcv, ball": ((2, 5, 3), (2, 10, 3), 0, 0.2, 5, "float32"),
    "mmcv, shell": ((2, 5, 3), (2, 10, 3), 0.2, 0.4, 5, "float16"),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_shapes(name: str) -> None:
    centres, points, low, high, nsample, dtype = NAMED[name]
    rng = np.random.default_rng(7)
    new_xyz, xyz = rng.random(centres).astype(dtype), rng.random(points).astype(dtype)
    assert_same_bits(ball_query(new_xyz, xyz, low, high, nsample), expected(new_xyz, xyz, low, high, nsample))


def test_the_example_of_the_vendors_document() -> None:
    new_xyz = np.array(
        [
            [(0.8929, 0.3320, 0.8212), (0.0417, 0.1077, 0.5951), (0.5298, 0.4188, 0.3354)],
            [(0.6225, 0.4381, 0.7359), (0.5180, 0.5789, 0.6454), (0.9902, 0.8199, 0.4132)],
        ],
        np.float32,
    )
    xyz = np.array(
        [
            [(0.8763, 0.8238, 0.0545), (0.7186, 0.8022, 0.7364), (0.7091, 0.5409, 0.1248), (0.9576, 0.4033, 0.2170)],
            [(0.7173, 0.9942, 0.2556), (0.6713, 0.5990, 0.7173), (0.9373, 0.3518, 0.2536), (0.4025, 0.7465, 0.7241)],
        ],
        np.float32,
    )
    found = ball_query(new_xyz, xyz, 0, 0.8, 3)
    assert found.tolist() == [[[1, 2, 3], [0, 0, 0], [0, 1, 2]], [[0, 1, 2], [0, 1, 2], [0, 1, 2]]]


# ---- values --------------------------------------------------------------------------------------


def _cloud(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, special: float) -> np.ndarray:
    """Points on a coarse grid, so that many distances are equal and many lie on a radius; a few are not finite."""
    values = rng.integers(-8, 9, shape) / 8
    odd = rng.choice(np.array([np.nan, np.inf, -np.inf, 1e4, 6e-8, -0.0]), shape)
    return np.where(rng.random(shape) < special, odd, values).astype(dtype)


@both_dtypes
@examples(200)
@given(
    batch=st.integers(1, 3),
    centres=st.integers(1, 70),
    points=st.integers(1, 80) | st.integers(500, 1100),
    nsample=st.integers(1, 40),
    low=st.sampled_from([0.0, 0.25, 0.5, 1.0, float("inf")]),
    high=st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.5, float("inf")]),
    special=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_clouds(
    dtype: str, batch: int, centres: int, points: int, nsample: int, low: float, high: float, special: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    new_xyz, xyz = _cloud(rng, (batch, centres, 3), dtype, special), _cloud(rng, (batch, points, 3), dtype, special)
    found = ball_query(new_xyz, xyz, low, high, nsample)
    np.testing.assert_array_equal(found, expected(new_xyz, xyz, low, high, nsample))


@both_dtypes
@examples(100)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-4, 1e-2, 1.0, 50.0, 300.0]))
def test_points_near_the_rim(dtype: str, seed: int, scale: float) -> None:
    # Distances that differ from the radius in their last bit only: each step is rounded to the type
    # of the points.
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(1, 600, 3))
    xyz = (direction / np.linalg.norm(direction, axis=-1, keepdims=True) * scale).astype(dtype)
    new_xyz = (rng.normal(size=(1, 3, 3)) * scale * 1e-3).astype(dtype)
    found = ball_query(new_xyz, xyz, 0, scale, 600)
    np.testing.assert_array_equal(found, expected(new_xyz, xyz, 0, scale, 600))


@both_dtypes
def test_a_shell_has_its_inner_rim_and_not_its_outer_one(dtype: str) -> None:
    xyz = np.array([[[0.5, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 0], [0, 0, -1.5]]], dtype)
    centre = np.zeros((1, 1, 3), dtype)
    assert ball_query(centre, xyz, 1, 2, 3).tolist() == [[[1, 3, 4]]]
    assert ball_query(centre, xyz, 2, 1, 3).tolist() == [[[3, 3, 3]]]
    assert ball_query(centre, xyz, 0, 0, 2).tolist() == [[[3, 3]]]
    assert ball_query(centre, xyz, 0, 1e30, 7).tolist() == [[[0, 1, 2, 3, 4, 0, 0]]]


@both_dtypes
def test_indices_of_a_centre_without_a_point_are_left_alone(raw: Raw, dtype: str) -> None:
    xyz = np.full((1, 5, 3), 3, dtype)
    new_xyz = np.array([[[0, 0, 0], [3, 3, 3], [np.nan, 0, 0], [np.inf, 0, 0]]], dtype)
    idx = canary((1, 4, 6), "int32")
    assert status(raw, new_xyz, xyz, 0, 1, 6, idx) == SUCCESS
    assert is_canary(idx[0, [0, 2, 3]])
    assert idx[0, 1].tolist() == [0, 1, 2, 3, 4, 0]


def test_steps_in_half_are_rounded() -> None:
    # Halves near 32 are 1/32 apart, so that 32 + 1/64 is rounded to 32: in float the point would
    # lie outside.
    new_xyz, xyz = np.array([[[-1 / 64, 0, 0]]], np.float16), np.array([[[32, 0, 0]]], np.float16)
    assert float(np.float16(32) + np.float16(1 / 64)) == 32
    assert expected(new_xyz, xyz, 0, 32.01, 1)[0, 0, 0] == 0
    idx = np.full((1, 1, 1), 9, np.int32)
    with Raw(pymluops.load("cpu")) as raw:
        assert status(raw, new_xyz, xyz, 32, 32.01, 1, idx) == SUCCESS
    assert idx.item() == 0


@both_dtypes
@pytest.mark.parametrize("kind", KINDS)
def test_many_points(kind: str, dtype: str) -> None:
    """Among so many a tree is searched, which finds the same points in the same order."""
    xyz = cloud(kind, 6000, dtype)[None]
    new_xyz = np.concatenate([xyz[:, ::9], cloud("even", 300, dtype)[None], cloud("special", 40, dtype)[None]], 1)
    unit = 10 if kind == "scan" else 1
    for low, high, nsample in ((0, 0.05, 16), (0, 0.3, 5), (0.1, 0.4, 64), (0, 5, 8), (0, 1, 300), (0, 0, 3)):
        found = ball_query(new_xyz, xyz, low * unit, high * unit, nsample)
        np.testing.assert_array_equal(found, expected(new_xyz, xyz, low * unit, high * unit, nsample))


@both_dtypes
def test_balls_that_hold_few_of_the_first_points_and_many_later_ones(dtype: str) -> None:
    xyz = cloud("even", 9000, dtype)[None] * np.asarray(0.1, dtype)
    xyz[:, :2000] += np.asarray(4, dtype)
    xyz[:, 100:104] = 0
    new_xyz = xyz[:, ::7].copy()
    found = ball_query(new_xyz, xyz, 0, 0.2, 40)
    np.testing.assert_array_equal(found, expected(new_xyz, xyz, 0, 0.2, 40))


# ---- stacked -------------------------------------------------------------------------------------


@both_dtypes
@examples(100)
@given(
    counts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), min_size=1, max_size=4),
    high=st.sampled_from([0.0, 0.3, 1.0, float("inf")]),
    nsample=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_stacked(dtype: str, counts: list[tuple[int, int]], high: float, nsample: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = [*counts, (1, 3)]
    centres, points = (np.array(numbers, np.int32) for numbers in zip(*counts, strict=True))
    new_xyz, xyz = (_cloud(rng, (int(n.sum()), 3), dtype, 0.05) for n in (centres, points))
    found = pymluops.stack_ball_query(new_xyz, centres, xyz, points, high, nsample)
    np.testing.assert_array_equal(found, oracle.stack_ball_query(new_xyz, centres, xyz, points, high, nsample))


def test_stacked_batches_of_many_and_of_few_points() -> None:
    points, centres = np.array([40, 5000, 0, 3000], np.int32), np.array([10, 1500, 5, 30], np.int32)
    xyz = np.concatenate([cloud("even", int(n), "float32", i) for i, n in enumerate(points)])
    new_xyz = np.concatenate([cloud("even", int(n), "float32", 9 + i) for i, n in enumerate(centres)])
    found = pymluops.stack_ball_query(new_xyz, centres, xyz, points, 0.15, 8)
    np.testing.assert_array_equal(found, oracle.stack_ball_query(new_xyz, centres, xyz, points, 0.15, 8))
    assert (found[1510:1515] == [-1, 0, 0, 0, 0, 0, 0, 0]).all()


@pytest.mark.parametrize(("centres", "points"), [([1, 1], [2, 2]), ([2, 9], [2, 1]), ([4, -1], [2, 2])])
def test_counts_that_do_not_fit(centres: list[int], points: list[int]) -> None:
    new_xyz, xyz = cloud("lattice", 3, "float32"), cloud("lattice", 4, "float32", 1)
    counts = np.array(centres, np.int32), np.array(points, np.int32)
    found = pymluops.stack_ball_query(new_xyz, counts[0], xyz, counts[1], 2, 5, validate=False)
    np.testing.assert_array_equal(found, oracle.stack_ball_query(new_xyz, counts[0], xyz, counts[1], 2, 5))


# ---- zero elements and refusals ------------------------------------------------------------------


def _arrays(dtype: str = "float32") -> dict[str, np.ndarray]:
    return {
        "new_xyz": np.ones((2, 3, 3), dtype),
        "xyz": np.ones((2, 4, 3), dtype),
        "idx": canary((2, 3, 5), "int32"),
    }


def test_without_points_or_samples_nothing_is_written(raw: Raw) -> None:
    a = _arrays()
    assert status(raw, a["new_xyz"], np.ones((2, 0, 3), np.float32), 0, 1, 5, a["idx"]) == SUCCESS
    assert is_canary(a["idx"])
    null = [Descriptor(shape, "float32", pair=True) for shape in ((2, 3, 3), (2, 4, 3))]
    assert status(raw, *null, 0, 1, 0, Descriptor((2, 3, 0), "int32", pair=True)) == SUCCESS


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 3)])
def test_no_centres_are_refused(raw: Raw, shape: tuple[int, ...]) -> None:
    new_xyz, xyz = np.ones(shape, np.float32), np.ones((shape[0], 4, 3), np.float32)
    assert status(raw, new_xyz, xyz, 0, 1, 5, np.zeros((*shape[:2], 5), np.int32)) == BAD_PARAM
    assert "new_xyz_desc" in raw.reason()


@pytest.mark.parametrize(
    ("low", "high", "nsample", "argument"),
    [
        (-1e-30, -1, -1, "min_radius"),
        (float("nan"), 1, 5, "min_radius"),
        (0, -1, -1, "max_radius"),
        (0, float("nan"), 5, "max_radius"),
        (0, 1, -1, "nsample"),
    ],
)
def test_numbers_are_checked_before_the_handle(raw: Raw, low: float, high: float, nsample: int, argument: str) -> None:
    null = raw.ffi.NULL
    assert raw.lib.mluOpBallQuery(null, null, null, null, null, low, high, nsample, null, null) == BAD_PARAM
    assert f": {argument}: expected" in raw.reason()


def test_null_in_order(raw: Raw) -> None:
    null = raw.ffi.NULL
    assert raw.lib.mluOpBallQuery(null, null, null, null, null, 0, 1, 5, null, null) == BAD_PARAM
    assert ": handle:" in raw.reason()
    assert raw.lib.mluOpBallQuery(raw.handle, null, null, null, null, 0, 1, 5, null, null) == BAD_PARAM
    assert ": new_xyz_desc:" in raw.reason()
    for name in ("new_xyz", "xyz", "idx"):
        tensors: dict[str, Any] = {key: Tensor(array) for key, array in _arrays().items()}
        tensors[name] = Descriptor(tensors[name].array.shape, tensors[name].array.dtype.name, pair=True)
        assert status(raw, tensors["new_xyz"], tensors["xyz"], 0, 1, 5, tensors["idx"]) == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()


#: What replaces one array, the status, and the name that the reason tells.
REFUSED: list[tuple[str, np.ndarray, int, str]] = [
    ("new_xyz", np.ones((6, 3), np.float32), BAD_PARAM, "new_xyz_desc"),
    ("xyz", np.ones((2, 4, 3, 1), np.float32), BAD_PARAM, "xyz_desc"),
    ("idx", np.ones((6, 5), np.int32), BAD_PARAM, "idx_desc"),
    ("xyz", np.ones((1, 4, 3), np.float32), BAD_PARAM, "xyz_desc"),
    ("idx", np.ones((1, 3, 5), np.int32), BAD_PARAM, "idx_desc"),
    ("idx", np.ones((2, 4, 5), np.int32), BAD_PARAM, "idx_desc"),
    ("new_xyz", np.ones((2, 3, 4), np.float32), BAD_PARAM, "new_xyz_desc"),
    ("xyz", np.ones((2, 4, 2), np.float32), BAD_PARAM, "xyz_desc"),
    ("idx", np.ones((2, 3, 6), np.int32), BAD_PARAM, "idx_desc"),
    ("new_xyz", np.ones((2, 3, 6), np.float32)[..., ::2], NOT_SUPPORTED, "new_xyz_desc"),
    ("xyz", np.ones((2, 8, 3), np.float64)[:, ::2], NOT_SUPPORTED, "xyz_desc"),
    ("idx", np.ones((2, 3, 10), np.int32)[..., ::2], NOT_SUPPORTED, "idx_desc"),
    ("new_xyz", np.ones((2, 3, 3), np.float64), BAD_PARAM, "new_xyz_desc"),
    ("xyz", np.ones((2, 4, 3), np.float16), BAD_PARAM, "xyz_desc"),
    ("idx", np.ones((2, 3, 5), np.int64), BAD_PARAM, "idx_desc"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: np.ndarray, wanted: int, told: str) -> None:
    a = {**_arrays(), name: array}
    assert status(raw, a["new_xyz"], a["xyz"], 0, 1, 5, a["idx"]) == wanted
    assert f"mluOpBallQuery: {told}: expected" in raw.reason()
    if name != "idx":
        assert is_canary(a["idx"])


@pytest.mark.parametrize("huge", ["new_xyz", "idx", "xyz"])
def test_2_to_the_31_elements_are_not_supported(raw: Raw, huge: str) -> None:
    shapes = {"new_xyz": (1, 3, 3), "xyz": (1, 4, 3), "idx": (1, 3, 5)}
    nsample = 5
    if huge == "new_xyz":
        shapes["new_xyz"], shapes["idx"] = (1, 715_827_883, 3), (1, 715_827_883, 5)
    elif huge == "xyz":
        shapes["xyz"] = (1, 715_827_883, 3)
    else:
        nsample = 715_827_883
        shapes["idx"] = (1, 3, nsample)
    dtypes = {"new_xyz": "float16", "xyz": "float16", "idx": "int32"}
    tensors = {name: Descriptor(shape, dtypes[name], pair=True) for name, shape in shapes.items()}
    assert status(raw, tensors["new_xyz"], tensors["xyz"], 0, 1, nsample, tensors["idx"]) == NOT_SUPPORTED
    assert f": {huge}_desc: expected fewer than 2^31" in raw.reason()


def test_indices_must_have_memory_of_their_own(raw: Raw) -> None:
    memory = np.ones(2 * 4 * 3, np.float32)
    xyz, idx = memory.reshape(2, 4, 3), memory[:6].view(np.int32).reshape(2, 3, 1)
    assert status(raw, np.ones((2, 3, 3), np.float32), xyz, 0, 1, 1, idx) == BAD_PARAM
    assert ": idx: expected memory of its own" in raw.reason()
    assert (memory == 1).all()


def test_the_simulator_does_not_implement_it() -> None:
    a = _arrays()
    with Raw(pymluops.load("sim")) as raw:
        assert status(raw, a["new_xyz"], a["xyz"], 0, 1, 5, a["idx"]) == NOT_SUPPORTED
        assert "not implemented by the sim library" in raw.reason()
    assert is_canary(a["idx"])


# ---- threads and instruction levels --------------------------------------------------------------


def digests() -> list[str]:
    """Found indices of some clouds, in a form that goes through JSON."""
    rng = np.random.default_rng(11)
    found = []
    for dtype in DTYPES:
        for centres, points, nsample in ((150, 1500, 16), (150, 37, 64), (900, 5000, 16)):
            new_xyz, xyz = (rng.random((2, n, 3)).astype(dtype) for n in (centres, points))
            found.append(hashlib.sha256(ball_query(new_xyz, xyz, 0.1, 0.25, nsample)).hexdigest())
    return found


@pytest.fixture
def threads_as_before() -> Iterator[None]:
    before = pymluops.get_num_threads()
    yield
    pymluops.set_num_threads(before)


@pytest.mark.usefixtures("threads_as_before")
def test_any_number_of_threads_finds_the_same() -> None:
    found = []
    for threads in (1, 2, 3):
        pymluops.set_num_threads(threads)
        found.append(digests())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_any_instruction_level_finds_the_same(level: str) -> None:
    code = "import json; from ops.test_ball_query import digests; print(json.dumps(digests()))"
    assert json.loads(python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level)) == digests()


def test_an_interrupted_call_ends_soon_and_the_next_one_is_right() -> None:
    xyz = np.random.default_rng(1).random((1, 300_000, 3), np.float32)
    assert interrupted(lambda: pymluops.ball_query(xyz, xyz, 0, 0.02, 16)) > 0
    some = xyz[:, :3000].copy()
    np.testing.assert_array_equal(ball_query(some, some, 0, 0.1, 16), expected(some, some, 0, 0.1, 16))
