"""PyTorch, imported when it is first needed: importing pymluops never imports it."""

from __future__ import annotations

import functools
import importlib
from typing import Any, TypeAlias

#: A tensor of PyTorch. PyTorch need not be installed to check types.
Tensor: TypeAlias = Any


@functools.cache
def load_torch() -> Any:
    """Return the module ``torch``."""
    return importlib.import_module("torch")
