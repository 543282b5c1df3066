"""What is written from the declarations of the intrinsics."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool(compiler: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("intrinsics_tool", ROOT / "tools/intrinsics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["intrinsics_tool"] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module


def test_the_written_files_are_current(tool: ModuleType) -> None:
    assert list(tool.stale(tool.contents())) == []


def test_patterns_of_some_of_their_names(tool: ModuleType) -> None:
    pattern = "__bang_{add,sub}{,_scalar}_{tz,rn}"
    names = set(tool.expanded(pattern))
    assert len(names) == 8
    assert list(tool.patterns_of(pattern, names)) == [pattern]
    newer = {name for name in names if name.endswith("rn")}
    assert list(tool.patterns_of(pattern, newer)) == ["__bang_{add,sub}{,_scalar}_rn"]
    for some in (newer | {"__bang_add_tz"}, names - {"__bang_sub_scalar_tz"}, {"__bang_add_rn", "__bang_sub_tz"}):
        found = [name for part in tool.patterns_of(pattern, some) for name in tool.expanded(part)]
        assert sorted(found) == sorted(some)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ('{"f", 1, Measure::kBytes, 1, 1, 1, Overlap::kAny, false}', ""),
        ('{"f", 64, Measure::kBytes, 128, 1, 1, Overlap::kStart, true}',
         "2xx: addresses × 64 B, sizes × 128 B; in place; count ≥ 1"),
        ('{"f", 64, Measure::kElements, 1024, 1024, 1, Overlap::kNone, false}',
         "2xx: addresses × 64 B; 2xx, 3xx: sizes × 1024 elements; apart"),
        ('{"f", 1, Measure::kElements, 64, 64, 64, Overlap::kNoneOn2xx, false}', "sizes × 64 elements; apart on 2xx"),
    ],
)  # fmt: skip
def test_rules_in_words(rule: str, text: str, tool: ModuleType) -> None:
    assert tool.rule_text(tool.RULE.search(rule)) == text


def test_every_rule_is_read(tool: ModuleType) -> None:
    text = tool.RULES.read_text(encoding="utf-8")
    assert len(list(tool.RULE.finditer(text))) == text.count("Measure::")
    found = tool.rules()
    assert found["__bang_add"] == "2xx: addresses × 64 B, sizes × 128 B; in place; count ≥ 1"
    assert "; with scratch: sizes × 128 B; apart; count ≥ 1" in found["__bang_div"]


@pytest.mark.parametrize(
    ("names", "known", "message"),
    [
        ("__bang_nothing", "documented", "described, but not declared: __bang_nothing"),
        ("__bang_add __bang_add", "documented", "described twice: __bang_add"),
        ("__bang_add", "known", "'known' is none of documented, inferred, guessed"),
    ],
)
def test_a_table_that_does_not_agree(
    names: str, known: str, message: str, tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = [tool.Declaration("void", "__bang_add", "float *dst")]
    section = tool.Section("Sums", "", (tool.Row(tuple(names.split()), "adds", known),))
    monkeypatch.setattr(tool, "declarations", lambda arch: one)
    monkeypatch.setattr(tool, "sections", lambda: [section])
    with pytest.raises(tool.TableError, match=message):
        tool.reference()
    monkeypatch.setattr(tool, "sections", list)
    with pytest.raises(tool.TableError, match=r"declared, but not described in intrinsics\.toml: __bang_add"):
        tool.reference()
