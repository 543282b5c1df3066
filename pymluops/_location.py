"""Lets a clone's source folder stand for the installed package when Python finds that folder first.

Python started in the root of a clone imports this folder, which has no compiled modules. The
package then looks for its modules where it is installed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

HOW_TO_BUILD = "pymluops is not built: run 'python3 -m pip install .' in the root of the clone"


def use_compiled_package(package: str) -> None:
    """Let the package look for its modules beside its compiled ones.

    Raises
    ------
    ImportError
        If they lie nowhere on `sys.path`: the message says why, and what to do.
    """
    if _is_module(importlib.util.find_spec(f"{package}._core")):  # also true of an editable installation
        return
    installed = _installed(package)
    if installed is None:
        raise ImportError(_why_not(), name=package)
    module = sys.modules[package]
    module.__path__[:] = installed.submodule_search_locations or []
    module.__file__ = installed.origin
    # importlib.resources finds the package's files through these.
    module.__spec__, module.__loader__ = installed, installed.loader


def _why_not() -> str:
    """Return why there is no compiled module beside this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(here)
    if not os.path.isdir(here):
        return (
            f"pymluops cannot be imported from the archive {_archive(here)}: its compiled module and its libraries "
            "have to be files; install the wheel with pip, or unpack the archive"
        )
    others = sorted(name for name in os.listdir(here) if name.startswith("_core.") and name.endswith(".so"))
    if others:
        return f"pymluops in {root} was built for another Python ({others[0]}): install it with {sys.executable} -m pip"
    if os.path.exists(os.path.join(root, "CMakeLists.txt")):
        return HOW_TO_BUILD
    return f"pymluops in {root} lacks its compiled module: install it again with pip"


def _archive(path: str) -> str:
    """Return the file that a path leads through."""
    while path != os.path.dirname(path) and not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _installed(package: str) -> ModuleSpec | None:
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    for folder in sys.path:
        if os.path.realpath(folder or os.curdir) == here:
            continue
        spec = PathFinder.find_spec(package, [folder])
        if spec is not None and _is_module(PathFinder.find_spec(f"{package}._core", spec.submodule_search_locations)):
            return spec
    return None


def _is_module(spec: ModuleSpec | None) -> bool:
    """Tell the compiled module from the folder of its sources, which Python takes for a namespace package."""
    return spec is not None and spec.has_location
