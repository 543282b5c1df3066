"""Writes what is derived from mlu_op.h, the only declaration of the C ABI, and from the headers below it.

    generate.py --header mlu_op.h [mluops_ext.h cnrt.h mlusim.h mlusim_profile.h]
                [--cffi _abi.py] [--cython _table.pxi] [--exports exports.map] [--entries entries.c]
                [--null-calls null_calls.c] [--calls calls.c] [--enums enums.py] [--signatures
                _signatures.py] [--stubs __init__.pyi] [--families native/ops [--double-entries
                double.cpp] [--double-declarations double.h]] [--case-entries
                cases.cpp] [--checked-names checked_names.h]

- ``--cffi``: the out-of-line ABI module of cffi, behind `Backend.lib` and `Backend.ffi`.
- ``--cython``: a table of function pointers, filled by dlsym, and a call by function number;
  included by _core.pyx.
- ``--exports``: the linker version script that keeps the declared names and hides all others.
- ``--entries``: an entry point for each operator function, used where a library does not define
  that function.
- ``--null-calls``: a call of each function that returns a status, with NULL and 0 for every
  argument, for a test.
- ``--calls``: a call of each such function by its name and with arguments of any kind, for tests.
- ``--enums``: the Python enums; that file is checked in, because type checkers and readers want to
  see the members.
- ``--double-entries``: the entry points in double of the operators that sources of native/ops mark;
  see in_double.py.
- ``--double-declarations``: their declarations, a header that is checked in.
- ``--case-entries``: the entry points of the operators that cases are dumped of, see gen_case.py.
- ``--checked-names``: the symbols of their definitions, a header that is checked in.
- ``--signatures``, ``--stubs``: the description of pymluops.functions, and its types; checked in
  too; see roles.py.

Several headers count as one, each with its parts: the files that it includes from the folder with
its name, as mluops_ext.h does from mluops_ext. What two of them declare alike, as cnrtQueue_t,
stands once in the result.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))  # Python started with -P looks at no module beside the program

import by_name
import gen_case
import in_double
import roles
from header import Function, Header, read_headers
from pointer_table import cython_table
from python_enums import python_enums


def cffi_module(header: Header, path: Path) -> None:
    """Write the out-of-line ABI module of cffi."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("".join(f"#define {name} {value}\n" for name, value in header.constants.items()) + header.text)
    ffi.set_source("pymluops._abi", None)
    ffi.emit_python_code(str(path))


def exports(header: Header) -> str:
    """Return the linker version script."""
    names = "".join(f"    {name};\n" for name in sorted(function.name for function in header.functions))
    return f"/* {header.banner} */\n{{\n  global:\n{names}  local:\n    *;\n}};\n"


def entries(header: Header) -> str:
    """Return the C source of the entry points that stand for functions a library does not implement.

    They are weak, so a definition in another object file takes their place. Every library has to
    define the functions that return no status, and those of ours that take no handle. An operator
    that cases are dumped of has two: the exported one, and its definition, which the table has.
    """
    dumped = gen_case.dumped_functions()
    functions = [function for function in header.functions if _is_abi(function) or _takes_handle(function)]
    definitions = "\n".join(_placeholder(function, dumped) for function in functions if _returns_status(function))
    rows = "".join(
        f'    {{"{function.name}", (void (*)(void)){gen_case.defined_name(function.name, dumped)}, '
        + (f"(void (*)(void))placeholder_{function.name}}},\n" if _returns_status(function) else "NULL},\n")
        for function in functions
    )
    return f"""/* {header.banner} */
#include "core/unimplemented.h"
#include "mluops_ext.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wcast-function-type"

{definitions}
const mluopsEntry mluops_entries[] = {{
{rows}}};

const size_t mluops_entry_count = sizeof(mluops_entries) / sizeof(mluops_entries[0]);
"""


