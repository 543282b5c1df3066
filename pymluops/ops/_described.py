"""The operators that the modules of this package describe, by name."""

from __future__ import annotations

import functools
from importlib import import_module

from pymluops._core import Operator

__all__ = ["described"]


@functools.cache
def described(name: str) -> Operator:
    """Return the description of a function of `pymluops.ops`, such as ``tin_shift_forward``."""
    family = name.removesuffix("_forward").removesuffix("_backward")
    for value in vars(import_module(f"pymluops.ops.{family}")).values():
        if isinstance(value, Operator) and value.name == name:
            return value
    raise AssertionError(name)
