"""The families of operators, found in pymluops/ops."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType

import pymluops.ops
from pymluops._core import Operator


def _modules() -> dict[str, ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(pymluops.ops.__path__) if not module.name.startswith("_")]
    return {name: importlib.import_module(f"pymluops.ops.{name}") for name in sorted(names)}


#: Their modules by name.
FAMILIES = _modules()

#: The descriptions of the operators by the name of the Python function.
OPERATORS: dict[str, Operator] = {
    value.name: value for module in FAMILIES.values() for value in vars(module).values() if isinstance(value, Operator)
}


def tested_apart(family: str) -> tuple[str, ...]:
    """The C functions of a family that its own tests check, since no description has their arguments."""
    found: tuple[str, ...] = getattr(importlib.import_module(f"pymluops.oracle.{family}"), "TESTED_APART", ())
    return found


#: Those of all families.
APART = frozenset(function for family in FAMILIES for function in tested_apart(family))


def of_arrays(names: Iterable[str]) -> list[str]:
    """Those of the operators that compute of arrays, and not of numbers alone."""
    return [name for name in names if not all(tensor.output for tensor in OPERATORS[name].tensors)]


def operators(family: str) -> list[str]:
    """The names of a family's operators, in the order of its module."""
    return [value.name for value in vars(FAMILIES[family]).values() if isinstance(value, Operator)]
