"""What is written from the descriptions in pymluops/ops, and that nothing else lists them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import families
import pymluops

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("families_tool", ROOT / "tools/families.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["families_tool"] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
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
        assert set(families.operators(family)) <= set(module.__all__) <= set(pymluops.__all__)
        for name in module.__all__:
            assert getattr(pymluops, name) is getattr(module, name)
    assert len(set(pymluops.__all__)) == len(pymluops.__all__)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_every_family_has_its_places(family: str) -> None:
    for place in (f"native/ops/{family}", f"tests/oracle/{family}.py", f"tests/ops/test_{family}.py"):
        assert (ROOT / place).exists(), place


def test_a_stale_file_is_told(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(readme.replace("`tin_shift_forward`", "`tin_shift`"), encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.stale() == [tmp_path / "README.md"]
