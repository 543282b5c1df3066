"""The message classes of test cases, which the package protobuf makes from our description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from pymluops.gencase._message_table import ENUMS, MESSAGES, PARAMETERS
from pymluops.gencase._operators import OPERATORS

__all__ = ["bytes_for_text", "node_class", "protobuf"]

_LABELS = {"o": 1, "r": 2, "*": 3}
_TYPES = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "uint32": 13}
_MESSAGE, _ENUM = 11, 14


def protobuf(name: str) -> Any:
    """Return a module of the package protobuf.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    import importlib

    try:
        return importlib.import_module(f"google.protobuf.{name}")
    except ImportError as error:
        raise ImportError(
            f"test cases are read and written with the package protobuf: pip install 'pymluops[cases]' ({error})"
        ) from error


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what stands before the colon, and the parts behind it, of each entry."""
    for entry in re.split(r"\n(?=\S)", text.strip()):
        name, _, rest = entry.partition(":")
        yield name, [part.strip() for part in rest.replace("\n", " ").split(",")]


def _add_enum(file: Any, name: str, members: list[str]) -> None:
    enum = file.enum_type.add(name=name)
    for member in members:
        label, number = member.split()
        enum.value.add(name=label, number=int(number))


def _add_field(message: Any, text: str, enums: set[str]) -> None:
    found = re.fullmatch(r"([or*])(p?) (\w+) (\w+) (\d+)(?: \[(.*)\])?", text)
    assert found is not None, text
    label, packed, kind, name, number, default = found.groups()
    field = message.field.add(name=name, number=int(number), label=_LABELS[label])
    if kind in _TYPES:
        field.type = _TYPES[kind]
    else:
        field.type = _ENUM if kind in enums else _MESSAGE
        field.type_name = f".mluoptest.{kind}"
    if default is not None:
        field.default_value = default.strip('"')
    if packed:
        field.options.packed = True


def _description() -> Any:
    """Return the description of the file with all messages."""
    file = protobuf("descriptor_pb2").FileDescriptorProto(name="mlu_op_test.proto", package="mluoptest")
    enums = {name for name, _ in _entries(ENUMS)} | {"OpType"}
    for name, members in _entries(ENUMS):
        _add_enum(file, name, members)
    # Several names may have one number, as operators of older versions had.
    types = {operator.type: operator.number for operator in OPERATORS}
    _add_enum(file, "OpType", [f"{name} {number}" for name, number in types.items()])
    if len(set(types.values())) < len(types):
        file.enum_type[-1].options.allow_alias = True
    for name, fields in _entries(MESSAGES):
        message = file.message_type.add(name=name)
        for field in fields:
            _add_field(message, field, enums)
    node = file.message_type[-1]
    node.extension_range.add(start=3000, end=4001)
    for entry, fields in _entries(PARAMETERS):
        name, number = entry.split()
        message = file.message_type.add(name="".join(part.capitalize() for part in name.split("_")))
        for field in fields:
            _add_field(message, field, enums)
        node.field.add(name=name, number=int(number), label=1, type=_MESSAGE, type_name=f".mluoptest.{message.name}")
    return file


@cache
def node_class() -> Any:
    """Return the class of a whole case."""
    pool = protobuf("descriptor_pool").DescriptorPool()
    pool.Add(_description())
    return protobuf("message_factory").GetMessageClass(pool.FindMessageTypeByName("mluoptest.Node"))


def bytes_for_text(message: Any) -> str:
    """Return the name of a field that has bytes, since its text is no UTF-8; empty if there is none."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            is_one = hasattr(value, "ListFields")
            for number, one in enumerate([value] if is_one else value):
                found = bytes_for_text(one)
                if found:
                    return f"{field.name}.{found}" if is_one else f"{field.name}[{number}].{found}"
        elif field.type == field.TYPE_STRING and any(
            isinstance(one, bytes) for one in ([value] if isinstance(value, (str, bytes)) else value)
        ):
            return str(field.name)
    return ""
