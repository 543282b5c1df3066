"""What follows from pymluops/ops/<family>.py: the exports of the package, their types, and the table of operators."""

from __future__ import annotations

import ast
import re

from written.functions import of_families
from written.reading import Family, Operator
from written.tables import code, table


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


# ---- types ---------------------------------------------------------------------------------------

#: What the array arguments are, the first of them first, and what the results are then.
KINDS = (
    ("DeviceArray", "DeviceArray", "DeviceArray"),
    ("TorchTensor", "HostArray", "TorchTensor"),
    ("HostArray", "HostArray", "NDArray[Any]"),
)


def stubs(families: list[Family]) -> str:
    """Return the text of pymluops/ops/_types.pyi, which has no file at run time.

    The results of an operator are of the kind of its first array, or the arrays that were given for
    them.
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
    for first, other, kind in KINDS if inputs else KINDS[-1:]:  # what is made of numbers alone is NumPy's
        if result == "None" and first == "TorchTensor":  # nothing tells it from a HostArray
            continue
        types = dict(zip(inputs, [first, *[other] * (len(inputs) - 1)], strict=False))
        types |= dict.fromkeys(outputs, "None")
        # A tensor is a HostArray as well.
        comment = "type: ignore[overload-overlap]" if first == "TorchTensor" else ""
        lines += _signature(function, types, re.sub(r"\bAny\b", kind, result), comment)
    if len(outputs) == 1 and result == "Any":
        lines += _signature(function, {outputs[0]: "Out"}, "Out", required=outputs[0])
    if outputs:
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


# ---- the table -----------------------------------------------------------------------------------


def rows(families: list[Family]) -> str:
    """Return the table of the operators."""
    lines: list[tuple[str, ...]] = []
    for family in families:
        python = _shortened([operator.name for operator in family.operators], r"_?[a-z0-9]+")
        functions = _shortened([*of_families()[family.name].computing], r"_?[A-Z]?[a-z0-9]+|[A-Z]+")
        types = sorted({name for operator in family.operators for name in operator.types()})
        lines.append((python, family.summary, ", ".join(types), functions))
    return table(("Python", "computes", "types", "C"), lines)


def _shortened(names: list[str], word: str) -> str:
    """Return the names as code, without the words that they begin with like the last one that stands in full."""
    first: list[str] = []
    texts: list[str] = []
    for words in (re.findall(word, name) for name in names):
        same = 0
        while same < min(len(words) - 1, len(first)) and words[same] == first[same]:
            same += 1
        first = first if same else words
        texts.append("".join(words[same:]))
    return code(texts)
