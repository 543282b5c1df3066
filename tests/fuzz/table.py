"""Writes the table of functions that the C++ fuzzers call, from the headers: ``table.py OUTPUT HEADER...``.

The parser is ``native/abi/header.py``, so a function that a header declares is fuzzed without a
line here.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

#: How many elements an array that is written has room for, where the header says it: MLUOP_DIM_MAX,
#: or as many as the fuzzer gave when it set them.
ROOM = {"setDimSize": 64, "seqLengthArray": 64}
DIM_MAX = 8
#: Inputs of a fixed number of elements: depth, height, width.
FIXED = {"pad": 3, "stride": 3, "dilation": 3, "input_space": 3, "filter_space": 3, "output_space": 3}
#: Where one function has another number of them: height and width, and both of both sides.
FIXED_OF = {"mluOpSetDCNDescriptor": {"pad": 4, "stride": 2, "dilation": 2}}
COUNTER = re.compile(r"(Nb|_num|ArraySize)$")
RETURNS = {
    "void": "kNothing", "mluOpStatus_t": "kStatus", "cnrtRet_t": "kRuntimeStatus", "const char *": "kText",
}  # fmt: skip


def parser() -> ModuleType:
    """``native/abi/header.py`` as a module."""
    sys.path.append(str(REPOSITORY / "native" / "abi"))
    return importlib.import_module("header")


class Table:
    """The C++ source of the table."""

    def __init__(self, paths: list[Path]) -> None:
        self.header: Any = parser().read_headers(paths)
        self.callbacks = set(re.findall(r"typedef \w+ ?\( ?\* ?(\w+)\)", self.header.text))
        self.arrays = {
            function.name: set(re.findall(r"(\w+) ?\[\]", self._declaration(function.name)))
            for function in self.header.functions
        }

    def _declaration(self, name: str) -> str:
        match = re.search(rf"^.*\b{name} ?\(.*$", self.header.text, re.MULTILINE)
        assert match is not None, name
        return match[0]

    def text(self) -> str:
        includes = "".join(f'#include "{path.name}"\n' for path in self.header.paths)
        bodies = "\n".join(self._function(function) for function in self.header.functions)
        rows = "\n".join(self._row(function) for function in self.header.functions)
        count = len(self.header.functions)
        return (
            f'{includes}#include "abi.h"\n\nnamespace fuzz {{\nnamespace {{\n{bodies}}}  // namespace\n\n'
            f"const Function kFunctions[] = {{\n{rows}\n}};\n"
            f"const int kFunctionCount = {count};\n\n}}  // namespace fuzz\n"
        )

    def _function(self, function: Any) -> str:
        rows = "".join(f"    {self._parameter(function, number)},\n" for number in range(len(function.parameters)))
        types = ", ".join(parameter.type for parameter in function.parameters)
        arguments = ", ".join(
            f"*static_cast<const {parameter.type} *>(v[{number}].pointer)"
            if parameter.type in self.header.structs
            else f"({parameter.type})v[{number}].{self._field(parameter.type)}"
            for number, parameter in enumerate(function.parameters)
        )
        call = f"reinterpret_cast<{function.returns} (*)({types})>(address)({arguments})"
        if function.returns == "void":
            body = f"{call};"
        elif "*" in function.returns:
            body = f"result.pointer = {call};"
        elif function.returns in ("float", "double"):
            body = f"result.real = {call};"
        else:
            body = f"result.integer = static_cast<std::int64_t>({call});"
        values = "const Value *v" if function.parameters else "const Value *"
        parameters = f"const Parameter parameters_{function.name}[] = {{\n{rows}}};\n" if rows else ""
        return (
            f"{parameters}Value call_{function.name}(void *address, {values}) {{\n"
            f"  Value result = {{}};\n  {body}\n  return result;\n}}\n"
        )

    def _field(self, kind: str) -> str:
        if "*" in kind or kind in self.header.opaque:
            return "pointer"
        return "real" if kind in ("float", "double") else "integer"

    def _row(self, function: Any) -> str:
        kind = RETURNS.get(function.returns)
        if kind is None:
            kind = "kMinusOne" if function.returns == "int" and function.name.startswith("mlusim") else "kNumber"
        parameters = f"parameters_{function.name}" if function.parameters else "nullptr"
        return (
            f'    {{"{function.name}", Returns::{kind}, {parameters}, {len(function.parameters)}, '
            f"call_{function.name}}},"
        )

    def _parameter(self, function: Any, number: int) -> str:
        parameter = function.parameters[number]
        role, size, count = self._role(function, parameter)
        base = parameter.type.replace("const ", "").replace("*", "").strip()
        counter = self._counter(function, number) if role == "kInput" and count == 0 else -1
        names = {other.name for other in function.parameters}
        pair = role in ("kData", "kInputData") and (f"{parameter.name}_desc" in names or parameter.name == "workspace")
        return (
            f'{{"{base}", "{parameter.name}", Role::{role}, {size}, {count}, {counter}, {"true" if pair else "false"}}}'
        )

    def _role(self, function: Any, parameter: Any) -> tuple[str, str, int]:
        """Role, size of an element, and number of elements."""
        kind = parameter.type
        base = kind.replace("const ", "").replace("*", "").strip()
        array = parameter.name in self.arrays[function.name]
        if kind in self.callbacks or "(*" in kind.replace(" ", ""):
            return "kFunction", "8", 1
        if "*" not in kind:
            if kind in self.header.opaque:
                return "kObject", "8", 1
            if kind in self.header.structs:
                return "kStructure", f"sizeof({kind})", 1
            return ("kReal" if kind in ("float", "double") else "kInteger"), f"sizeof({kind})", 1
        if base in self.header.opaque:
            return ("kGroup" if kind.count("*") == 2 else "kNewObject"), "8", 1
        if base == "void":
            if kind.count("*") == 2:
                return "kPointer", "8", 1
            return ("kInputData" if kind.startswith("const") else "kData"), "1", 16
        if kind.startswith("const char"):
            return "kText", "1", 1
        if kind.startswith("const "):
            whole = base in self.header.structs
            return (
                ("kStructure" if whole else "kInput"),
                f"sizeof({base})",
                1 if whole else FIXED_OF.get(function.name, FIXED).get(parameter.name, 0),
            )
        if base == "char":
            return "kOutput", "1", ROOM["setDimSize"]
        return "kOutput", f"sizeof({base})", ROOM.get(parameter.name, DIM_MAX) if array else 1

    def _counter(self, function: Any, number: int) -> int:
        """The parameter that says how many elements the input has: the nearest before it, else the next after it."""
        before, after = range(number - 1, -1, -1), range(number + 1, len(function.parameters))
        for other in (*before, *after):
            parameter = function.parameters[other]
            if "*" not in parameter.type and COUNTER.search(parameter.name):
                return other
        return -1


def main(arguments: list[str]) -> int:
    """Write the table."""
    output, *headers = map(Path, arguments)
    text = Table(headers).text()
    if not output.is_file() or output.read_text(encoding="utf-8") != text:
        unfinished = output.with_suffix(f".{os.getpid()}.part")  # another process may be reading
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
