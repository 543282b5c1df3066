"""PyTorch, imported when it is first needed: importing pymluops never imports it."""

from __future__ import annotations

import functools
import importlib
from typing import Any, TypeAlias

from pymluops import ops

#: A tensor of PyTorch. PyTorch need not be installed to check types.
Tensor: TypeAlias = Any

#: The operators, whose overloads tell arrays apart by types that `Tensor` does not have.
operators: Any = ops


@functools.cache
def load_torch() -> Any:
    """Return the module ``torch``."""
    return importlib.import_module("torch")
