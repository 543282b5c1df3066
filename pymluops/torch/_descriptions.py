"""What the registration of an operator with torch takes from its description."""

from __future__ import annotations

from typing import Any

import torch

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._double import allowed_types, is_floating

__all__ = ["DATA_TYPES", "native_types", "scalar_names", "shown", "whole_type"]


def scalar_names(operator: Operator) -> tuple[str, ...]:
    """Return a name for each scalar: of several with one name, their symbols."""
    names = [scalar.name for scalar in operator.scalars]
    return tuple(scalar.name if names.count(scalar.name) == 1 else scalar.symbol.lower() for scalar in operator.scalars)


#: The types that the library computes in.
DATA_TYPES: dict[Any, DataType] = {
    torch.float32: DataType.FLOAT,
    torch.float16: DataType.HALF,
    torch.float64: DataType.DOUBLE,
}


def native_types(operator: Operator) -> frozenset[torch.dtype]:
    """Return the floating types that the library computes in itself."""
    allowed = [allowed_types(operator, tensor) for tensor in operator.tensors if is_floating(operator, tensor)]
    return frozenset(dtype for dtype, kind in DATA_TYPES.items() if allowed and kind in allowed[0])


def shown(thing: object) -> str:
    """Return how a message shows a type or a device of torch."""
    return str(thing).removeprefix("torch.")


def whole_type(described: object) -> DataType:
    """Return the type of an array of no floating numbers: int32 where tensors may have int64 too."""
    return next((kind for kind in (DataType.BOOL, DataType.INT64) if described == (kind,)), DataType.INT32)
