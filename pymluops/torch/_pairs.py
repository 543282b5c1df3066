"""Arguments that are one integer for both axes, or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymluops import _arguments
from pymluops.torch._function import compiling

__all__ = ["pair"]


def pair(
    function: str, c_function: str, given: Sequence[int] | int, name: str = "output_size", least: int = 1
) -> tuple[Any, Any]:
    """Return the numbers along y and x, such as those of bins; under torch.compile they may be symbols."""
    size: Any = given
    both = (size, size) if not isinstance(size, (tuple, list)) else tuple(size)
    names = _arguments.Names(function, c_function)
    if len(both) != 2:
        raise _arguments.refusal(names, name, "an integer, or two", _arguments.shown(size))
    if compiling():
        return both[0], both[1]
    height, width = (_arguments.integer(names, name, one, least, _arguments.INT32_MAX) for one in both)
    return height, width
