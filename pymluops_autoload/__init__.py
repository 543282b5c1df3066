"""Registers the operators of `pymluops.torch` with PyTorch when a program first looks for one of them.

A program that another process has exported names these operators and imports nothing. PyTorch calls
`register` when it is imported itself, in every process of an environment that has this package; so
nothing is imported here that is not loaded by then, and nothing that goes wrong here may reach the
user of PyTorch. This package stands beside `pymluops`, whose import takes much longer.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["register"]


def register() -> None:
    """Let ``torch.ops.pymluops`` import `pymluops.torch` when an operator is looked up in it."""
    try:
        torch: Any = sys.modules["torch"]
        namespace: Any = vars(sys.modules["torch._ops"])["_OpNamespace"]
        if "pymluops" not in vars(torch.ops):
            torch.ops.pymluops = _importing(namespace)("pymluops")
            torch.ops._dir.append("pymluops")
    except Exception:  # another PyTorch than those known: a program has to import pymluops.torch itself
        return


def _importing(namespace: Any) -> Any:
    """Return a kind of namespace of operators that imports them."""

    class Operators(namespace):  # type: ignore[misc]
        __module__ = namespace.__module__  # a part of the operators' names in exported programs

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("__"):  # such as __wrapped__, for which debuggers and test runners ask
                import pymluops.torch  # noqa: F401
            return super().__getattr__(name)

    return Operators
