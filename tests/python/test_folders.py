"""Where files stand: helpers of the tests under names of their own, large families of operators in folders."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
FAMILIES = sorted(path for path in (ROOT / "native/ops").iterdir() if path.is_dir())
MOST_FILES = 8


def helpers(folder: Path) -> list[Path]:
    """The modules that tests import, but for those that a rule finds by the name of a family."""
    found = (path.relative_to(folder) for path in sorted(folder.rglob("*.py")))
    families = {path.name for path in FAMILIES}
    named = [
        path for path in found if path.stem not in ("__init__", "__main__", "conftest") and path.stem not in families
    ]
    return [path for path in named if not path.name.startswith("test_")]


def names_given_twice(folder: Path) -> dict[str, list[str]]:
    """The names of helpers that differ by a plural at most, and their paths."""
    places: dict[str, list[str]] = collections.defaultdict(list)
    for path in helpers(folder):
        places[path.stem.removesuffix("s")].append(str(path))
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def faults_of(family: Path) -> list[str]:
    """What is wrong with the folder of a family."""
    names = [path.name for path in family.iterdir() if path.is_file()]
    found = [f"{family.name} has {len(names)} files: make folders cpu and bang"] if len(names) > MOST_FILES else []
    for part in ("cpu", "bang"):
        flat = sorted(name for name in names if name.startswith(f"{part}_"))
        if flat and (family / part).is_dir():
            found.append(f"{family.name} has a folder {part} and {', '.join(flat)}")
    return found


def test_the_root_of_the_tests_keeps_conftest_and_folders() -> None:
    assert [path.name for path in TESTS.iterdir() if path.is_file()] == ["conftest.py"]


def test_equal_names_are_found(tmp_path: Path) -> None:
    for name in ("a/raw.py", "b/raw.py", "a/call.py", "b/calls.py", "a/test_raw.py", "b/conftest.py", "b/other.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert names_given_twice(tmp_path) == {"raw": ["a/raw.py", "b/raw.py"], "call": ["a/call.py", "b/calls.py"]}


def test_helpers_have_names_of_their_own() -> None:
    assert names_given_twice(TESTS) == {}


def test_faults_of_families_are_found(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    for name in ("cpu.cpp", "cpu_double.h", "bang.mlu", "bang_policy.h", *"abcd"):
        (tmp_path / name).touch()
    assert faults_of(tmp_path) == [f"{tmp_path.name} has a folder cpu and cpu_double.h"]
    (tmp_path / "e").touch()
    assert faults_of(tmp_path)[0] == f"{tmp_path.name} has 9 files: make folders cpu and bang"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.name)
def test_a_family_has_few_files_or_folders(family: Path) -> None:
    assert faults_of(family) == []
