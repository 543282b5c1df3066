"""The values of a tensor in a test case: fields of its message as elements in memory, and back."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pymluops._regular import open_regular
from pymluops.enums import DataType, QuantizeRoundMode
from pymluops.gencase._random import DEFAULT_SEED, gaussian, uniform

__all__ = ["FIELDS", "clear_values", "decode", "encode", "memory_type", "per_element", "stated_field"]

#: A number as the vendor's reader takes it.
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}")
#: Bytes that are decompressed at a time.
_CHUNK = 1 << 20
#: The fields with values, in the order in which a reader looks for them.
FIELDS = ("value_h", "value_f", "value_i", "value_l", "value_ui", "value_ul")

#: How NumPy holds the numbers of a type: of complex ones a part, of BFLOAT16 and INT31 the bits.
_TYPES: dict[DataType, Any] = {
    DataType.HALF: np.float16,
    DataType.FLOAT: np.float32,
    DataType.DOUBLE: np.float64,
    DataType.INT8: np.int8,
    DataType.INT16: np.int16,
    DataType.INT31: np.int16,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.UINT8: np.uint8,
    DataType.UINT16: np.uint16,
    DataType.UINT32: np.uint32,
    DataType.UINT64: np.uint64,
    DataType.BOOL: np.uint8,
    DataType.COMPLEX_HALF: np.float16,
    DataType.COMPLEX_FLOAT: np.float32,
    DataType.BFLOAT16: np.uint16,
}
_REAL = (DataType.HALF, DataType.FLOAT, DataType.DOUBLE, DataType.COMPLEX_HALF, DataType.COMPLEX_FLOAT)
_PAIRS = (DataType.COMPLEX_HALF, DataType.COMPLEX_FLOAT, DataType.INT31)
_UNSIGNED = (DataType.UINT8, DataType.UINT16, DataType.UINT32)
_SIGNED = (DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64, DataType.BOOL, DataType.INT31)
#: The types that each field can hold.
_HOLDS: dict[str, tuple[DataType, ...]] = {
    "value_f": _REAL,
    "value_h": (*_REAL, DataType.BFLOAT16),
    "value_i": (*_SIGNED, DataType.UINT8, DataType.UINT16, *(dtype for dtype in _REAL if dtype != DataType.DOUBLE)),
    "value_l": (*_SIGNED, DataType.DOUBLE),
    "value_ui": (*_UNSIGNED, DataType.BFLOAT16),
    "value_ul": (*_UNSIGNED, DataType.UINT64),
}


def memory_type(dtype: DataType) -> Any:
    """Return the NumPy type of the numbers of a type."""
    return _TYPES[dtype]


def per_element(dtype: DataType) -> int:
    """Return how many numbers an element has."""
    return 2 if dtype in _PAIRS else 1


def stated_field(tensor: Any) -> str:
    """Return the field that has the values of a tensor; empty if none has."""
    for name in FIELDS:
        if getattr(tensor, name):
            return name
    if tensor.path:
        return "path"
    return "random_data" if tensor.HasField("random_data") else ""


def decode(
    tensor: Any, dtype: DataType, count: int, folder: Path, *, round_mode: int = 2, exact: bool = False
) -> np.ndarray | None:
    """Return the numbers of a tensor in memory, None if the file has none.

    Parameters
    ----------
    tensor : message
        The tensor.
    dtype : DataType
        Its type.
    count : int
        Elements from the first to the last in memory. A shorter list of a packed tensor is filled
        up with zeros.
    folder : pathlib.Path
        Where paths begin.
    round_mode : int
        How random numbers become INT8 and INT16 where they are not converted: `QuantizeRoundMode`.
    exact : bool
        Refuse a shorter list.

    Raises
    ------
    ValueError
        If a field cannot have values of this type, or not so many.
    OSError
        If a file cannot be read.
    """
    name, numbers = stated_field(tensor), count * per_element(dtype)
    if not name:
        return None
    if name == "path":
        return _from_file(folder / tensor.path, dtype, numbers)
    if name == "random_data":
        try:
            return _random(tensor.random_data, dtype, numbers, round_mode)
        except ValueError as error:
            raise ValueError(f"{tensor.id}: {error}") from None
    if dtype not in _HOLDS[name]:
        raise ValueError(f"{tensor.id}: {name} has no values of type {dtype.name}")
    found = _listed(name, getattr(tensor, name), dtype, tensor.id)
    exact = exact or len(tensor.shape.dim_stride) > 0
    if len(found) > numbers or (exact and len(found) < numbers):
        raise ValueError(f"{tensor.id}: {name} has {len(found)} values, the tensor has {numbers}")
    if dtype == DataType.INT31:
        half = len(found) // 2
        found = np.concatenate([found[half:], found[:half]])
    return np.concatenate([found, np.zeros(numbers - len(found), found.dtype)])


def _listed(name: str, values: Sequence[Any], dtype: DataType, known: str) -> np.ndarray:
    kind = np.dtype(_TYPES[dtype])
    bits = np.dtype(f"u{kind.itemsize}")
    if name == "value_h":
        for text in values:
            if not _HEXADECIMAL.fullmatch(text) or int(text, 16) >= 1 << 8 * kind.itemsize:
                raise ValueError(f"{known}: {text!r} is no hexadecimal number of {8 * kind.itemsize} bits")
        return np.array([int(text, 16) for text in values], np.uint64).astype(bits).view(kind)
    if name == "value_f":
        with np.errstate(all="ignore"):
            return np.array(values, np.float32).astype(kind)
    wide = np.array(values, np.uint64 if name == "value_ul" else np.int64)
    if dtype in _REAL:  # the bits of a real number
        return wide.astype(np.dtype(f"i{kind.itemsize}")).view(kind)
    limits = np.iinfo(kind)
    if wide.size and (int(wide.min()) < limits.min or int(wide.max()) > limits.max):
        raise ValueError(f"{known}: {name} has a value that {dtype.name} cannot have")
    return wide.astype(kind)


def _from_file(path: Path, dtype: DataType, numbers: int) -> np.ndarray:
    """Read raw numbers, little-endian; compressed ones through the package zstandard."""
    kind = np.dtype(_TYPES[dtype]).newbyteorder("<")
    wanted = numbers * kind.itemsize
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if path.suffix == ".zst":
            data = _decompressed(path, file.read(), wanted)
            has = f"more than {wanted}" if len(data) > wanted else str(len(data))
        else:
            data = file.read(wanted) if size == wanted else b""
            has = str(len(data) or size)
    if len(data) != wanted:
        raise ValueError(f"{path} has {has} bytes, the tensor has {wanted}")
    return np.frombuffer(data, kind).astype(_TYPES[dtype])


def _decompressed(path: Path, compressed: bytes, wanted: int) -> bytes:
    """Return what a file has, but at most one byte more than is wanted."""
    try:
        zstandard: Any = importlib.import_module("zstandard")
    except ImportError:
        raise ValueError(f"{path}: compressed data are read with the package zstandard") from None
    parts, left = list[bytes](), wanted + 1
    try:
        # A frame need not state its size, and a file may have several.
        with zstandard.ZstdDecompressor().stream_reader(compressed, read_across_frames=True) as reader:
            while left and (part := bytes(reader.read(min(left, _CHUNK)))):
                parts.append(part)
                left -= len(part)
    except zstandard.ZstdError as error:
        raise ValueError(f"{path}: {error}") from None
    return b"".join(parts)


# ---- Random data ---------------------------------------------------------------------------------


def _random(data: Any, dtype: DataType, numbers: int, round_mode: int) -> np.ndarray:
    if not numbers:
        return np.zeros(0, _TYPES[dtype])
    if dtype == DataType.INT31:
        raise ValueError("random data of type INT31 are not known")
    found = _drawn(data, np.float64 if dtype == DataType.DOUBLE else np.float32, numbers)
    with np.errstate(all="ignore"):
        return _as_type(found, dtype, None if data.convert_dtype else round_mode)


def _as_type(found: np.ndarray, dtype: DataType, round_mode: int | None) -> np.ndarray:
    """Return drawn numbers in their type."""
    kind = np.dtype(_TYPES[dtype])
    if dtype == DataType.BFLOAT16:
        bits = found.view(np.uint32)
        return np.asarray(((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16))
    if kind.kind == "f":
        return found.astype(kind)
    if dtype == DataType.BOOL:
        whole = np.trunc(found)
    elif dtype == DataType.UINT64:
        return np.asarray(np.floor(np.abs(found)).astype(kind))
    elif dtype in (DataType.INT8, DataType.INT16) and round_mode is not None:
        whole = _rounded(found.astype(np.float64), round_mode)
    else:
        whole = np.floor(found)
    return np.asarray(whole.astype(np.int64).astype(kind))


def _rounded(found: np.ndarray, round_mode: int) -> np.ndarray:
    """Return whole numbers, as a handle rounds: halves to even ones, up, or away from zero."""
    if round_mode == QuantizeRoundMode.HALF_TO_EVEN:
        return np.asarray(np.rint(found))
    if round_mode == QuantizeRoundMode.HALF_UP:
        return np.asarray(np.floor(found + 0.5))
    return np.asarray(np.sign(found) * np.floor(np.abs(found) + 0.5))


def _drawn(data: Any, real: Any, numbers: int) -> np.ndarray:
    """Return the numbers of a distribution."""
    seed = data.seed if data.HasField("seed") else DEFAULT_SEED
    kinds = data.DESCRIPTOR.fields_by_name["distribution"].enum_type.values_by_number
    kind = kinds[data.distribution].name
    if not data.HasField("distribution"):
        raise ValueError("random data need a distribution")
    if kind not in ("UNIFORM", "GAUSSIAN"):
        raise ValueError(f"random data of the distribution {kind} are not known; there are UNIFORM and GAUSSIAN")
    names = ("lower_bound", "upper_bound") if kind == "UNIFORM" else ("mu", "sigma")
    double = tuple(f"{name}_double" for name in names)
    chosen = double if data.HasField(double[0]) else names
    for name in chosen:
        if not data.HasField(name):
            raise ValueError(f"random data need {name}")
    first, second = (getattr(data, name) for name in chosen)
    return (uniform if kind == "UNIFORM" else gaussian)(seed, first, second, numbers, real)


# ---- Writing -------------------------------------------------------------------------------------


def encode(tensor: Any, values: np.ndarray, dtype: DataType, *, hexadecimal: bool = False) -> None:
    """Put the numbers of a tensor into its message, without loss.

    Parameters
    ----------
    tensor : message
        The tensor; what it had before is removed.
    values : numpy.ndarray
        Its numbers in memory.
    dtype : DataType
        Its type.
    hexadecimal : bool
        Write real numbers by their bits.

    Raises
    ------
    ValueError
        If the type cannot have one of the numbers.
    """
    clear_values(tensor)
    kind = np.dtype(_TYPES[dtype])
    numbers = _in_memory(values, dtype)
    if dtype == DataType.INT31:
        half = len(numbers) // 2
        numbers = np.concatenate([numbers[half:], numbers[:half]])
    if hexadecimal and dtype in _REAL:
        bits = numbers.view(np.dtype(f"u{kind.itemsize}"))
        tensor.value_h.extend(f"{int(number):x}" for number in bits)
    elif dtype == DataType.DOUBLE:
        tensor.value_l.extend(numbers.view(np.int64).tolist())
    else:
        getattr(tensor, _field_of(dtype)).extend(numbers.tolist())


def clear_values(tensor: Any) -> None:
    """Remove the values from the message of a tensor."""
    for name in (*FIELDS, "path", "random_data"):
        tensor.ClearField(name)


def _in_memory(values: np.ndarray, dtype: DataType) -> np.ndarray:
    """Return numbers as they are in memory: complex ones by parts, BFLOAT16 of the package ml_dtypes by its bits."""
    numbers = np.ascontiguousarray(values).reshape(-1)
    if numbers.dtype.kind == "c":
        numbers = numbers.view(np.float32 if numbers.dtype == np.complex64 else np.float64)
    if numbers.dtype.name == "bfloat16" and dtype == DataType.BFLOAT16:
        return numbers.view(np.uint16)
    kind = np.dtype(_TYPES[dtype])
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"numbers of type {numbers.dtype} are none of {dtype.name}")
    with np.errstate(all="ignore"):
        found = numbers.astype(kind)
    if kind.kind in "iu" and not np.array_equal(found, numbers):
        raise ValueError(f"some of the numbers are none of {dtype.name}")
    return found


def _field_of(dtype: DataType) -> str:
    """Return the field for decimal numbers of a type."""
    if dtype in _REAL:
        return "value_f"
    if dtype == DataType.INT64:
        return "value_l"
    if dtype == DataType.UINT64:
        return "value_ul"
    return "value_ui" if dtype in (*_UNSIGNED, DataType.BFLOAT16) else "value_i"
