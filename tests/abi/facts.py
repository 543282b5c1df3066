"""The facts about the C ABI of mlu-ops 1.11.1, and what our header declares, in the same form."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_parser

import pymluops

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "native" / "include" / "mlu_op.h"
EXTENSION_HEADER = HEADER.with_name("mluops_ext.h")
FACTS: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "abi.json").read_text(encoding="utf-8"))

FUNCTIONS: dict[str, dict[str, Any]] = {function["name"]: function for function in FACTS["functions"]}
ENUMS: dict[str, dict[str, int]] = FACTS["enums"]
HANDLES: dict[str, str] = FACTS["opaque_handles"]

DTYPES: dict[str, int] = {name.removeprefix("MLUOP_DTYPE_"): value for name, value in ENUMS["mluOpDataType_t"].items()}
LAYOUTS: dict[str, int] = {
    name.removeprefix("MLUOP_LAYOUT_"): value for name, value in ENUMS["mluOpTensorLayout_t"].items()
}
DTYPE_NAMES = {value: name for name, value in DTYPES.items()}

#: Bytes of one element. INVALID has no size.
DTYPE_BYTES: dict[str, int] = {
    **dict.fromkeys(("BOOL", "INT8", "UINT8"), 1),
    **dict.fromkeys(("INT16", "UINT16", "HALF", "BFLOAT16"), 2),
    **dict.fromkeys(("INT31", "INT32", "UINT32", "FLOAT", "COMPLEX_HALF"), 4),
    **dict.fromkeys(("INT64", "UINT64", "DOUBLE", "COMPLEX_FLOAT"), 8),
}

SUCCESS = 0
NOT_INITIALIZED = 1
ALLOC_FAILED = 2
BAD_PARAM = 3
INTERNAL_ERROR = 4
EXECUTION_FAILED = 6
NOT_SUPPORTED = 7

#: Our own functions, but for operators, which take a handle.
EXTENSIONS: dict[str, tuple[str, list[str]]] = {
    "mluopsExtGetGenCaseSwitches": ("mluOpStatus_t", ["int *"] * 4),
    "mluopsExtSetGenCaseSwitches": ("mluOpStatus_t", ["int"] * 4),
    "mluopsExtGetLastReason": ("const char *", []),
    "mluopsExtGetNumThreads": ("int", []),
    "mluopsExtSetNumThreads": ("mluOpStatus_t", ["int"]),
    "mluopsExtSetInterruptCheck": ("mluOpStatus_t", ["mluopsExtInterruptCheck"]),
    "mluopsExtSetTeam": ("mluOpStatus_t", ["mluopsExtTeam", "int"]),
    "mluopsExtGetStreamingBytes": ("size_t", []),
    "mluopsExtImplements": ("int", ["const char *"]),
    "mluopsExtGetLibraryKind": ("const char *", []),
    "mluopsExtGetLibraryVersion": ("const char *", []),
    "mluopsExtGetInstructionLevel": ("const char *", []),
}

#: Functions that the installed CPU library implements.
IMPLEMENTED: frozenset[str] = frozenset(name for name in FUNCTIONS if pymluops.load("cpu").implements(name))

#: Functions that return no status.
NO_STATUS: frozenset[str] = frozenset(
    name for name, function in FUNCTIONS.items() if function["returns"] != "mluOpStatus_t"
)


def is_pointer(type_name: str) -> bool:
    """Whether a parameter of this type can be NULL."""
    plain = type_name.removeprefix("const ").removesuffix(" const")
    return "*" in plain or plain in HANDLES or plain == "cnrtQueue_t"


def pointer_parameters(function: str) -> list[str]:
    """Names of the parameters of a function that can be NULL."""
    return [param["name"] for param in PROTOTYPES[function]["params"] if is_pointer(param["type"])]


# ---- the header ----------------------------------------------------------------------------------


@dataclass
class Declarations:
    """What a header declares, spelt as in the facts."""

    constants: dict[str, int] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)
    functions: dict[str, dict[str, Any]] = field(default_factory=dict)


@functools.cache
def read_headers(*paths: Path) -> Declarations:
    """Parse headers that build on one another: constants by their #define lines, everything else with pycparser."""
    text = re.sub(r"/\*.*?\*/", " ", "\n".join(_with_parts(path) for path in paths), flags=re.DOTALL)
    found = Declarations(constants=_constants(text))
    for node in c_parser.CParser().parse(_preprocessed(text)).ext:
        if isinstance(node, c_ast.Typedef):
            _add_typedef(found, node)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            found.functions[node.name] = _function(node.type)
        else:
            raise AssertionError(f"unexpected declaration: {node}")
    return found


