"""Operators in float64, through the functions of mluops_ext.h that the build makes of those of the ABI."""

from __future__ import annotations

from dataclasses import replace

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import Pairs, Tensor

__all__ = ["allowed_types", "double_of", "function_in_double", "is_floating"]

_FLOATING = frozenset((DataType.FLOAT, DataType.HALF, DataType.DOUBLE, DataType.BFLOAT16))


def allowed_types(operator: Operator, tensor: Tensor) -> tuple[DataType, ...]:
    """Return the types of an array, or of the one that it is like."""
    while isinstance(tensor.dtype, str):
        tensor = next(other for other in operator.tensors if other.name == tensor.dtype)
    if isinstance(tensor.dtype, Pairs):
        return tuple(dict.fromkeys(kind for _, kind in tensor.dtype.allowed))
    assert isinstance(tensor.dtype, tuple), operator.name
    return tensor.dtype


def is_floating(operator: Operator, tensor: Tensor) -> bool:
    """Tell whether an array holds floating numbers."""
    return _FLOATING.issuperset(allowed_types(operator, tensor))


def function_in_double(operator: Operator) -> str:
    """Return the name of the C function that computes the same in float64, where there is one.

    A function of mluops_ext.h does so itself.
    """
    if operator.function.startswith("mluopsExt"):
        return operator.function
    return f"mluopsExt{operator.function.removeprefix('mluOp')}Double"


def double_of(operator: Operator) -> Operator:
    """Return the operator that computes the same in float64."""
    tensors = tuple(
        replace(tensor, dtype=(DataType.DOUBLE,)) if is_floating(operator, tensor) else tensor
        for tensor in operator.tensors
    )
    workspace, too_large = operator.workspace, operator.too_large
    function = function_in_double(operator)
    return Operator(function, operator.name, tensors, operator.scalars, workspace=workspace, too_large=too_large)
