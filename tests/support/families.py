"""The families of operators, found in pymluops/ops."""

from __future__ import annotations

import importlib
import pkgutil
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


def operators(family: str) -> list[str]:
    """The names of a family's operators, in the order of its module."""
    return [value.name for value in vars(FAMILIES[family]).values() if isinstance(value, Operator)]
