"""The quick selection of tests: what it leaves out, and that nothing is left out with --thorough."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.data_files import TESTS

CONFTEST = """
from support import selection
pytest_addoption, pytest_configure = selection.add_option, selection.configure
pytest_collection_modifyitems = selection.deselect
"""

MODULE = """
import pytest
from types import SimpleNamespace as Object
from support.selection import examples

@pytest.mark.sampled("a", "b")
@pytest.mark.parametrize("b", range(4))
@pytest.mark.parametrize("a", "xyz")
def test_each_value(a, b): pass

@pytest.mark.sampled("a", "b", together=True)
@pytest.mark.parametrize("a,b,c", [(a, b, c) for a in "xy" for b in range(2) for c in range(5)])
def test_each_pair(a, b, c): pass

@pytest.mark.sampled("o.kind")
@pytest.mark.parametrize("o", [Object(kind=i % 2) for i in range(10)], ids=range(10))
def test_each_kind(o): pass

@pytest.mark.sampled
@pytest.mark.parametrize("a", range(9))
def test_one(a): pass

@pytest.mark.thorough
def test_long(): pass

@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_one_is_long(a): pass
"""
OTHERS = """
import pytest
from hypothesis import given, strategies as st
from support.selection import examples

def test_plain(): pass

@examples(50)
@given(st.integers())
def test_property(number): pass
"""
SKIPPING = """
import pytest
pytest.importorskip("sys")
def test_with_a_package(): pass
"""
ALL = 12 + 20 + 10 + 9 + 1 + 2 + 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_them.py").write_text(MODULE)
    (tmp_path / "test_others.py").write_text(OTHERS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  thorough\n  sampled\n  turn\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Collect with pytest, without other plugins."""
    command = [sys.executable, "-m", "pytest", "-pno:cacheprovider", "--collect-only", "-q", *arguments]
    alone = {"PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env={**os.environ, **alone}, capture_output=True, text=True, check=False)


def collected(folder: Path, *arguments: str) -> list[str]:
    """The names of the tests that pytest would run."""
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def parameters(names: list[str], function: str) -> list[list[str]]:
    return [name.partition("[")[2].rstrip("]").split("-") for name in names if name.startswith(f"{function}[")]


def test_the_quick_selection(folder: Path) -> None:
    names = collected(folder)
    values = parameters(names, "test_each_value")
    assert {a for a, _ in values} == set("xyz")
    assert {b for _, b in values} == set("0123")
    assert len(values) < 12
    pairs = parameters(names, "test_each_pair")
    assert sorted((a, b) for a, b, _ in pairs) == [("x", "0"), ("x", "1"), ("y", "0"), ("y", "1")]
    assert sorted(int(number) % 2 for (number,) in parameters(names, "test_each_kind")) == [0, 1]
    assert len(parameters(names, "test_one")) == 1
    assert "test_long" not in names
    assert parameters(names, "test_one_is_long") == [["1"]]


def test_everything(folder: Path) -> None:
    assert len(collected(folder, "--thorough")) == ALL


def test_quick_and_beyond_are_everything(folder: Path) -> None:
    (folder / "test_skipping.py").write_text(SKIPPING)
    quick, beyond = collected(folder), collected(folder, "--beyond-quick")
    assert {*quick, *beyond} == {*collected(folder, "--thorough")}
    assert {*quick} & {*beyond} == {"test_property", "test_with_a_package"}
    assert "test_long" in beyond and "test_plain" in quick


def test_shares_are_all_of_it(folder: Path) -> None:
    (folder / "test_skipping.py").write_text(SKIPPING)
    beyond = collected(folder, "--beyond-quick")
    first, second = (collected(folder, "--beyond-quick", "--share", part) for part in ("1/2", "2/2"))
    assert {*first, *second} == {*beyond}
    assert {*first} & {*second} == {"test_with_a_package"}
    assert min(len(first), len(second)) > len(beyond) / 4


def test_shares_of_the_quick_selection(folder: Path) -> None:
    quick = collected(folder)
    first, second, third = (collected(folder, "--share", f"{part}/3") for part in (1, 2, 3))
    assert sorted([*first, *second, *third]) == sorted(quick)
    assert first and second and third


def test_shares_by_turns(folder: Path) -> None:
    parameters = "[pytest.param(a, marks=pytest.mark.turn(a)) for a in range(7)]"
    text = f'import pytest\n@pytest.mark.parametrize("a", {parameters})\ndef test_long_ones(a): pass\n'
    (folder / "test_turns.py").write_text(text)
    shares = [collected(folder, "--share", f"{part}/3", "test_turns.py") for part in (1, 2, 3)]
    assert shares == [[f"test_long_ones[{a}]" for a in numbers] for numbers in ((0, 3, 6), (1, 4), (2, 5))]


def test_a_share_that_is_none_is_refused(folder: Path) -> None:
    done = run(folder, "--beyond-quick", "--share", "4/3")
    assert done.returncode == 4
    assert "expected K/N with 1 <= K <= N, such as 2/3, got '4/3'" in done.stderr


def test_a_test_that_is_named_runs(folder: Path) -> None:
    names = collected(
        folder, "test_them.py::test_long", "test_them.py::test_one", str(folder / "test_them.py::test_each_pair")
    )
    assert names[0] == "test_long"
    assert [len(parameters(names, function)) for function in ("test_one", "test_each_pair")] == [9, 20]
