"""The drop-ins under their own names, for the time of a module of tests."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import pymluops
from pymluops.dropins._catalogue import DROP_INS


@pytest.fixture(scope="module")
def spconv() -> Iterator[Any]:
    """The module ``spconv.pytorch``, of this package whatever is installed."""
    pytest.importorskip("torch")
    assert pymluops.install("spconv", force=True) == ("spconv",)
    try:
        yield importlib.import_module("spconv.pytorch")
    finally:
        pymluops.uninstall("spconv")


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ModuleType]]:
    """Import a compiled extension by its full name, into packages that are there as source and ask for it."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("packages")
    drop_ins = [drop_in for drop_in in DROP_INS.values() if drop_in.name != "spconv" and not drop_in.place]
    names = [name for drop_in in drop_ins for name in drop_in.modules]
    for name in names:
        *packages, extension = name.split(".")
        for i in range(len(packages)):
            path = folder.joinpath(*packages[: i + 1])
            path.mkdir(exist_ok=True)
            (path / "__init__.py").touch()
        if packages:
            with (folder.joinpath(*packages) / "__init__.py").open("a") as file:
                file.write(f"from . import {extension}\n")
    roots = {name.partition(".")[0] for name in names}
    known = {name for name in sys.modules if name.partition(".")[0] in roots}
    sys.path.insert(0, str(folder))
    pymluops.install(*(drop_in.name for drop_in in drop_ins))
    try:
        yield importlib.import_module
    finally:
        pymluops.uninstall()
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] in roots and name not in known]:
            del sys.modules[name]
