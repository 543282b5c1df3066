"""The callables of all C functions by name, for modules that call one.

The module that makes them needs the classes of descriptors, and the classes call functions. Both
import this module.
"""

from __future__ import annotations

from typing import Any, Protocol

from pymluops._core import NativeObject

__all__ = ["FUNCTIONS", "Invocable", "call"]


class Invocable(Protocol):
    """The callable of a C function."""

    def invoke(self, target: NativeObject | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function; an object that it makes becomes `target` if that is given."""
        ...


#: Filled when `pymluops.functions._function` is imported.
FUNCTIONS: dict[str, Invocable] = {}


def call(function: str, *arguments: Any, target: NativeObject | None = None, **keywords: Any) -> Any:
    """Call the function of this name; an object that it makes becomes `target` if that is given."""
    return FUNCTIONS[function].invoke(target, arguments, keywords)
