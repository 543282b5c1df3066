"""Extensions of packages that nobody knows: installed where a program says, and explained where an import fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import pymluops
from pymluops.dropins._extensions import last_names
from support.processes import python_output

pytest.importorskip("torch")

#: Packages that vendor extensions: a relative import, an absolute one, and one that may fail.
_PACKAGES = {
    "ours/__init__.py": "",
    "ours/ops/__init__.py": "",
    "ours/ops/relative.py": "from . import iou3d_nms_cuda as found\n",
    "ours/ops/nearer.py": "from .iou3d_nms_cuda import nms_gpu as found\n",
    "ours/ops/absolute.py": "import ours.ops.iou3d_nms_cuda as found\n",
    "ours/ops/optional.py": "try:\n    from . import _ext as found\nexcept ImportError:\n    found = None\n",
    "ours/ops/other.py": "from . import something as found\n",
    "mmcv/__init__.py": "",
    "pcdet/__init__.py": "",
    "pcdet/ops/__init__.py": "",
    "pcdet/ops/iou3d_nms/__init__.py": "from . import iou3d_nms_cuda\n",
}
_BEGIN = """
import importlib, importlib.util
def told(name):
    try:
        return importlib.import_module(name).found
    except ImportError as error:
        return f"{type(error).__name__}: {error} | {error.name}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("packages")
    for name, text in _PACKAGES.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return made


def output(folder: Path, code: str) -> list[str]:
    begin = f"import sys; sys.path.insert(0, {str(folder)!r})\nimport pymluops\n{_BEGIN}"
    return python_output(begin + code).splitlines()


def test_an_extension_is_installed_where_a_program_says(folder: Path) -> None:
    code = """
import torch
before = list(sys.meta_path)
print(pymluops.install("iou3d_nms_cuda", at="ours.ops.iou3d_nms_cuda"))
print(pymluops.install("iou3d_nms_cuda", at="another_name"))
from ours.ops.relative import found
import another_name, ours.ops.absolute, ours.ops.nearer
assert found is ours.ops.absolute.found is ours.ops.iou3d_nms_cuda and ours.ops.nearer.found is found.nms_gpu
boxes, out = torch.tensor([[0.0, 0, 0, 2, 2, 1, 0], [1, 0, 5, 2, 2, 9, 0]]), torch.zeros(2, 2)
assert another_name.boxes_iou_bev_gpu is found.boxes_iou_bev_gpu
found.boxes_iou_bev_gpu(boxes, boxes, out)
print([round(value, 4) for value in out.flatten().tolist()])
try:
    found.no_such_function(1)
except pymluops.NotSupportedError as error:
    print(error)
pymluops.uninstall("iou3d_nms_cuda")
assert sys.meta_path == before and "another_name" not in sys.modules and not hasattr(ours.ops, "iou3d_nms_cuda")
pymluops.uninstall("ball_query_ext")
"""
    assert output(folder, code) == [
        "('iou3d_nms_cuda',)",
        "('iou3d_nms_cuda',)",
        "[1.0, 0.3333, 0.3333, 1.0]",
        "no_such_function of ours.ops.iou3d_nms_cuda is no function of pymluops; "
        "python -m pymluops.dropins prints those that are",
    ]


def test_extensions_of_one_last_name_are_told_apart_by_their_functions(folder: Path) -> None:
    code = """
pymluops.install("_ext", at="ours.ops._ext")
from ours.ops.optional import found
print(found.dcn_v2_forward.__module__.rpartition(".")[2], found.three_nn.__module__.rpartition(".")[2])
print(found.ball_query.__name__)
"""
    assert output(folder, code) == ["dcn_v2_ext pointnet2_ops_ext", "ball_query"]


def test_no_two_extensions_of_a_last_name_have_a_function_in_common() -> None:
    shared = {name: found for name, found in last_names().items() if len(found) > 1}
    assert {"_ext", "_C"} <= shared.keys()
    for found in shared.values():
        functions = [function for one in found for function in one.__all__]
        assert len(functions) == len(set(functions))


def test_a_failing_import_says_what_to_call(folder: Path) -> None:
    code = """
print("iou3d_nms_cuda" in told("ours.ops.relative"), "pymluops" in told("ours.ops.relative"))
pymluops.install("pointnet2")
for name in ("relative", "nearer", "absolute", "other"):
    print(told(f"ours.ops.{name}"))
from ours.ops.optional import found
print(found, importlib.util.find_spec("ours.ops.iou3d_nms_cuda"), importlib.util.find_spec("knn_ext"))
try:
    from ours.ops import _ext
except ImportError as error:
    print(error)
try:
    import pcdet.ops.iou3d_nms
except ImportError as error:
    print(error)
try:
    import mmcv._ext
except ImportError as error:
    print(error)
pymluops.uninstall()
print("pymluops" in told("ours.ops.relative"))
"""
    call = 'pymluops.install("iou3d_nms_cuda", at="ours.ops.iou3d_nms_cuda")'
    advice = f"pymluops has this extension: call {call} before the import"
    missing = f"ModuleNotFoundError: No module named 'ours.ops.iou3d_nms_cuda'; {advice} | ours.ops.iou3d_nms_cuda"
    found = output(folder, code)
    where = f"({folder / 'ours' / 'ops' / '__init__.py'})"
    assert found[0] == "True False"
    assert found[1] == f"ImportError: cannot import name 'iou3d_nms_cuda' from 'ours.ops' {where}; {advice} | ours.ops"
    assert found[2:4] == [missing, missing]
    assert found[4] == f"ImportError: cannot import name 'something' from 'ours.ops' {where} | ours.ops"
    assert found[5] == "None None None"
    assert found[6].startswith("cannot import name '_ext'")
    assert "``_ext`` of DCNv2" in found[6]
    assert 'pymluops.install("_ext", at="ours.ops._ext")' in found[6]
    assert found[7].endswith('pymluops has this extension: call pymluops.install("openpcdet") before the import')
    assert found[8].startswith("No module named 'mmcv._ext'; ")
    assert 'call pymluops.install("mmcv") before' in found[8]
    assert found[9] == "False"


@pytest.mark.thorough
def test_what_a_hint_says_works(folder: Path) -> None:
    code = """
pymluops.install("pointnet2")
line = told("ours.ops.relative").partition("call ")[2].partition(" before")[0]
exec(line)
print(told("ours.ops.relative").__name__)
"""
    assert output(folder, code) == ["ours.ops.iou3d_nms_cuda"]


@pytest.mark.parametrize(
    ("names", "at", "text"),
    [
        (("iou3d_cudaa",), "a.b", "names: with at expected one of .*iou3d_cuda.*, got 'iou3d_cudaa'"),
        ((), "a.b", "names: with at expected one of .*, got none"),
        (("iou3d_cuda", "knn_ext"), "a.b", "got 'iou3d_cuda', 'knn_ext'"),
        (("iou3d_cuda",), "a..b", r"at: expected the full name of a module, got 'a..b'"),
        (("iou3d_cuda",), 5, "at: expected the full name of a module, got 5"),
    ],
)
def test_places_are_checked(names: tuple[str, ...], at: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^install: .*{text}"):
        pymluops.install(*names, at=at)


def test_an_extension_needs_a_place() -> None:
    with pytest.raises(ValueError, match="got 'knn_ext'"):
        pymluops.install("knn_ext")
