"""What is written from the declarations of the intrinsics."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool(compiler: str) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("intrinsics_tool", ROOT / "tools/intrinsics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["intrinsics_tool"] = module  # where dataclasses look up annotations
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(ROOT / "tools"))


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


# ---- Prototypes ----------------------------------------------------------------------------------


def test_forms_that_differ_in_types_are_one(tool: ModuleType) -> None:
    from written.prototypes import forms_of

    declared = {
        arch: [
            tool.Declaration(
                "void", "__bang_lut", f"{one} *dst, const {other} *idx, const {one} *table, int elem_count"
            )
            for one, other in types
        ]
        for arch, types in {372: [("int", "unsigned int")], 592: [("int", "unsigned int"), ("short", "char")]}.items()
    }
    (form,) = forms_of("__bang_lut", declared)
    assert form.parameters == "T *dst, const S *idx, const T *table, int elem_count"
    assert (form.returns, form.letters) == ("void", "T, S")
    assert form.types == (("(int, unsigned int)", (372, 592)), ("(short, char)", (592,)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[detail]]\nnames = "__bang_nothing"\ntext = "a"\n',
            "there are texts, but no declarations of __bang_nothing",
        ),
        ('[[detail]]\nnames = "__bang_add"\ntext = "a"\n[[detail]]\nnames = "__bang_add"\ntext = "b"\n', "two texts"),
        (
            '[[detail]]\nnames = "__bang_add"\ntext = "a"\nparameters = { n = "b" }\n',
            "__bang_add has no parameters n",
        ),
        (
            '[[detail]]\nnames = "__bang_add"\ntext = "a {op} b"\noperations = { sub = "-" }\n',
            r"__bang_add: expected \{op\} in its text, and one operation",
        ),
    ],
)
def test_details_that_do_not_agree(
    text: str, message: str, tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "details.toml").write_text(f'[parameters]\ndst = "target"\n{text}', encoding="utf-8")
    (tmp_path / "examples.toml").write_text("example = []\n", encoding="utf-8")
    monkeypatch.setattr(tool, "declarations", lambda arch: [tool.Declaration("void", "__bang_add", "float *dst")])
    row = tool.Row(("__bang_add",), "adds", "known")
    monkeypatch.setattr(tool, "sections", lambda: [tool.Section("Sums", "", (row,))])
    monkeypatch.setattr(tool, "DETAILS", tmp_path / "details.toml")
    monkeypatch.setattr(tool, "EXAMPLES", tmp_path / "examples.toml")
    with pytest.raises(tool.TableError, match=message):
        tool.prototypes()
