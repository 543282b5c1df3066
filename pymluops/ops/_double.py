"""Operators in float64, through the functions of mluops_ext.h whose names end in ``Double``."""

from __future__ import annotations

from dataclasses import replace

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import Tensor

__all__ = ["allowed_types", "double_of", "is_floating"]

_FLOATING = frozenset((DataType.FLOAT, DataType.HALF, DataType.DOUBLE, DataType.BFLOAT16))


def allowed_types(operator: Operator, tensor: Tensor) -> tuple[DataType, ...]:
    """Return the types of an array, or of the one that it is like."""
    while isinstance(tensor.dtype, str):
        tensor = next(other for other in operator.tensors if other.name == tensor.dtype)
    assert isinstance(tensor.dtype, tuple), operator.name
    return tensor.dtype


def is_floating(operator: Operator, tensor: Tensor) -> bool:
    """Tell whether an array holds floating numbers."""
    return _FLOATING.issuperset(allowed_types(operator, tensor))


def double_of(operator: Operator) -> Operator:
    """Return the operator that computes the same in float64."""
    tensors = tuple(
        replace(tensor, dtype=(DataType.DOUBLE,)) if is_floating(operator, tensor) else tensor
        for tensor in operator.tensors
    )
    function = f"mluopsExt{operator.function.removeprefix('mluOp')}Double"
    workspace, too_large = operator.workspace, operator.too_large
    return Operator(function, operator.name, tensors, operator.scalars, workspace=workspace, too_large=too_large)
