"""The targets in Python: alive, and quiet about the package for a moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.__main__ import OPEN, PYTHON_TARGETS, python_job
from fuzz.table import Table

HERE = Path(__file__).resolve().parent


NEW_HEADER = """
typedef enum { MLUOP_STATUS_SUCCESS = 0 } mluOpStatus_t;
typedef struct mluOpTensorStruct *mluOpTensorDescriptor_t;
typedef int (*mluopsExtCheck_t)(void);
mluOpStatus_t mluopsExtTryOut(mluopsExtCheck_t check, mluOpTensorDescriptor_t desc, int dimNb, const int dimSize[],
                              double scale, size_t *bytes);
"""


def test_a_new_function_is_fuzzed_by_itself(tmp_path: Path) -> None:
    header = tmp_path / "new.h"
    header.write_text(NEW_HEADER)
    text = Table([header]).text()
    rows = text.split("parameters_mluopsExtTryOut[] = {")[1].split("};")[0].split("\n")
    roles = [line.split("Role::")[1].split(",")[0] for line in rows if "Role::" in line]
    assert roles == ["kFunction", "kObject", "kInteger", "kInput", "kReal", "kOutput"]
    assert '"dimSize", Role::kInput, sizeof(int), 0, 2, false' in text
    assert '{"mluopsExtTryOut", Returns::kStatus, parameters_mluopsExtTryOut, 6, call_mluopsExtTryOut}' in text


def run(target: str, *options: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzz.case_runner", target, *map(str, options)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "MLUOPS_FUZZ_OPEN": ";".join(OPEN)}
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)


@pytest.mark.parametrize("name", PYTHON_TARGETS)
def test_no_finding_in_a_moment(tmp_path: Path, name: str) -> None:
    result = python_job(name).run(1, 0.7, tmp_path)
    assert result.runs > 0
    assert result.findings == {}


@pytest.mark.parametrize("name", PYTHON_TARGETS)
def test_past_findings_stay_mended(name: str) -> None:
    files = sorted((HERE / "corpus" / name).iterdir())
    done = run(PYTHON_TARGETS[name], *files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"runs {len(files)}" in done.stdout


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("TRUSTING_SCAN", "error at readers.py"),
        ("GREEDY_SCAN", "MemoryError"),
        ("SLOW_IMAGE", "one case took"),
        ("BRIGHT_IMAGE", "pixels from"),
        ("NUMPYS_DLPACK", "Error at"),
        ("LEAKING_DLPACK", "calls of deleters"),
    ],
)
def test_broken_readers_are_found(tmp_path: Path, broken: str, message: str) -> None:
    done = run(
        f"broken.readers:{broken}", "--seconds", "20", "--limit", "0.3", "--stop", "1", "--keep", tmp_path / "kept"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stdout
    (kept,) = tmp_path.iterdir()
    again = run(f"broken.readers:{broken}", "--limit", "0.3", kept)
    assert again.returncode != 0
