"""Signals during long calls: their handlers run, and what they raise ends the call."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import sim
from support.comparison import assert_same_bits
from support.example import SAMPLING

MAP = np.arange(64, dtype=np.float32).reshape(1, 4, 4, 4)
BOX = np.array([[[0, 0, 3, 3]]], np.float32)
#: Points on each border: hours of work.
ENDLESS = 2**31 - 1
#: A second or so of work for the CPU library.
LONG = 10**7
SOON = 0.2


class AlarmError(Exception):
    """What the handler of a test raises."""


@contextmanager
def alarm(handler: Callable[[], object], after: float = SOON) -> Iterator[list[str]]:
    """Call `handler` on the main thread after a while; the list tells that it was."""
    called: list[str] = []

    def handle(number: int, frame: Any) -> None:
        called.append(signal.Signals(number).name)
        handler()

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield called
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ring() -> None:
    raise AlarmError


def align(points: int = 2, **keywords: Any) -> Any:
    return SAMPLING.run(MAP, BOX, points, **keywords)


@pytest.fixture(params=["cpu", "sim"])
def backend(request: pytest.FixtureRequest) -> Iterator[pymluops.Backend]:
    with pymluops.use(request.param) as backend:
        yield backend


def test_what_a_handler_raises_ends_a_call(backend: pymluops.Backend) -> None:
    wanted = align()
    for _ in range(2):
        with alarm(ring), pytest.raises(AlarmError):
            align(ENDLESS)
        for found, expected in zip(align(), wanted):
            assert_same_bits(found, expected)


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_control_c_ends_a_program(backend: str) -> None:
    code = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been started with SIGINT ignored
import numpy as np, pymluops
pymluops.load({backend!r})
pymluops.use({backend!r})
print("ready", flush=True)
pymluops.{SAMPLING.name}(np.zeros({MAP.shape}, np.float32), np.array({BOX.tolist()}, np.float32), {ENDLESS})
"""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        threading.Timer(SOON, child.send_signal, [signal.SIGINT]).start()
        _, errors = child.communicate(timeout=60)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert child.returncode == -signal.SIGINT


def test_a_handler_that_raises_nothing_lets_the_call_go_on() -> None:
    with pymluops.use("cpu"):
        wanted = align(LONG)
        with alarm(lambda: None, 0.05) as called:
            found = align(LONG)
        assert called == ["SIGALRM"]
        for one, other in zip(found, wanted):
            assert_same_bits(one, other)


def test_a_handler_may_call_operators() -> None:
    found = []

    def call_and_ring() -> None:
        found.append(align()[0])
        raise AlarmError

    with pymluops.use("cpu"):
        wanted = align()[0]
        with alarm(call_and_ring), pytest.raises(AlarmError):
            align(ENDLESS)
    assert_same_bits(found[0], wanted)


def test_a_handler_cannot_use_the_handle_of_the_call_that_it_interrupts(backend: pymluops.Backend) -> None:
    refused: list[Exception] = []
    with pymluops.Handle(backend) as handle:

        def misuse() -> None:
            for use in (lambda: align(handle=handle), handle.close):
                try:
                    use()
                except pymluops.BadParamError as error:
                    refused.append(error)
            raise AlarmError

        with alarm(misuse), pytest.raises(AlarmError):
            align(ENDLESS, handle=handle)
        assert [str(error).split(":")[0] for error in refused] == [SAMPLING.name, "Handle.close"]
        assert "signal handler" in str(refused[0])
        align(handle=handle)


def test_a_call_on_another_thread_goes_on() -> None:
    with pymluops.use("cpu"), ThreadPoolExecutor(1) as threads:
        wanted = align(LONG)
        found = threads.submit(align, LONG)
        with alarm(ring, 0.05), pytest.raises(AlarmError):
            wait([found])
        for one, other in zip(found.result(), wanted):
            assert_same_bits(one, other)


def test_a_wait_for_a_handle_that_another_thread_uses_can_be_interrupted() -> None:
    with pymluops.Handle("cpu") as handle, ThreadPoolExecutor(1) as threads:
        busy = threads.submit(align, 5 * LONG, handle=handle)
        with alarm(ring, 0.1), pytest.raises(AlarmError):
            call_while_running(busy, handle)
        busy.result()


def call_while_running(busy: Future[Any], handle: pymluops.Handle) -> None:
    while not busy.done():
        align(handle=handle)


# ---- on a device ---------------------------------------------------------------------------------


@pytest.fixture
def arrays() -> Iterator[tuple[pymluops.DeviceArray, pymluops.DeviceArray]]:
    backend = pymluops.load("sim")
    with (
        pymluops.DeviceArray.from_host(MAP, backend) as features,
        pymluops.DeviceArray.from_host(BOX, backend) as boxes,
    ):
        yield features, boxes


def test_interrupted_waits_end_the_launch_and_the_queue_serves_on(arrays: Any) -> None:
    with pymluops.Queue("sim") as queue, pymluops.Handle(queue=queue) as handle:
        waits: list[Callable[[], Any]] = [
            queue.sync,
            handle.sync,
            lambda: results[0].to_host(),
            lambda: results[0].copy_from(np.zeros(shape, np.float32)),
        ]
        results = SAMPLING.run(*arrays, 2, handle=handle)
        shape, wanted = results[0].shape, results[0].to_host()
        results = None  # to free memory waits for the kernel that runs
        for waiting in waits:
            sim.clear_findings()
            results = SAMPLING.run(*arrays, ENDLESS, handle=handle)
            with alarm(ring), pytest.raises(AlarmError):
                waiting()
            assert [(finding.checker, finding.rule) for finding in sim.findings()] == [("machine", "interrupted")]
            results = SAMPLING.run(*arrays, 2, handle=handle)
            assert_same_bits(results[0].to_host(), wanted)
            results = None
    sim.clear_findings()


def test_a_queue_that_is_interrupted_leaves_others_alone(arrays: Any) -> None:
    first, second = pymluops.Queue("sim"), pymluops.Queue("sim")
    with first, second, pymluops.Handle(queue=first) as one, pymluops.Handle(queue=second) as two:
        endless = SAMPLING.run(*arrays, ENDLESS, handle=one)
        behind = SAMPLING.run(*arrays, 2, handle=two)
        with alarm(ring), pytest.raises(AlarmError):
            first.sync()
        second.sync()
        assert_same_bits(behind[0].to_host(), align(handle=two)[0])
        del endless
    sim.clear_findings()


def test_what_is_dropped_while_it_runs_can_be_interrupted(arrays: Any) -> None:
    code = f"""
import signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, pymluops
pymluops.use("sim")
arrays = pymluops.DeviceArray.from_host(np.zeros({MAP.shape}, np.float32)), \\
    pymluops.DeviceArray.from_host(np.array({BOX.tolist()}, np.float32))
results = pymluops.{SAMPLING.name}(*arrays, {ENDLESS})
threading.Timer({SOON}, signal.raise_signal, [signal.SIGINT]).start()
try:
    del results  # its memory cannot be freed while the kernel runs
    for _ in range(1000):
        time.sleep(0.01)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr
