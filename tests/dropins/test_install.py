"""`pymluops.install` and `uninstall`: what is imported when, what stays in use, the table."""

from __future__ import annotations

from pathlib import Path

import pytest

import pymluops
from pymluops.dropins._catalogue import DROP_INS
from support.processes import python_output, run_python

pytest.importorskip("torch")

#: Another package of that name.
_OTHER = {"spconv/__init__.py": "__version__ = '1.2.1'\n", "spconv/pytorch.py": "who = 'other'\n"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def output(folder: Path, code: str) -> list[str]:
    """The lines that `code` prints, with the packages below `folder` on the path."""
    return python_output(f"import sys; sys.path.insert(0, {str(folder)!r})\nimport pymluops\n{code}").splitlines()


def test_nothing_is_imported_before_it_is_asked_for(tmp_path: Path) -> None:
    code = """
print([name for name in sys.modules if name.startswith(("pymluops.dropins", "pymluops.mmcv", "torch"))])
print(pymluops.install("spconv"))
print("torch" in sys.modules, [name for name in sys.modules if name.startswith(("spconv", "pymluops.torch"))])
import spconv
print(spconv.__version__, spconv.constants.SPCONV_USE_DIRECT_TABLE, spconv.ConvAlgo.Native.value)
assert "torch" not in sys.modules
print(float(spconv.__version__[2:]) >= 2.2, spconv.__version__ >= "2.0.0", spconv.SPCONV_VERSION_NUMBERS)
import spconv.pytorch as sp
from spconv.pytorch import ConvAlgo, SparseConvTensor, conv, core, functional, modules, ops
from spconv.pytorch.conv import SparseConvolution
from spconv.core import AlgoHint
import spconv.pytorch.functional as Fsp
from spconv.pytorch.utils import PointToVoxel
from spconv.utils import Point2VoxelCPU3d, nullcontext
import cumm.tensorview as tv
print(sp is spconv.pytorch, issubclass(sp.SubMConv3d, SparseConvolution), AlgoHint.Fowrard.value)
print(spconv.pytorch.constants.PYTORCH_VERSION[0] >= 2, isinstance(sp.__file__, str))
try:
    import spconv.pytorch.none
except ModuleNotFoundError as error:
    print(error)
"""
    assert output(tmp_path, code) == [
        "[]",
        "('spconv',)",
        "False []",
        "2.3.8 True 0",
        "True True [2, 3, 8]",
        "True True 1",
        "True True",
        "No module named 'spconv.pytorch.none'",
    ]


def test_it_is_installed_by_name_only_and_undone(tmp_path: Path) -> None:
    code = """
before = list(sys.meta_path)
print("spconv" in pymluops.install())
pymluops.uninstall()
assert sys.meta_path == before
def importable():
    try:
        import spconv.pytorch
        return spconv.pytorch
    except ModuleNotFoundError as error:
        return str(error)
print(importable())
print(pymluops.install("spconv"), pymluops.install("spconv"), len(sys.meta_path) - len(before))
held = importable().SubMConv3d
pymluops.uninstall("spconv")
assert sys.meta_path == before and not [name for name in sys.modules if name.startswith(("spconv", "cumm"))]
print(importable(), held(1, 1, 3).kernel_size)
pymluops.uninstall("spconv")
pymluops.install("spconv")
print(importable().SubMConv3d is held)
"""
    assert output(tmp_path, code) == [
        "False",
        "No module named 'spconv'",
        "('spconv',) ('spconv',) 1",
        "No module named 'spconv' [3, 3, 3]",
        "True",
    ]


@pytest.mark.parametrize("loaded", [False, True])
def test_another_package_stays_unless_forced(tmp_path: Path, loaded: bool) -> None:
    write(tmp_path, _OTHER)
    code = f"""
if {loaded}:
    import spconv.pytorch
    other = spconv.pytorch
print(pymluops.install("spconv"))
import spconv.pytorch
print(spconv.__version__, spconv.pytorch.who)
for name in ("spconv.pytorch", "spconv"):
    if not {loaded}:
        del sys.modules[name]
print(pymluops.install("spconv", force=True), pymluops.install("spconv"))
import spconv.pytorch
print(spconv.__version__, hasattr(spconv.pytorch, "SubMConv3d"), hasattr(spconv.pytorch, "who"))
pymluops.uninstall("spconv")
import spconv.pytorch
print(spconv.__version__, spconv.pytorch.who, not {loaded} or spconv.pytorch is other)
"""
    assert output(tmp_path, code) == [
        "()",
        "1.2.1 other",
        "('spconv',) ('spconv',)",
        "2.3.8 True False",
        "1.2.1 other True",
    ]


def test_modules_of_ours_do_not_go_into_packages_of_others(tmp_path: Path) -> None:
    write(tmp_path, _OTHER)
    code = """
pymluops.install("spconv")
import spconv
try:
    import spconv.utils
except ModuleNotFoundError as error:
    print(error)
import cumm.tensorview
"""
    done = run_python(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport pymluops\n{code}")
    assert done.stdout.strip() == "No module named 'spconv.utils'"
    assert "No module named 'cumm'" in done.stderr  # what is there already stays as it is, whole


def test_names_are_checked() -> None:
    for function in (pymluops.install, pymluops.uninstall):
        with pytest.raises(
            ValueError, match=r"expected some of mmcv, transformers, deformable_attention, spconv.*, got 'spcon'"
        ):
            function("spcon")


@pytest.mark.parametrize(
    ("files", "lack"),
    [
        ({"spconv/notes.txt": ""}, "spconv has its name, a folder without __init__.py"),
        ({"spconv/__init__.py": "SubMConv3d = None\n"}, "__init__.py has its name, without spconv.pytorch"),
        ({"spconv.py": "\n"}, "spconv.py has its name, without spconv.pytorch"),
        ({"spconv/__init__.py": "", "spconv/pytorch/notes": ""}, "__init__.py has its name, without spconv.pytorch"),
        ({"cumm/notes.txt": ""}, "cumm has its name, a folder without __init__.py"),
    ],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_a_stub_in_the_way_is_told_with_how_to_force(
    tmp_path: Path, files: dict[str, str], lack: str, loaded: bool
) -> None:
    write(tmp_path, files)
    code = f"""
import warnings
if {loaded}:
    import {next(iter(files)).partition("/")[0].removesuffix(".py")}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(pymluops.install("spconv"))
    print(len(caught), caught[0].category.__name__, caught[0].filename)
    print(caught[0].message)
    print(pymluops.install("spconv", force=True), len(caught))
import spconv.pytorch, cumm.tensorview
print(spconv.pytorch.SubMConv3d.__name__)
"""
    lines = output(tmp_path, code)
    assert lines[:2] == ["()", "1 UserWarning <string>"] and lines[3:] == ["('spconv',) 1", "SubMConv3d"]
    assert lines[2].startswith("install: 'spconv' is not provided, since ") and str(tmp_path) in lines[2]
    assert f"{lack}; remove that, or call install('spconv', force=True)" in lines[2]


def test_a_package_that_has_its_modules_is_left_alone_in_silence(tmp_path: Path) -> None:
    write(tmp_path, {**_OTHER, "spconv/utils.py": "", "spconv/core.py": ""})
    code = "import warnings; warnings.simplefilter('error')\nprint(pymluops.install('spconv'))"
    assert output(tmp_path, code) == ["()"]


def test_without_names_nothing_changes_that_works_without_it(tmp_path: Path) -> None:
    code = """
before = list(sys.meta_path)
print(pymluops.install())
from pymluops.dropins._attention import _replacements
print(_replacements.active)
print(pymluops.install("transformers"), _replacements.active, pymluops.install("deformable_attention", "transformers"))
pymluops.uninstall("deformable_attention")
print(_replacements.active, pymluops.install("deformable_attention"), _replacements.active)
pymluops.uninstall()
print(_replacements.active, sys.meta_path == before)
"""
    names = tuple(name for name, drop_in in DROP_INS.items() if drop_in.always)
    assert not {"spconv", "transformers", "deformable_attention", "chamfer"} & set(names)
    first, *others = output(tmp_path, code)
    assert first in (str(names), str(("mmcv", *names)))  # mmcv where there is one without its extension
    assert others == [
        "False",
        "('transformers',) True ('deformable_attention', 'transformers')",
        "False ('deformable_attention',) True",
        "False True",
    ]


def test_submodules_are_attributes_of_their_package(tmp_path: Path) -> None:
    code = """
pymluops.install("spconv")
import importlib
import spconv.pytorch as sp
print(sp.conv.SubMConv3d is sp.SubMConv3d, "conv" in dir(sp), hasattr(sp, "nothing"))
print(importlib.reload(sp) is sp, importlib.reload(sp.conv).SubMConv3d is sp.SubMConv3d)
namespace = {}
exec("from spconv.pytorch import *", namespace)
print(namespace["ops"] is sp.ops, "SparseConvTensor" in namespace, "__getattr__" in namespace)
pymluops.uninstall("spconv")
print(sp.functional.__name__, hasattr(sp, "nothing"), "spconv" in sys.modules)
"""
    assert output(tmp_path, code) == [
        "True True False",
        "True True",
        "True True False",
        "spconv.pytorch.functional False False",
    ]


def test_pytorch_is_asked_for(tmp_path: Path) -> None:
    code = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *others: None if name == "torch" else real(name, *others)
try:
    pymluops.install("spconv")
except ModuleNotFoundError as error:
    print(error, "|", error.name)
"""
    assert output(tmp_path, code) == ["install: no module named 'torch': pip install torch would do | torch"]


def test_the_table(tmp_path: Path) -> None:
    table = python_output("import runpy; runpy.run_module('pymluops.dropins', run_name='__main__')")
    assert "spconv: spconv 2.x whole" in table
    assert "spconv.pytorch.conv" in table
    assert all(len(line) <= 120 for line in table.splitlines())
    write(tmp_path, _OTHER)
    code = """
import runpy
runpy.run_module("pymluops.dropins", run_name="__main__")
assert "torch" not in sys.modules and "spconv" not in sys.modules
"""
    assert "another one is there" in "\n".join(output(tmp_path, code))
