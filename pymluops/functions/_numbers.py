"""Numbers as C arguments and results: ranges of the C types, enums, arrays of numbers."""

from __future__ import annotations

import math
import struct
from enum import IntEnum
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pymluops import enums
from pymluops._arguments import Caller, flag, integer, refusal, shown
from pymluops.dtypes import data_type_name, item_size
from pymluops.enums import DataType

__all__ = ["element_bytes", "element_value", "length", "number", "number_bytes", "room_for", "value_of"]

#: Smallest and largest value of the integer kinds.
RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "size": (0, 2**64 - 1)}
#: Format of the module struct by kind; an enum is an int.
_FORMATS = {"bool": "?", "int32": "i", "int64": "q", "size": "Q", "float32": "f", "float64": "d"}


def number(caller: Caller, argument: str, kind: str, value: object) -> int | float:
    """Return `value` as a number that its C type can hold.

    Parameters
    ----------
    caller : Caller
        Whose argument it is.
    argument : str
        Its name.
    kind : str
        ``bool``, ``int32``, ``int64``, ``size``, ``float32``, ``float64`` or the name of an enum.
    value : object
        What the caller gave.

    Raises
    ------
    BadParamError
        If it is no number of this kind or out of range. A finite number is not made infinite.
    """
    if kind == "bool":
        return int(flag(caller, argument, value))
    if kind in RANGES:
        return integer(caller, argument, value, *RANGES[kind])
    if kind in ("float32", "float64"):
        return _real(caller, argument, kind, value)
    return _enumerator(caller, argument, getattr(enums, kind), value)


def _real(caller: Caller, argument: str, kind: str, value: Any) -> float:
    expected = f"a number in the range of {kind}"
    text = type(value) in (bool, np.bool_) or isinstance(value, (str, bytes, bytearray))
    if text or getattr(value, "ndim", 0) != 0 or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise refusal(caller, argument, expected, shown(value))
    try:
        result = float(value)
        struct.pack(f"={_FORMATS[kind]}", result)  # of standard size, which alone is checked
    except (TypeError, ValueError, OverflowError):
        raise refusal(caller, argument, expected, shown(value)) from None
    return result


def _enumerator(caller: Caller, argument: str, kind: type[IntEnum], value: object) -> int:
    if isinstance(value, kind):
        return int(value)
    if isinstance(value, IntEnum):
        raise refusal(caller, argument, f"a {kind.__name__}", shown(value))
    if kind is enums.Status:  # a library may pass on numbers of the libraries below it
        return integer(caller, argument, value, *RANGES["int32"])
    known = {int(member) for member in kind}
    try:
        result = integer(caller, argument, value, min(known), max(known))
    except ValueError:
        result = -1
    if result not in known:
        names = ", ".join(f"{member.name} ({int(member)})" for member in kind)
        raise refusal(caller, argument, f"a {kind.__name__}: {names}", shown(value))
    return result


def number_bytes(caller: Caller, argument: str, kind: str, values: Any, count: int, rule: str) -> bytes:
    """Return a sequence of `count` numbers as a C array; `rule` names what gives the count."""
    expected = f"a sequence of {rule}={count} numbers" if not rule.isdigit() else f"a sequence of {count} numbers"
    ordered = _is_ordered(values)
    try:
        items: tuple[object, ...] = tuple(values) if ordered else ()
    except TypeError:
        raise refusal(caller, argument, expected, shown(values)) from None
    if len(items) != count or not ordered:
        raise refusal(caller, argument, expected, f"{len(items)}" if items else shown(values))
    numbers = [number(caller, f"{argument}[{i}]", kind, item) for i, item in enumerate(items)]
    return struct.pack(f"={count}{_FORMATS.get(kind, 'i')}", *numbers)


def _is_ordered(values: Any) -> bool:
    return not isinstance(values, (str, bytes, bytearray, dict, set, frozenset))


def room_for(kind: str, count: int = 1) -> bytearray:
    """Return memory for numbers that a function writes."""
    return bytearray(struct.calcsize(f"={_FORMATS.get(kind, 'i')}") * max(count, 1))


def value_of(kind: str, memory: bytearray, count: int | None = None) -> Any:
    """Return what a function wrote: a number or a member of an enum, or a tuple of `count` of them."""
    length = 1 if count is None else count
    values = struct.unpack_from(f"={length}{_FORMATS.get(kind, 'i')}", memory)
    if kind not in _FORMATS:
        values = tuple(_member(getattr(enums, kind), value) for value in values)
    return values[0] if count is None else values


def _member(kind: type[IntEnum], value: int) -> int:
    try:
        return kind(value)
    except ValueError:  # the library wrote a number that the header does not name
        return value


# ---- One element of a tensor ---------------------------------------------------------------------


def element_bytes(caller: Caller, argument: str, dtype: int, value: object) -> bytes:
    """Return a number as one element of a type, or the bytes of one as they are."""
    data_type = DataType(dtype)
    size, name, element = item_size(data_type), data_type_name(dtype), cast("npt.NDArray[Any]", np.empty(0))
    if isinstance(value, bytes) and len(value) == size:
        return value
    expected = f"a number of type {name}, or {size} bytes"
    is_bfloat16 = data_type == DataType.BFLOAT16
    try:
        plain = np.dtype(np.float32 if is_bfloat16 else name)
        if isinstance(value, (str, bytes)) or np.ndim(cast("Any", value)) != 0:
            raise TypeError
        with np.errstate(over="ignore"):
            element = np.array(value, dtype=plain)
        if is_bfloat16:
            element = _rounded_to_bfloat16(element)
        fits = element.item() == value if plain.kind in "iub" else np.isfinite(element) or not _finite(value)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise refusal(caller, argument, expected, shown(value))
    return element.tobytes()[2:] if is_bfloat16 else element.tobytes()


def _rounded_to_bfloat16(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the nearest bfloat16, ties to even, as a float32 whose lower 16 bits are 0; NumPy has no such type."""
    if not np.isfinite(value):
        return value
    bits = int(value.view(np.uint32))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.array(bits, np.uint32).view(np.float32)


def _finite(value: object) -> bool:
    given = complex(cast("Any", value))
    return math.isfinite(given.real) and math.isfinite(given.imag)


def element_value(dtype: int, memory: bytearray) -> complex | bytes:
    """Return one element as a number, or its bytes where it has no Python number (INT31)."""
    if dtype == DataType.BFLOAT16:
        value: float = struct.unpack("=f", bytes(2) + memory[:2])[0]
        return value
    try:
        name = data_type_name(dtype)
        return cast("complex", np.frombuffer(memory, np.dtype(name), 1)[0].item())
    except (TypeError, ValueError):
        known = dtype in {int(member) for member in DataType}
        return bytes(memory[: item_size(DataType(dtype))]) if known else bytes(memory)


def length(values: Any) -> int:
    """Return the number of values; 0 for what has none, which is refused where the values are read."""
    try:
        return len(values)
    except TypeError:
        return 0