def null_calls(header: Header) -> str:
    """Return the C source of a call of every function of the ABI that returns a status, all arguments NULL or 0."""
    functions = [function for function in header.functions if _is_abi(function) and _returns_status(function)]
    calls = "\n".join(
        f"static mluOpStatus_t null_{function.name}(void) {{\n"
        f"  return {function.name}({', '.join(f'({parameter.type})0' for parameter in function.parameters)});\n}}"
        for function in functions
    )
    rows = "".join(f'    {{"{function.name}", null_{function.name}}},\n' for function in functions)
    return f"""/* {header.banner} */
#include "null_calls.h"

{calls}

const NullCall null_calls[] = {{
{rows}}};

const size_t null_call_count = sizeof(null_calls) / sizeof(null_calls[0]);
"""


def _takes_handle(function: Function) -> bool:
    return function.parameters[:1] != () and function.parameters[0].type.endswith("mluOpHandle_t")


def _is_abi(function: Function) -> bool:
    return function.name.startswith("mluOp")


def _returns_status(function: Function) -> bool:
    return function.returns == "mluOpStatus_t"


def _placeholder(function: Function, dumped: frozenset[str]) -> str:
    parameters = ", ".join(f"{parameter.type} {parameter.name}" for parameter in function.parameters)
    names = dict.fromkeys((function.name, gen_case.defined_name(function.name, dumped)))
    weak = f'__attribute__((weak, alias("placeholder_{function.name}")));'
    return f"""static mluOpStatus_t MLUOP_WIN_API placeholder_{function.name}({parameters}) {{
  return mluops_not_implemented("{function.name}");
}}
""" + "".join(f"mluOpStatus_t MLUOP_WIN_API {name}({parameters})\n    {weak}\n" for name in names)


def double_entries(header: Header, families: Path) -> str:
    """Return the C++ source of the entry points in double."""
    return in_double.entries(header, in_double.operators(families))


def double_declarations(header: Header, families: Path) -> str:
    """Return the text of mluops_ext/double.h, the declarations of the operators in double."""
    return in_double.declarations(header, in_double.operators(families))


def main(argv: list[str] | None = None) -> int:
    """Write the files asked for."""
    parser = argparse.ArgumentParser(description="Write what is derived from the headers of the C ABI.")
    parser.add_argument(
        "--header", type=Path, nargs="+", required=True, metavar="FILE", help="mlu_op.h, and those that count with it"
    )
    for option, text in (
        ("--cffi", "cffi module"),
        ("--cython", "Cython pointer table"),
        ("--exports", "linker version script"),
        ("--entries", "entry points of functions that are not implemented"),
        ("--null-calls", "calls with NULL arguments"),
        ("--calls", "calls by name"),
        ("--enums", "Python enums"),
        ("--signatures", "description of pymluops.functions"),
        ("--stubs", "type stubs of pymluops.functions"),
        ("--double-entries", "entry points in double; needs --families"),
        ("--double-declarations", "declarations in double; needs --families"),
        ("--case-entries", "entry points of operators that cases are dumped of"),
        ("--checked-names", "symbols of their definitions"),
    ):
        parser.add_argument(option, type=Path, metavar="FILE", help=f"write the {text}")
    parser.add_argument(
        "--families", type=Path, metavar="FOLDER", help="native/ops, where operators in double are marked"
    )
    options = parser.parse_args(argv)
    if (options.double_entries or options.double_declarations) and not options.families:
        parser.error("the operators in double need --families")
    header = read_headers(options.header)
    if options.cffi:
        cffi_module(header, options.cffi)
    for path, write in (
        (options.cython, cython_table),
        (options.exports, exports),
        (options.entries, entries),
        (options.null_calls, null_calls),
        (options.calls, by_name.calls),
        (options.enums, python_enums),
        (options.signatures, roles.signatures),
        (options.stubs, roles.stubs),
        (options.case_entries, gen_case.entries),
        (options.checked_names, gen_case.names),
    ):
        if path:
            path.write_text(write(header), encoding="utf-8")
    if options.double_entries:
        options.double_entries.write_text(double_entries(header, options.families), encoding="utf-8")
    if options.double_declarations:
        options.double_declarations.write_text(double_declarations(header, options.families), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
