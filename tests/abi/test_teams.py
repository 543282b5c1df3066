"""Teams of threads that a caller sets with mluopsExtSetTeam, and that do not do what a team should."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pymluops

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
        pymluops.tin_shift_forward(clip, shifts, out=out)
    finally:
        backend.lib.mluopsExtSetTeam(backend.ffi.NULL, 0)
        pymluops.set_num_threads(before)
    assert calls > 0
    assert np.array_equal(out, clip)
