"""Writes what is derived from mlu_op.h, the only declaration of the C ABI, and from the headers below it.

    generate.py --header mlu_op.h [mluops_ext.h cnrt.h mlusim.h mlusim_profile.h]
                [--cffi _abi.py] [--cython _table.pxi] [--exports exports.map] [--entries entries.c]
                [--null-calls null_calls.c] [--enums enums.py]
                [--signatures _signatures.py] [--stubs __init__.pyi]

--cffi     the out-of-line ABI module of cffi, behind `Backend.lib` and `Backend.ffi`
--cython   a table of function pointers, filled by dlsym, and a call by function number; included by _core.pyx
--exports  the linker version script that keeps the declared names and hides all others
--entries  an entry point for each operator function, used where a library does not define that function
--null-calls  a call of each function that returns a status, with NULL and 0 for every argument, for a test
--enums    the Python enums; that file is checked in, because type checkers and readers want to see the members
--signatures, --stubs   what pymluops.functions is made of, and its types; checked in too; see functions.py

Several headers count as one. What two of them declare alike, as cnrtQueue_t, stands once in the result.

The headers are plain C: typedefs and prototypes, whose parameters have types with a name. So a few lines of text
handling read them, and the version script, which every build needs, costs no package. What they find is checked twice
afterwards: cffi parses the same text with a C parser, and the C compiler compares the pointer table with the headers.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

BANNER = "Generated from {headers} by native/abi/generate.py; do not edit."

#: What stands before a prototype or its name and says nothing about the function.
_DECORATIONS = re.compile(r"\b(MLUOP_WIN_API|MLUSIM_API)\b")
_CONSTANT = re.compile(r"^#define\s+(\w+)\s+(\d+)\s*$", re.MULTILINE)
#: How the names of functions begin.
_PREFIXES = "mluOp|mluopsExt|cnrt|mlusim"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a prototype; an array is the pointer that it decays to."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """One prototype."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Enum:
    """One `typedef enum`, its members in the order of the header."""

    name: str
    members: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Header:
    """What the headers declare."""

    paths: tuple[Path, ...]
    text: str  # typedefs and prototypes, without comments and preprocessor lines
    constants: dict[str, int]
    enums: tuple[Enum, ...]
    opaque: tuple[str, ...]  # names of pointer types: to incomplete structures, to functions
    structs: tuple[str, ...]  # names of complete structures
    aliases: tuple[tuple[str, str], ...]  # other types, and their second names
    functions: tuple[Function, ...]

    @property
    def banner(self) -> str:
        """First line of a generated file."""
        return BANNER.format(headers=", ".join(_within_project(path) for path in self.paths))


# ---- Reading ---------------------------------------------------------------------------------------------------------


def read_headers(paths: list[Path]) -> Header:
    """Read the headers; what does not look like a typedef or a prototype is an error."""
    constants: dict[str, int] = {}
    declarations: dict[str, Path] = {}
    for path in paths:
        source = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        source = re.sub(r"//[^\n]*", " ", source).replace("\\\n", " ")
        constants |= {name: int(value) for name, value in _CONSTANT.findall(source)}
        for declaration in _declarations(path, source):
            declarations.setdefault(declaration, path)
    enums, opaque, structs, aliases, functions = [], [], [], [], []
    for declaration, path in declarations.items():
        if match := re.fullmatch(r"typedef enum \{(.*)\} (\w+)", declaration):
            enums.append(Enum(match[2], tuple(_member(path, text) for text in match[1].split(","))))
        elif match := re.fullmatch(r"typedef struct (?:\w+ )?\{.*\} (\w+)", declaration):
            structs.append(match[1])
        elif match := re.fullmatch(r"typedef (?:struct \w+ ?\* ?(\w+)|\w+ ?\( ?\* ?(\w+)\) ?\([^()]*\))", declaration):
            opaque.append(match[1] or match[2])
        elif match := re.fullmatch(r"typedef (\w+) (\w+)", declaration):
            aliases.append((match[1], match[2]))
        else:
            functions.append(_function(path, declaration))
    text = "".join(f"{declaration};\n" for declaration in declarations)
    types = tuple(enums), tuple(opaque), tuple(structs), tuple(aliases)
    return Header(tuple(paths), text, constants, *types, tuple(functions))


def _within_project(path: Path) -> str:
    project = Path(__file__).resolve().parents[2]
    return str(path.resolve().relative_to(project)) if path.resolve().is_relative_to(project) else path.name


def _declarations(path: Path, source: str) -> list[str]:
    """Return the declarations of a source without comments, each as one line without its semicolon."""
    # `extern "C"` is C++ only.
    source = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", source, flags=re.DOTALL | re.MULTILINE)
    source = _DECORATIONS.sub("", re.sub(r"^#.*$", "", source, flags=re.MULTILINE))
    found, start, depth = [], 0, 0
    for match in re.finditer(r"[{};]", source):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if match[0] == ";" and depth == 0:
            found.append(" ".join(source[start : match.start()].split()))
            start = match.end()
    if source[start:].strip():
        raise SystemExit(f"{path}: the last declaration does not end with a semicolon")
    return found


