"""logspace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import logspace as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

TYPES = ("float32", "float16", "int32")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, -0.5, 3e38, 1e-45, math.inf, -math.inf, math.nan)


@pytest.fixture(scope="module")
def shared() -> Iterator[Raw]:
    with Raw(pymluops.load("cpu")) as raw:
        yield raw


def found(start: float, end: float, steps: int, base: float, dtype: str) -> np.ndarray:
    out = canary(steps, dtype)
    assert pymluops.logspace(start, end, steps, base, out=out) is out
    return out


def assert_near(values: np.ndarray, wanted: np.ndarray) -> None:
    """Floats are at most the next ones, whole numbers what they give when cut off."""
    if values.dtype == np.int32:
        room = 1 + np.abs(wanted.astype(np.float64)) * 2.0**-22
        assert (np.abs(values.astype(np.float64) - wanted) <= room).all()
        return
    regular = np.isfinite(wanted) & np.isfinite(values)
    np.testing.assert_array_equal(values[~regular], wanted[~regular])
    step = np.spacing(np.abs(wanted[regular]))
    assert (np.abs(values[regular].astype(np.float64) - wanted[regular]) <= step).all()


@examples(200)
@given(
    start=st.floats(-40, 40, width=32),
    end=st.floats(-40, 40, width=32),
    steps=st.integers(0, 700),
    base=st.floats(2.0**-40, 2.0**40, width=32),
    dtype=st.sampled_from(TYPES),
)
def test_values_of_the_formula(start: float, end: float, steps: int, base: float, dtype: str) -> None:
    assert_near(found(start, end, steps, base, dtype), oracle.logspace(start, end, steps, base, np.dtype(dtype)))


@examples(300)
@given(
    start=st.sampled_from(SPECIAL),
    end=st.sampled_from(SPECIAL),
    steps=st.integers(0, 9),
    base=st.sampled_from(SPECIAL),
    dtype=st.sampled_from(TYPES),
)
def test_special_numbers(start: float, end: float, steps: int, base: float, dtype: str) -> None:
    with np.errstate(all="ignore"):
        assert_near(found(start, end, steps, base, dtype), oracle.logspace(start, end, steps, base, np.dtype(dtype)))


def test_whole_exponents_are_exact() -> None:
    for dtype in ("float32", "int32"):
        np.testing.assert_array_equal(found(0, 9, 10, 10, dtype), 10 ** np.arange(10))
        np.testing.assert_array_equal(found(0, 19, 20, 3, dtype), np.float32(3.0 ** np.arange(20)).astype(dtype))
        np.testing.assert_array_equal(found(-1, -3, 3, 0.5, dtype), [2, 4, 8])
    np.testing.assert_array_equal(found(-24, 15, 40, 2, "float16"), 2.0 ** np.arange(-24, 16))
    np.testing.assert_array_equal(found(0, 3, 4, -2, "float32"), [1, -2, 4, -8])


def test_ends_are_met() -> None:
    for steps in (2, 3, 1000, 1001):
        values = found(0.1, 2.7, steps, 10, "float32")
        assert values[0] == np.float32(10.0 ** float(np.float32(0.1)))
        assert values[-1] == np.float32(10.0 ** float(np.float32(2.7)))


def test_exponents_have_the_type_of_the_result() -> None:
    assert found(1.9, 3.9, 3, 2, "int32").tolist() == [2, 4, 8]
    assert found(-1.9, 1.9, 3, 2, "int32").tolist() == [0, 1, 2]
    assert found(1.9, 0, 1, 2, "int32").tolist() == [3]  # a single one stays as it is
    values = found(0.1, 0.1, 2, 10, "float16")
    assert values.tolist() == [float(np.float16(np.float32(10 ** float(np.float16(0.1)))))] * 2


def test_whole_numbers_saturate() -> None:
    assert found(40, 41, 2, 2, "int32").tolist() == [2**31 - 1] * 2
    assert found(41, 41, 2, -2, "int32").tolist() == [-(2**31)] * 2
    assert found(float("nan"), 0, 1, 2, "int32").tolist() == [0]
    assert found(float("inf"), 0, 1, 2, "int32").tolist() == [2**31 - 1]
    assert found(6.0, 16, 2, 10, "float16").tolist() == [math.inf] * 2


@pytest.mark.parametrize("dtype", TYPES)
def test_any_number_of_threads_gives_the_same_bits(dtype: str) -> None:
    before, results = pymluops.get_num_threads(), []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            results.append(found(-3, 3.5, 1_000_003, 10, dtype))
    finally:
        pymluops.set_num_threads(before)
    np.testing.assert_array_equal(*results)
    some = slice(400_000, 400_300)
    numbers = [oracle.power(10.0, e) for e in oracle.exponents(-3, 3.5, 1_000_003, dtype)[some]]
    assert_near(results[0][some], oracle.rounded(np.array(numbers), dtype))


def test_a_new_array() -> None:
    values = pymluops.logspace(0, 3, 4)
    assert values.dtype == np.float32
    assert values.tolist() == [1, 10, 100, 1000]
    assert pymluops.logspace(0, 3, 0).shape == (0,)


def test_only_the_first_steps_are_written(shared: Raw) -> None:
    for shape in ((9,), (3, 3), (2, 1, 5)):
        res = canary(shape, "float32")
        assert shared.status("mluOpLogspace", 0.0, 3.0, 4, 10.0, Tensor(res)) == SUCCESS
        assert res.reshape(-1)[:4].tolist() == [1, 10, 100, 1000]
        assert is_canary(res.reshape(-1)[4:])


REFUSED: list[tuple[tuple[Any, ...], int, str]] = [
    ((-1, np.ones(3, np.float64)), BAD_PARAM, "steps"),
    ((-(2**63), np.ones(3, np.float32)), BAD_PARAM, "steps"),
    ((4, np.ones(3, np.int8)), BAD_PARAM, "steps"),
    ((2**63 - 1, np.ones(3, np.float32)), BAD_PARAM, "steps"),
    ((3, np.ones(3, np.float64)), BAD_PARAM, "res_desc"),
    ((0, np.ones(3, np.int64)), BAD_PARAM, "res_desc"),
    ((3, np.ones(6, np.float32)[::2]), NOT_SUPPORTED, "res"),
    ((3, Descriptor((3,), pair=True)), BAD_PARAM, "res"),
]


@pytest.mark.parametrize(("arguments", "wanted", "told"), REFUSED)
def test_refusals(raw: Raw, arguments: tuple[Any, ...], wanted: int, told: str) -> None:
    steps, res = arguments
    tensor = Tensor(res) if isinstance(res, np.ndarray) else res
    assert raw.status("mluOpLogspace", 0.0, 1.0, steps, 10.0, tensor) == wanted
    assert f"mluOpLogspace: {told}" in raw.reason()
    if isinstance(res, np.ndarray):
        assert (res == 1).all()


def test_nothing_to_do_and_nulls(raw: Raw) -> None:
    assert raw.status("mluOpLogspace", 0.0, 1.0, 0, 10.0, Descriptor((3,), pair=True)) == SUCCESS
    assert raw.status("mluOpLogspace", 0.0, 1.0, 0, 10.0, Descriptor((0,), "int32", pair=True)) == SUCCESS
    null = raw.ffi.NULL
    assert raw.lib.mluOpLogspace(null, 0, 1, 1, 10, null, null) == BAD_PARAM
    assert "mluOpLogspace: handle" in raw.reason()
    assert raw.lib.mluOpLogspace(raw.handle, 0, 1, 1, 10, null, null) == BAD_PARAM
    assert "mluOpLogspace: res_desc" in raw.reason()


def test_python_refuses() -> None:
    out = np.empty(4, np.float32)
    for call, text in (
        (lambda: pymluops.logspace(0, 1, -1), "logspace: steps: expected"),
        (lambda: pymluops.logspace(0, 1, 2.5), "logspace: steps: expected"),  # type: ignore[call-overload]
        (lambda: pymluops.logspace(0, 1, 2**62), "logspace: "),
        (lambda: pymluops.logspace("0", 1, 2), "logspace: start: expected"),  # type: ignore[call-overload]
        (lambda: pymluops.logspace(0, 1, 3, out=out), r"logspace: out: expected shape \[steps=3\], got \[4\]"),
        (lambda: pymluops.logspace(0, 1, 4, out=out.astype(np.float64)), "logspace: out: expected dtype"),
        (lambda: pymluops.logspace(0, 1, 2, out=out[::2]), "logspace: out: expected a C-contiguous array"),
    ):
        with pytest.raises((pymluops.MluOpError, MemoryError), match=text):
            call()
