"""A package named mmcv with the one thing that matters to `install`: modules that load functions when imported."""

from __future__ import annotations

from pathlib import Path

from pymluops.mmcv._names import FUNCTIONS

_LOADER = """
import importlib

def load_ext(name, functions):
    extension = importlib.import_module("mmcv." + name)
    for function in functions:
        assert hasattr(extension, function), f"{function} is missing in {name}"
    return extension
"""


def make(folder: Path, *, compiled: str | None = None) -> Path:
    """Write the package below `folder`; `compiled` is the source of an mmcv._ext that it has itself."""
    package = folder / "mmcv"
    (package / "ops").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "loader.py").write_text(_LOADER)
    if compiled is not None:
        (package / "_ext.py").write_text(compiled)
    for module, names in FUNCTIONS.items():
        text = f"from ..loader import load_ext\next_module = load_ext('_ext', {list(names)})\n"
        (package / "ops" / f"{module}.py").write_text(text)
    imports = "".join(f"from . import {module}\n" for module in FUNCTIONS)
    # Like the classes of mmcv, which are registered under their names, it must not be run twice.
    once = "import sys\nassert not hasattr(sys, 'mmcv_ops_was_run')\nsys.mmcv_ops_was_run = True\n"
    (package / "ops" / "__init__.py").write_text(imports + once)
    return folder
