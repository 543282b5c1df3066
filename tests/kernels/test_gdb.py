"""gdb stops at a line of a kernel in a chosen task; tested where gdb is there and may watch a process."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.example import MOVING

SOURCE = Path(__file__).resolve().parents[2] / "native" / "ops" / MOVING.family / "bang.mlu"
SCRIPT = f"""
import numpy as np
import pymluops
pymluops.use("sim")
pymluops.{MOVING.name}(np.ones((2, 4, 16, 33), np.float32), np.ones((2, 4), np.int32))
print("script ended")
"""


def gdb(*commands: str, program: list[str]) -> str:
    """What gdb prints after these commands."""
    arguments = [part for command in commands for part in ("-ex", command)]
    result = subprocess.run(
        ["gdb", "-nx", "-batch", *arguments, "--args", *program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return result.stdout + result.stderr


def usable() -> bool:
    """Whether gdb is there and may run a program."""
    return bool(shutil.which("gdb")) and "exited normally" in gdb("run", program=["/bin/true"])


def kernel_line() -> int:
    """A line of the kernel that every task runs: the first one that asks for its number."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if re.search(r"\btaskId\b.*;", line))


if usable():

    def test_a_breakpoint_in_one_task() -> None:
        where = f"{MOVING.family}/bang.mlu:{kernel_line()}"
        said = gdb(
            "set breakpoint pending on",
            "set debuginfod enabled off",
            f"break {where} if (int)mlusim_taskId == 5",
            "run",
            'printf "task %d, core %d\\n", (int)mlusim_taskId, (int)mlusim_coreId',
            "info symbol $pc",
            "delete",
            "continue",
            program=[sys.executable, "-c", SCRIPT],
        )
        assert "task 5, core 1" in said, said
        assert MOVING.family in said, said
        assert "script ended" in said, said