def _member(path: Path, text: str) -> tuple[str, int]:
    match = re.fullmatch(r" ?(\w+) = (-?\d+) ?", text)
    if match is None:
        raise SystemExit(f"{path}: expected `NAME = number` in an enum, got `{text}`")
    return match[1], int(match[2])


def _function(path: Path, declaration: str) -> Function:
    match = re.fullmatch(rf"([\w ]+[ *]+)((?:{_PREFIXES})\w+) ?\(([^()]*)\)", declaration)
    if match is None:
        raise SystemExit(f"{path}: expected a typedef or a prototype, got `{declaration}`")
    listed = match[3].strip()
    texts = [] if listed in ("", "void") else listed.split(",")
    return Function(match[2], match[1].strip(), tuple(_parameter(path, text.strip()) for text in texts))


def _parameter(path: Path, text: str) -> Parameter:
    match = re.fullmatch(r"([\w ]+[ *]+)(\w+) ?(\[\])?", text)
    if match is None:
        raise SystemExit(f"{path}: expected `type name`, got `{text}`")
    kind = match[1].strip() + (" *" if match[3] else "")
    # `const` of a value passed by copy says nothing to the caller.
    return Parameter(re.sub(r"^const ", "", kind) if "*" not in kind else kind, match[2])


# ---- Writing ---------------------------------------------------------------------------------------------------------


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

    They are weak, so a definition in another object file takes their place. Every library has to define the functions
    that return no status, and those of ours that take no handle.
    """
    functions = [function for function in header.functions if _is_abi(function) or _takes_handle(function)]
    definitions = "\n".join(_placeholder(function) for function in functions if _returns_status(function))
    rows = "".join(
        f'    {{"{function.name}", (void (*)(void)){function.name}, '
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


def _placeholder(function: Function) -> str:
    parameters = ", ".join(f"{parameter.type} {parameter.name}" for parameter in function.parameters)
    return f"""static mluOpStatus_t MLUOP_WIN_API placeholder_{function.name}({parameters}) {{
  return mluops_not_implemented("{function.name}");
}}
mluOpStatus_t MLUOP_WIN_API {function.name}({parameters})
    __attribute__((weak, alias("placeholder_{function.name}")));
