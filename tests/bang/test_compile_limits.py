"""Limits of the compiler: time, memory, and the end of the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pymluops import bang
from pymluops.bang.driver import main

#: So many instances of a template that no compiler comes to an end.
BOMB = """
template <int d, long p> struct S { static constexpr long v = S<d - 1, 2 * p>::v + S<d - 1, 2 * p + 1>::v; };
template <long p> struct S<0, p> { static constexpr long v = p; };
long g = S<40, 1>::v;
"""


def test_a_compiler_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYMLUOPS_COMPILE_SECONDS", "1")
    with pytest.raises(bang.CompileError, match=r"took more than 1 s \(PYMLUOPS_COMPILE_SECONDS\)"):
        bang.compile(BOMB)


@pytest.mark.thorough
def test_a_compiler_that_needs_too_much_memory_is_refused_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYMLUOPS_COMPILE_MIB", "150")
    monkeypatch.chdir(tmp_path)
    Path("bomb.mlu").write_text(BOMB, encoding="utf-8")
    assert main(["-c", "bomb.mlu"]) == 1
    assert "may use 150 MiB (PYMLUOPS_COMPILE_MIB)" in capfd.readouterr().err
    monkeypatch.setenv("PYMLUOPS_COMPILE_MIB", "0")
    bang.compile("int in_any_memory;\n")


def compilers_in(folder: Path) -> list[int]:
    """The processes whose command names a file there: the compiler, its parts, and what watches it."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in command:
            found.append(int(process.name))
    return found


def awaited(folder: Path, there: bool) -> bool:
    deadline = time.monotonic() + 60
    while bool(compilers_in(folder)) != there and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(compilers_in(folder)) == there


@pytest.mark.parametrize("kind", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)])
def test_the_compiler_ends_with_python(kind: signal.Signals, tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYMLUOPS_CACHE_DIR": str(tmp_path / "cache")}
    program = f"from pymluops import bang\nbang.compile({BOMB!r})"
    with subprocess.Popen([sys.executable, "-c", program], env=env, stderr=subprocess.DEVNULL) as process:
        assert awaited(tmp_path, there=True)
        process.send_signal(kind)
        process.wait()
    assert awaited(tmp_path, there=False)
