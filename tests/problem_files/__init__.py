"""Calls of operators in files, which programs in C++ read: native/tests/problem_file.h has the reader.

A file is made of lines of words; contents of arrays are bytes behind such a line::

    problem FUNCTION WORKSPACE_FUNCTION LABEL   a dash for no function; the label is the rest
    tensor NAME TYPE LAYOUT FLAGS RANK DIM...
    content BYTES                               of the tensor before; bytes and a line end follow
    integer NAME FLAGS VALUE
    real NAME FLAGS VALUE
    settings PARAMETER NAME                     a descriptor mluOp<NAME>
    field NAME COUNT VALUE...                   of the settings before
    end

After a question mark WORKSPACE_FUNCTION tells a size that a call does without. Flags of a tensor:
``o`` written, ``i`` read and written, ``b`` without a descriptor, ``p`` written in parts, ``c`` any
contents are legal, ``h`` address space that reads as zeros, ``-`` nothing. Flags of a number: ``l``
it counts passes of a loop.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from abi.checks import refusals
from pymluops._core import Operator
from pymluops.ops._schema import Scalar, Tensor
from pymluops.oracle.ways import Way
from support import described, families

#: Enumerators of mluOpDataType_t by NumPy dtype.
_TYPES = {"float16": 1, "float32": 2, "int32": 6, "bool": 8, "int64": 9, "float64": 14}
#: Bytes from which the array of a huge call has no contents.
_HUGE = 1 << 20


def write(file: BinaryIO, calls: Iterable[tuple[str, str, described.Made, bool]]) -> None:
    """Write calls: operator, label, arguments, and whether large arrays are address space."""
    for name, label, made, huge in calls:
        known = families.OPERATORS[name]
        file.write(f"problem {known.function} {_workspace(known)} {name}, {label}\n".encode())
        for tensor in known.tensors:
            _write_tensor(file, name, tensor, made, huge)
        for scalar, value in zip(known.scalars, described.scalar_values(known, made.arguments), strict=True):
            _write_scalar(file, known, scalar, value)
        for parameter, values in made.settings.items():
            kind = next(kind for kind, key in described.PARAMETERS[known.function][2] if key == parameter)
            file.write(f"settings {parameter} {kind.removeprefix('mluOp').removesuffix('_t')}\n".encode())
            for key, value in values.items():
                numbers = value if isinstance(value, (tuple, list)) else (value,)
                file.write(f"field {key} {len(numbers)} {' '.join(map(str, numbers))}\n".encode())
        file.write(b"end\n")


def _workspace(known: Operator) -> str:
    """The function that tells the size of the workspace; after a question mark if the call does without one."""
    if known.workspace is None:
        return "-"
    return known.workspace if refusals(known.function).needs_workspace else f"?{known.workspace}"


def of_way(way: Way) -> tuple[str, str, described.Made, bool]:
    """A way through a kernel as a call."""
    return way.operator, way.label, _huge(way) if way.huge else described.from_way(way), way.huge


def _huge(way: Way) -> described.Made:
    """Arguments of which only the shapes are made."""
    known = families.OPERATORS[way.operator]
    outputs: dict[str, Any] = {}
    for tensor in known.tensors:
        shape = tuple(described.value_of(term, way.sizes) for term in tensor.shape.split())
        outputs[tensor.name] = shape, _first_type(way.operator, tensor)
    arguments: dict[str, Any] = dict(way.arrays)
    for scalar in known.scalars:
        value = way.scalars.get(scalar.name, way.sizes.get(scalar.symbol or scalar.name))
        several = sum(other.name == scalar.name for other in known.scalars) > 1
        arguments[scalar.name] = (*arguments.get(scalar.name, ()), value) if several else value
    return described.Made(arguments, outputs)


def _first_type(name: str, tensor: Tensor) -> str:
    while isinstance(tensor.dtype, str):
        tensor = next(other for other in families.OPERATORS[name].tensors if other.name == tensor.dtype)
    kinds = tensor.dtype if isinstance(tensor.dtype, tuple) else tuple(kind for _, kind in tensor.dtype.allowed)
    return described.type_name(kinds[0])


def _write_tensor(file: BinaryIO, name: str, tensor: Tensor, made: described.Made, huge: bool) -> None:
    parameter = tensor.parameter or tensor.name
    array = made.arguments.get(tensor.name)
    shape, kind = (array.shape, array.dtype.name) if array is not None else made.outputs[tensor.name]
    flags = (
        ("o" if tensor.output else "") + ("i" if tensor.in_place else "") + ("b" if _is_bare(name, parameter) else "")
    )
    flags += "m" if tensor.optional else ""
    if array is None and huge:
        flags += "h" if np.prod(shape, dtype=object) * np.dtype(kind).itemsize > _HUGE else ""
    flags += "p" if tensor.zeroed or tensor.name in _of_oracle(name, "PARTLY") else ""
    looked_at = {*_of_oracle(name, "LEFT_TO_C"), *_of_oracle(name, "DECIDING")}
    flags += "c" if not tensor.library_looks and not {tensor.name, parameter} & looked_at else ""
    dims = " ".join(map(str, shape))
    words = f"tensor {parameter} {_TYPES[kind]} {int(tensor.layout)} {flags or '-'} {len(shape)} {dims}"
    file.write(f"{words.strip()}\n".encode())
    if array is not None:
        content = np.ascontiguousarray(array)
        file.write(f"content {content.nbytes}\n".encode() + content.tobytes() + b"\n")


def _write_scalar(file: BinaryIO, known: Operator, scalar: Scalar, value: Any) -> None:
    kinds = {key: kind for kind, key in described.PARAMETERS[known.function][2]}
    if scalar.c_name not in kinds:
        return
    symbol = scalar.symbol or scalar.name
    sizes = {word for tensor in known.tensors for word in tensor.shape.replace("*", " ").replace("+", " ").split()}
    flags = "l" if not scalar.choices and symbol not in sizes and isinstance(value, int) else "-"
    if isinstance(value, (bool, np.integer)):
        value = int(value)
    word = "real" if kinds[scalar.c_name] in ("float", "double") else "integer"
    file.write(f"{word} {scalar.c_name} {flags} {value!r}\n".encode())


def _is_bare(name: str, parameter: str) -> bool:
    """Whether an array has no descriptor."""
    known = families.OPERATORS[name]
    return f"{parameter}_desc" not in {key for _, key in described.PARAMETERS[known.function][2]}


def _of_oracle(name: str, constant: str) -> tuple[str, ...]:
    found = getattr(importlib.import_module(f"pymluops.oracle.{described.family_of(name)}"), constant, ())
    return tuple(found)
