"""A table of all functions that return a status, by their names, with calls that take any arguments.

Tests in C++ take the names of functions from files: native/tests/calls.h declares the table.
"""

from __future__ import annotations

from header import Header
from pointer_table import cast_arguments


def calls(header: Header) -> str:
    """Return the C source of the table."""
    functions = [function for function in header.functions if function.returns == "mluOpStatus_t"]
    bodies = "\n".join(
        f"static const char *const names_{function.name}[] = "
        f"{{{', '.join(f'{chr(34)}{parameter.name}{chr(34)}' for parameter in function.parameters) or 'NULL'}}};\n"
        f"static mluOpStatus_t call_{function.name}(const CallArgument *a) {{\n"
        f"  (void)a;\n  return {function.name}({cast_arguments(header, function)});\n}}"
        for function in functions
    )
    rows = "".join(
        f'    {{"{function.name}", {len(function.parameters)}, names_{function.name}, call_{function.name}}},\n'
        for function in functions
    )
    return f"""/* {header.banner} */
#include "calls.h"

#pragma GCC diagnostic ignored "-Wpedantic" /* some parameters are functions */

{bodies}

const CallByName calls_by_name[] = {{
{rows}}};

const size_t call_by_name_count = sizeof(calls_by_name) / sizeof(calls_by_name[0]);
"""
