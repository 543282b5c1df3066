"""Calls of C functions by name, for the classes that `pymluops.functions._function` itself is built on."""

from __future__ import annotations

from typing import Any, Protocol

from pymluops._core import NativeObject

__all__ = ["FUNCTIONS", "call"]


class Invocable(Protocol):
    """A function of the header."""

    def invoke(self, target: NativeObject | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it; an object that it makes becomes `target` if that is given."""


#: The functions by name; `pymluops.functions._function` fills it in.
FUNCTIONS: dict[str, Invocable] = {}


def call(function: str, *arguments: Any, target: NativeObject | None = None, **keywords: Any) -> Any:
    """Call the function of this name; an object that it makes becomes `target` if that is given."""
    return FUNCTIONS[function].invoke(target, arguments, keywords)
