"""Converts Python values to the arguments of a compiled kernel or function, checked against its signature."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._arguments import Caller, is_integer, real, refusal, shown
from pymluops._core import ArrayArgument, Backend, Queue
from pymluops.bang._registry import BFLOAT16, BOOL, FLOAT, OTHER, SIGNED, UNSIGNED, VOID, CType, Parameter
from pymluops.dtypes import data_type_name
from pymluops.enums import DataType
from pymluops.errors import BadParamError

__all__ = ["Converter", "array_of", "converter", "result_of"]

#: Makes the C value of a Python value; the library is where arrays on the device must lie.
Converter = Callable[[Any, Backend], "bytes | ArrayArgument | Queue | None"]

_INTEGERS = {
    SIGNED: {1: DataType.INT8, 2: DataType.INT16, 4: DataType.INT32, 8: DataType.INT64},
    UNSIGNED: {1: DataType.UINT8, 2: DataType.UINT16, 4: DataType.UINT32, 8: DataType.UINT64},
}
_FLOATS = {2: DataType.HALF, 4: DataType.FLOAT, 8: DataType.DOUBLE}
_FORMATS = {2: "<e", 4: "<f", 8: "<d"}


def converter(caller: Caller, parameter: Parameter, c_type: CType, *, on_host: bool = False) -> Converter:
    """Return the function that makes values for a parameter.

    Parameters
    ----------
    caller : Caller
        The kernel or function, for messages.
    parameter : Parameter
        How the source writes it.
    c_type : CType
        Its description by the compiler.
    on_host : bool
        Whether it is a parameter of a host function, which also takes texts and queues.
    """
    if c_type.pointers:
        if on_host and c_type.kind == OTHER and c_type.size == 0 and "Queue" in parameter.type:
            return _queue(caller, parameter)
        array = _array(caller, parameter, c_type)
        return _text_or(array) if on_host and c_type.is_char and c_type.is_const else array
    if c_type.kind == BOOL:
        return _bool(caller, parameter)
    if c_type.kind in _INTEGERS:
        return _integer(caller, parameter, c_type)
    if c_type.kind in (FLOAT, BFLOAT16):
        return _float(caller, parameter, c_type)
    return _structure(caller, parameter, c_type)


# ---- Pointers ------------------------------------------------------------------------------------


def _array(caller: Caller, parameter: Parameter, c_type: CType) -> Converter:
    accepted = _accepted(c_type)
    names = " or ".join(data_type_name(dtype) for dtype in accepted)
    writes = not c_type.is_const

    def convert(value: Any, backend: Backend) -> ArrayArgument | None:
        if value is None:
            return None
        if isinstance(value, (str, int, float)):
            raise refusal(caller, parameter.name, f"an array ({parameter.type})", shown(value), wrong_type=True)
        array = ArrayArgument(caller, parameter.name, value, writes, backend)
        if accepted and array.dtype not in accepted:
            got = f"{array.dtype_name} for `{parameter}`"
            array.release()
            raise refusal(caller, parameter.name, f"dtype {names}", got)
        if not accepted and c_type.size > 1 and array.nbytes % c_type.size:
            got = f"{array.nbytes} for `{parameter}`"
            array.release()
            raise refusal(caller, parameter.name, f"a multiple of {c_type.size} bytes", got)
        return array

    return convert


def _accepted(c_type: CType) -> tuple[DataType, ...]:
    """Return the element types of arrays for a pointer; none for any."""
    if c_type.pointers > 1:
        return (DataType.UINT64, DataType.INT64)
    if c_type.is_char:
        return (DataType.INT8, DataType.UINT8)
    if c_type.kind in _INTEGERS:
        return (_INTEGERS[c_type.kind][c_type.size],)
    if c_type.kind == FLOAT:
        return (_FLOATS[c_type.size],)
    return {BFLOAT16: (DataType.BFLOAT16,), BOOL: (DataType.BOOL,)}.get(c_type.kind, ())


def _text_or(array: Converter) -> Converter:
    def convert(value: Any, backend: Backend) -> bytes | ArrayArgument | Queue | None:
        if isinstance(value, (str, bytes)):
            text = value.encode() if isinstance(value, str) else value
            # The array keeps the bytes, and is their address.
            value = memoryview(text + b"\0")
        return array(value, backend)

    return convert


def _queue(caller: Caller, parameter: Parameter) -> Converter:
    def convert(value: Any, backend: Backend) -> Queue | None:
        if value is not None and not isinstance(value, Queue):
            raise refusal(caller, parameter.name, "a Queue or None", shown(value), wrong_type=True)
        return value

    return convert


# ---- Values --------------------------------------------------------------------------------------


def _bool(caller: Caller, parameter: Parameter) -> Converter:
    def convert(value: Any, backend: Backend) -> bytes:
        if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
            return b"\1" if value else b"\0"
        if not is_integer(value) or int(value) not in (0, 1):
            raise refusal(caller, parameter.name, "a bool", shown(value), wrong_type=not is_integer(value))
        return b"\1" if value else b"\0"

    return convert


def _integer(caller: Caller, parameter: Parameter, c_type: CType) -> Converter:
    signed, size = c_type.kind == SIGNED, c_type.size
    least, most = (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else (0, (1 << 8 * size) - 1)
    expected = f"an integer from {least} to {most} for `{parameter}`"

    def convert(value: Any, backend: Backend) -> bytes:
        wrong_type = type(value) is not int and not is_integer(value)
        if wrong_type or not least <= (number := int(value)) <= most:
            raise refusal(caller, parameter.name, expected, shown(value), wrong_type=wrong_type)
        return number.to_bytes(size, "little", signed=signed)

    return convert


def _float(caller: Caller, parameter: Parameter, c_type: CType) -> Converter:
    is_bfloat16 = c_type.kind == BFLOAT16
    form = "<f" if is_bfloat16 else _FORMATS[c_type.size]

    def convert(value: Any, backend: Backend) -> bytes:
        number = value if type(value) is float else real(caller, parameter.name, value)
        try:
            packed = struct.pack(form, number)
        except OverflowError:
            raise refusal(caller, parameter.name, f"a number in the range of `{parameter}`", shown(value)) from None
        return _as_bfloat16(packed) if is_bfloat16 else packed

    return convert


def _as_bfloat16(single: bytes) -> bytes:
    """Round to nearest even; a NaN stays one."""
    word = int.from_bytes(single, "little")
    if word & 0x7FFFFFFF > 0x7F800000:
        return (word >> 16 | 0x40).to_bytes(2, "little")
    return (word + 0x7FFF + (word >> 16 & 1) >> 16).to_bytes(2, "little")


def _structure(caller: Caller, parameter: Parameter, c_type: CType) -> Converter:
    expected = f"{c_type.size} bytes, as of a NumPy record or a ctypes structure, for `{parameter}`"

    def convert(value: Any, backend: Backend) -> bytes:
        try:
            packed = bytes(memoryview(value).cast("B"))
        except TypeError:
            raise refusal(caller, parameter.name, expected, shown(value), wrong_type=True) from None
        if len(packed) != c_type.size:
            raise refusal(caller, parameter.name, expected, f"{len(packed)} bytes")
        return packed

    return convert


# ---- Arrays that a kernel left -------------------------------------------------------------------


def array_of(memory: bytes | bytearray, value: ArrayArgument, given: object) -> NDArray[Any]:
    """Return memory as an array like one that was given as an argument.

    Parameters
    ----------
    memory : bytes or bytearray
        As many bytes as the argument has.
    value : ArrayArgument
        The argument as a kernel gets it.
    given : object
        The argument: the NumPy array, PyTorch tensor or the like.

    Returns
    -------
    ndarray
        Of the same shape. Of the same element type, if NumPy has it; else of integers of that size,
        or of bytes.
    """
    dtype: np.dtype[Any]
    if isinstance(given, np.ndarray):
        dtype = cast("NDArray[Any]", given).dtype
    else:
        name = value.dtype_name
        dtype = np.dtype(name if hasattr(np, name) else f"u{value.itemsize}" if value.itemsize <= 8 else "u1")
    flat: NDArray[Any] = np.frombuffer(memory, dtype)
    return flat.reshape(value.shape) if flat.size == math.prod(value.shape) else flat


# ---- Results -------------------------------------------------------------------------------------


def result_of(caller: Caller, c_type: CType, memory: bytearray) -> Any:
    """Return the result of a host function: a number, an address, the bytes of a structure, or None."""
    if c_type.pointers:
        return int.from_bytes(memory[:8], "little")
    if c_type.kind == VOID:
        return None
    packed = bytes(memory[: c_type.size])
    if c_type.kind == BOOL:
        return packed != b"\0"
    if c_type.kind in _INTEGERS:
        return int.from_bytes(packed, "little", signed=c_type.kind == SIGNED)
    if c_type.kind == FLOAT:
        return struct.unpack(_FORMATS[c_type.size], packed)[0]
    if c_type.kind == BFLOAT16:
        return struct.unpack("<f", b"\0\0" + packed)[0]
    if not c_type.copyable:
        raise BadParamError(f"{caller.name}: returns an object that is not made of plain bytes")
    return packed
