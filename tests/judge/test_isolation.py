"""Processes that are watched, and what they may do behind each of the two gates."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pymluops.bang.judging import Limits, held, isolation
from pymluops.bang.judging.watch import Bounds, Outcome, watched


def answers_of(function: Callable[[], object], bounds: Bounds | None = None) -> Outcome:
    """Run a function in a watched process."""

    def run(pipe: int) -> None:
        os.write(pipe, f"{function()}\n".encode())

    return watched(run, bounds or Bounds(20))


def refused(act: Callable[[], object]) -> bool:
    try:
        act()
    except OSError:
        return True
    return False


def test_how_processes_end() -> None:
    assert answers_of(lambda: 5) == Outcome(0, [b"5"], b"", "")
    assert answers_of(lambda: os._exit(3)).code == 3
    assert answers_of(lambda: os.kill(os.getpid(), signal.SIGSEGV)).code == -signal.SIGSEGV
    crashed = answers_of(lambda: 1 // 0)
    assert crashed.code == 70
    assert crashed.printed.splitlines()[-1] == b"ZeroDivisionError: integer division or modulo by zero"


@pytest.mark.parametrize(
    ("function", "bounds", "exceeded"),
    [
        (lambda: time.sleep(100), Bounds(0.1), "time"),
        (lambda: [bytearray(b"1" * (50 << 20)) for _ in iter(int, 1)], Bounds(20, memory=400 << 20), "memory"),
        (lambda: [os.write(1, b"1" * 1000) for _ in iter(int, 1)], Bounds(20, printed=100_000), "output"),
        (lambda: time.sleep(100), Bounds(20, threads=0), "threads"),
    ],
)
def test_what_is_exceeded(function: Callable[[], object], bounds: Bounds, exceeded: str) -> None:
    assert answers_of(function, bounds).exceeded == exceeded


def test_a_line_sets_another_limit() -> None:
    def run(pipe: int) -> None:
        for _ in range(1000):
            os.write(pipe, b"now\n")  # the second one counts no more
            time.sleep(0.1)

    outcome = watched(run, Bounds(600, after={b"now": 0.3}))
    assert outcome.exceeded == "time"
    assert len(outcome.lines) < 100


def test_a_line_adds_to_the_limit() -> None:
    def run(pipe: int) -> None:
        os.write(pipe, b"now\n")
        for _ in range(100):
            os.write(pipe, b"later\n")  # the second one counts no more
            time.sleep(0.1)

    outcome = watched(run, Bounds(600, after={b"now": 0.3}, more={b"later": 0.8}))
    assert outcome.exceeded == "time"
    assert len(outcome.lines) < 100
    assert watched(lambda pipe: time.sleep(100), Bounds(0.1, more={b"later": 100})).exceeded == "time"


def test_other_children_of_a_program_go_on() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True) as other:
        assert answers_of(lambda: 5).lines == [b"5"]
        assert other.poll() is None
        other.communicate("go on\n", 20)
    assert other.returncode == 0


def test_nothing_that_a_process_started_stays(tmp_path: Path) -> None:
    """What leaves the group and the session is found too: the process that watches adopts it."""
    program = (
        "import os, sys, time\n"
        "from pymluops.bang.judging.watch import Bounds, adopt_orphans, watched\n"
        "adopt_orphans()\n"
        "def run(pipe):\n"
        "    for i in range(5):\n"
        "        if os.fork() == 0:\n"
        "            os.setsid()\n"
        "            if os.fork() == 0:\n"
        "                os.write(pipe, f'{os.getpid()}\\n'.encode())\n"
        "                time.sleep(600)\n"
        "            os._exit(0)\n"
        "    time.sleep(0.5)\n"
        "outcome = watched(run, Bounds(20))\n"
        "print(*[line.decode() for line in outcome.lines])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    processes = done.stdout.split()
    assert len(processes) == 5
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]


def test_what_the_first_gate_leaves(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").write_text("5")

    def run() -> object:
        isolation.before_compiling(Limits(), [*isolation.system_folders(("/usr/bin/g++",))], [inside])
        assert (inside / "file").read_text() == "5"
        (inside / "other").write_text("6")
        assert subprocess.run(["/bin/true"], check=False).returncode == 0
        return [
            refused(lambda: (outside / "file").read_text()),
            refused(lambda: (outside / "other").write_text("6")),
            refused(lambda: os.listdir(outside)),
            refused(lambda: socket.socket().close()),
            refused(lambda: os.kill(os.getppid(), 0)),
        ]

    outcome = answers_of(run)
    expected = [held()[part] for part in held() if "are read" in part] * 3
    assert (outcome.lines, outcome.printed) == ([str([*expected, True, True]).encode()], b"")


def test_what_the_second_gate_leaves(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("5")

    def run() -> object:
        isolation.before_compiling(Limits(), isolation.system_folders(("/usr/bin/g++",)), [tmp_path])
        isolation.before_running(Limits(), [*isolation.system_folders(("/usr/bin/g++",)), tmp_path])
        assert (tmp_path / "file").read_text() == "5"
        os.kill(os.getpid(), 0)
        return [
            refused(lambda: (tmp_path / "file").write_text("6")),
            refused(lambda: (tmp_path / "file").unlink()),
            refused(lambda: (tmp_path / "folder").mkdir()),
            refused(os.fork),
            refused(lambda: subprocess.run(["/bin/true"], check=False)),
            refused(lambda: os.memfd_create("x")),
            refused(lambda: os.kill(os.getppid(), 0)),
            refused(lambda: os.kill(0, 0)),
        ]

    outcome = answers_of(run)
    assert (outcome.lines, outcome.printed) == ([str([True] * 8).encode()], b"")
    assert (tmp_path / "file").read_text() == "5"


def test_all_is_held_here() -> None:
    """The tests of hostile kernels say nothing on a system that lacks a part."""
    assert all(held().values())
