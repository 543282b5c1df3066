"""The operators in double: their declarations in mluops_ext/double.h and their entry points.

`MLUOPS_IN_DOUBLE(<Name>);` in a source of native/ops stands for ``mluopsExt<Name>Double``, which
takes what ``mluOp<Name>`` takes. Its entry point calls ``mluops::<name>`` with an `Entry` in double
and the arguments of the call, each pair of descriptor and data as one `TensorArgument`.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from header import Function, Header, Parameter

_HEADER = """/* The operators in double; written by tools/families.py.
 *
 * Each takes what the function of mlu_op.h with its name takes, with MLUOP_DTYPE_DOUBLE in place of
 * MLUOP_DTYPE_FLOAT, and refuses other types. Sums and positions are computed in double. A library
 * for a device returns NOT_SUPPORTED. */
#ifndef MLUOPS_EXT_DOUBLE_H_
#define MLUOPS_EXT_DOUBLE_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {{
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

{declarations}
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}}
#endif

#endif /* MLUOPS_EXT_DOUBLE_H_ */
"""
_MARKER = re.compile(r"^MLUOPS_IN_DOUBLE\((\w+)\);$", re.MULTILINE)
#: Where a word of a name in snake_case begins.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def operators(folder: Path) -> list[str]:
    """Return the operators that are marked in the families of a folder, without ``mluOp``."""
    sources = sorted(folder.glob("*/*.cpp"))
    return [name for path in sources for name in _MARKER.findall(path.read_text(encoding="utf-8"))]


def function_in_double(name: str) -> str:
    """Return the name of the function that computes an operator in double."""
    return f"mluopsExt{name}Double"


def declarations(header: Header, names: list[str]) -> str:
    """Return the text of mluops_ext/double.h, which declares these operators."""
    return _HEADER.format(declarations="".join(_declaration(_abi(header, name), name) for name in names))


def entries(header: Header, names: list[str]) -> str:
    """Return the C++ source of the entry points of these operators."""
    declared = {function.name: function for function in header.functions}
    missing = [name for name in names if function_in_double(name) not in declared]
    if missing:
        raise SystemExit(f"mluops_ext/double.h: does not declare {', '.join(missing)} in double; run tools/families.py")
    bodies = "\n".join(_entry(declared[function_in_double(name)], name) for name in names)
    return f"""// {header.banner}
#include "core/entry.h"
#include "core/exception_guard.h"
#include "mluops_ext/double.h"

{bodies}"""


def _abi(header: Header, name: str) -> Function:
    for function in header.functions:
        if function.name == f"mluOp{name}":
            return function
    raise SystemExit(f"MLUOPS_IN_DOUBLE({name}): no header declares mluOp{name}")


def _declaration(function: Function, name: str) -> str:
    parameters = ", ".join(_declared(parameter) for parameter in function.parameters) + ");"
    lines = textwrap.wrap(
        parameters, 120, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    joined = "\n".join(line.replace("\x1f", " ") for line in lines)
    return f"mluOpStatus_t MLUOP_WIN_API {function_in_double(name)}(\n{joined}\n"


def _declared(parameter: Parameter) -> str:
    """Return a parameter as it is declared, with a mark for each space where no line may end."""
    kind = {"float": "double"}.get(parameter.type, parameter.type)
    constant = "" if "*" in kind or kind == "mluOpHandle_t" else "const "
    return f"{constant}{kind}{'' if kind.endswith('*') else ' '}{parameter.name}".replace(" ", "\x1f")


def _entry(function: Function, name: str) -> str:
    parameters = ", ".join(f"{parameter.type} {parameter.name}" for parameter in function.parameters)
    taken, given = [], []
    described: Parameter | None = None  # the descriptor whose data comes next, in some functions with another name
    for parameter in function.parameters:
        if described is not None and "*" in parameter.type:
            given.append(f'{{"{described.name.removesuffix("_desc")}", {described.name}, {parameter.name}}}')
            described = None
        elif parameter.type == "mluOpTensorDescriptor_t":
            taken.append("const TensorArgument &")
            described = parameter
        else:
            taken.append(parameter.type)
            given.append(parameter.name)
    body = _WORD.sub("_", name).lower()
    return f"""namespace mluops {{
mluOpStatus_t {body}(const Entry &, {", ".join(taken)});
}}
mluOpStatus_t MLUOP_WIN_API {function.name}({parameters}) {{
  return mluops::guarded("{function.name}", [&] {{
    return mluops::{body}({{"{function.name}", true}}, {", ".join(given)});
  }});
}}
"""
