"""pointwise: abs, sqrt, sqrt_backward, log, div and lgamma."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import pointwise as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_same_values
from support.pointwise_calls import IN_C, status
from support.selection import examples

FLOATS = ("float32", "float16")
#: Functions of one array, as Python calls them and by the oracle.
UNARY: dict[str, tuple[Callable[..., Any], Callable[[np.ndarray], np.ndarray]]] = {
    "abs": (pymluops.abs, oracle.absolute),
    "sqrt": (pymluops.sqrt, lambda x: oracle.in_double("sqrt", x)),
    "log": (pymluops.log, lambda x: oracle.logarithm(x, 0)),
    "log2": (lambda x, **o: pymluops.log(x, 2, **o), lambda x: oracle.logarithm(x, 1)),
    "log10": (lambda x, **o: pymluops.log(x, "10", **o), lambda x: oracle.logarithm(x, 2)),
    "lgamma": (pymluops.lgamma, oracle.lgamma),
}
#: Their largest errors, in units of the last place.
UNITS = {"abs": 0.5, "sqrt": 0.5, "log": 0.9, "log2": 0.51, "log10": 0.51, "lgamma": 0.51}


@pytest.fixture(scope="module")
def shared() -> Iterator[Raw]:
    with Raw(pymluops.load("cpu")) as raw:
        yield raw


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    """Any bits overflow where NumPy computes with them."""
    with np.errstate(all="ignore"):
        yield


def rounded(wanted: np.ndarray, dtype: Any) -> np.ndarray:
    """Float64 to the type; halves are computed in float32."""
    with np.errstate(all="ignore"):
        return wanted.astype(np.float32).astype(dtype)


def assert_within(found: np.ndarray, wanted: np.ndarray, steps: float) -> None:
    """No value is further from the float64 one than so many units in its last place."""
    nearest = rounded(wanted, found.dtype)
    exact = ~np.isfinite(nearest)
    assert_same_values(found[exact], nearest[exact])
    found, wanted, nearest = found[~exact], wanted[~exact], nearest[~exact]
    room = steps * np.spacing(np.abs(nearest)).astype(np.float64)
    assert (np.abs(found.astype(np.float64) - wanted) <= room).all()


# ---- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNARY)
def test_all_halves(name: str) -> None:
    function, formula = UNARY[name]
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    assert_same_values(function(x), rounded(formula(x.astype(np.float64)), np.float16))


@examples(60)
@given(count=st.integers(0, 3000), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", UNARY)
def test_floats_of_any_bits(name: str, count: int, seed: int) -> None:
    function, formula = UNARY[name]
    x = any_bits(np.random.default_rng(seed), count, np.float32)
    assert_within(function(x), formula(x.astype(np.float64)), UNITS[name])


@pytest.mark.parametrize("name", ["log", "log2", "log10", "lgamma"])
def test_floats_near_zeros_and_poles(name: str) -> None:
    function, formula = UNARY[name]
    near = [n + np.arange(-300, 301) * np.spacing(np.float32(max(abs(n), 0.5))) for n in range(-40, 41)]
    x = np.concatenate([*near, np.linspace(-9, 9, 30011)]).astype(np.float32)
    assert_within(function(x), formula(x.astype(np.float64)), UNITS[name])


def test_special_values() -> None:
    values = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, -1, -2, 1, 2])
    nan, inf = np.nan, np.inf
    wanted = {
        "abs": [nan, inf, inf, 0, 0, 1, 2, 1, 2],
        "sqrt": [nan, inf, nan, 0, -0.0, nan, nan, 1, np.sqrt(np.float32(2))],
        "log2": [nan, inf, nan, -inf, -inf, nan, nan, 0, 1],
        "lgamma": [nan, inf, inf, inf, inf, inf, inf, 0, 0],
    }
    for name, results in wanted.items():
        found = UNARY[name][0](values)
        assert_same_values(found, np.float32(results))
        assert (np.signbit(found) == np.signbit(np.float32(results)))[~np.isnan(found)].all(), name
    assert not np.signbit(pymluops.abs(-values)).any()


def test_powers_have_exact_logarithms() -> None:
    exponents = np.arange(-149, 128)
    np.testing.assert_array_equal(pymluops.log(np.float32(2.0) ** np.float32(exponents), 2), exponents)
    np.testing.assert_array_equal(pymluops.log(np.float32([1, 10, 100, 1000, 10000]), 10), np.arange(5))


def test_integers() -> None:
    numbers = np.random.default_rng(1).integers(-(2**31), 2**31, 5001).astype(np.int32)
    numbers[:4] = -(2**31), 2**31 - 1, 0, -1
    found = pymluops.abs(numbers)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.abs(numbers))
    roots = pymluops.sqrt(numbers)
    assert roots.dtype == np.float32
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(roots, np.sqrt(numbers.astype(np.float32)))


def test_sizes_of_complex_numbers() -> None:
    rng = np.random.default_rng(2)
    parts = any_bits(rng, (5000, 2), np.float32)
    parts[:4] = (3e38, 3e38), (np.inf, np.nan), (np.nan, -np.inf), (1e-45, 1e-45)
    found = pymluops.abs(parts.view(np.complex64)[:, 0])
    assert found.dtype == np.float32
    assert not np.signbit(found).any()
    assert_within(found, np.hypot(*parts.astype(np.float64).T), 0.51)


def test_bfloat16(raw: Raw) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    for name, formula in (("abs", np.abs), ("sqrt", np.sqrt)):
        y = canary(x.shape, x.dtype)
        assert status(raw, name, x, y) == SUCCESS
        with np.errstate(invalid="ignore"):
            wanted = formula(x.astype(np.float32)).astype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(y.astype(np.float32), wanted.astype(np.float32))


@examples(100)
@given(count=st.integers(0, 3000), dtype=st.sampled_from(FLOATS), seed=st.integers(0, 2**32 - 1))
def test_two_arrays(count: int, dtype: str, seed: int) -> None:
    x, y = any_bits(np.random.default_rng(seed), (2, count), dtype)
    wide_x, wide_y = x.astype(np.float32), y.astype(np.float32)
    with np.errstate(all="ignore"):
        assert_same_values(pymluops.div(x, y), (wide_x / wide_y).astype(dtype))
    assert_same_values(pymluops.sqrt_backward(x, y), oracle.sqrt_backward(wide_x, wide_y).astype(dtype))


@pytest.mark.parametrize("name", ["abs", "sqrt", "log", "lgamma"])
def test_in_double(raw: Raw, name: str) -> None:
    function, scalars, _ = IN_C[name]
    x = np.abs(np.random.default_rng(4).normal(size=999)) * 9
    y = canary(x.shape, x.dtype)
    double = f"mluopsExt{function.removeprefix('mluOp')}Double"
    assert raw.status(double, *scalars, Tensor(x), Tensor(y)) == SUCCESS
    np.testing.assert_allclose(y, UNARY[name][1](x), 1e-13, 1e-14)
    assert status(raw, name, x, canary(x.shape, x.dtype)) == BAD_PARAM  # the function itself has no such type


# ---- shapes and strides ------------------------------------------------------------------------


def laid_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, gaps: bool) -> tuple[np.ndarray, np.ndarray]:
    """A canary whose dims lie in any order, with gaps between the elements if wanted, and all of its memory."""
    order = rng.permutation(len(shape))
    room = [shape[dim] * int(rng.integers(1, 3) if gaps else 1) for dim in order]
    memory = canary(room, dtype)
    steps = tuple(slice(None, None, max(1, r // max(1, shape[dim]))) for r, dim in zip(room, order, strict=True))
    view = memory[steps]
    for axis, dim in enumerate(order):
        view = np.take(view, [], axis) if shape[dim] == 0 else view
    return np.transpose(view, np.argsort(order)), memory


@examples(150)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    dtype=st.sampled_from([*FLOATS, "int32"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_strides_of_abs(shared: Raw, shape: list[int], dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    (x, _), (y, memory) = (laid_out(rng, tuple(shape), dtype, True) for _ in range(2))
    x[...] = rng.normal(size=shape) * 100
    before = canary(memory.shape, dtype)
    assert status(shared, "abs", x, y) == SUCCESS, shared.reason()
    np.testing.assert_array_equal(y, np.abs(x))
    y[...] = before.reshape(-1)[:1]
    assert is_canary(memory)  # nothing between the elements was touched


@pytest.mark.parametrize("count", [1000, 5000, 40000])
def test_long_rows_with_strides(raw: Raw, count: int) -> None:
    values = np.random.default_rng(5).uniform(0.1, 9, (3, count)).astype(np.float32)
    for x, y in (
        (np.repeat(values, 2, 1)[:, ::2], canary((3, count), "float32")),
        (values, canary((3, 2 * count), "float32")[:, ::2]),
        (np.broadcast_to(values[:, :1], values.shape), canary((count, 3), "float32").T),
    ):
        assert status(raw, "lgamma", x, y) == SUCCESS, raw.reason()
        np.testing.assert_array_equal(y, pymluops.lgamma(np.ascontiguousarray(x)))


@examples(60)
@given(shape=st.lists(st.integers(1, 5), min_size=2, max_size=5), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ["sqrt", "log", "sqrt_backward", "div"])
def test_strides_without_gaps(shared: Raw, name: str, shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, _ = laid_out(rng, tuple(shape), "float32", False)
    tensors = [np.empty_like(first) for _ in range(IN_C[name][2])]  # with the same order of dims
    for tensor in tensors:
        tensor[...] = rng.uniform(0.1, 9, shape)
    assert status(shared, name, *tensors) == SUCCESS, shared.reason()
    packed = [np.ascontiguousarray(tensor) for tensor in tensors[:-1]]
    np.testing.assert_array_equal(tensors[-1], getattr(pymluops, name)(*packed))


@pytest.mark.parametrize("name", ["sqrt", "log", "sqrt_backward", "div"])
def test_other_strides_are_not_supported(raw: Raw, name: str) -> None:
    count = IN_C[name][2]
    for shape, view in (((3, 8), lambda a: a[:, ::2]), ((4, 3), lambda a: a.T)):
        for odd in range(count):
            tensors = [np.ones((3, 4), np.float32) for _ in range(count)]
            tensors[odd] = view(np.ones(shape, np.float32))
            assert status(raw, name, *tensors) == NOT_SUPPORTED
            assert "expected strides without gaps" in raw.reason()


def test_strides_of_single_elements_do_not_count(raw: Raw) -> None:
    memory = np.ones(8, np.float32)
    odd = np.lib.stride_tricks.as_strided(memory[:1], (1, 1), (28, 12))
    y = canary((1, 1), "float32")
    assert status(raw, "sqrt", odd, y) == SUCCESS
    assert y.tolist() == [[1]]


@pytest.mark.parametrize("name", ["abs", "lgamma"])
def test_results_that_share_memory_are_not_supported(raw: Raw, name: str) -> None:
    memory = canary(12, "float32")
    for strides in ((4, 4), (0, 4), (8, 4)):
        y = np.lib.stride_tricks.as_strided(memory, (3, 4), strides)
        assert status(raw, name, np.ones((3, 4), np.float32), y) == NOT_SUPPORTED
        assert "larger than the span of the smaller ones" in raw.reason()
    assert is_canary(memory)


@examples(150)
@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=5),
    spread=st.lists(st.sampled_from(["same", "one of x", "one of y"]), min_size=5, max_size=5),
    missing=st.integers(-4, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_quotients_of_stretched_arrays(shape: list[int], spread: list[str], missing: int, seed: int) -> None:
    sizes = {
        way: [1 if kind == way else n for n, kind in zip(shape, spread, strict=False)]
        for way in ("one of x", "one of y")
    }
    x_shape, y_shape = sizes.values()
    if missing > 0:
        x_shape = x_shape[min(missing, len(shape) - 1) :]
    else:
        y_shape = y_shape[min(-missing, len(shape) - 1) :]
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=sides).astype(np.float32) for sides in (x_shape, y_shape))
    np.testing.assert_array_equal(pymluops.div(x, y), x / y)


def test_long_stretched_rows() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(7, 1, 5001)).astype(np.float32), rng.normal(size=(3, 1)).astype(np.float32)
    np.testing.assert_array_equal(pymluops.div(x, y), x / y)
    np.testing.assert_array_equal(pymluops.div(y, x), y / x)


@pytest.mark.parametrize("name", UNARY)
def test_every_rank(name: str) -> None:
    function = UNARY[name][0]
    x = np.random.default_rng(7).uniform(0.1, 9, 256).astype(np.float32)
    wanted = function(x)
    for rank in range(2, 9):
        np.testing.assert_array_equal(function(x.reshape((2,) * (rank - 1) + (-1,))).reshape(-1), wanted)
    single = function(x[0])
    assert single.shape == ()
    assert single == wanted[0]
    with pytest.raises(pymluops.BadParamError, match="with at most 8 dims"):
        function(x.reshape((1,) * 8 + (-1,)))


@pytest.mark.parametrize("name", IN_C)
def test_results_in_place(raw: Raw, name: str) -> None:
    for dtype in FLOATS:
        tensors = [np.random.default_rng(8).uniform(0.1, 9, 3001).astype(dtype) for _ in range(IN_C[name][2] - 1)]
        wanted = getattr(pymluops, name)(*tensors)
        for k in range(len(tensors)):
            given = [tensor.copy() for tensor in tensors]
            assert status(raw, name, *given, given[k]) == SUCCESS, raw.reason()
            np.testing.assert_array_equal(given[k], wanted)
        x = tensors[0].copy()
        assert getattr(pymluops, name)(x, *tensors[1:], out=x) is x
        np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("name", IN_C)
def test_results_over_parts_of_inputs(raw: Raw, name: str) -> None:
    memory = np.linspace(1, 2, 101).astype(np.float32)
    before = memory.copy()
    tensors = [memory[:-1]] * (IN_C[name][2] - 1)
    assert status(raw, name, *tensors, memory[1:]) == BAD_PARAM
    assert "bytes that belong to" in raw.reason()
    np.testing.assert_array_equal(memory, before)
    with pytest.raises(pymluops.BadParamError, match="overlap"):
        getattr(pymluops, name)(*tensors, out=memory[1:])


@pytest.mark.parametrize("name", IN_C)
@pytest.mark.parametrize("dtype", FLOATS)
def test_any_number_of_threads_gives_the_same_bits(name: str, dtype: str) -> None:
    arrays = [
        np.random.default_rng(9 + k).uniform(0.1, 9, 3_000_001).astype(dtype)[k:-1] for k in range(IN_C[name][2] - 1)
    ]
    arrays = [array[:2_999_990] for array in arrays]
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            found.append(getattr(pymluops, name)(*arrays))
    finally:
        pymluops.set_num_threads(before)
    np.testing.assert_array_equal(*found)
    parts = [array[1_234_567:1_234_600].copy() for array in arrays]
    np.testing.assert_array_equal(found[0][1_234_567:1_234_600], getattr(pymluops, name)(*parts))


def test_large_results_at_odd_addresses() -> None:
    memory = canary(16 * 2**20 + 40, "float32")
    x = np.tile(np.float32([4, 9, 16, 25, 36, 49, 64]), 16 * 2**20 // 7)
    for first in (1, 3):
        out = memory[first : first + len(x)]
        pymluops.sqrt(x, out=out)
        np.testing.assert_array_equal(out[:7], np.arange(2, 9))
        np.testing.assert_array_equal(out.reshape(-1, 7), np.broadcast_to(out[:7], (len(x) // 7, 7)))
        assert is_canary(memory[:first])
        assert is_canary(memory[first + len(x) :])
        memory[...] = canary(1, "float32")
