"""What tools/families.py writes from the modules of the families."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import pymluops
from support import families

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("families_tool", ROOT / "tools/families.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["families_tool"] = module  # where dataclasses look up annotations
    sys.path.insert(0, str(ROOT / "tools"))  # where it finds its modules
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return module


def test_the_written_files_are_current(tool: ModuleType) -> None:
    assert tool.stale() == []


def test_the_tool_leaves_the_imported_package_alone(tool: ModuleType) -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("pymluops")}
    tool.read_families()
    assert {name: module for name, module in sys.modules.items() if name.startswith("pymluops")} == before


def test_the_tool_sees_the_same_operators(tool: ModuleType) -> None:
    found = tool.read_families()
    assert [family.name for family in found] == list(families.FAMILIES)
    for family in found:
        assert [operator.name for operator in family.operators] == families.operators(family.name)
        assert [o.function for o in family.operators] == [
            families.OPERATORS[name].function for name in families.operators(family.name)
        ]


def test_every_operator_is_exported() -> None:
    for family, module in families.FAMILIES.items():
        exported = {*pymluops.__all__, "abs"}  # which would hide Python's
        assert set(families.operators(family)) <= set(module.__all__) <= exported
        for name in module.__all__:
            assert getattr(pymluops, name) is getattr(module, name)
    assert len(set(pymluops.__all__)) == len(pymluops.__all__)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_every_family_has_its_places(family: str) -> None:
    for place in (f"native/ops/{family}", f"pymluops/oracle/{family}.py", f"tests/ops/test_{family}.py"):
        assert (ROOT / place).exists(), place


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("docs/operators.md", "| float16, float32 |"),
        ("docs/torch.md", ", first order |"),
        ("docs/mmcv.md", "| forward, backward |"),
    ],
)
def test_a_stale_document_is_told(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, cell: str
) -> None:
    (tmp_path / "docs").mkdir()
    for document in ("docs/operators.md", "docs/torch.md", "docs/mmcv.md"):
        shutil.copy(ROOT / document, tmp_path / document)
    monkeypatch.setattr(tool, "DOCUMENTS", tmp_path)
    assert tool.stale() == []
    text = (ROOT / name).read_text(encoding="utf-8")
    assert cell in text
    (tmp_path / name).write_text(text.replace(cell, "| none |", 1), encoding="utf-8")
    assert tool.stale() == [tmp_path / name]


def test_a_document_without_markers_is_refused(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "torch.md").write_text("| function |\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"torch\.md: has no markers of the text that tools/families\.py writes"):
        tool.with_table(tmp_path / "torch.md", "")


# ---- pymluops.torch ------------------------------------------------------------------------------


@pytest.fixture
def torch_package(tmp_path: Path) -> Path:
    """A folder like pymluops/torch, to which families can be added."""
    return Path(shutil.copytree(ROOT / "pymluops" / "torch", tmp_path / "torch"))


def test_a_new_module_for_torch_is_exported(tool: ModuleType, torch_package: Path) -> None:
    (torch_package / "new_pool.py").write_text('__all__ = ["NewPool", "new_pool"]\n', encoding="utf-8")
    text = tool.tensors.exports(torch_package)
    assert "from pymluops.torch.new_pool import NewPool, new_pool\n" in text
    assert '    "NewPool",\n' in text
    assert '    "new_pool",\n' in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "pymluops/torch/zz: needs __all__"),
        ('__all__ = ["ToDense"]\n', "another module exports ToDense too"),
    ],
)
def test_a_module_for_torch_that_cannot_be_exported_is_refused(
    tool: ModuleType, torch_package: Path, source: str, message: str
) -> None:
    (torch_package / "zz.py").write_text(source, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        tool.tensors.exports(torch_package)


# ---- pymluops.mmcv -------------------------------------------------------------------------------


def test_the_table_for_mmcv_has_every_row_and_function(tool: ModuleType) -> None:
    table = tool.bindings.rows(ROOT / "pymluops" / "mmcv")
    rows = importlib.import_module("pymluops.mmcv._table").ROWS
    assert len(table.splitlines()) == 2 + len(rows)
    for row, line in zip(rows, table.splitlines()[2:], strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        plain = [cell.replace("`", "") for cell in cells]
        assert plain == [
            row.operators,
            ", ".join(row.functions),
            row.directions,
            row.dtypes,
            row.library,
            row.note.replace("`", ""),
        ]


def test_a_binding_without_a_row_is_refused(tool: ModuleType, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "pymluops" / "mmcv", tmp_path / "mmcv"))
    (folder / "new_pool.py").write_text('__all__ = ["new_pool_forward"]\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"pymluops/mmcv/new_pool\.py: needs ROWS"):
        tool.bindings.rows(folder)
