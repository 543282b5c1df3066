"""chamfer_distance forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import chamfer_distance as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

both_dtypes = pytest.mark.parametrize("dtype", ["float16", "float32"])


def _cloud(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, special: float) -> np.ndarray:
    """Points on a coarse grid, so that many distances are equal; some are not finite."""
    values = rng.integers(-12, 13, shape) / 8
    odd = rng.choice(np.array([np.nan, np.inf, -np.inf, 3e4, 6e-8, -0.0]), shape)
    return np.where(rng.random(shape) < special, odd, values).astype(dtype)


def _check(xyz1: np.ndarray, xyz2: np.ndarray) -> None:
    found = pymluops.chamfer_distance_forward(xyz1, xyz2)
    for array, wanted in zip(found, oracle.forward(xyz1, xyz2), strict=True):
        assert_same_values(array, wanted)


@both_dtypes
@examples(100)
@given(
    batch=st.integers(1, 3),
    first=st.integers(0, 70) | st.integers(500, 560),
    second=st.integers(0, 40) | st.integers(510, 515),
    special=st.sampled_from([0.0, 0.05, 0.9]),
    seed=st.integers(0, 2**32 - 1),
)
def test_clouds_on_a_grid(dtype: str, batch: int, first: int, second: int, special: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    _check(*(_cloud(rng, (batch, count, 2), dtype, special) for count in (first, second)))


@both_dtypes
@pytest.mark.parametrize(("first", "second"), [(600, 600), (1, 1), (7, 7), (2500, 1300)])
def test_named_and_larger_clouds(dtype: str, first: int, second: int) -> None:
    rng = np.random.default_rng(3)
    _check(*(rng.uniform(-10, 10, (2, count, 2)).astype(dtype) for count in (first, second)))


def test_degenerate_clouds() -> None:
    rng = np.random.default_rng(4)
    line = np.zeros((1, 3000, 2), np.float32)
    line[..., 0] = rng.permutation(3000)
    far = (rng.normal(size=(1, 3000, 2)) * 1e-3 + 1e4).astype(np.float32)
    _check(line, line[:, ::-1].copy())
    _check(far, line)
    odd = np.full((1, 400, 2), np.nan, np.float32)
    for kind in (np.inf, -np.inf, np.nan):
        odd[:, 200:] = kind
        odd[:, 300, 0] = 1
        _check(line[:, :300].copy(), odd)
        _check(odd, odd[:, ::-1].copy())
    # No point stands out, in a number that a look at all pairs would take minutes for.
    one = np.zeros((1, 200_000, 2), np.float32)
    found = pymluops.chamfer_distance_forward(one, one)
    assert not any(array.any() for array in found)


@examples(60)
@given(first=st.integers(1, 30), second=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_any_bits(first: int, second: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    _check(*(any_bits(rng, (1, count, 2), np.float32) for count in (first, second)))


def _gradient_case(rng: np.random.Generator, batch: int, first: int, second: int, dtype: str) -> list[np.ndarray]:
    """Arguments of backward; some numbers name no point."""
    clouds = [rng.normal(size=(batch, count, 2)).astype(dtype) for count in (first, second)]
    numbers = [rng.integers(-1, count + 1, (batch, own)) for own, count in ((first, second), (second, first))]
    grads = [rng.normal(size=(batch, count)).astype(dtype) for count in (first, second)]
    return [*clouds, *(one.astype(np.int32) for one in numbers), *grads]


@examples(80)
@given(batch=st.integers(1, 3), first=st.integers(0, 20), second=st.integers(0, 20), seed=st.integers(0, 2**32 - 1))
def test_gradients_are_sums_in_the_order_of_points(batch: int, first: int, second: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arguments = _gradient_case(rng, batch, first, second, "float32")
    found = pymluops.chamfer_distance_backward(*arguments, validate=False)
    for array, wanted in zip(found, oracle.backward(*arguments, real=np.float32), strict=True):
        assert_same_bits(array, wanted)
    halves = _gradient_case(rng, batch, first, second, "float16")
    found = pymluops.chamfer_distance_backward(*halves, validate=False)
    for array, wanted in zip(found, oracle.backward(*halves, real=np.float32), strict=True):
        assert_same_bits(array, wanted.astype(np.float16))


def test_gradients_are_those_of_differences() -> None:
    rng = np.random.default_rng(5)
    xyz1, xyz2 = rng.normal(size=(2, 9, 2)), rng.normal(size=(2, 6, 2))
    weights1, weights2 = rng.normal(size=(2, 9)), rng.normal(size=(2, 6))
    nearest, gradient = (double_of(described(f"chamfer_distance_{way}")) for way in ("forward", "backward"))

    def total(one: np.ndarray, other: np.ndarray) -> float:
        dist1, dist2, *_ = nearest(None, (one, other, *[None] * 4), ())
        return float((dist1 * weights1).sum() + (dist2 * weights2).sum())

    _, _, idx1, idx2 = nearest(None, (xyz1, xyz2, *[None] * 4), ())
    found = gradient(None, (xyz1, xyz2, idx1, idx2, weights1, weights2, None, None), ())
    for number, cloud in enumerate((xyz1, xyz2)):
        for place in [(0, 0, 0), (1, 5, 1), (0, 3, 1)]:
            before, step = cloud[place], 1e-6
            values = []
            for moved in (before + step, before - step):
                cloud[place] = moved
                values.append(total(xyz1, xyz2))
            cloud[place] = before
            assert found[number][place] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4, abs=1e-5)


def test_numbers_out_of_range_are_named() -> None:
    arguments = _gradient_case(np.random.default_rng(6), 2, 4, 5, "float32")
    arguments[2][...], arguments[3][...] = 0, 0
    arguments[3][1, 2] = 4
    with pytest.raises(pymluops.BadParamError, match=r"idx2: expected 0 <= value < N=4, got 4 at batch 1, point 2"):
        pymluops.chamfer_distance_backward(*arguments)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    rng = np.random.default_rng(7)
    xyz1, xyz2 = (rng.normal(size=(3, count, 2)).astype(np.float32) for count in (900, 1100))
    before = pymluops.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            nearest = pymluops.chamfer_distance_forward(xyz1, xyz2)
            gradients = pymluops.chamfer_distance_backward(xyz1, xyz2, *nearest[2:], *nearest[:2])
            found.append([array.tobytes() for array in (*nearest, *gradients)])
    finally:
        pymluops.set_num_threads(before)
    assert found[0] == found[1] == found[2]


# ---- refusals ------------------------------------------------------------------------------------


def _arrays(backward: bool) -> dict[str, Any]:
    xyz = {"xyz1": np.ones((2, 3, 2), np.float32), "xyz2": np.ones((2, 4, 2), np.float32)}
    small = {"dist1": canary((2, 3), np.float32), "dist2": canary((2, 4), np.float32)}
    numbers = {"idx1": canary((2, 3), np.int32), "idx2": canary((2, 4), np.int32)}
    if not backward:
        return {**xyz, **small, **numbers}
    grads = {f"grad_{name}": canary(array.shape, np.float32) for name, array in xyz.items()}
    return {**xyz, **numbers, **{f"grad_{name}": array for name, array in small.items()}, **grads}


def _status(raw: Raw, arrays: dict[str, Any]) -> int:
    way = "Backward" if "grad_xyz1" in arrays else "Forward"
    tensors = [Tensor(a) if isinstance(a, np.ndarray) else a for a in arrays.values()]
    return raw.status(f"mluopsExtChamferDistance{way}", *tensors)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("xyz1", np.ones((2, 3, 3), np.float32), BAD_PARAM),
    ("xyz1", np.ones((1, 3, 2), np.float32), BAD_PARAM),
    ("xyz1", np.ones((2, 3, 2), np.int32), BAD_PARAM),
    ("xyz1", np.ones((2, 3, 4), np.float32)[..., ::2], NOT_SUPPORTED),
    ("xyz2", np.ones((2, 4), np.float32), BAD_PARAM),
    ("xyz2", np.ones((2, 4, 2), np.float64), BAD_PARAM),
    ("xyz2", Descriptor((2, 4, 2), "float32", pair=True), BAD_PARAM),
    ("idx1", np.ones((2, 4), np.int32), BAD_PARAM),
    ("idx2", np.ones((2, 4), np.int64), BAD_PARAM),
    ("idx2", np.ones((2, 8), np.int32)[:, ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize("backward", [False, True])
def test_refused_tensors(raw: Raw, backward: bool) -> None:
    others = [("grad_xyz1", np.ones((2, 4, 2), np.float32), BAD_PARAM), ("grad_dist2", np.ones((2, 4)), BAD_PARAM)]
    for name, array, wanted in [*REFUSED, *(others if backward else [])]:
        arrays = {**_arrays(backward), name: array}
        assert _status(raw, arrays) == wanted, name
        assert raw.reason()
        outputs = {"grad_xyz1", "grad_xyz2"} if backward else {"dist1", "dist2", "idx1", "idx2"}
        assert all(is_canary(arrays[output]) for output in outputs - {name})


def test_results_have_memory_of_their_own(raw: Raw) -> None:
    for backward, pair in ((False, ("dist1", "xyz1")), (False, ("idx1", "dist1")), (True, ("grad_xyz1", "xyz1"))):
        arrays = _arrays(backward)
        memory = np.ones(64, np.float32)
        for name in pair:
            array = arrays[name]
            arrays[name] = memory.view(array.dtype)[: array.size].reshape(array.shape)
        assert _status(raw, arrays) == BAD_PARAM
        assert "memory of its own" in raw.reason()
        assert (memory == 1).all()


def test_clouds_without_points(raw: Raw) -> None:
    found = pymluops.chamfer_distance_forward(np.ones((2, 3, 2), np.float32), np.ones((2, 0, 2), np.float32))
    assert not found.dist1.any() and not found.idx1.any() and found.dist2.shape == (2, 0)
    shapes = {"xyz1": (2, 0, 2), "xyz2": (2, 0, 2), "dist1": (2, 0), "dist2": (2, 0), "idx1": (2, 0), "idx2": (2, 0)}
    null = {
        name: Descriptor(shape, "int32" if "idx" in name else "float16", pair=True) for name, shape in shapes.items()
    }
    assert _status(raw, null) == SUCCESS
