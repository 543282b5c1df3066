"""Families and tests that compile in the quick selection of tests."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import families, quick_selection
from support.data_files import TESTS

OPERATORS = {
    "nms": {"nms_forward": "mluOpNms"},
    "nms_tilted": {"nms_tilted": "mluOpNmsTilted"},
    "focal_loss": {"focal_loss_forward": "mluOpFocalLossForward"},
    "roi": {"roi_forward": "mluOpRoiForward", "roi_backward": "mluOpRoiBackward"},
}


@dataclass(frozen=True)
class Item:
    nodeid: str
    compiles: bool = False

    def get_closest_marker(self, name: str) -> bool:
        return name == "compiler" and self.compiles


def left_out(names: list[str], whole: set[str]) -> set[str]:
    items: list[Any] = [Item(name) for name in names]
    return {item.nodeid for item in quick_selection.of_families(items, OPERATORS, whole)}


def test_a_test_of_each_function_and_operator_stays() -> None:
    values = [
        f"tests/ops/test_described.py::test_values[{kind}-roi_{way}]"
        for kind in "abcd"
        for way in ("forward", "backward")
    ]
    faults = [
        f"tests/abi/test_faults.py::test_fault[{way}-{n}]"
        for way in ("RoiForward", "mluOpRoiBackward")
        for n in range(9)
    ]
    sizes = [f"tests/abi/test_faults.py::test_fault[GetRoiForwardWorkspaceSize-{n}]" for n in range(9)]
    own = [f"tests/ops/test_roi.py::{name}" for name in ("test_plain", "test_of_sizes[1]", "test_of_sizes[2]")]
    gone = left_out([*values, *faults, *sizes, *own], whole=set())
    assert len(gone) == len(values) - 2 + len(faults) - 2 + len(sizes) - 1 + 1
    kept = {*values, *faults, *own} - gone
    for way in ("forward", "backward"):
        assert sum(name in values and way in name for name in kept) == 1
    for way in ("Forward", "Backward"):
        assert sum(name in faults and way in name for name in kept) == 1
    assert own[0] in kept


def test_changed_families_and_other_tests_stay_whole() -> None:
    others = [f"tests/sim/test_queue.py::test_columns[{n}]" for n in range(5)]
    own = [f"tests/ops/test_x.py::test_x[nms_forward-{n}]" for n in range(5)]
    longer = [f"tests/ops/test_x.py::test_x[nms_tilted-{n}]" for n in range(5)]
    nearest = [f"tests/ops/test_x.py::test_x[FocalLossForward-{n}]" for n in range(5)]
    gone = left_out([*others, *own, *longer, *nearest], whole={"nms"})
    assert len(gone & {*longer}) == len(gone & {*nearest}) == 4
    assert gone <= {*longer, *nearest}


def test_at_most_two_changed_families_run_whole() -> None:
    names = [f"tests/ops/test_x.py::test_x[{family}-{n}]" for family in OPERATORS for n in range(5)]
    items: list[Any] = [Item(name) for name in names]
    for count in range(4):
        files = [f"native/ops/{family}/cpu.cpp" for family in list(OPERATORS)[:count]]
        gone = {item.nodeid for item in quick_selection._of_families(items, OPERATORS, files)}
        whole = [family for family in OPERATORS if not any(f"[{family}-" in name for name in gone)]
        assert len(whole) == min(count, quick_selection.WHOLE)


@pytest.mark.parametrize("changed", [False, True])
def test_one_test_of_each_function_that_compiles_runs_and_more_if_the_code_changed(changed: bool) -> None:
    names = [
        f"tests/bang/test_x.py::{name}" for name in ("test_one", *(f"test_many[{number}]" for number in range(60)))
    ]
    items: list[Any] = [*(Item(name, True) for name in names), *(Item(f"{name}.", False) for name in names)]
    kept = set(items) - quick_selection.of_compiling(items, changed)
    compiling = {item.nodeid for item in kept if item.compiles}
    assert names[0] in compiling
    assert len(kept) - len(compiling) == len(names)
    assert 3 < len(compiling) < 30 if changed else len(compiling) == 2


@pytest.mark.parametrize(
    ("file", "family"),
    [
        ("native/ops/nms/cpu.cpp", "nms"),
        ("native/ops/nms_tilted/cpu/scan.h", "nms_tilted"),
        ("pymluops/torch/roi.py", "roi"),
        ("tests/ops/test_roi_refusals.py", "roi"),
        ("tests/ops/test_nms_tilted.py", "nms_tilted"),
        ("benchmarks/problems/focal_loss.json", "focal_loss"),
        ("native/core/check.cpp", None),
        ("docs/roi_align.md", "roi"),
        ("pymluops/heroism.py", None),
    ],
)
def test_the_family_of_a_file(file: str, family: str | None) -> None:
    assert quick_selection.family_of(file, OPERATORS) == family


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, "pymluops/ops/nms.py")
    commit(tmp_path, "pymluops/ops/roi.py")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def write(folder: Path, file: str) -> None:
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    with (folder / file).open("a") as text:
        text.write("changed\n")


def commit(folder: Path, file: str) -> None:
    write(folder, file)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", file)


def changed(folder: Path) -> set[str]:
    return {
        family
        for file in quick_selection.changed_files(folder)
        if (family := quick_selection.family_of(file, OPERATORS))
    }


def test_on_the_main_branch_the_last_commit_counts(clone: Path) -> None:
    assert changed(clone) == {"roi"}


def test_on_a_branch_all_its_commits_and_the_working_tree_count(clone: Path) -> None:
    git(clone, "switch", "--quiet", "--create", "work")
    commit(clone, "native/ops/focal_loss/cpu.cpp")
    commit(clone, "README.md")
    assert changed(clone) == {"focal_loss"}
    write(clone, "pymluops/ops/nms.py")
    write(clone, "pymluops/oracle/nms_tilted.py")  # git does not know it yet
    assert changed(clone) == {"focal_loss", "nms", "nms_tilted"}


def test_without_a_clone_nothing_changed(tmp_path: Path, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = clone / "nms"
    inside.mkdir()
    assert changed(inside) == set()
    assert changed(tmp_path / "nowhere") == set()
    monkeypatch.setenv("PATH", "")
    assert changed(clone) == set()


@pytest.mark.thorough
def test_outside_of_changed_families_every_operator_keeps_a_value_and_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "no_whole_family.py").write_text(
        """def pytest_configure():
        from support import selection, quick_selection
        quick_selection.WHOLE, selection._has_paths = 0, lambda _: False"""
    )
    files = [str(TESTS / name) for name in ("ops", "abi/test_operator_checks.py")]
    command = [sys.executable, "-m", "pytest", "-pno_whole_family", "-pno:cacheprovider", "--collect-only", "-q"]
    alone = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{TESTS}", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*command, *files], cwd=TESTS.parent, env={**os.environ, **alone}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = [line for line in done.stdout.splitlines() if "::" in line]
    for family in families.FAMILIES:
        own = [name for name in names if f"/test_{family}" in name.partition("::")[0]]
        for operator in families.operators(family):
            function = families.OPERATORS[operator].function.removeprefix("mluOp")
            # Operators without a descriptor of faults have the refusals of the guard.
            refusals = (f"::test_single_fault[{function}-", f"::test_each_array_is_checked[{operator}")
            assert any(refusal in name for name in names for refusal in refusals), operator
            described = any("::test_given_arrays_get_the_results[" in name and operator in name for name in names)
            assert described or own, operator
    assert len(names) < 50 * len(families.OPERATORS)
