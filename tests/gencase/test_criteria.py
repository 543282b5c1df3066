"""The metrics of cases against numbers computed by hand, the rules for NaN and infinity, and sources of criteria."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymluops import gencase
from pymluops.enums import DataType
from pymluops.gencase._criteria import NAMES, Criterion, compare, worst_place
from pymluops.gencase._verdict import criteria_of
from support.selection import examples

FLOAT, HALF, INT32 = DataType.FLOAT, DataType.HALF, DataType.INT32
NAN, INF = math.nan, math.inf


def values(found: Any, wanted: Any, dtype: DataType = FLOAT, threshold: float = 1.0) -> dict[str, float]:
    """All metrics of two lists."""
    criteria = [Criterion(name, threshold) for name in NAMES]
    return {one.name: one.value for one in compare(np.array(found), np.array(wanted), criteria, dtype)}


def test_metrics_by_hand() -> None:
    found = values([1.0, 2.0, 3.5, 0.0], [1.0, 2.5, 3.0, 0.5])
    assert found["DIFF1"] == pytest.approx(1.5 / 7, rel=1e-6)
    assert found["DIFF2"] == pytest.approx(math.sqrt(0.75 / (1 + 6.25 + 9 + 0.25)), rel=1e-6)
    assert found["DIFF3"] == pytest.approx(1.0, rel=1e-6)  # 0 for 0.5
    assert found["DIFF3_2"] == 0.5
    assert found["DIFF4"] == -1  # too few differences say nothing
    assert found["DIFF_KL"] == -1


@pytest.mark.parametrize(
    ("dtype", "baseline", "expected"),
    [
        (FLOAT, 1e-7, 0.25),  # small ones are compared by the difference
        (FLOAT, 2e-6, 0.25 / 2e-6),
        (HALF, 5e-5, 0.25),
        (INT32, 0.0, 0.25 / 1e-9),
    ],
)
def test_small_baselines(dtype: DataType, baseline: float, expected: float) -> None:
    found = values([baseline + 0.25], [baseline], dtype)
    assert found["DIFF3"] == pytest.approx(expected, rel=1e-3)


def test_differences_on_one_side_fail() -> None:
    wanted = np.arange(200, dtype=np.float32)
    criterion = [Criterion("DIFF4", 0)]
    (above,) = compare(wanted + 1, wanted, criterion, FLOAT)
    assert (above.value, above.passed) == (0, False)
    (below,) = compare(wanted - 1, wanted, criterion, FLOAT)
    assert (below.value, below.passed) == (1, False)
    signs = np.where(np.arange(200) % 2, 1, -1)
    (both,) = compare(wanted + signs, wanted, criterion, FLOAT)
    assert (both.value, both.passed) == (0.5, True)
    # Equal pairs count once.
    (few,) = compare(np.ones(500), np.zeros(500), criterion, FLOAT)
    assert (few.value, few.passed) == (-1, True)


def test_divergence() -> None:
    rng = np.random.default_rng(0)
    wanted = rng.random(2000).astype(np.float32)
    (alike,) = compare(wanted, wanted, [Criterion("DIFF_KL", 1e-6)], FLOAT)
    assert (alike.value, alike.passed) == (0, True)
    (other,) = compare(wanted[::-1].copy(), wanted, [Criterion("DIFF_KL", 1e-6)], FLOAT)
    assert other.value > 0.1
    assert not other.passed


@pytest.mark.parametrize(
    ("found", "wanted", "exact", "others"),
    [
        ([1, NAN], [1, NAN], True, True),
        ([2, NAN], [1, NAN], False, True),  # finite numbers count only where all must be equal
        ([1, INF], [1, INF], True, True),
        ([1, -INF], [1, INF], False, False),
        ([1, NAN], [1, INF], False, False),
        ([1, 5], [1, NAN], False, False),
        ([1, NAN], [1, 5], False, False),
    ],
)
def test_what_is_not_finite(found: list[float], wanted: list[float], exact: bool, others: bool) -> None:
    for threshold, expected in ((0.0, exact), (0.003, others)):
        criteria = [Criterion("DIFF1", threshold), Criterion("DIFF3", threshold), Criterion("DIFF4", 0)]
        measures = compare(np.float32(found), np.float32(wanted), criteria, FLOAT)
        assert all(one.passed for one in measures) == expected


def test_a_threshold_that_is_no_number_allows_everything() -> None:
    for name in ("DIFF1", "DIFF2", "DIFF3", "DIFF3_2"):
        for found in (np.ones(3, np.float32), np.full(3, 9, np.float32)):
            (measure,) = compare(found, np.ones(3, np.float32), [Criterion(name, float("nan"))], FLOAT)
            assert measure.passed


def test_a_case_with_diff4_alone_counts_as_exact() -> None:
    (one,) = compare(np.float32([2, NAN]), np.float32([1, 1]), [Criterion("DIFF4", 0)], FLOAT)
    assert not one.passed


@pytest.mark.parametrize(
    ("found", "wanted", "passes"),
    [([NAN], [5], True), ([INF], [5], True), ([5], [NAN], False), ([NAN], [INF], True), ([INF], [-INF], False)],
)
def test_loose_rules(found: list[float], wanted: list[float], passes: bool) -> None:
    (one,) = compare(np.float32(found), np.float32(wanted), [Criterion("DIFF1", 0.003)], FLOAT, loose=True)
    assert one.passed == passes


def test_complex_numbers_by_parts() -> None:
    wanted = np.complex64([1 + 2j, 3 - 1j])
    real, imaginary = compare(wanted + np.complex64(0.5j), wanted, [Criterion("DIFF3_2", 0.1, 0.6)], FLOAT)
    assert (real.part, real.value, real.threshold, real.passed) == ("real", 0, 0.1, True)
    assert (imaginary.part, imaginary.value, imaginary.threshold, imaginary.passed) == ("imaginary", 0.5, 0.6, True)
    _, same = compare(wanted + np.complex64(0.5j), wanted, [Criterion("DIFF3_2", 0.1)], FLOAT)
    assert not same.passed


@examples(100)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 400), share=st.sampled_from([0.0, 0.3, 1.0]))
def test_against_loops(seed: int, count: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    wanted = np.where(rng.random(count) < 0.2, 0, rng.normal(size=count)).astype(np.float32)
    found = np.where(rng.random(count) < share, wanted + rng.normal(0, 0.1, count), wanted).astype(np.float32)
    pairs = [(float(a), float(b)) for a, b in zip(found, wanted, strict=True)]
    result = values(found, wanted)
    differences = [abs(a - b) for a, b in pairs]
    assert result["DIFF1"] == pytest.approx(sum(differences) / (sum(abs(b) for _, b in pairs) + 1e-9))
    squares = sum((a - b) ** 2 for a, b in pairs) / (sum(b * b for _, b in pairs) + 1e-9)
    assert result["DIFF2"] == pytest.approx(math.sqrt(squares))
    assert result["DIFF3_2"] == max(differences)
    relative = [abs(a - b) if abs(b) < 1e-6 else abs(a - b) / (abs(b) + 1e-9) for a, b in pairs]
    assert result["DIFF3"] == pytest.approx(max(relative))
    different = {(a, b) for a, b in pairs if a != b}
    below = sum(a < b for a, b in different)
    assert result["DIFF4"] == (-1 if len(different) < 100 else below / len(different))


def test_worst_place() -> None:
    wanted = np.zeros((2, 3), np.float32)
    found = wanted.copy()
    assert worst_place(found, wanted) is None
    found[1, 2], found[0, 1] = 3, -1
    place = worst_place(found, wanted)
    assert place is not None
    assert (place.index, place.found, place.wanted, place.differing, place.elements) == ((1, 2), 3, 0, 2, 6)
    found[0, 0] = np.nan
    place = worst_place(found, wanted)
    assert place is not None
    assert place.index == (0, 0)


# ---- where criteria come from --------------------------------------------------------------------


def case(text: str, op_name: str = "tin_shift_forward") -> gencase.Case:
    from google.protobuf import text_format

    from pymluops.gencase._messages import node_class

    node = node_class()()
    text_format.Parse(f'op_name: "{op_name}" {text}', node)
    return gencase.Case(node)


TENSOR = 'output { id: "y" shape { dims: 1 } layout: LAYOUT_ARRAY dtype: DTYPE_FLOAT %s }'


def names(found: gencase.Case) -> list[tuple[str, float]]:
    criteria = criteria_of(found)
    return [(one.name, one.threshold) for one in criteria.of(found.outputs[0])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test_param { error_func: DIFF1 error_threshold: 0.5 }", [("DIFF1", 0.5)]),
        ("test_param { error_func: [MAPE, MAXAPE] error_threshold: [0.5, 0] }", [("DIFF1", 0.5), ("DIFF3", 0)]),
        # The first of two counts, and test_param before anything else.
        ("test_param { error_func: [DIFF1, DIFF1] error_threshold: [0.5, 7] }", [("DIFF1", 0.5)]),
        (
            "test_param { error_func: DIFF2 error_threshold: 1 } evaluation_criterion: DIFF1 evaluation_threshold: 2",
            [("DIFF2", 1)],
        ),
        ("evaluation_criterion: DIFF3 evaluation_threshold: 2", [("DIFF3", 2)]),
    ],
)
def test_sources(text: str, expected: list[tuple[str, float]]) -> None:
    assert names(case(f"{text} {TENSOR % ''}")) == expected


def test_thresholds_of_an_output() -> None:
    text = f"evaluation_criterion: [DIFF1, DIFF3] {TENSOR % 'thresholds { evaluation_threshold: [0.5, 9] }'}"
    assert names(case(text)) == [("DIFF1", 0.5), ("DIFF3", 9)]


def test_an_operator_may_count_some_criteria_only() -> None:
    text = f"evaluation_criterion: [DIFF1, DIFF3] evaluation_threshold: [1, 2] {TENSOR % ''}"
    assert names(case(text, "focal_loss_sigmoid_forward")) == [("DIFF1", 1)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the case has no criterion"),
        ("test_param { }", "the case has no criterion"),
        ("test_param { error_func: DIFF1 }", "0 thresholds for 1 criteria"),
        ("test_param { error_func: NRMSE error_threshold: 1 }", "NRMSE is not known"),
        (
            "test_param { error_func: DIFF1 error_threshold: 1 error_threshold_imag: [1, 2] }",
            "2 imaginary thresholds for 1 criteria",
        ),
        ("evaluation_criterion: DIFF1", "the thresholds of y has 0 thresholds"),
        ("evaluation_criterion: DIFF3 evaluation_threshold: 1", "no criterion"),
    ],
)
def test_no_criteria(text: str, said: str) -> None:
    operator = "focal_loss_sigmoid_forward" if "DIFF3" in text else "tin_shift_forward"
    with pytest.raises(gencase.CaseError, match=said):
        names(case(f"{text} {TENSOR % ''}", operator))
