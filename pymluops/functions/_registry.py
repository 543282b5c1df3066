"""The callables of all C functions by name, for modules that call one.

The module that makes them needs the classes of descriptors, and the classes call functions. Both import this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymluops._core import NativeObject
    from pymluops.functions._function import Function

__all__ = ["FUNCTIONS", "call"]

#: Filled when `pymluops.functions._function` is imported.
FUNCTIONS: dict[str, Function] = {}


def call(function: str, *arguments: Any, target: NativeObject | None = None, **keywords: Any) -> Any:
    """Call the function of this name; an object that it makes becomes `target` if that is given."""
    return FUNCTIONS[function].invoke(target, arguments, keywords)
