"""Forks beside calls of other threads: the child works and does not hang."""

from __future__ import annotations

import pytest

from support.example import MOVING
from support.processes import run_python

# The child of a fork that comes during the first call of another thread, when libraries are opened.
FIRST_CALL = f"""
import os, signal, sys, threading, time
import numpy as np
import pymluops

frames, shifts = np.ones((1, 2, 2, 2), np.float32), np.zeros((1, 1), np.int32)

def call():
    with pymluops.Handle(sys.argv[1]) as handle:
        assert pymluops.{MOVING.name}(frames, shifts, handle=handle).all()

thread = threading.Thread(target=call)
thread.start()
time.sleep(float(sys.argv[2]))
child = os.fork()
if child == 0:
    signal.alarm(60)
    call()
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread.join()
sys.exit(code != 0)
"""

# Forks while other threads compute: the child uses its handles and theirs.
SHARED = f"""
import os, signal, sys, threading
import numpy as np
import pymluops

frames, shifts = np.ones((1, 4, 8, 50), np.float32), np.zeros((1, 4), np.int32)
pymluops.use(sys.argv[1])
handles = [pymluops.Handle() for _ in range(4)]
stop = threading.Event()

def work(handle):
    while not stop.is_set():
        pymluops.{MOVING.name}(frames, shifts, handle=handle)

threads = [threading.Thread(target=work, args=(handle,)) for handle in handles]
for thread in threads:
    thread.start()
codes = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        for handle in [None, *handles]:
            assert pymluops.{MOVING.name}(frames, shifts, handle=handle).all()
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads:
    thread.join()
sys.exit(any(codes))
"""


@pytest.mark.parametrize("backend", ["cpu", "sim"])
@pytest.mark.parametrize("after", ["0", "0.001", "0.01"])
def test_a_fork_during_the_first_call(backend: str, after: str) -> None:
    done = run_python(FIRST_CALL, backend, after)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_a_fork_while_other_threads_compute(backend: str) -> None:
    done = run_python(SHARED, backend)
    assert done.returncode == 0, done.stderr
