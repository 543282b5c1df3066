"""The zeros of MLU270 and MLU290, bit by bit: what their kernels rely on, and that later cards follow IEEE 754."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim

CARDS = ("MLU270", "MLU290")
#: 32-bit factors and their product there; on other cards that of IEEE 754.
PRODUCTS = {
    "zero and a negative number": (0x00000000, 0xC0000000, 0x00000000),
    "negative zero and a number": (0x80000000, 0x40000000, 0x00000000),
    "two negative zeros": (0x80000000, 0x80000000, 0x00000000),
    "zero and a NaN": (0xFFFFFFFF, 0x00000000, 0x00000000),
    "a NaN and negative zero": (0x80000000, 0x7FC00000, 0x00000000),
    "zero and infinity": (0x00000000, 0x7F800000, 0x00000000),
    "negative infinity and zero": (0xFF800000, 0x00000000, 0x00000000),
    "a NaN and one": (0xFFFFFFFF, 0x3F800000, 0xFFFFFFFF),
    "a negative product too small for a number": (0x80000001, 0x00800000, 0x00000000),
    "a subnormal number and one": (0x80000001, 0x3F800000, 0x80000001),
    "infinity and a negative number": (0x7F800000, 0xC0000000, 0xFF800000),
    "two numbers": (0x40400000, 0xC0000000, 0xC0C00000),
}
#: The same of 16 bits.
HALF_PRODUCTS = {
    "zero and a negative number": (0x0000, 0xC000, 0x0000),
    "zero and a NaN": (0xFFFF, 0x0000, 0x0000),
    "zero and infinity": (0x8000, 0x7C00, 0x0000),
    "a NaN and one": (0xFFFF, 0x3C00, 0xFFFF),
    "a negative product too small for a number": (0x8001, 0x0400, 0x0000),
    "a subnormal number and one": (0x8001, 0x3C00, 0x8001),
    "two numbers": (0x4200, 0xC000, 0xC600),
}
ARITHMETIC = """
__nram__ T a[128], b[128], c[128];
__mlu_entry__ void k(W *out, const W *x, const W *y, int what) {
  __memcpy(a, x, 128 * sizeof(T), GDRAM2NRAM);
  __memcpy(b, y, 128 * sizeof(T), GDRAM2NRAM);
  if (what == 0) __bang_mul(c, a, b, 128);
  if (what == 1) __bang_cycle_mul(c, a, b, 128, 128);
  if (what == 2) __bang_mul_const(c, a, b[0], 128);
  if (what == 3) __bang_mul_scalar(c, a, b[0], 128);
  if (what == 4) __bang_add(c, a, b, 128);
  if (what == 5) __bang_sub(c, a, b, 128);
  if (what == 6) __bang_add_const(c, a, b[0], 128);
  if (what == 7) __bang_cycle_add_tz(c, a, b, 128, 128);
  if (what == 8) __bang_eq(c, a, b, 128);
  if (what == 9) __bang_maxequal(c, a, b, 128);
  if (what == 10) __bang_square(c, a, 128);
  if (what == 11) __bang_active_sqrt(c, a, 128);
  if (what == 12) __bang_active_tanh(c, a, 128);
  if (what == 13) __bang_active_gelu(c, a, 128);
  if (what == 14) __bang_reduce_sum(c, a, 128);
  if (what == 15) __bang_avgpool(c, a, 128, 1, 1, 1, 1, 1, 1);
  if (what == 16) __bang_avgpool_bp(c, a, 128, 1, 1, 1, 1, 1, 1);
  if (what == 17) __bang_minequal(c, b, a, 128);
  __memcpy(out, c, 128 * sizeof(T), NRAM2GDRAM);
}
"""
INSTRUCTIONS = {
    "mul": 0, "cycle_mul": 1, "mul_const": 2, "mul_scalar": 3, "add": 4, "sub": 5, "add_const": 6, "cycle_add_tz": 7,
    "eq": 8, "maxequal": 9, "square": 10, "active_sqrt": 11, "active_tanh": 12, "active_gelu": 13, "reduce_sum": 14,
    "avgpool": 15, "avgpool_bp": 16, "minequal": 17,
}  # fmt: skip
TYPES: dict[str, np.dtype[Any]] = {"float": np.dtype(np.uint32), "half": np.dtype(np.uint16)}
NEGATIVE_ZERO = {"float": 0x80000000, "half": 0x8000}


@pytest.fixture
def on_card(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with pymluops.use("sim"):
        yield monkeypatch
        sim.set_device(None)


def compute(card: str, ctype: str, instruction: str, first: list[int], second: list[int]) -> list[int]:
    """The bits of the results for some bits of operands."""
    word = TYPES[ctype]
    source = ARITHMETIC.replace("T ", f"{ctype} ").replace("(T)", f"({ctype})")
    module = bang.compile(source.replace("W *", f"unsigned {'int' if word.itemsize == 4 else 'short'} *"), arch=card)
    x, y, out = (np.zeros(128, word) for _ in range(3))
    x[: len(first)], y[: len(second)] = first, second
    module.kernel("k")[1, "block"](out, x, y, INSTRUCTIONS[instruction])
    return [int(bits) for bits in out[: len(first)]]


def products(ctype: str) -> tuple[list[int], list[int], list[int]]:
    first, second, result = zip(*(PRODUCTS if ctype == "float" else HALF_PRODUCTS).values(), strict=True)
    return list(first), list(second), list(result)


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("instruction", ["mul", "cycle_mul"])
@pytest.mark.parametrize("card", CARDS)
def test_a_product_with_zero_is_positive_zero(card: str, ctype: str, instruction: str) -> None:
    first, second, result = products(ctype)
    assert compute(card, ctype, instruction, first, second) == result
    assert compute(card, ctype, instruction, second, first) == result


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("instruction", ["mul_const", "mul_scalar"])
def test_a_product_with_one_value_follows_the_same_rule(ctype: str, instruction: str) -> None:
    for a, b, result in zip(*products(ctype), strict=True):
        if instruction == "mul_const" and a == 0xFFFFFFFF:
            continue  # the register of a value is not the vector unit
        assert compute("MLU270", ctype, instruction, [a], [b]) == [result]


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("card", ["MLU370-X8", "MLU590"])
def test_later_cards_follow_ieee_754(card: str) -> None:
    first, second, result = products("float")
    got = compute(card, "float", "mul", first, second)
    a, b = (np.array(bits, np.uint32).view(np.float32) for bits in (first, second))
    with np.errstate(all="ignore"):
        expected = a * b
    is_nan = np.isnan(expected)
    assert (np.array(got, np.uint32)[~is_nan] == expected.view(np.uint32)[~is_nan]).all()
    assert np.isnan(np.array(got, np.uint32).view(np.float32)[is_nan]).all()
    assert got != result


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize(
    "instruction",
    ["add", "add_const", "cycle_add_tz", "active_sqrt", "active_tanh", "active_gelu", "reduce_sum", "avgpool",
     "avgpool_bp"],
)  # fmt: skip
def test_no_computed_zero_is_negative(ctype: str, instruction: str) -> None:
    zero = NEGATIVE_ZERO[ctype]
    assert compute("MLU290", ctype, instruction, [zero] * 128, [zero] * 128) == [0] * 128


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("ctype", TYPES)
def test_a_difference_of_zeros_is_positive(ctype: str) -> None:
    assert compute("MLU270", ctype, "sub", [NEGATIVE_ZERO[ctype], 0], [0, 0]) == [0, 0]


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("instruction", ["maxequal", "minequal"])
def test_what_an_instruction_chooses_keeps_its_bits(ctype: str, instruction: str) -> None:
    zero, least = NEGATIVE_ZERO[ctype], NEGATIVE_ZERO[ctype] + 1
    one = 0x3F800000 if ctype == "float" else 0x3C00
    other = least if instruction == "maxequal" else one
    assert compute("MLU270", ctype, instruction, [zero], [other]) == [zero]


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("ctype", TYPES)
def test_comparisons_see_subnormal_numbers_and_their_sign(ctype: str) -> None:
    sign = NEGATIVE_ZERO[ctype]
    one = 0x3F800000 if ctype == "float" else 0x3C00
    assert compute("MLU270", ctype, "eq", [1, sign + 1, sign, 1], [sign + 1, sign + 1, 0, 0]) == [0, one, one, 0]


UNDEFINED = """
__nram__ float a[32], b[32];
__mlu_entry__ void k(float *out) {
  __bang_write_zero(b, 32);
  __bang_mul(a, a, b, 32);  // a was never written
  __memcpy(out, a, 128, NRAM2GDRAM);
}
"""


@pytest.mark.usefixtures("on_card")
def test_a_product_of_anything_and_zero_is_defined_there() -> None:
    for card, rules in (("MLU270", []), ("MLU370-X8", ["init/copy"])):
        kernel = bang.compile(UNDEFINED, arch=card).kernel("k")
        sim.set_device(card)
        report = bang.check(kernel[1, "block"], np.ones(32, np.float32))
        assert [found.rule for found in report.findings] == rules, card


# ---- Kernels that rely on it ---------------------------------------------------------------------

CONVERSIONS = Path(__file__).with_name("int_float_2xx.mlu")
WHOLE = (0, 1, -1, 2, -2, 7, 4095, -4096, 2**23 - 1, -(2**23) + 1, 5_000_000, -5_000_000)


def conversions(card: str) -> bang.Module:
    return bang.compile(CONVERSIONS.read_text(encoding="utf-8"), arch=card)


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("card", CARDS)
def test_conversions_by_arithmetic_are_exact(card: str) -> None:
    whole = np.resize(np.array(WHOLE, np.int32), 128)
    as_float, as_int = np.zeros(128, np.float32), np.zeros(128, np.int32)
    module = conversions(card)
    with sim.checking("all"):
        module.kernel("to_float")[1, "block"](as_float, whole, 128)
        module.kernel("to_int")[1, "block"](as_int, whole.astype(np.float32), 128)
    assert as_float.tobytes() == whole.astype(np.float32).tobytes()
    assert as_int.tolist() == whole.tolist()
    fractions = np.resize(np.array([0.5, -0.5, 1.5, -1.5, 2.999, -2.999, 1e-40, -1e-40], np.float32), 128)
    module.kernel("to_int")[1, "block"](as_int, fractions, 128)
    assert as_int.tolist() == fractions.astype(np.int32).tolist()


@pytest.mark.usefixtures("on_card")
@pytest.mark.parametrize("card", CARDS)
def test_a_search_for_neighbors_with_both_conversions_is_right(card: str) -> None:
    rng = np.random.default_rng(5)
    rows, count, most, radius = 24, 192, 8, 0.8
    centers = rng.normal(size=(rows, 3)).astype(np.float32)
    points = rng.normal(size=(3, count)).astype(np.float32)
    ids = np.arange(count, dtype=np.int32) - 60  # negative ones too
    out = np.full((rows, most), -999, np.int32)
    expected = out.copy()
    for row, center in zip(expected, centers, strict=True):
        difference = points - center[:, None]
        square = difference * difference
        distance = square[0] + square[1] + square[2]
        hits = ids[distance < np.float32(radius) * np.float32(radius)][:most]
        if len(hits):
            row[: len(hits)], row[len(hits) :] = hits, hits[0]
    assert (expected[:, 0] != -999).sum() > rows // 2
    with sim.checking("all"):
        conversions(card).kernel("ball_query")[4, "union1"](out, centers, points, ids, radius, rows, count, most)
    assert out.tolist() == expected.tolist()
