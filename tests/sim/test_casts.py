"""`cnrtCastDataType_V2` and the host's conversions of half, against exact fractions."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle.casts import FORMATS, INTEGERS, MODES, SIZES, TYPES, converted, decode
from support.selection import examples

ARGS_INVALID = 100006


@pytest.fixture(scope="module")
def cnrt() -> Any:
    return ctypes.CDLL(pymluops.load("sim").path)


def cast(cnrt: Any, source: str, target: str, raw: bytes, mode: str) -> list[bytes]:
    """The elements that the call gives for those in `raw`."""
    count = len(raw) // SIZES[source]
    given, result = ctypes.create_string_buffer(raw, len(raw)), ctypes.create_string_buffer(count * SIZES[target])
    status = cnrt.cnrtCastDataType_V2(given, TYPES[source], result, TYPES[target], count, None, MODES[mode])
    assert status == 0
    return [result.raw[i : i + SIZES[target]] for i in range(0, count * SIZES[target], SIZES[target])]


def edge_values(kind: str) -> list[bytes]:
    """Patterns around everything special: zeros, ones, halves, the ends of all types, infinities, NaN."""
    size = SIZES[kind]
    if kind == "boolean":
        return [b"\0", b"\1", b"\xff"]
    if kind in INTEGERS:
        numbers = {0, 1, 2, 3, 127, 128, 255, 256, 2049, 32767, 65504, 65519, 65520, (1 << 24) + 1, (1 << 53) + 1}
        numbers |= {(1 << 8 * size) - n for n in (1, 2, 3, 1 << (8 * size - 1))} | {(1 << 8 * size - 1) - 1}
        return [(n % (1 << 8 * size)).to_bytes(size, "little") for n in sorted(numbers)]
    form = FORMATS[kind]
    half, bias = 1 << (form.fraction - 1), (1 << (form.bits - form.fraction - 2)) - 1
    powers = {0, 1, bias - 25, bias - 1, bias, bias + 1, bias + 7, bias + 8, bias + 15, bias + 16, bias + 31, bias + 63}
    powers |= {bias + 64, 2 * bias, 2 * bias + 1}
    patterns = {
        (power << form.fraction) + rest
        for power in powers
        if 0 <= power <= 2 * bias + 1
        for rest in (0, 1, half, half + 1, (1 << form.fraction) - 1)
    }
    return [(p | s << (form.bits - 1)).to_bytes(size, "little") for p in sorted(patterns) for s in (0, 1)]


def differences(cnrt: Any, source: str, target: str, mode: str, elements: list[bytes]) -> list[str]:
    found = []
    for raw, got in zip(elements, cast(cnrt, source, target, b"".join(elements), mode), strict=True):
        value = decode(source, raw)
        wanted = converted(value, target, mode)
        same = got == wanted if wanted is not None else decode(target, got) != decode(target, got)
        if not same:
            found.append(f"{raw.hex()} ({value}) -> {got.hex()}, expected {wanted!r}")
    return found


@pytest.mark.sampled("target", "mode")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", TYPES)
def test_all_pairs_of_types_and_roundings(cnrt: Any, target: str, mode: str) -> None:
    for source in TYPES:
        assert (source, differences(cnrt, source, target, mode, edge_values(source))) == (source, [])


@given(
    source=st.sampled_from(sorted(TYPES)),
    target=st.sampled_from(sorted(TYPES)),
    mode=st.sampled_from(sorted(MODES)),
    raw=st.binary(min_size=8, max_size=64),
)
@examples(200)
def test_any_bytes(cnrt: Any, source: str, target: str, mode: str, raw: bytes) -> None:
    size = SIZES[source]
    elements = [raw[i : i + size] for i in range(0, len(raw) - size + 1, size)]
    assert differences(cnrt, source, target, mode, elements) == []


def test_numbers_may_be_converted_where_they_are(cnrt: Any) -> None:
    values = (ctypes.c_float * 3)(1.5, -2.5, 3.7)
    assert cnrt.cnrtCastDataType_V2(values, TYPES["float"], values, TYPES["int"], 3, None, MODES["rz"]) == 0
    assert list((ctypes.c_int * 3).from_buffer(values)) == [1, -2, 3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, 99, 1, 2, 1, None, 0), b"src_type: no type has the number 99"),
        ((1, 2, 1, 0, 1, None, 0), b"dst_type: no type has the number 0"),
        ((1, 2, 1, 3, -1, None, 0), b"count: expected at least 0, got -1"),
        ((1, 2, 1, 3, 1, 5, 0), b"param: expected NULL"),
        ((1, 2, 1, 3, 1, None, 6), b"mode: expected 0 to 5, got 6"),
        ((None, 2, 1, 3, 1, None, 0), b"src: expected a pointer, got NULL"),
        ((1, 2, None, 3, 1, None, 0), b"dst: expected a pointer, got NULL"),
    ],
)
def test_bad_arguments(cnrt: Any, arguments: tuple[Any, ...], said: bytes) -> None:
    cnrt.mlusimGetLastError.restype = ctypes.c_char_p
    buffer = ctypes.create_string_buffer(16)
    pointers = [None if arguments[i] is None else buffer for i in (0, 2)]
    param = None if arguments[5] is None else ctypes.c_void_p(arguments[5])
    status = cnrt.cnrtCastDataType_V2(
        pointers[0], arguments[1], pointers[1], arguments[3], arguments[4], param, arguments[6]
    )
    assert (status, cnrt.mlusimGetLastError()) == (ARGS_INVALID, b"cnrtCastDataType_V2: " + said)
    assert cnrt.cnrtGetLastError() == ARGS_INVALID
    assert buffer.raw == bytes(16)


@pytest.mark.parametrize("value", [0.0, -1.5, 65504.0, 65520.0, 1e-7, 0.1])
def test_conversions_of_half(cnrt: Any, value: float) -> None:
    bits, back = ctypes.c_uint16(), ctypes.c_float()
    assert cnrt.cnrtConvertFloatToHalf(ctypes.byref(bits), ctypes.c_float(value)) == 0
    number = decode("float", bytes(ctypes.c_float(value)))
    assert bytes(bits) == converted(number, "half", "rn")
    assert cnrt.cnrtConvertHalfToFloat(ctypes.byref(back), bits) == 0
    assert bytes(back) == converted(decode("half", bytes(bits)), "float", "rn")
    assert cnrt.cnrtConvertHalfToFloat(None, bits) == ARGS_INVALID
    assert cnrt.cnrtConvertFloatToHalf(None, ctypes.c_float(value)) == ARGS_INVALID
