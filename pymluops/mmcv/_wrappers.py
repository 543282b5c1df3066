"""mmcv's Python functions that ask for a GPU before they call the extension, replaced for tensors on the CPU.

A family's module has the tuple `WRAPPERS` if mmcv has such functions for it. `activate` replaces
them in the modules of ``mmcv.ops`` that are loaded, and in the others when they are imported:
before ``mmcv.ops`` takes the name from them. Tensors elsewhere go to mmcv's function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

from pymluops._replacements import Replacement, Replacements
from pymluops.mmcv import _extension

__all__ = ["Wrapper", "activate", "deactivate"]

_PREFIX = "mmcv.ops."


@dataclass(frozen=True)
class Wrapper:
    """A function of mmcv's Python code, and what takes its place.

    Parameters
    ----------
    module : str
        The module below ``mmcv.ops``.
    name : str
        Its function, or a static method: ``Class.forward``.
    function : callable
        What is called instead if all tensors among the arguments are on the CPU.
    """

    module: str
    name: str
    function: Callable[..., Any]


@functools.cache
def _wrappers() -> Mapping[str, Sequence[Wrapper]]:
    """Return the wrappers of all families by the name of mmcv's module."""
    found: dict[str, list[Wrapper]] = {}
    for family in _extension.families():
        for wrapper in getattr(family, "WRAPPERS", ()):
            found.setdefault(_PREFIX + wrapper.module, []).append(wrapper)
    return found


def _on_cpu(values: Iterable[object]) -> bool:
    """Whether no tensor among these values, or in lists of them, is elsewhere."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if not _on_cpu(cast("Sequence[object]", value)):
                return False
        elif getattr(getattr(value, "device", None), "type", "cpu") != "cpu":
            return False
    return True


def _choosing(original: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        ours = _on_cpu(args) and _on_cpu(kwargs.values())
        return (function if ours else original)(*args, **kwargs)

    return call


def _concerns(name: str) -> bool:
    return name.startswith(_PREFIX) and name in _wrappers()


def _find(module: ModuleType) -> list[Replacement]:
    wrappers = _wrappers().get(module.__name__, ())
    return [Replacement(one.name, functools.partial(_choosing, function=one.function)) for one in wrappers]


_replacements = Replacements(_concerns, _find)
activate, deactivate = _replacements.activate, _replacements.deactivate
