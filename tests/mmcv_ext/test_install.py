"""`install` and `uninstall`, with a stand-in for mmcv that loads all functions as mmcv does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pymluops.mmcv
from support.example import MOVING, SAMPLING
from support.processes import python_output

from .stand_in import make

pytest.importorskip("torch")

#: A compiled extension: it has all names too, and says who it is.
COMPILED = (
    "def __getattr__(name):\n    if name.startswith('_'): raise AttributeError(name)\n    return lambda: 'compiled'\n"
)


def output(folder: Path, code: str) -> str:
    """What `code` prints, with the package mmcv below `folder` on the path."""
    return python_output(f"import sys; sys.path.insert(0, {str(folder)!r})\nimport pymluops.mmcv\n{code}")


def test_mmcv_ops_can_be_imported_after_two_lines(tmp_path: Path) -> None:
    code = f"""
try:
    import mmcv.ops
except ModuleNotFoundError as error:
    print(error)
assert "torch" not in sys.modules
before = list(sys.meta_path)
print(pymluops.mmcv.install(), pymluops.mmcv.install())
assert len(sys.meta_path) == len(before) + 2
import mmcv.ops, mmcv._ext
from pymluops.mmcv._names import MODULE_OF
print(len(MODULE_OF), all(callable(getattr(mmcv._ext, name)) for name in MODULE_OF), mmcv._ext)
print(mmcv.ops.{MOVING.family}.ext_module is mmcv._ext, hasattr(mmcv._ext, "__wrapped__"))
print(hasattr(mmcv._ext, "top_pool"))
print(mmcv._ext.get_compiling_cuda_version(), mmcv._ext.get_compiler_version().startswith("pymluops "))
"""
    assert output(make(tmp_path), code).splitlines() == [
        "No module named 'mmcv._ext'",
        "True True",
        "112 True <module 'mmcv._ext' (pymluops.mmcv)>",
        "True False",
        "True",
        "not available True",
    ]


def test_uninstall_undoes_it(tmp_path: Path) -> None:
    code = """
before = list(sys.meta_path)
pymluops.mmcv.uninstall()  # nothing to undo
pymluops.mmcv.install()
import mmcv.ops
held = mmcv.ops
pymluops.mmcv.uninstall()
assert sys.meta_path == before and not [name for name in sys.modules if name.startswith(("mmcv._ext", "mmcv.ops"))]
assert not hasattr(mmcv, "_ext") and not hasattr(mmcv, "ops")
for name in ("mmcv.ops", "mmcv._ext"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error)
print(held.info.ext_module.get_compiling_cuda_version())
pymluops.mmcv.install()
import mmcv.ops, mmcv._ext
print(mmcv.ops is held, mmcv._ext is held.info.ext_module)
"""
    missing = "No module named 'mmcv._ext'"
    assert output(make(tmp_path), code).splitlines() == [missing, missing, "not available", "True True"]


def test_uninstall_before_anything_was_imported(tmp_path: Path) -> None:
    code = """
before = list(sys.meta_path)
pymluops.mmcv.install()
pymluops.mmcv.uninstall()
print(sys.meta_path == before, "mmcv" in sys.modules)
"""
    assert output(make(tmp_path), code) == "True False"


@pytest.mark.parametrize("loaded", [False, True])
def test_a_compiled_extension_stays(tmp_path: Path, loaded: bool) -> None:
    code = f"""
if {loaded}:
    import mmcv.ops
print(pymluops.mmcv.install())
import mmcv.ops, mmcv._ext
print(mmcv.ops.info.ext_module is mmcv._ext, mmcv._ext.nms())
pymluops.mmcv.uninstall()
print(mmcv._ext is sys.modules["mmcv._ext"], mmcv._ext.nms())
"""
    expected = ["False", "True compiled", "True compiled"]
    assert output(make(tmp_path, compiled=COMPILED), code).splitlines() == expected


@pytest.mark.parametrize("loaded", [False, True])
def test_force_takes_the_place_of_a_compiled_extension(tmp_path: Path, loaded: bool) -> None:
    code = f"""
if {loaded}:
    import mmcv.ops
print(pymluops.mmcv.install(force=True), pymluops.mmcv.install(), pymluops.mmcv.install(force=True))
import mmcv.ops, mmcv._ext
print(mmcv.ops.info.ext_module is mmcv._ext, mmcv._ext.get_compiling_cuda_version())
pymluops.mmcv.uninstall()
import mmcv.ops, mmcv._ext
print(mmcv.ops.info.ext_module is mmcv._ext, mmcv._ext.nms())
"""
    expected = ["True True True", "True not available", "True compiled"]
    assert output(make(tmp_path, compiled=COMPILED), code).splitlines() == expected


def test_force_takes_the_place_of_an_extension_that_cannot_be_loaded(tmp_path: Path) -> None:
    code = """
pymluops.mmcv.install()
try:
    import mmcv.ops
except ImportError as error:
    print(error)
