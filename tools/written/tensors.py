"""What follows from pymluops/torch/<family>.py: the exports of the package, and the table in docs/torch.md."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from written.reading import Operator, import_with_stand_ins
from written.tables import code, table

_DOCSTRING = '''\
"""The operators for PyTorch, with the names, the argument order and the layouts of mmcv.ops.

Each is registered with torch.library in the namespace ``pymluops``: gradients, torch.compile,
torch.export, vmap and autocast work. The names of `pymluops.torch.sparse` stand here too.
docs/torch.md tells what is exact, what is cast and which threads are used.
"""
'''


def module_names(folder: Path) -> list[str]:
    """Return the names of the modules of the families, and of the package `sparse`."""
    files = [path.stem for path in folder.glob("[a-z]*.py")]
    return sorted([*files, *(path.parent.name for path in folder.glob("[a-z]*/__init__.py"))])


def exported(folder: Path, name: str) -> list[str]:
    """Return `__all__` of a module, which is read and not imported."""
    path = folder / f"{name}.py"
    source = ast.parse((path if path.exists() else folder / name / "__init__.py").read_text(encoding="utf-8"))
    for statement in source.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return [str(value) for value in ast.literal_eval(statement.value)]
    raise SystemExit(f"pymluops/torch/{name}: needs __all__")


def exports(folder: Path) -> str:
    """Return the text of pymluops/torch/__init__.py."""
    lines = [_DOCSTRING, "# Written by tools/families.py; do not edit.", ""]
    names: list[str] = []
    for module in module_names(folder):
        found = exported(folder, module)
        if twice := sorted(set(found) & set(names)):
            raise SystemExit(f"pymluops/torch/{module}: another module exports {', '.join(twice)} too")
        names += found
        imported = sorted(found, key=lambda name: (not name.isupper(), name[0].islower(), name.lower()))
        line = f"from pymluops.torch.{module} import {', '.join(imported)}"
        if len(line) > 120:
            line = "\n".join([f"from pymluops.torch.{module} import (", *(f"    {name}," for name in imported), ")"])
        lines.append(line)
    names.sort(key=lambda name: (not name.isupper(), name[0].islower(), name))
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in names), "]", ""])


# ---- the table -----------------------------------------------------------------------------------


class TorchOperator:
    """Keeps what a module of a family says about the gradient of an operator."""

    def __init__(self, operator: Operator, *_: object, **__: object) -> None:
        self.inputs = [tensor.name for tensor in operator.tensors if not tensor.output]
        self.gradient: TorchOperator | None = None
        self.of: tuple[str, ...] = ()
        self.linear: tuple[str, ...] = ()

    def differentiate(
        self,
        by: TorchOperator,
        _given: str,
        of: Any,
        _change: object = None,
        *,
        more: Any = (),
        linear: Any = (),
        **_: object,
    ) -> None:
        """Keep what `by` and those in `more` compute the gradient with respect to."""
        self.gradient, self.linear = by, tuple(linear)
        self.of = (*of, *(name for _, others in more for name in others))

    def refuse_gradient(self, _reason: str) -> None:
        """Keep nothing: there is no gradient."""

    def without_gradient(self) -> None:
        """Keep nothing: there is no gradient."""


@dataclass
class TensorFunction:
    """Keeps the declaration of a function, and the function."""

    operator: TorchOperator
    public: Callable[..., tuple[Any, ...]] | None
    functions: dict[str, list[tuple[TensorFunction, Callable[..., Any]]]] = field(repr=False)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Keep the public function, as a decorator."""
        self.functions.setdefault(function.__name__, []).append((self, function))
        return function

    def named(self, names: tuple[str, ...], function: Callable[..., Any]) -> list[str]:
        """Return arguments of the operator under the names that they have in the public function."""
        places = list(range(len(self.operator.inputs)))
        if self.public is not None:  # tell them apart by values that no computation with them gives
            marks = range(10**6, 10**6 + len(inspect.signature(self.public).parameters))
            given = list(self.public(*marks))
            places = [given.index(mark) for mark in marks[: len(places)]]
        arguments = list(inspect.signature(function).parameters)
        return [arguments[places[self.operator.inputs.index(name)]] for name in names]


def _same(call: Callable[..., Any]) -> Callable[..., Any]:
    return call


def rows(folder: Path) -> str:
    """Return the table of the functions, their modules and their gradients."""
    lines: list[tuple[str, ...]] = []
    layers = _layers(folder)
    for name in module_names(folder):
        path = folder / f"{name}.py"  # but the package `sparse` has a section of its own
        if not path.exists() or "TensorFunction" not in path.read_text(encoding="utf-8"):
            continue
        functions: dict[str, list[tuple[TensorFunction, Callable[..., Any]]]] = {}

        def declare(operator: TorchOperator, **options: Any) -> TensorFunction:
            return TensorFunction(operator, options.get("public"), functions)  # noqa: B023

        stand_ins = {"TorchOperator": TorchOperator, "TensorFunction": declare, "untraced": _same}
        module = import_with_stand_ins(f"pymluops.torch.{name}", stand_ins)
        classes = [found for found in exported(folder, name) if found[0].isupper()]
        # A layer of a function without a row goes to the first row of the file.
        classes += [one for one, of in layers.items() if of in exported(folder, name) and of not in functions]
        for function in [found for found in exported(folder, name) if found in functions]:
            others = [one for one in layers if layers[one] == function]
            lines.append(_row(module, function, functions[function], [*classes, *others]))
            classes = []
    lines.sort(key=lambda cells: cells[0].partition("(")[0])
    return table(("function", "module", "gradient with respect to", "forward mode with respect to"), lines)


def _layers(folder: Path) -> dict[str, str]:
    """Return the classes of modules ``*_layers``, and the function that each has in its name or computes with."""
    names = module_names(folder)
    functions = {found for name in names for found in exported(folder, name) if found[0].islower()}
    found: dict[str, str] = {}
    for name in names:
        for layer in exported(folder, name) if name.endswith("_layers") else ():
            inside = [one for one in functions if one.replace("_", "") in layer.lower()]
            if inside and layer[0].isupper():
                found[layer] = max(inside, key=len)
    return found


def _row(
    module: ModuleType, name: str, found: list[tuple[TensorFunction, Callable[..., Any]]], classes: list[str]
) -> tuple[str, ...]:
    """Return the row of a function; declarations that are alternatives have a gradient of the same kind."""
    declaration, function = found[0]
    arguments = [
        one.name for one in inspect.signature(function).parameters.values() if one.kind is not one.KEYWORD_ONLY
    ]
    operator = declaration.operator
    gradient, forward = "none", "none"
    if operator.gradient is not None:
        order = "first order" if operator.gradient.gradient is None else "of any order"
        gradient = f"{code(declaration.named(operator.of, function))}, {order}"
    if operator.linear:
        forward = code(declaration.named(operator.linear, function))
    return f"`{name}({', '.join(arguments)})`", code(classes), gradient, forward