def _with_parts(path: Path) -> str:
    """The text of a header behind that of its parts, the files of the folder with its name."""
    parts = sorted(path.with_suffix("").glob("*.h"))
    return "\n".join(part.read_text(encoding="utf-8") for part in (*parts, path))


def _constants(text: str) -> dict[str, int]:
    values: dict[str, int] = {}
    for name, body in re.findall(r"^#define (MLUOP_\w+) +(.+)$", text, flags=re.MULTILINE):
        expression = re.sub(r"[A-Z]\w+", lambda match: str(values[match[0]]) if match[0] in values else "x", body)
        if re.fullmatch(r"[\d\s()+*]+", expression):
            values[name] = eval(expression)  # only digits, brackets, + and * are left
    return values


def _preprocessed(text: str) -> str:
    """The C branch of the header without directives; enough for a header that has no other conditions."""
    text = re.sub(r"#ifdef __cplusplus.*?#endif", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", " ", text, flags=re.MULTILINE).replace("MLUOP_WIN_API", " ")
    base = "typedef unsigned long size_t; typedef int int32_t; typedef long int64_t; typedef int bool;\n"
    return base + text


def _add_typedef(found: Declarations, node: c_ast.Typedef) -> None:
    if node.name in ("size_t", "int32_t", "int64_t", "bool"):
        return
    inner = node.type
    if isinstance(inner, c_ast.TypeDecl) and isinstance(inner.type, c_ast.Enum):
        found.enums[node.name] = {item.name: int(item.value.value, 0) for item in inner.type.values.enumerators}
    elif isinstance(inner, c_ast.PtrDecl) and isinstance(inner.type.type, c_ast.Struct):
        assert inner.type.type.decls is None, f"{node.name} is not opaque"
        found.handles[node.name] = inner.type.type.name
    elif isinstance(inner, c_ast.PtrDecl) and isinstance(inner.type, c_ast.FuncDecl):
        assert node.name.startswith("mluopsExt"), f"{node.name} is not of this project"
    else:
        raise AssertionError(f"unexpected typedef {node.name}")


def _function(node: c_ast.FuncDecl) -> dict[str, Any]:
    declared = node.args.params if node.args else []
    params = []
    for param in declared:
        if param.name is None:  # the single unnamed parameter of f(void)
            assert _spelling(param.type) == "void"
            continue
        entry: dict[str, Any] = {"name": param.name, "type": _spelling(param.type)}
        if isinstance(param.type, c_ast.ArrayDecl):
            assert param.type.dim is None
            entry["array"] = True
        params.append(entry)
    return {"returns": _spelling(node.type), "params": params}


def _spelling(node: Any) -> str:
    """`const int *` for both `const int *x` and `const int x[]`, as the facts spell it."""
    if isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        inner = _spelling(node.type)
        assert not getattr(node, "quals", []), "no const pointers in this ABI"
        return inner + ("*" if inner.endswith("*") else " *")
    name = " ".join(node.type.names)
    return " ".join([*node.quals, name])


#: The functions of both headers: those that operators are computed by are among them.
PROTOTYPES: dict[str, dict[str, Any]] = {**read_headers(HEADER, EXTENSION_HEADER).functions, **FUNCTIONS}

#: Functions that do what another one does, by their deprecated names.
DEPRECATED: dict[str, str] = {
    old: name
    for name, old in re.findall(
        r"/\* Deprecated name of (\w+)\. \*/\s+mluOpStatus_t MLUOP_WIN_API (\w+)\(", HEADER.read_text(encoding="utf-8")
    )
}
