"""The entry points of the operators that cases are dumped of, from pymluops/gencase/_operators.py.

The compiler gives the definitions in native/ops another symbol, ``mluops_checked_<function>``,
because ``core/checked_names.h`` names it. The exported functions are those of the generated file.
While dumping is off, they call the definition and do nothing else.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from header import Function, Header

#: The reader of each kind of descriptor, in native/cases/fields.h, by its C type.
READERS = {
    "mluOpCarafeDescriptor_t": "carafe_field",
    "mluOpNmsDescriptor_t": "nms_field",
    "mluOpRoiAlignForwardDescriptor_t": "roi_align_field",
    "mluOpAdamWDescriptor_t": "adamw_field",
    "mluOpDCNDescriptor_t": "dcn_field",
    "mluOpFFTPlan_t": "fft_field",
    "mluOpSparseConvolutionDescriptor_t": "sparse_convolution_field",
}


#: The table.
OPERATORS = Path(__file__).resolve().parents[2] / "pymluops" / "gencase" / "_operators.py"


def read_operators() -> ModuleType:
    """Return the module with the table, without the package that it belongs to."""
    spec = importlib.util.spec_from_file_location("_case_operators", OPERATORS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def dumped_functions() -> frozenset[str]:
    """Return the names of the functions that cases are dumped of."""
    return frozenset(name for operator in read_operators().OPERATORS for name in operator.functions)


def defined_name(function: str, dumped: frozenset[str]) -> str:
    """Return the symbol of the definition of a function."""
    return f"mluops_checked_{function}" if function in dumped else function


def entries(header: Header) -> str:
    """Return the C++ source of the entry points and of their table."""
    functions = {function.name: function for function in header.functions}
    rows = [(operator, functions[name]) for operator in read_operators().OPERATORS for name in operator.functions]
    return f"""// {header.banner}
#include "cases/call.h"
#include "cases/fields.h"
#include "cases/table.h"
#include "mlu_op.h"

namespace {{

{chr(10).join(_Row(operator, function).text() for operator, function in rows)}
}}  // namespace

extern "C" {{
{chr(10).join(_entry(function) for _, function in rows)}
}}  // extern "C"
"""


def names(header: Header) -> str:
    """Return core/checked_names.h."""
    functions = {function.name: function for function in header.functions}
    wanted = [functions[name] for operator in read_operators().OPERATORS for name in operator.functions]
    lines = "".join(
        f'__typeof__({function.name}) {function.name}\n    __asm__("{_checked(function)}");\n'
        for function in sorted(wanted, key=lambda function: function.name)
    )
    return f"""/* {header.banner}
 *
 * Symbols of the operators that cases are dumped of. Their exported entry points are generated, see
 * native/abi/gen_case.py, and call these. */
/* clang-format off */
#ifndef MLUOPS_CORE_CHECKED_NAMES_H_
#define MLUOPS_CORE_CHECKED_NAMES_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {{
#endif

{lines}
#ifdef __cplusplus
}}
#endif

#endif /* MLUOPS_CORE_CHECKED_NAMES_H_ */
"""


def _checked(function: Function) -> str:
    return f"mluops_checked_{function.name}"


def _parameters(function: Function) -> str:
    return ", ".join(f"{parameter.type} {parameter.name}" for parameter in function.parameters)


def _entry(function: Function) -> str:
    """Return the prototype of the definition, and the entry point that calls it."""
    given = ", ".join(parameter.name for parameter in function.parameters)
    return f"""
