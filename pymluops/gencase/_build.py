"""Test cases made of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pymluops.dtypes import as_data_type
from pymluops.enums import Layout
from pymluops.gencase._messages import node_class
from pymluops.gencase._operators import OPERATORS, CaseOperator
from pymluops.gencase._values import encode

__all__ = ["build_node"]


def build_node(
    op_name: str,
    inputs: Sequence[tuple[str, np.ndarray]],
    outputs: Sequence[tuple[str, np.ndarray]],
    parameters: Mapping[str, Any],
    criteria: Sequence[tuple[str, float]] | None,
    layouts: Mapping[str, Layout],
) -> Any:
    """Return the message of a case; see `Case.build`.

    Raises
    ------
    ValueError
        If the operator, a parameter, a criterion or a type is not known, or a parameter is missing.
    """
    row = next((one for one in OPERATORS if one.name == op_name), None)
    if row is None:
        raise ValueError(f"no operator is called {op_name}")
    node = node_class()(op_name=op_name, op_type=row.type)
    for known, array in inputs:
        encode(_described(node.input.add(id=known), array, layouts), array, as_data_type(array.dtype))
    for known, array in outputs:
        _described(node.output.add(id=known), array, layouts)
    _set_parameters(node, row, parameters)
    _set_criteria(node.test_param, row.criteria if criteria is None else criteria)
    missing = node.FindInitializationErrors()
    if missing:
        raise ValueError(f"{op_name}: the parameter {missing[0].rpartition('.')[2]} is missing")
    return node


def _described(tensor: Any, array: np.ndarray, layouts: Mapping[str, Layout]) -> Any:
    """Give a tensor the shape and type of an array."""
    tensor.shape.dims.extend(array.shape)
    tensor.layout = f"LAYOUT_{Layout(layouts.get(tensor.id, Layout.ARRAY)).name}"
    tensor.dtype = f"DTYPE_{as_data_type(array.dtype).name}"
    return tensor


def _set_parameters(node: Any, row: CaseOperator, parameters: Mapping[str, Any]) -> None:
    if not row.message and parameters:
        raise ValueError(f"{row.name} has no parameters")
    if not row.message:
        return
    message = getattr(node, row.message)
    message.SetInParent()
    for name, value in parameters.items():
        if name not in message.DESCRIPTOR.fields_by_name:
            raise ValueError(
                f"{row.name} has no parameter {name}; it has {', '.join(message.DESCRIPTOR.fields_by_name)}"
            )
        try:
            if isinstance(value, (list, tuple)):
                getattr(message, name).extend(value)
            else:
                setattr(message, name, value)
        except (TypeError, ValueError, AttributeError):
            raise ValueError(f"{row.name}: {name} cannot be {value!r}") from None


def _set_criteria(message: Any, criteria: Sequence[tuple[str, float]]) -> None:
    known = message.DESCRIPTOR.fields_by_name["error_func"].enum_type.values_by_name
    for name, threshold in criteria:
        if name not in known:
            raise ValueError(f"the criterion {name} is not known; there are {', '.join(known)}")
        message.error_func.append(known[name].number)
        message.error_threshold.append(threshold)
    message.baseline_device = "CPU"
