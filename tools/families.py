#!/usr/bin/env python3
"""Write what follows from pymluops/ops: its exports, their types, and the table of operators in the README.

    python3 tools/families.py [--check]

With ``--check`` nothing is written, and the exit status is 1 if a file is not current. The families are read without
the compiled part of the package.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OPS = ROOT / "pymluops" / "ops"
BEGIN, END = "<!-- operators: written by tools/families.py -->", "<!-- end of operators -->"


@dataclass(frozen=True)
class Family:
    """One module of pymluops/ops."""

    name: str
    summary: str
    exports: tuple[str, ...]
    operators: tuple[Operator, ...]
    source: ast.Module


class Operator:
    """Keeps what an operator is described with, in place of the compiled class."""

    def __init__(self, function: str, name: str, tensors: tuple[Any, ...], *_: object, **__: object) -> None:
        self.function, self.name, self.tensors = function, name, tensors

    def types(self) -> tuple[str, ...]:
        """Names of the types that its first array may have."""
        return tuple(sorted(_type_name(data_type) for data_type in self.tensors[0].dtype))


def family_names() -> list[str]:
    """Return the names of the modules that describe a family."""
    return sorted(path.stem for path in OPS.glob("*.py") if not path.stem.startswith("_"))


def read_families() -> list[Family]:
    """Import the families with a stand-in for the compiled module."""
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "pymluops"}
    for name in kept:
        del sys.modules[name]
    try:
        for name, folder in (("pymluops", OPS.parent), ("pymluops.ops", OPS)):
            sys.modules[name] = package = ModuleType(name)
            package.__path__ = [os.fspath(folder)]
        sys.modules["pymluops._core"] = core = ModuleType("pymluops._core")
        core.__getattr__ = lambda name: Operator if name == "Operator" else type(name, (), {})  # type: ignore[method-assign]
        return [_family(name, import_module(f"pymluops.ops.{name}")) for name in family_names()]
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "pymluops"]:
            del sys.modules[name]
        sys.modules.update(kept)


def _family(name: str, module: ModuleType) -> Family:
    summary = (module.__doc__ or "").split("\n", 1)[0].rstrip(".")
    operators = tuple(value for value in vars(module).values() if isinstance(value, Operator))
    if not summary or not operators:
        raise SystemExit(f"{name}: needs a docstring and an Operator at the top of the module")
    source = ast.parse((OPS / f"{name}.py").read_text(encoding="utf-8"))
    return Family(name, summary, tuple(module.__all__), operators, source)


def _type_name(data_type: Any) -> str:
    name = str(data_type.name)
    return {"HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}.get(name, name.lower())


def exports(families: list[Family]) -> str:
    """Return the text of pymluops/ops/__init__.py."""
    lines = ['"""The operators, a module for each family."""', "", "# Written by tools/families.py; do not edit.", "",
             "from typing import TYPE_CHECKING", "", "if TYPE_CHECKING:  # a declaration for each kind of arrays",
             "    from pymluops.ops._types import *  # noqa: F403", "else:"]  # fmt: skip
    for family in families:
        imported = sorted(family.exports, key=_import_order)
        line = f"    from pymluops.ops.{family.name} import {', '.join(imported)}"
        if len(line) > 120:
            names = [f"        {name}," for name in imported]
            line = "\n".join([f"    from pymluops.ops.{family.name} import (", *names, "    )"])
        lines.append(line)
    names = sorted((name for family in families for name in family.exports), key=_import_order)
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in names), "]", ""])


def _import_order(name: str) -> tuple[bool, str]:
    return name[0].islower(), name


# ---- types -----------------------------------------------------------------------------------------------------------

#: What the array arguments are, the first of them first, and what the results are then.
KINDS = (
    ("DeviceArray", "DeviceArray", "DeviceArray"),
    ("TorchTensor", "HostArray", "TorchTensor"),
    ("HostArray", "HostArray", "NDArray[Any]"),
)


def stubs(families: list[Family]) -> str:
    """Return the text of pymluops/ops/_types.pyi, which has no file at run time.

    The results of an operator are of the kind of its first array, or the arrays that were given for them.
    """
    found = [
        (statement, operator, family)
        for family in families
        for operator in family.operators
        for statement in family.source.body
        if isinstance(statement, ast.FunctionDef) and statement.name == operator.name
    ]
    overloads = [line for statement, operator, _ in found for line in _overloads(statement, operator)]
    names = set(re.findall(r"\w+", "\n".join(overloads)))
    known = {name: module for _, _, family in found for name, module in _imported(family.source).items()}
    known |= {"Any": "typing", "overload": "typing", "NDArray": "numpy.typing", "DeviceArray": "pymluops._core"}
    known |= dict.fromkeys(("Array", "HostArray", "Out", "TorchTensor"), "pymluops._typing")
    lines = ["# Written by tools/families.py; do not edit.", "# fmt: off",
             '"""Types of the operators; their documentation is in the modules of the families."""', ""]  # fmt: skip
    group = 0
    for module in sorted({known[name] for name in names & known.keys()}, key=_module_order):
        if _module_order(module)[0] > group:
            lines.append("")
        group = _module_order(module)[0]
        imported = sorted(
            (name for name in names if known.get(name) == module), key=lambda name: (name.islower(), name)
        )
        lines.append(f"from {module} import {', '.join(imported)}")
    operators = {operator.name for _, operator, _ in found}
    for family in families:
        others = sorted(name for name in family.exports if name not in operators)
        lines += [f"from pymluops.ops.{family.name} import {name} as {name}" for name in others]
    exported = sorted((name for family in families for name in family.exports), key=_import_order)
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in exported), "]", "", *overloads, ""])


def _module_order(module: str) -> tuple[int, str]:
    top = module.partition(".")[0]
    return (2 if top == "pymluops" else 1 if top == "numpy" else 0), module


def _imported(source: ast.Module) -> dict[str, str]:
    """Return the modules that a family has its names from."""
    return {
        name.name: node.module or ""
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def _overloads(function: ast.FunctionDef, operator: Operator) -> list[str]:
    """Return the lines of an operator's overloads."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    inputs = [a.arg for a in arguments if a.annotation is not None and ast.unparse(a.annotation) == "Array"]
    outputs = [t.name for t in operator.tensors if t.output and t.name in {a.arg for a in arguments}]
    result = "Any" if function.returns is None else ast.unparse(function.returns)
    lines: list[str] = []
    for first, other, kind in KINDS:
        types = dict(zip(inputs, [first, *[other] * (len(inputs) - 1)], strict=True))
        types |= dict.fromkeys(outputs, "None")
        # A tensor is a HostArray as well.
        comment = "type: ignore[overload-overlap]" if first == "TorchTensor" else ""
        lines += _signature(function, types, re.sub(r"\bAny\b", kind, result), comment)
    if len(outputs) == 1 and result == "Any":
        lines += _signature(function, {outputs[0]: "Out"}, "Out", required=outputs[0])
    if outputs or len(inputs) > 1:
        lines += _signature(function, {}, result)
    return lines