mluOpStatus_t {_checked(function)}({_parameters(function)});
mluOpStatus_t MLUOP_WIN_API {function.name}({_parameters(function)}) {{
  if (__builtin_expect(!mluops::dumping_cases(), 1)) return {_checked(function)}({given});
  const mluops::CaseValue values[] = {{{given}}};
  mluops::CaseCall call(k{function.name}, values);
  return call.finish({_checked(function)}({given}));
}}"""


class _Row:
    """The row of the table for one function."""

    def __init__(self, operator: Any, function: Function) -> None:
        self.operator, self.function = operator, function
        self.numbers = {parameter.name: number for number, parameter in enumerate(function.parameters)}
        self.types = {parameter.name: parameter.type for parameter in function.parameters}

    def text(self) -> str:
        """Return its definitions."""
        name = self.function.name
        lists = (
            ("CaseTensor", "Inputs", [self.input(tensor) for tensor in self.operator.inputs]),
            ("CaseTensor", "Outputs", [self.output(tensor) for tensor in self.operator.outputs]),
            ("CaseParameter", "Parameters", [self.parameter(parameter) for parameter in self.operator.parameters]),
            ("CaseCriterion", "Criteria", [f'{{"{kind}", "{limit:g}"}}' for kind, limit in self.operator.criteria]),
        )
        made, used = [], []
        for kind, label, values in lists:
            if values:
                joined = ",\n    ".join(values)
                made.append(f"constexpr mluops::{kind} k{name}{label}[] = {{\n    {joined}}};\n")
            used.append(f"{{k{name}{label}, {len(values)}}}" if values else "{nullptr, 0}")
        message = f'"{self.operator.message}"' if self.operator.message else "nullptr"
        return "".join(made) + (
            f'constexpr mluops::CaseOperator k{name} = {{"{self.operator.name}", "{self.operator.type}", "{name}", '
            f"{message}, {str(self.operator.round_mode).lower()},\n    {', '.join(used)}}};\n"
        )

    def argument(self, name: str | None) -> int:
        """Return the number of an argument, -1 for None."""
        if name is None:
            return -1
        if name not in self.numbers:
            raise SystemExit(f"{self.function.name}: a row of the dumped operators names {name}, which is no argument")
        return self.numbers[name]

    def descriptor(self, data: str) -> int:
        """Return the number of the descriptor in front of the data, -1 if there is none."""
        before = self.argument(data) - 1
        parameter = self.function.parameters[before]
        return before if parameter.type.endswith("mluOpTensorDescriptor_t") else -1

    def source(self, text: str) -> str:
        """Return the initialiser of a CaseSource."""
        name, _, field = text.partition(".")
        if not field:
            return f"{{{self.argument(name)}, nullptr, nullptr}}"
        reader = READERS[self.types[name].removeprefix("const ")]
        return f'{{{self.argument(name)}, mluops::{reader}, "{field}"}}'

    def condition(self, text: str) -> str:
        """Return the initialiser of a CaseCondition."""
        if not text:
            return "{{-1, nullptr, nullptr}, false}"
        return f"{{{self.source(text.removeprefix('!'))}, {str(text.startswith('!')).lower()}}}"

    def bound(self, bound: Any) -> str:
        """Return the initialiser of a CaseBound."""
        argument = self.argument(bound.argument)
        if bound.dim is not None:
            argument = self.descriptor(bound.argument)
        return f"{{{argument}, {-1 if bound.dim is None else bound.dim}, {bound.number!r}}}"

    def tensor(self, known: str, argument: str | None, like: str | None, rest: str) -> str:
        """Return the initialiser of a CaseTensor."""
        part = -1
        name = argument
        if argument is not None and "." in argument:  # of the FFT plan
            plan, _, name = argument.partition(".")
            part, desc = ("input", "output").index(name), self.argument(plan)
        else:
            desc = -1 if argument is None or like is not None else self.descriptor(argument)
        shape = self.descriptor(like) if like else -1
        return f'{{"{known}", {desc}, {self.argument(name)}, {shape}, {part}, {rest}}}'

    def input(self, tensor: Any) -> str:
        """Return the initialiser of an input."""
        rest = f"{str(tensor.real).lower()}, {self.bound(tensor.upper)}, {self.bound(tensor.lower)}"
        return self.tensor(tensor.id, tensor.argument, None, f"{rest}, {self.condition(tensor.condition)}")

    def output(self, tensor: Any) -> str:
        """Return the initialiser of an output."""
        rest = f"false, {{-1, -1, 0}}, {{-1, -1, 0}}, {self.condition(tensor.condition)}"
        return self.tensor(tensor.id, tensor.argument, tensor.like, rest)

    def parameter(self, parameter: Any) -> str:
        """Return the initialiser of a parameter."""
        source, nowhere = parameter.source, "{-1, nullptr, nullptr}"
        if source.isdigit():
            return f'{{"{parameter.name}", mluops::CaseSourceKind::kConstant, {nowhere}, -1, {source}}}'
        if "==" in source:
            one, _, other = source.partition("==")
            kind, found, number = "kSamePointers", self.source(one), self.argument(other)
        elif parameter.repeated and "." not in source:
            kind, found, number = "kHostArray", self.source(source), self.descriptor("indice_pairs")
        else:
            kind, found, number = ("kField" if "." in source else "kArgument"), self.source(source), -1
        return f'{{"{parameter.name}", mluops::CaseSourceKind::{kind}, {found}, {number}, 0}}'
