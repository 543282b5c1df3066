"""What conversions between numbers give, from their definition: exact fractions, and what lies next to them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isnan, nan

#: The numbers of `cnrtDataType_V2_t` and `cnrtRoundingMode_t`.
TYPES = {
    "double": 1, "float": 2, "half": 3, "bfloat": 4,
    "ulonglong": 0x11, "uint": 0x12, "ushort": 0x13, "uchar": 0x14,
    "longlong": 0x21, "int": 0x22, "short": 0x23, "char": 0x24, "boolean": 0x31,
}  # fmt: skip
MODES = {"rn": 0, "rz": 1, "rd": 2, "ru": 3, "ro": 4, "rm": 5}
#: Of integers: bytes, and whether they are signed.
INTEGERS = {
    "ulonglong": (8, False), "uint": (4, False), "ushort": (2, False), "uchar": (1, False),
    "longlong": (8, True), "int": (4, True), "short": (2, True), "char": (1, True),
}  # fmt: skip


@dataclass(frozen=True)
class Format:
    """A floating-point format: all its bits, and those of the fraction."""

    bits: int
    fraction: int

    @property
    def infinity(self) -> int:
        return (1 << (self.bits - 1)) - (1 << self.fraction)

    def value(self, pattern: int) -> Fraction:
        """Return what a pattern without a sign stands for; for infinity the power of two that would follow."""
        power, rest = divmod(pattern, 1 << self.fraction)
        bias = (1 << (self.bits - self.fraction - 2)) - 1
        if power == 0:
            return Fraction(rest, 1 << self.fraction) * Fraction(2) ** (1 - bias)
        return (1 + Fraction(rest, 1 << self.fraction)) * Fraction(2) ** (power - bias)


FORMATS = {"double": Format(64, 52), "float": Format(32, 23), "half": Format(16, 10), "bfloat": Format(16, 7)}
SIZES = {name: form.bits // 8 for name, form in FORMATS.items()} | {name: n for name, (n, _) in INTEGERS.items()}
SIZES["boolean"] = 1


def decode(kind: str, raw: bytes) -> Fraction | float:
    """Return the number that bytes stand for; infinities and NaN as floats, minus zero as -0.0."""
    pattern = int.from_bytes(raw, "little")
    if kind == "boolean":
        return Fraction(pattern != 0)
    if kind in INTEGERS:
        return Fraction(int.from_bytes(raw, "little", signed=INTEGERS[kind][1]))
    form = FORMATS[kind]
    sign, magnitude = pattern >> (form.bits - 1), pattern & ((1 << (form.bits - 1)) - 1)
    if magnitude > form.infinity:
        return nan
    if magnitude == form.infinity:
        return -inf if sign else inf
    value = form.value(magnitude)
    return -0.0 if sign and value == 0 else -value if sign else value


def goes_up(mode: str, below: Fraction, above: Fraction, lower_is_even: bool, negative: bool) -> bool:
    """Whether a number goes to the greater of its neighbours; `below` and `above` are the distances to them."""
    match mode:
        case "rz":
            return negative
        case "rd":
            return False
        case "ru":
            return True
        case "ro":
            return not negative
        case _ if below != above:
            return above < below
        case "rm":
            return True
    return not lower_is_even


def converted(value: Fraction | float, kind: str, mode: str) -> bytes | None:
    """Return the bytes of the result; None for any NaN."""
    if kind == "boolean":
        return bytes([value != 0])
    if kind in INTEGERS:
        return _integer(value, *INTEGERS[kind], mode)
    form = FORMATS[kind]
    if isinstance(value, float):
        if isnan(value):
            return None
        pattern = form.infinity if value in (inf, -inf) else 0
        negative = struct.pack(">d", value)[0] >= 0x80
    else:
        negative = value < 0
        pattern = _pattern(value, form, mode)
    return (pattern | negative << (form.bits - 1)).to_bytes(form.bits // 8, "little")


def _integer(value: Fraction | float, size: int, signed: bool, mode: str) -> bytes:
    least = -(1 << (8 * size - 1)) if signed else 0
    greatest = least + (1 << 8 * size) - 1
    if isinstance(value, float):
        whole = 0 if isnan(value) or value == 0 else greatest if value > 0 else least
    else:
        lower = value.numerator // value.denominator
        whole = lower
        if value != lower and goes_up(mode, value - lower, lower + 1 - value, lower % 2 == 0, value < 0):
            whole += 1
    return max(least, min(greatest, whole)).to_bytes(size, "little", signed=signed)


def _pattern(value: Fraction, form: Format, mode: str) -> int:
    """Return the pattern without the sign."""
    magnitude, negative = abs(value), value < 0
    low, high = 0, form.infinity  # the greatest finite number not above it lies in [low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if form.value(middle) <= magnitude else (low, middle)
    if form.value(low) == magnitude:
        return low
    beyond = magnitude >= form.value(form.infinity)
    inner, outer = magnitude - form.value(low), form.value(low + 1) - magnitude
    if beyond:  # nearer to infinity than to any number
        inner, outer = Fraction(1), Fraction(0)
    below, above = (outer, inner) if negative else (inner, outer)
    # Of two neighbours with a sign, the lower one is the outer one.
    even = (low + 1) % 2 == 0 if negative else low % 2 == 0
    up = goes_up(mode, below, above, even, negative)
    return low + 1 if up != negative else low
