"""Element types under their different names, in one table.

A type that NumPy does not have is known to it through the package ml_dtypes (bfloat16) or not at
all (INT31, a half complex). Neither ml_dtypes nor torch is imported here: a type of theirs is
recognised by its name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pymluops._shown import shown
from pymluops.enums import DataType
from pymluops.errors import BadParamError, BadParamTypeError

__all__ = ["TABLE", "DTypeRow", "as_data_type", "data_type_name", "item_size"]

# Type codes of DLPack.
DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT, DL_COMPLEX, DL_BOOL = 0, 1, 2, 4, 5, 6


class DTypeRow(NamedTuple):
    """One element type."""

    data_type: DataType
    itemsize: int
    name: str  # of NumPy, ml_dtypes and torch alike; empty if none has it
    dlpack_code: int  # -1 if DLPack has no code


TABLE = (
    DTypeRow(DataType.HALF, 2, "float16", DL_FLOAT),
    DTypeRow(DataType.FLOAT, 4, "float32", DL_FLOAT),
    DTypeRow(DataType.DOUBLE, 8, "float64", DL_FLOAT),
    DTypeRow(DataType.BFLOAT16, 2, "bfloat16", DL_BFLOAT),
    DTypeRow(DataType.INT8, 1, "int8", DL_INT),
    DTypeRow(DataType.INT16, 2, "int16", DL_INT),
    DTypeRow(DataType.INT32, 4, "int32", DL_INT),
    DTypeRow(DataType.INT64, 8, "int64", DL_INT),
    DTypeRow(DataType.UINT8, 1, "uint8", DL_UINT),
    DTypeRow(DataType.UINT16, 2, "uint16", DL_UINT),
    DTypeRow(DataType.UINT32, 4, "uint32", DL_UINT),
    DTypeRow(DataType.UINT64, 8, "uint64", DL_UINT),
    DTypeRow(DataType.BOOL, 1, "bool", DL_BOOL),
    DTypeRow(DataType.COMPLEX_HALF, 4, "complex32", DL_COMPLEX),
    DTypeRow(DataType.COMPLEX_FLOAT, 8, "complex64", DL_COMPLEX),
    DTypeRow(DataType.INT31, 4, "", -1),
)

_ROWS = {row.data_type: row for row in TABLE}
_BY_NAME = {row.name: row.data_type for row in TABLE if row.name}


def item_size(data_type: DataType) -> int:
    """Return the bytes of one element; 0 for INVALID."""
    return _ROWS[data_type].itemsize if data_type in _ROWS else 0


def data_type_name(data_type: int) -> str:
    """Return the name for people: ``float32``, or ``INT31`` where there is no other."""
    row = _ROWS.get(DataType(data_type))
    return row.name if row is not None and row.name else DataType(data_type).name


def as_data_type(dtype: Any) -> DataType:
    """Return the `DataType` that `dtype` means.

    Parameters
    ----------
    dtype : DataType, int, str, numpy.dtype, type or torch.dtype
        An enumerator or its number, or a type of NumPy, ml_dtypes or torch, or the name of one.

    Raises
    ------
    BadParamError
        If it means none, or INVALID.
    """
    found: DataType | None = None
    if isinstance(dtype, int) and not isinstance(dtype, bool):
        found = DataType(dtype) if dtype in _ROWS else None
    elif dtype is not None:  # NumPy takes None for float64
        found = _BY_NAME.get(_dtype_name(dtype))
    if found is None:
        kind = BadParamError if _may_name_a_type(dtype) else BadParamTypeError
        raise kind(f"dtype: expected a DataType or one of {', '.join(_BY_NAME)}, got {shown(dtype)}")
    return found


def _may_name_a_type(dtype: Any) -> bool:
    if isinstance(dtype, (int, str, type)):
        return not isinstance(dtype, bool)
    return "dtype" in type(dtype).__name__.lower()  # of NumPy or torch


def _dtype_name(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in _BY_NAME:
        return dtype
    if type(dtype).__module__ == "torch":
        return str(dtype).removeprefix("torch.")
    import numpy as np

    try:
        given = np.dtype(dtype)
    except Exception:  # NumPy shows what it refuses, and an object may do anything when it is asked for its text
        return ""
    return given.name if given.isnative else ""