"""


def cython_table(header: Header) -> str:
    """Return the function pointer table, its loader and the call by number.

    The bodies are C, so the compiler checks every argument against the headers; Cython sees only their types.
    """
    pointers = "\n".join(f"      __typeof__(&{function.name}) {function.name};" for function in header.functions)
    names = "\n".join(f'      "{function.name}",' for function in header.functions)
    cases = "\n".join(
        f"        case {number}: return table->{function.name}({_arguments(header, function)});"
        for number, function in enumerate(header.functions)
        if function.returns == "mluOpStatus_t"
    )
    types = "\n".join(
        [f"    ctypedef int {enum.name}" for enum in header.enums]
        + [f"    ctypedef void *{name}" for name in header.opaque]
        + [f"    ctypedef struct {name}:\n        pass" for name in header.structs]
        + [f"    ctypedef {name} {alias}" for name, alias in header.aliases]
    )
    enumerators = "\n".join(f"        {member}" for enum in header.enums for member, _ in enum.members)
    includes = "\n".join(f'    #include "{path.name}"' for path in header.paths)
    members = "\n".join(f"        {_cython_pointer(function)}" for function in header.functions)
    listing = "\n".join(
        f'    "{function.name}": ({number}, "{function.returns}", ('
        + "".join(f'("{parameter.type}", "{parameter.name}"), ' for parameter in function.parameters)
        + ")),"
        for number, function in enumerate(header.functions)
    )
    return f'''# {header.banner}

cdef extern from *:
    """
    #include <dlfcn.h>
{includes}

    /* One pointer for every function of the headers, NULL where a library lacks it. */
    typedef struct {{
{pointers}
    }} FunctionTable;

    static const char *const mluops_names[] = {{
{names}
    }};

    /* One argument of a call by number. */
    typedef union {{
      void *pointer;
      int64_t integer;
      double real;
    }} Argument;

    /* Fills the table from a library that dlopen returned. */
    static void table_load(FunctionTable *table, void *library) {{
      void **slots = (void **)table;
      for (size_t i = 0; i < sizeof(mluops_names) / sizeof(mluops_names[0]); i++) {{
        slots[i] = dlsym(library, mluops_names[i]);
      }}
    }}

    /* The pointer with this number, NULL if the library lacks the function. */
    static void *table_function(const FunctionTable *table, int number) {{
      return ((void *const *)table)[number];
    }}

    /* Calls the function with this number, which must not be NULL and must return a status. */
    static mluOpStatus_t table_invoke(const FunctionTable *table, int number, const Argument *a) {{
      switch (number) {{
{cases}
        default: return MLUOP_STATUS_INTERNAL_ERROR;
      }}
    }}
    """
{types}

    enum:
{enumerators}

    ctypedef struct FunctionTable:
{members}

    ctypedef union Argument:
        void *pointer
        int64_t integer
        double real

    void table_load(FunctionTable *table, void *library) noexcept nogil
    void *table_function(const FunctionTable *table, int number) noexcept nogil
    int table_invoke(const FunctionTable *table, int number, const Argument *arguments) noexcept nogil

# Number, type returned and (type, name) of the parameters of every function.
_FUNCTIONS = {{
{listing}
}}
'''


def _arguments(header: Header, function: Function) -> str:
    casts = []
    for number, parameter in enumerate(function.parameters):
        if "*" in parameter.type or parameter.type in header.opaque:
            field = "pointer"
        else:
            field = "real" if parameter.type in ("float", "double") else "integer"
        casts.append(f"({parameter.type})a[{number}].{field}")
    return ", ".join(casts)


def _cython_pointer(function: Function) -> str:
    types = ", ".join(parameter.type for parameter in function.parameters)
    return f"{function.returns} (*{function.name})({types}) noexcept nogil"


# Python name, C type, prefix of its enumerators and docstring of the enums that Python code uses.
PYTHON_ENUMS = (
    ("Status", "mluOpStatus_t", "MLUOP_STATUS_", "Status of a call."),
    ("DataType", "mluOpDataType_t", "MLUOP_DTYPE_", "Type of an element. The numbers are those of the C ABI."),
    ("Layout", "mluOpTensorLayout_t", "MLUOP_LAYOUT_", "Meaning of the dimensions of a tensor."),
    ("SeqDataLayout", "mluOpSeqDataLayout_t", "MLUOP_SEQDATA_", "Meaning of the dimensions of sequence data."),
    (
        "ComputationPreference",
        "mluOpComputationPreference_t",
        "MLUOP_COMPUTATION_",
        "Whether speed or precision matters more.",
    ),
    ("AtomicsMode", "mluOpAtomicsMode_t", "MLUOP_ATOMICS_", "Whether an operator may use device atomics."),
    ("QuantizeRoundMode", "mluOpQuantizeRoundMode_t", "MLUOP_ROUND_", "How quantisation rounds."),
    ("LogBase", "mluOpLogBase_t", "MLUOP_", "Base of a logarithm."),
    ("PointerMode", "mluOpPointerMode_t", "MLUOP_POINTER_MODE_", "Whether a tensor is in host or in device memory."),
    ("NmsBoxPointMode", "mluOpNmsBoxPointMode_t", "MLUOP_NMS_BOX_", "How a box is written."),
    ("NmsOutputMode", "mluOpNmsOutputMode_t", "MLUOP_NMS_OUTPUT_", "What non-maximum suppression returns."),
    ("NmsMethodMode", "mluOpNmsMethodMode_t", "MLUOP_NMS_", "Kind of non-maximum suppression."),
    ("NmsAlgo", "mluOpNmsAlgo_t", "MLUOP_NMS_ALGO_", "Whether the boundary of a box belongs to it."),
    ("LossReduction", "mluOpLossReduction_t", "MLUOP_LOSS_REDUCTION_", "Reduction of a loss."),
    ("ReduceMode", "mluOpReduceMode_t", "MLUOP_REDUCE_", "Reduction of points to voxels."),
    ("PoolingMode", "mluOpPoolingMode_t", "MLUOP_POOLING_", "Kind of pooling."),
    ("AdamWDescAttribute", "mluOpAdamWDescAttribute_t", "MLUOP_ADAMW_", "Attribute of an AdamW descriptor."),
)


def python_enums(header: Header) -> str:
    """Return pymluops/enums.py."""
    enums = {enum.name: enum for enum in header.enums}
    parts = [f'# {header.banner}\n"""The enums of the C ABI that Python code uses."""\n\nfrom enum import IntEnum\n']
    for name, type_name, prefix, text in PYTHON_ENUMS:
        members = "".join(
            f"    {member.removeprefix(prefix)} = {value}\n" for member, value in enums[type_name].members
        )
        parts.append(f'class {name}(IntEnum):\n    """{text}"""\n\n{members}')
    return "\n\n".join(parts)


def signatures(header: Header) -> str:
    """Return pymluops/functions/_signatures.py."""
    return _functions_module().signatures(header)


def stubs(header: Header) -> str:
    """Return pymluops/functions/__init__.pyi."""
    return _functions_module().stubs(header)


def _functions_module() -> ModuleType:
    """Return functions.py, which stands beside this file and needs it under its name."""
    folder = str(Path(__file__).resolve().parent)
    sys.modules.setdefault("generate", sys.modules[__name__])
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module("functions")


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
        ("--enums", "Python enums"),
        ("--signatures", "description of pymluops.functions"),
        ("--stubs", "type stubs of pymluops.functions"),
    ):
        parser.add_argument(option, type=Path, metavar="FILE", help=f"write the {text}")
    options = parser.parse_args(argv)
    header = read_headers(options.header)
    if options.cffi:
        cffi_module(header, options.cffi)
    for path, write in (
        (options.cython, cython_table),
        (options.exports, exports),
        (options.entries, entries),
        (options.null_calls, null_calls),
        (options.enums, python_enums),
        (options.signatures, signatures),
        (options.stubs, stubs),
    ):
        if path:
            path.write_text(write(header), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
