"""Every Python object used by eight threads at random, for a few seconds; `objects.py` runs longer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.selection import is_thorough

PROGRAM = Path(__file__).with_name("objects.py")


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_random_use_by_eight_threads(backend: str) -> None:
    seconds = "10" if is_thorough() else "2"
    command = [sys.executable, "-P", str(PROGRAM), "--backend", backend, "--seconds", seconds]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
