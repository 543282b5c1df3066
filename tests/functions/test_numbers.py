"""Numbers as arguments: exactly what the C type holds is taken, and it arrives unchanged."""

from __future__ import annotations

import fractions
import math
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops import enums
from pymluops._arguments import Names
from pymluops.functions import _numbers

CALLER = Names("call", "mluOpCall")
RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "size": (0, 2**64 - 1)}
ENUMS = [
    kind
    for kind in vars(enums).values()
    if isinstance(kind, type) and issubclass(kind, IntEnum) and kind is not IntEnum
]
#: The smallest double that is rounded to an infinite float.
FLOAT_LIMIT = float(np.finfo(np.float32).max) + 2.0**103


def taken(kind: str, value: Any) -> Any:
    """The number, or None if it is refused as it should be."""
    try:
        return _numbers.number(CALLER, "x", kind, value)
    except pymluops.BadParamError as error:
        assert error.function == "mluOpCall"
        assert error.detail.startswith("call: x: expected ")
        assert ", got " in error.detail
        assert len(error.detail) < 700
        return None


@given(kind=st.sampled_from(sorted(RANGES)), value=st.integers() | st.sampled_from([2**31, -(2**31) - 1, 2**63, 2**64]))
def test_integers(kind: str, value: int) -> None:
    low, high = RANGES[kind]
    assert taken(kind, value) == (value if low <= value <= high else None)


@given(value=st.integers(-(2**63), 2**63 - 1))
def test_integers_of_numpy(value: int) -> None:
    assert taken("int64", np.int64(value)) == value
    assert taken("int32", np.int64(value)) == (value if -(2**31) <= value < 2**31 else None)


@given(value=st.floats())
def test_floats(value: float) -> None:
    result = taken("float32", value)
    if math.isfinite(value) and abs(value) >= FLOAT_LIMIT:
        assert result is None
    else:
        assert result == value or (math.isnan(result) and math.isnan(value))
    assert taken("float64", value) is not None


@pytest.mark.parametrize("value", [FLOAT_LIMIT, -FLOAT_LIMIT, math.nextafter(FLOAT_LIMIT, 0), math.inf, -math.inf])
def test_a_finite_float_does_not_become_infinite(value: float) -> None:
    result = taken("float32", value)
    assert result == (None if abs(value) == FLOAT_LIMIT else value)


@given(value=st.integers() | st.fractions())
def test_floats_of_other_types(value: int | fractions.Fraction) -> None:
    try:
        fits = abs(float(value)) < FLOAT_LIMIT
    except OverflowError:
        fits = False
    assert taken("float32", value) == (float(value) if fits else None)


@pytest.mark.parametrize(
    "value", ["1", b"1", None, True, np.True_, 1j, [1.0], np.zeros(1), np.zeros((1, 1)), object(), float]
)
def test_what_is_no_float(value: Any) -> None:
    assert taken("float32", value) is None


@pytest.mark.parametrize("value", [np.float32(0.25), np.float16(0.25), np.array(0.25), np.int8(3)])
def test_floats_of_numpy(value: Any) -> None:
    assert taken("float32", value) == float(value)


@pytest.mark.parametrize("value", [True, False, np.True_, 0, 1, np.int64(1)])
def test_bools(value: Any) -> None:
    assert taken("bool", value) == int(value)


@pytest.mark.parametrize("value", [2, -1, 0.0, "True", None])
def test_what_is_no_bool(value: Any) -> None:
    assert taken("bool", value) is None


@given(kind=st.sampled_from([kind for kind in ENUMS if kind is not enums.Status]), value=st.integers(-3, 30))
def test_enums_by_number(kind: type[IntEnum], value: int) -> None:
    assert taken(kind.__name__, value) == (value if value in {int(member) for member in kind} else None)


@pytest.mark.parametrize("kind", ENUMS)
def test_enums_by_member(kind: type[IntEnum]) -> None:
    for member in kind:
        assert taken(kind.__name__, member) == int(member)
        for other in ENUMS:
            if other is not kind:
                assert taken(other.__name__, member) is None


@given(values=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=6), count=st.integers(-2, 6))
def test_arrays_of_numbers(values: list[int], count: int) -> None:
    for given_as in (values, tuple(values), np.array(values, np.int32)):
        if len(values) == count:
            found = _numbers.number_bytes(CALLER, "x", "int32", given_as, count, "dimNb")
            assert np.frombuffer(found, np.int32).tolist() == values
            assert _numbers.value_of("int32", bytearray(found), count) == tuple(values)
        else:
            with pytest.raises(pymluops.BadParamError, match=f"x: expected a sequence of dimNb={count} numbers"):
                _numbers.number_bytes(CALLER, "x", "int32", given_as, count, "dimNb")


def test_numbers_without_a_name_come_back_as_they_are() -> None:
    assert _numbers.value_of("Layout", bytearray(b"\x63\0\0\0")) == 99
    assert _numbers.value_of("Layout", bytearray(b"\x01\0\0\0")) is enums.Layout.NHWC
