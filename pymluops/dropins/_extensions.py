"""The extensions of `pymluops.dropins.extensions`, and the contents of the modules that they stand for.

Packages vendor each other's extensions under names of their own. So an extension is recognised by
the last part of the module's name and, where extensions share that, by the function that is asked
of the module: no two of them have a function of the same name.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NoReturn

from pymluops.errors import NotSupportedError
from pymluops.mmcv._tensors import leave_to_python

__all__ = ["contents", "extensions", "last_names", "modules_of", "owners", "place"]

_PACKAGE = "pymluops.dropins.extensions"

#: Full names of modules that a program has asked for, with the last names that tell the extensions.
_placed: dict[str, str] = {}


@functools.cache
def extensions() -> tuple[ModuleType, ...]:
    """Return the modules, in the order of their names."""
    path = importlib.import_module(_PACKAGE).__path__
    names = sorted(found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_"))
    return tuple(importlib.import_module(f"{_PACKAGE}.{name}") for name in names)


@functools.cache
def last_names() -> Mapping[str, tuple[ModuleType, ...]]:
    """Return the last parts of the names of modules, and the extensions that have each of them."""
    found: dict[str, tuple[ModuleType, ...]] = {}
    for one in extensions():
        own = [name.rpartition(".")[2] for name in one.MODULES]
        for last in dict.fromkeys([*own, *getattr(one, "LAST_NAMES", ())]):
            found[last] = (*found.get(last, ()), one)
    return found


@functools.cache
def owners() -> Mapping[str, ModuleType]:
    """Return the full names of modules that are known, and the extension that each of them is."""
    return {name: one for one in extensions() for name in one.MODULES}


def place(last_name: str, at: str) -> dict[str, bool]:
    """Remember that a module is to have the functions of an extension; return the module as `modules_of` does."""
    _placed[at] = last_name
    return {at: False}


def contents(name: str) -> dict[str, Any]:
    """Return the attributes of a module: its functions, and a refusal under every other name."""
    known = owners().get(name)
    if name in _placed:
        found = last_names()[_placed[name]]
    else:
        found = last_names()[name.rpartition(".")[2]] if known is None else (known,)
    leave_to_python()
    functions: dict[str, Any] = {}
    for extension in found:
        prepare: Callable[[str], Mapping[str, Any]] | None = getattr(extension, "prepare", None)
        functions |= {key: getattr(extension, key) for key in extension.__all__}
        if prepare is not None:
            functions |= prepare(name)

    def other(attribute: str) -> Callable[..., NoReturn]:
        if attribute.startswith("_"):
            raise AttributeError(f"module {name!r} of pymluops has no attribute {attribute!r}")
        return refusal(name, attribute)

    text = "\n\n".join(extension.__doc__ or "" for extension in found)
    return {**functions, "__getattr__": other, "__doc__": text, "__file__": found[0].__file__}


def refusal(module: str, name: str) -> Callable[..., NoReturn]:
    """Return a function that says, whatever it is called with, that it is not here."""
    text = f"{name} of {module} is no function of pymluops; python -m pymluops.dropins prints those that are"

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotSupportedError(text)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raise NotSupportedError: {text}."
    return refuse


def modules_of(drop_in: str) -> dict[str, bool]:
    """Return the full names of the modules of a drop-in; none is a package."""
    own = [one for one in extensions() if drop_in in (one.DROP_IN, *getattr(one, "ALSO_IN", ()))]
    return {name: False for one in own for name in one.MODULES}
