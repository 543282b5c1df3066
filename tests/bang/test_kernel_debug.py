"""``pymluops kernel debug``: gdb stops at a line of a core, and shows its variables; where gdb may watch a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymluops.cli import main

SOURCE = """
__nram__ float a[8];
__nram__ half h[2][4];
__nram__ float ring[20000];
__mlu_shared__ int s[4];

__mlu_func__ float twice(float value) { return value + value; }

__mlu_entry__ void k(const float *x, half *out, int n) {
  __nram__ bfloat16_t b[4];
  if (__is_mpu()) return;
  half scale = 1.5f;
  __memcpy(a, x, n * sizeof(float), GDRAM2NRAM);
  for (int i = 0; i < n; ++i) {
    b[i % 4] = bfloat16_t(twice(a[i]));
    h[i / 4][i % 4] = half(a[i]) * scale;  // here
  }
  __memcpy(out + taskId * n, h, n * sizeof(half), NRAM2GDRAM);
  s[0] = n;
  ring[n] = n;
  printf("task %d is done\\n", taskId);
}
"""
LINE = next(number for number, line in enumerate(SOURCE.splitlines(), 1) if "// here" in line)
LINES = SOURCE.count("\n")
LAUNCH = ["--dim", "8", "--type", "union2", "--arg", "x=f32[8]=range", "--arg", "f16[64]", "--arg", "n=8"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("debug") / "kernel.mlu"
    file.write_text(SOURCE, encoding="utf-8")
    return file


def debug(source: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pymluops", "kernel", "debug", str(source), *LAUNCH, "--batch", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=os.environ)
    return done.stdout + done.stderr


def usable() -> bool:
    """Whether gdb is there and may run a program."""
    if not shutil.which("gdb"):
        return False
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "run", "--args", "/bin/true"], capture_output=True, text=True, check=False
    )
    return "exited normally" in done.stdout + done.stderr


if usable():

    def test_a_core_stops_at_a_line_and_shows_its_variables(source: Path) -> None:
        commands = ["mlu", "print i", "print scale", "print $a", "print $h[0][2]", "print b", "delete", "continue"]
        said = debug(
            source, "--break", f"kernel.mlu:{LINE}", "--core", "5", "--if", "i == 3",
            *(word for command in commands for word in ("--command", command)),
        )  # fmt: skip
        assert "task 5 (5, 0, 0), cluster 1, core 1" in said, said
        assert "$1 = 3" in said, said
        assert "$2 = 1.5" in said, said
        assert "{0, 1, 2, 3, 4, 5, 6, 7}" in said, said
        assert "$4 = 3\n" in said, said
        assert "{0, 2, 4, 6}" in said, said
        assert "$h: half [2][4]" in said, said
        assert "$s: int [4]" in said, said
        assert "safe-path" not in said, said
        assert "task 7 is done" in said, said
        assert "out: float16[64], from 0 to 10.5" in said, said

    def test_a_condition_that_is_not_in_scope_is_told_once_and_a_large_array_is_shown(source: Path) -> None:
        commands = ["print $ring[19999]", "print $ring", "backtrace", "continue", "kill"]
        said = debug(
            source, "--break", "7", "--if", "nothing == 3",
            *(word for command in commands for word in ("--command", command)),
        )  # fmt: skip
        assert said.count('No symbol "nothing" in current context') == 1, said
        assert "$1 = 0\n" in said, said
        assert "{0 <repeats 20000 times>}" in said, said
        frames = [line for line in said.splitlines() if line.startswith("#")]
        assert len(frames) == 2, said
        assert " twice(float) " in frames[0], said
        assert "k" in frames[1], said
        assert "kernel.mlu:" in frames[1], said

    def test_a_place_that_no_core_reaches_is_told_at_the_end(source: Path) -> None:
        said = debug(source, "--break", f"{LINE}", "--if", "i == 99", "--break", "no_such_header.h:3")
        assert "No source file named" not in said, said
        assert f"Breakpoint at {source}:{LINE}, set when the kernel is loaded" in said, said
        assert "never stopped at no_such_header.h:3: no code was loaded for this line" in said, said

    @pytest.mark.thorough
    def test_without_a_place_it_stops_at_the_kernel(source: Path) -> None:
        said = debug(source, "--task", "2", "--command", "mlu", "--command", "info args", "--command", "kill")
        assert "task 2 (2, 0, 0), cluster 0, core 2" in said, said
        assert "n = 8" in said, said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--gdb", "no-such-gdb"], "no-such-gdb"),
        (["--break", "kernel.mlu"], "--break"),
        (["--break", "kernel.mlu:0"], "--break"),
        (["--core", "x"], "--core"),
        (["--core", "1", "--task", "1"], "--task"),
        (["--break", f"{LINES + 2}"], f"{LINES + 2}: expected a line of 1 to {LINES + 1}"),
        (["--break", f"kernel.mlu:{LINES + 2}"], f"kernel.mlu:{LINES + 2}: expected a line of 1 to {LINES + 1}"),
        (["--break", "there/is/none.h:1"], "there/is/none.h:1: there is no such file"),
        (["--task", "8"], "--task 8: expected a taskId of 0 to 7"),
        (["--core", "8"], "--core 8: expected a core of 0 to 7"),
    ],
)
def test_bad_input_is_one_line(
    source: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    assert main(["kernel", "debug", str(source), *LAUNCH, *arguments]) == 2
    captured = capfd.readouterr()
    (line,) = captured.err.splitlines()
    assert named in line
    assert captured.out == ""
