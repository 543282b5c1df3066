"""The extensions of `pymluops.dropins.extensions`, and the contents of the modules that they stand for."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from pymluops.mmcv._tensors import leave_to_python

__all__ = ["contents", "extensions", "modules_of"]

_PACKAGE = "pymluops.dropins.extensions"


@functools.cache
def extensions() -> tuple[ModuleType, ...]:
    """Return the modules, in the order of their names."""
    path = importlib.import_module(_PACKAGE).__path__
    names = sorted(found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_"))
    return tuple(importlib.import_module(f"{_PACKAGE}.{name}") for name in names)


def contents(name: str) -> dict[str, Any]:
    """Return the attributes of a module: its functions, and a refusal under every other name."""
    extension = next(one for one in extensions() if name in one.MODULES)
    leave_to_python()

    def other(attribute: str) -> Callable[..., NoReturn]:
        if attribute.startswith("_"):
            raise AttributeError(f"module {name!r} of pymluops has no attribute {attribute!r}")
        return _refusal(name, attribute)

    functions = {key: getattr(extension, key) for key in extension.__all__}
    return {**functions, "__getattr__": other, "__doc__": extension.__doc__, "__file__": extension.__file__}


def _refusal(module: str, name: str) -> Callable[..., NoReturn]:
    """Return a function that says, whatever it is called with, that it is not here."""
    text = f"{name} of {module} is no function of pymluops; python -m pymluops.dropins prints those that are"

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(text)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raise NotImplementedError: {text}."
    return refuse


def modules_of(drop_in: str) -> dict[str, bool]:
    """Return the full names of the modules of a drop-in; none is a package."""
    return {name: False for one in extensions() if drop_in == one.DROP_IN for name in one.MODULES}
