"""Every allocation of the Python interpreter inside a call fails once."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.data_files import TESTS

FOLDER = TESTS / "memory"


@pytest.fixture(scope="module")
def library(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The allocator that fails, compiled."""
    made = tmp_path_factory.mktemp("memory") / "failing_allocator.so"
    include = sysconfig.get_path("include")
    command = [
        compiler,
        "-x",
        "c",
        "-shared",
        "-fPIC",
        "-I",
        include,
        str(FOLDER / "failing_allocator.c"),
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True)
    return made


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_every_allocation_may_fail(library: Path, backend: str) -> None:
    command = [sys.executable, "-P", str(FOLDER / "python_allocations.py"), str(library), backend]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(line.split() for line in done.stdout.splitlines())
    assert min(map(int, counts.values())) > 10, "the allocator did not see the allocations"
