"""After a fork the child computes on a pool of its own, whatever the parent had running."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import pymluops
from abi.c_objects import RawAbi
from abi.everything import SEVERAL, digests
from abi.facts import SUCCESS
from support.example import MOVING, SAMPLING

TIMEOUT_SECONDS = 60


@pytest.fixture
def four_threads(abi: RawAbi) -> Iterator[None]:
    """More threads than one, so that the pool is used whatever the machine has."""
    before = abi.lib.mluopsExtGetNumThreads()
    assert abi.lib.mluopsExtSetNumThreads(4) == SUCCESS
    yield
    assert abi.lib.mluopsExtSetNumThreads(before) == SUCCESS


def exit_code_of_child(work: Callable[[], bool]) -> int:
    """Fork, run `work` in the child, and wait; a child that hangs is killed and gives -9."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            sys.stderr.flush()
            os._exit(code)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -9


pytestmark = [
    pytest.mark.usefixtures("four_threads"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]


def test_child_computes_the_same(abi: RawAbi) -> None:
    wanted = digests(abi, SEVERAL)  # the parent's pool is running now
    assert exit_code_of_child(lambda: digests(abi, SEVERAL) == wanted) == 0
    assert digests(abi, SEVERAL) == wanted  # and still works afterwards


def test_grandchild_computes_the_same(abi: RawAbi) -> None:
    wanted = digests(abi, SEVERAL)

    def child() -> bool:
        return digests(abi, SEVERAL) == wanted and exit_code_of_child(lambda: digests(abi, SEVERAL) == wanted) == 0

    assert exit_code_of_child(child) == 0


def test_fork_while_other_threads_compute(abi: RawAbi) -> None:
    wanted = digests(abi, SEVERAL)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            digests(abi, [MOVING.function, SAMPLING.function])

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert exit_code_of_child(lambda: digests(abi, SEVERAL) == wanted) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_objects_of_the_parent_serve_the_child(abi: RawAbi) -> None:
    handle, desc = abi.handle(), abi.tensor((2, 3))

    def child() -> bool:
        same = abi.state(desc).dims == (2, 3)
        extra = abi.new_tensor()
        destroyed = abi.lib.mluOpDestroyTensorDescriptor(extra) == SUCCESS
        return same and destroyed and abi.lib.mluOpUpdateContextInformation(handle) == SUCCESS

    assert exit_code_of_child(child) == 0


def test_fork_while_other_threads_create_objects(abi: RawAbi) -> None:
    """A lock of the descriptor pool that another thread holds at the fork must not be waited for in the child."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            abi.lib.mluOpDestroyTensorDescriptor(abi.new_tensor())
            abi.lib.mluOpDestroy(abi.new_handle())

    def child() -> bool:
        for _ in range(100):
            if abi.lib.mluOpDestroyTensorDescriptor(abi.new_tensor()) or abi.lib.mluOpDestroy(abi.new_handle()):
                return False
        return True

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        assert [exit_code_of_child(child) for _ in range(30)] == [0] * 30
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _in_a_process(connection: multiprocessing.connection.Connection) -> None:
    connection.send(digests(RawAbi(pymluops.load("cpu")), SEVERAL))
    connection.close()


def test_multiprocessing_fork(abi: RawAbi) -> None:
    wanted = digests(abi, SEVERAL)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_in_a_process, args=(sender,))
    process.start()
    try:
        assert receiver.poll(TIMEOUT_SECONDS), "the process did not answer"
        assert receiver.recv() == wanted
        process.join(TIMEOUT_SECONDS)
        assert process.exitcode == 0
    finally:
        process.kill()
