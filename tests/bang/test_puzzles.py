"""The puzzles of examples/puzzles: those that are not solved fail, and a few lines solve each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "puzzles"
GAP = "// Your code here."

SOLUTIONS = {
    "01_number": "out[taskId] = 10 * taskId;",
    "02_copy": "__memcpy(out + taskId * 64, buffer, sizeof(buffer), NRAM2GDRAM);",
    "03_scale": "__bang_mul_scalar(buffer, buffer, factor, 64);",
    "04_tail": "if (n - i < 64) count = n - i;",
    "05_bias": "__bang_cycle_add(matrix, matrix, row, rows * 64, 64);",
    "06_column": "__memcpy(column, x + taskId, 4, GDRAM2NRAM, 4, width * 4, 63);",
    "07_dot": "__bang_mul(a, a, b, 256);\nout[taskId] = __bang_sum(a, 256);",
    "08_neighbour": "__sync_cluster();",
    "09_histogram": "__bang_atomic_reduce_add(counts + numbers[i], 1, 1);",
    "10_pipeline": "__sync();",
    "11_transpose": "__bang_transpose(turned, matrix, 32, 64);",
    "12_softmax": "__bang_sub_scalar(row, row, m, 128);\n__cn_vector_exp_f32(128, row, row);\n"
    "__bang_mul_scalar(row, row, 1.f / __bang_sum(row, 128), 128);",
}


def _outcome(folder: Path) -> tuple[set[str], set[str]]:
    """The puzzles of which all tests passed, and those of which one failed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", "--mlu-seed=1", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    outcomes = re.findall(r"^(PASSED|FAILED) \S+::test_(\d\d_\w+)\[", done.stdout, re.MULTILINE)
    failed = {name for outcome, name in outcomes if outcome == "FAILED"}
    assert outcomes, done.stdout
    assert "CompileError" not in done.stdout, done.stdout
    return {name for _, name in outcomes} - failed, failed


def test_every_puzzle_has_a_solution() -> None:
    puzzles = {path.stem: path.read_text() for path in FOLDER.glob("*.mlu")}
    assert puzzles.keys() == SOLUTIONS.keys()
    assert all(text.count(GAP) == 1 for text in puzzles.values())
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in puzzles)


@pytest.mark.thorough
def test_solutions_pass(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "puzzles"))
    for name, solution in SOLUTIONS.items():
        file = folder / f"{name}.mlu"
        file.write_text(file.read_text().replace(GAP, solution))
    assert _outcome(folder) == (set(SOLUTIONS), set())


@pytest.mark.thorough
def test_puzzles_fail_as_long_as_they_are_not_solved(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "puzzles"))
    assert _outcome(folder) == (set(), set(SOLUTIONS))
