"""Teams of threads that a caller sets with mluopsExtSetTeam, and that do not do what a team should."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pymluops
from support.example import MOVING
from support.processes import python_output

Team = Callable[[Any, Any, int, int], None]


def _nobody(member: Any, argument: Any, threads: int, flags: int) -> None:
    pass


def _the_caller_twice(member: Any, argument: Any, threads: int, flags: int) -> None:
    member(argument)
    member(argument)


def _others_alone(member: Any, argument: Any, threads: int, flags: int) -> None:
    others = [threading.Thread(target=member, args=(argument,)) for _ in range(threads)]
    for other in others:
        other.start()
    for other in others:
        other.join()


@pytest.mark.parametrize("team", [_nobody, _the_caller_twice, _others_alone])
def test_a_call_is_complete_whatever_the_team_does(team: Team) -> None:
    backend = pymluops.load("cpu")
    rng = np.random.default_rng(1)
    clip, shifts = rng.normal(0, 1, (2, 8, 64, 4096)).astype(np.float32), np.zeros((2, 4), np.int32)
    calls = 0

    def counted(*arguments: Any) -> None:
        nonlocal calls
        calls += 1
        team(*arguments)

    before = pymluops.get_num_threads()
    callback = backend.ffi.callback("mluopsExtTeam", counted)
    pymluops.set_num_threads(2)
    try:
        assert backend.lib.mluopsExtSetTeam(callback, 2) == 0
        out = np.full_like(clip, np.nan)
        MOVING.run(clip, shifts, out=out)
    finally:
        backend.lib.mluopsExtSetTeam(backend.ffi.NULL, 0)
        pymluops.set_num_threads(before)
    assert calls > 0
    assert np.array_equal(out, clip)


# Loads the library, and returns how many of two calls went to the team.
CALL = f"""
import os, signal, subprocess, sys, threading
import numpy as np

def call():
    import pymluops
    backend, calls = pymluops.load("cpu"), []
    def team(member, argument, threads, flags):
        calls.append(threads)
        member(argument)
    callback = backend.ffi.callback("mluopsExtTeam", team)
    clip = np.ones((2, 8, 64, 4096), np.float32)
    for threads in (3, 2):
        pymluops.set_num_threads(threads)
        assert backend.lib.mluopsExtSetTeam(callback, threads) == 0
        assert np.array_equal(pymluops.{MOVING.name}(clip, np.zeros((2, 4), np.int32)), clip)
    return len(calls)
"""

FORKS = """
def in_child(work):
    child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.alarm(60)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def child_of_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(in_child(call)))
    thread.start()
    thread.join()
    return found[0]

def program():
    return subprocess.run([sys.executable, "-P", "-c", sys.argv[1] + "sys.exit(call())"]).returncode

print(in_child(call), in_child(lambda: in_child(call)), child_of_a_thread(), in_child(program), call(), in_child(call))
"""


def test_a_child_has_no_team_where_the_library_is_loaded_after_the_fork() -> None:
    """None in a child, in its child and in one that a thread forked; a program that a child starts has one."""
    assert python_output(CALL + FORKS, CALL) == "0 0 0 2 2 0"
