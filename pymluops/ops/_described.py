"""The operators that the modules of this package describe, by name."""

from __future__ import annotations

import functools
import importlib.util
import pkgutil
from dataclasses import replace
from importlib import import_module

from pymluops._core import Operator

__all__ = ["described", "without_sizes"]


@functools.cache
def described(name: str) -> Operator:
    """Return the description of a function of `pymluops.ops`, by its name."""
    for family in _families(name):
        for value in vars(import_module(f"pymluops.ops.{family}")).values():
            if isinstance(value, Operator) and value.name == name:
                return value
    raise AssertionError(name)


def _families(name: str) -> list[str]:
    """Return the modules that may describe a function: the one of its name, or all that there are."""
    family = name.removesuffix("_forward").removesuffix("_backward")
    if importlib.util.find_spec(f"pymluops.ops.{family}") is not None:
        return [family]
    package = import_module("pymluops.ops")
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_"))


def without_sizes(operator: Operator, *names: str, empty: bool = False) -> Operator:
    """Return an operator that takes these sizes from its arrays, and not as arguments.

    They may not be 0 unless `empty` says so.
    """
    positive = set[str]() if empty else {*names}
    tensors = tuple(
        replace(tensor, positive=" ".join({*tensor.positive.split(), *positive} & {*tensor.shape.split()}))
        for tensor in operator.tensors
    )
    scalars = tuple(scalar for scalar in operator.scalars if (scalar.symbol or scalar.name) not in names)
    return Operator(
        operator.function, operator.name, tensors, scalars, workspace=operator.workspace, too_large=operator.too_large
    )
