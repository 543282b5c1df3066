"""The contents of the module ``mmcv._ext``: our functions, and refusals under all other names."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from pymluops.mmcv._names import MODULE_OF
from pymluops.mmcv._tensors import leave_to_python

_PACKAGE = "pymluops.mmcv"
_COMPILED = "a compiled mmcv in place of mmcv-lite (pip install openmim && mim install mmcv)"


def families() -> list[ModuleType]:
    """Return the modules of this package that have functions of the extension, one for each family of operators.

    Raises
    ------
    ImportError
        If there are none: a tool that freezes programs has not seen that they are needed.
    """
    path = sys.modules[_PACKAGE].__path__
    names = sorted(found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_"))
    if not names:
        raise ImportError(f"{_PACKAGE}: no modules of operators found; a frozen program has to contain all of them")
    return [importlib.import_module(f"{_PACKAGE}.{name}") for name in names]


@functools.cache
def implemented() -> dict[str, Callable[..., Any]]:
    """Return the functions that compute, by name."""
    return {name: getattr(family, name) for family in families() for name in family.__all__}


def refusal(name: str) -> Callable[..., NoReturn]:
    """Return a function that says, whatever it is called with, what to install in order to have `name`.

    It raises NotImplementedError, which PyTorch raises for an operator that lacks a kernel for the
    CPU, and which is a RuntimeError, as users of a compiled mmcv expect.
    """
    text = f"{name} of mmcv.ops is no operator of pymluops; install {_COMPILED}"

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(text)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raise NotImplementedError: {text}."
    return refuse


def contents() -> dict[str, Any]:
    """Return the attributes of the module: every function that mmcv 2.2.0 loads.

    Releases of mmcv differ in a few names that they load, so the module has a refusal for every
    other public name.
    """
    functions = {name: implemented()[name] for name in MODULE_OF}
    leave_to_python()

    def other(name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(f"module 'mmcv._ext' of pymluops has no attribute {name!r}")
        return refusal(name)

    return {**functions, "__getattr__": other, "__doc__": "The operators of mmcv, computed by pymluops on the CPU."}
