"""Scalars of every type that a schema can describe; `schema_library.cpp` tells what arrived."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops import _core
from pymluops.ops._schema import Scalar
from support.schemas import BOXES, OVERLAPS, POINTS, Library, ball

FLOAT_MAX = float(np.finfo(np.float32).max)


@given(st.floats(width=64) | st.integers() | st.booleans() | st.none() | st.text(max_size=3))
def test_a_float_arrives_as_float32_or_is_refused(library: Library, value: Any) -> None:
    operator, before = ball(Scalar("min_radius", minimum=-2.5, maximum=1e30)), library.calls
    try:
        with np.errstate(over="ignore"):
            rounded = math.nan if isinstance(value, (bool, str)) or value is None else float(np.float32(value))
    except OverflowError:
        rounded = math.inf
    if -2.5 <= rounded <= float(np.float32(1e30)) and rounded <= 1e30:
        operator(library.handle, (POINTS, POINTS, None), (value, 1.0, 1))
        assert library.seen[0] == rounded
    else:
        with pytest.raises(pymluops.BadParamError, match=r"^ball: min_radius: expected a .*number.*, got "):
            operator(library.handle, (POINTS, POINTS, None), (value, 1.0, 1))
        assert library.calls == before


@pytest.mark.parametrize("value", [np.float32(0.5), np.float16(0.5), np.array(0.5), Fraction(1, 2), np.float64(0.5)])
def test_what_counts_as_a_number(library: Library, value: Any) -> None:
    ball(Scalar("min_radius"))(library.handle, (POINTS, POINTS, None), (value, 1, np.int8(1)))
    assert library.seen[:3] == [0.5, 1, 1]


@pytest.mark.parametrize(
    "value", [True, np.True_, "1", b"1", None, 1j, np.complex64(1), np.ones(1), [1.0], math.nan, math.inf, -math.inf,
              1e39, -1e39, 10**400, np.float64(math.nan)],
)  # fmt: skip
def test_what_is_no_finite_number(library: Library, value: Any) -> None:
    before = library.calls
    with pytest.raises(pymluops.BadParamError, match=r"min_radius: expected a (finite float32 )?number, got"):
        ball(Scalar("min_radius"))(library.handle, (POINTS, POINTS, None), (value, 1, 1))
    assert library.calls == before


def test_infinities_and_nan_where_the_schema_allows_them(library: Library) -> None:
    operator = ball(Scalar("min_radius", infinite=True), Scalar("max_radius", nan=True))
    operator(library.handle, (POINTS, POINTS, None), (-math.inf, math.nan, 1))
    assert library.seen[0] == -math.inf
    assert math.isnan(library.seen[1])
    operator(library.handle, (POINTS, POINTS, None), (1e39, FLOAT_MAX, 1))
    assert library.seen[:2] == [math.inf, FLOAT_MAX]
    with pytest.raises(pymluops.BadParamError, match="min_radius"):
        operator(library.handle, (POINTS, POINTS, None), (math.nan, 1, 1))
    with pytest.raises(pymluops.BadParamError, match="max_radius"):
        operator(library.handle, (POINTS, POINTS, None), (1, math.inf, 1))


def test_a_limit_that_is_not_reached(library: Library) -> None:
    operator = ball(Scalar("min_radius", minimum=0, maximum=1, above=True))
    operator(library.handle, (POINTS, POINTS, None), (1e-30, 1, 1))
    for value in (0, 0.0, -0.0, 1e-60, 1.001):  # 1e-60 is 0 in float32
        with pytest.raises(pymluops.BadParamError, match="a finite float32 number above 0 up to 1, got"):
            operator(library.handle, (POINTS, POINTS, None), (value, 1, 1))


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"minimum": 0}, "a finite float32 number of at least 0"),
        ({"minimum": 0, "infinite": True}, "a float32 number of at least 0"),
        ({"minimum": 0, "maximum": 1}, "a finite float32 number from 0 up to 1"),
        ({"minimum": 0, "above": True}, "a finite float32 number above 0"),
    ],
)
def test_limits_are_told_in_words(library: Library, limits: dict[str, Any], expected: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=rf"min_radius: expected {expected}, got -1"):
        ball(Scalar("min_radius", **limits))(library.handle, (POINTS, POINTS, None), (-1, 1, 1))


@pytest.mark.parametrize(
    ("kind", "value", "allowed"),
    [("double", 1e39, True), ("double", 1e-60, True), ("double", math.inf, False), ("double", 10**400, False),
     ("int64_t", 2**63 - 1, True), ("int64_t", 2**63, False), ("int64_t", -(2**63), True),
     ("int64_t", -(2**63) - 1, False), ("uint64_t", 2**64 - 1, True), ("uint64_t", 2**64, False),
     ("uint64_t", -1, False), ("size_t", 2**63, True), ("size_t", 1.0, False), ("uint32_t", 2**32, False),
     ("uint32_t", 2**32 - 1, True), ("int32_t", 2**31, False), ("int32_t", True, False)],
)  # fmt: skip
def test_the_range_follows_from_the_c_type(
    library: Library, monkeypatch: pytest.MonkeyPatch, kind: str, value: Any, allowed: bool
) -> None:
    functions: dict[str, Any] = _core._FUNCTIONS  # type: ignore[attr-defined]
    number, returns, parameters = functions["mluOpBallQuery"]
    changed = tuple((kind if name == "max_radius" else given, name) for given, name in parameters)
    monkeypatch.setitem(functions, "changed", (number, returns, changed))
    minimum = None if kind == "double" else max(-(2**63), -(2**31) if kind == "int32_t" else -(2**63))
    if kind[0] in "us":
        minimum = 0
    operator, before = ball(Scalar("max_radius", minimum=minimum), function="changed"), library.calls
    if allowed:
        operator(library.handle, (POINTS, POINTS, None), (value, 0.0, 1))
        assert library.calls == before + 1
    else:
        with pytest.raises(pymluops.BadParamError, match="max_radius: expected a"):
            operator(library.handle, (POINTS, POINTS, None), (value, 0.0, 1))
        assert library.calls == before


@pytest.mark.parametrize("value", [True, np.True_, 1, np.int8(1), False, 0, np.False_])
def test_truth_values(library: Library, value: Any) -> None:
    OVERLAPS(library.handle, (BOXES, BOXES, None), (0, value, -3))
    assert library.seen[:3] == [0, bool(value), -3]


@pytest.mark.parametrize("value", [2, -1, None, "True", 1.0, np.ones(2, bool)])
def test_what_is_no_truth_value(library: Library, value: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="overlaps: aligned: expected a bool, got"):
        OVERLAPS(library.handle, (BOXES, BOXES, None), (0, value, 0))


@pytest.mark.parametrize("value", [-4, 4, 2**40, 0.0, None, False])
def test_integers_that_may_be_negative(library: Library, value: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="overlaps: offset: expected an integer from -3 to 3, got"):
        OVERLAPS(library.handle, (BOXES, BOXES, None), (0, True, value))


@pytest.mark.parametrize("value", [1, np.int64(9)])
def test_an_integer_without_effect(library: Library, value: Any) -> None:
    """It is checked, and C gets another one."""
    scalars = (*OVERLAPS.scalars[:2], Scalar("offset", minimum=1, maximum=9, passed=7))
    overlaps = _core.Operator("mluOpBboxOverlaps", "overlaps", OVERLAPS.tensors, scalars)
    overlaps(library.handle, (BOXES, BOXES, None), (0, True, value))
    assert library.seen[2] == 7
    for wrong in (0, 10, True, 1.0):
        with pytest.raises(pymluops.BadParamError, match="overlaps: offset: expected an integer from 1 to 9, got"):
            overlaps(library.handle, (BOXES, BOXES, None), (0, True, wrong))


@pytest.mark.parametrize(("value", "number"), [("iou", 0), ("iof", 1), (1, 1), (np.int64(1), 1)])
def test_choices(library: Library, value: Any, number: int) -> None:
    OVERLAPS(library.handle, (BOXES, BOXES, None), (value, True, 0))
    assert library.seen[0] == number


@pytest.mark.parametrize("value", ["IoU", "", 2, -1, True, 0.0, None, 2**70])
def test_what_is_no_choice(library: Library, value: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="overlaps: mode: expected 'iou', 'iof', 0 or 1, got"):
        OVERLAPS(library.handle, (BOXES, BOXES, None), (value, True, 0))