def _signature(
    function: ast.FunctionDef, types: dict[str, str], result: str, comment: str = "", required: str = ""
) -> list[str]:
    """Return a declaration with other types for some arguments; the `required` one loses its default."""
    positional = [None] * (len(function.args.args) - len(function.args.defaults)) + list(function.args.defaults)
    texts: list[str] = []
    for argument, default in zip(
        [*function.args.args, *function.args.kwonlyargs], [*positional, *function.args.kw_defaults], strict=True
    ):
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        text = f"{argument.arg}: {types.get(argument.arg, annotation)}"
        if default is not None and argument.arg != required:
            text += f" = {ast.unparse(default)}"
        texts.append(text)
    if function.args.kwonlyargs:
        texts.insert(len(function.args.args), "*")
    end = f") -> {result}: ..."
    note = f"  # {comment}" if comment else ""
    line = f"def {function.name}({', '.join(texts)}{end}{note}"
    if len(line) <= 120:
        return ["@overload", line]
    return ["@overload", f"def {function.name}({note}", *(f"    {text}," for text in texts), end]


# ---- the table of the README -----------------------------------------------------------------------------------------


def table(families: list[Family]) -> str:
    """Return the rows of the README's table, between its markers."""
    rows = ["| Python | computes | types | C |", "| --- | --- | --- | --- |"]
    for family in families:
        python = _shortened([operator.name for operator in family.operators], r"_?[a-z0-9]+")
        functions = _shortened([operator.function for operator in family.operators], r"[A-Z]?[a-z0-9]+|[A-Z]+")
        types = sorted({name for operator in family.operators for name in operator.types()})
        rows.append(f"| {python} | {family.summary} | {', '.join(types)} | {functions} |")
    return "\n".join([BEGIN, *rows, END])


def _shortened(names: list[str], word: str) -> str:
    """Return the names as code, all but the first without the words that they begin with like the first."""
    first, *others = (re.findall(word, name) for name in names)
    texts = [names[0]]
    for words in others:
        same = 0
        while same < min(len(words) - 1, len(first)) and words[same] == first[same]:
            same += 1
        texts.append("".join(words[same:]))
    return ", ".join(f"`{text}`" for text in texts)


def written() -> dict[Path, str]:
    """Return the text that each file should have."""
    families = read_families()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, found, rest = readme.partition(BEGIN)
    if not found or END not in rest:
        raise SystemExit("README.md: has no markers of the table of operators")
    return {
        OPS / "__init__.py": exports(families),
        OPS / "_types.pyi": stubs(families),
        ROOT / "README.md": before + table(families) + rest.split(END, 1)[1],
    }


def stale() -> list[Path]:
    """Return the files that are not current."""
    return [path for path, text in written().items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Write what follows from the descriptions of the operators.")
    parser.add_argument("--check", action="store_true", help="only tell which files are not current")
    if parser.parse_args().check:
        old = stale()
        for path in old:
            print(f"{path.relative_to(ROOT)}: is not current; run tools/families.py", file=sys.stderr)
        return 1 if old else 0
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