pymluops.mmcv.install(force=True)
import mmcv.ops
print(mmcv.ops.info.ext_module.get_compiling_cuda_version())
pymluops.mmcv.uninstall()
print("mmcv.ops" in sys.modules)
"""
    broken = "raise ImportError('undefined symbol: _ZN2at')"
    assert output(make(tmp_path, compiled=broken), code).splitlines() == [
        "undefined symbol: _ZN2at",
        "not available",
        "False",
    ]


@pytest.mark.parametrize(("package", "distribution"), [("mmcv", "mmcv-lite"), ("torch", "torch")])
def test_a_missing_package_is_named(tmp_path: Path, package: str, distribution: str) -> None:
    code = f"""
import importlib.abc, importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *others: None if name == {package!r} else real(name, *others)
before = list(sys.meta_path)
try:
    pymluops.mmcv.install()
except ModuleNotFoundError as error:
    print(error.name, error, sys.meta_path == before)
"""
    text = f"pymluops.mmcv: no module named {package!r}: pip install {distribution} would do"
    assert output(make(tmp_path), code) == f"{package} {text} True"


def test_what_is_not_here_says_what_to_install(tmp_path: Path) -> None:
    code = """
pymluops.mmcv.install()
import mmcv._ext
try:
    mmcv._ext.of_another_release(1, b=2)
except RuntimeError as error:
    print(f"{type(error).__name__}: {error}")
"""
    assert output(make(tmp_path), code).splitlines() == [
        "NotImplementedError: of_another_release of mmcv.ops is no operator of pymluops; "
        "install a compiled mmcv in place of mmcv-lite (pip install openmim && mim install mmcv)"
    ]


def test_the_program_prints_the_table(tmp_path: Path) -> None:
    code = "import runpy; runpy.run_module('pymluops.mmcv', run_name='__main__')"
    text = output(make(tmp_path), code)
    assert "has no compiled extension: install() provides mmcv._ext" in text
    assert f"{SAMPLING.family}, " in text and "112 of the 112 functions that mmcv" in text
    compiled = output(make(tmp_path / "other", compiled=COMPILED), code)
    assert "has a compiled extension" in compiled.splitlines()[0]
    without = (
        "import importlib.util; from pymluops.mmcv._table import render; importlib.util.find_spec = lambda name: None"
    )
    assert output(tmp_path, f"{without}; print(render())").startswith("mmcv is not installed: pip install mmcv-lite\n")


def test_the_table_needs_neither_torch_nor_mmcv() -> None:
    code = "import sys, pymluops; sys.modules['torch'] = None; print(pymluops.mmcv.install.__module__)\n"
    code += "from pymluops.mmcv._table import render\n"
    code += f"print(render().count('{MOVING.family}')); print('mmcv' in sys.modules)"
    assert python_output(code).splitlines() == ["pymluops.mmcv._install", "2", "False"]


def test_the_table_has_every_function_that_computes() -> None:
    from pymluops.mmcv._extension import implemented
    from pymluops.mmcv._names import FUNCTIONS, MODULE_OF
    from pymluops.mmcv._table import ROWS

    named = [name for row in ROWS for name in row.functions]
    assert sorted(named) == sorted(implemented())
    assert set(implemented()) <= set(MODULE_OF)
    assert len(MODULE_OF) == sum(map(len, FUNCTIONS.values())) == 112


def test_importing_imports_neither_torch_nor_operators() -> None:
    code = f"import sys, pymluops.mmcv; print({{'torch', 'pymluops.mmcv.{MOVING.family}'}} & {{*sys.modules}} or [])"
    assert python_output(code) == "[]"


def test_modules_of_operators_are_found_in_an_archive_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pymluops.mmcv import _extension

    found = [module.__name__ for module in _extension.families()]
    archive = shutil.make_archive(str(tmp_path / "package"), "zip", Path(_extension.__file__).parent)
    monkeypatch.setattr(pymluops.mmcv, "__path__", [archive])
    assert [module.__name__ for module in _extension.families()] == found
    monkeypatch.setattr(pymluops.mmcv, "__path__", [str(tmp_path / "nothing")])
    with pytest.raises(ImportError, match=r"pymluops\.mmcv: no modules of operators found; a frozen program"):
        _extension.families()


def test_operators_use_as_many_threads_as_torch_and_its_own(tmp_path: Path) -> None:
    code = f"""
pymluops.mmcv.install()
import os, torch, mmcv._ext, pymluops
torch.set_num_threads(3)
(torch.randn(1 << 20) * 2).sum()  # starts the threads of OpenMP
clip, shift = torch.randn(2, 4, 64, 4096), torch.ones(2, 2, dtype=torch.int32)
moved = torch.empty_like(clip)
before = len(os.listdir("/proc/self/task"))
mmcv._ext.{MOVING.name}(clip, shift, moved)
print(pymluops.get_num_threads(), len(os.listdir("/proc/self/task")) - before)
torch.set_num_threads(1)
mmcv._ext.{MOVING.name}(clip.double(), shift, moved.double())
print(pymluops.get_num_threads())
"""
    assert output(make(tmp_path), code).splitlines() == ["3 0", "1"]
