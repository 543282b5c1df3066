"""Replacement of mmcv's Python functions that ask for a GPU, with a stand-in for mmcv that has such functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes import python_output

from .stand_in import make

pytest.importorskip("torch")

#: A function, a class with a static method, and a module that takes the function from its own.
OPERATOR = '''
from ..loader import load_ext
ext_module = load_ext("_ext", ["get_compiler_version"])

def nearest(points, k=1):
    """mmcv's documentation."""
    return "mmcv's"

class Nearest:
    @staticmethod
    def forward(ctx, points):
        return "mmcv's"
'''
USER = "from . import user\nfrom .info import nearest, Nearest\n"

CODE = """
import inspect, pickle, sys
from types import SimpleNamespace
sys.path.insert(0, FOLDER)
import pymluops.mmcv
from pymluops.mmcv import _wrappers
wrappers = [
    _wrappers.Wrapper("info", "nearest", lambda points, k=1: f"ours, {k}"),
    _wrappers.Wrapper("info", "Nearest.forward", lambda ctx, points: "ours"),
    _wrappers.Wrapper("info", "of_another_release", lambda: None),
    _wrappers.Wrapper("info", "OfAnotherRelease.forward", lambda: None),
]
_wrappers._wrappers = lambda: {"mmcv.ops.info": wrappers}
here, there = (SimpleNamespace(device=SimpleNamespace(type=kind)) for kind in ("cpu", "cuda"))
"""


def output(folder: Path, code: str) -> list[str]:
    """What `code` prints after CODE, by line, with the stand-in below `folder`."""
    make(folder)
    ops = folder / "mmcv" / "ops"
    (ops / "info.py").write_text(OPERATOR)
    (ops / "user.py").write_text(USER)
    with (ops / "__init__.py").open("a") as file:
        file.write("from . import user\nfrom .info import nearest, Nearest\n")
    return python_output(f"FOLDER = {str(folder)!r}\n{CODE}{code}").splitlines()


def test_tensors_on_the_cpu_go_to_ours(tmp_path: Path) -> None:
    code = """
pymluops.mmcv.install()
import mmcv.ops
nearest, method = mmcv.ops.nearest, mmcv.ops.Nearest.forward
print(nearest(here, k=3), mmcv.ops.user.nearest(here), method(None, here), mmcv.ops.Nearest().forward(None, here))
print(nearest(there), nearest([here, (there,)]), nearest(points=there), method(None, there))
print(nearest.__doc__, inspect.signature(nearest), pickle.loads(pickle.dumps(nearest)) is nearest)
module = sys.modules["mmcv.ops.info"]
print(inspect.getsource(module) == open(module.__file__).read(), type(module.__spec__.loader).__name__)
"""
    assert output(tmp_path, code) == [
        "ours, 3 ours, 1 ours ours",
        "mmcv's mmcv's mmcv's mmcv's",
        "mmcv's documentation. (points, k=1) True",
        "True SourceFileLoader",
    ]


def test_a_loaded_mmcv_changes_too_and_uninstall_brings_its_functions_back(tmp_path: Path) -> None:
    code = """
before = list(sys.meta_path)
pymluops.mmcv.install()
import mmcv.ops
held = mmcv.ops
pymluops.mmcv.uninstall()
print(sys.meta_path == before, held.nearest(here), held.user.nearest(here), held.Nearest.forward(None, here))
pymluops.mmcv.install()
pymluops.mmcv.install()
import mmcv.ops
print(mmcv.ops is held, held.nearest(here), held.user.nearest(here), held.Nearest.forward(None, here))
held.nearest = None  # somebody else replaces it
pymluops.mmcv.uninstall()
print(held.nearest, held.user.nearest(here))
"""
    assert output(tmp_path, code) == [
        "True mmcv's mmcv's mmcv's",
        "True ours, 1 ours, 1 ours",
        "None mmcv's",
    ]
