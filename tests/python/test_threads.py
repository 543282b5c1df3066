"""The number of threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pymluops
from support import workload
from support.example import CHOOSING
from support.processes import python_output, run_python

PRINT = "import pymluops; print(pymluops.get_num_threads())"
DEFAULT = f"import os; os.environ.pop('PYMLUOPS_NUM_THREADS', None); {PRINT}"


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = pymluops.get_num_threads()
    yield
    pymluops.set_num_threads(before)


@pytest.mark.parametrize("number", [1, 2, 7, 100, 1024, np.int64(3)])
def test_what_is_set_is_got(number: Any) -> None:
    assert pymluops.set_num_threads(number) is None
    assert pymluops.get_num_threads() == number
    assert type(pymluops.get_num_threads()) is int


@pytest.mark.parametrize("number", [0, -1, 1025, 2**31, 2**64, 1.5, "2", None, True], ids=repr)
def test_numbers_that_are_refused(number: Any) -> None:
    before = pymluops.get_num_threads()
    with pytest.raises((pymluops.BadParamError, TypeError)):
        pymluops.set_num_threads(number)
    assert pymluops.get_num_threads() == before


def test_the_default_is_what_this_process_may_use() -> None:
    default = int(python_output(DEFAULT))
    assert 1 <= default <= len(os.sched_getaffinity(0))


def test_affinity_is_respected() -> None:
    one = f"import os; os.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}}); {DEFAULT}"
    assert python_output(one) == "1"


def test_the_environment_sets_the_number() -> None:
    assert python_output(PRINT, PYMLUOPS_NUM_THREADS="5") == "5"
    assert python_output(PRINT, PYMLUOPS_NUM_THREADS="1") == "1"


@pytest.mark.parametrize("nonsense", ["0", "-3", "many", "3.5", "99999999999999999999", " "])
def test_nonsense_in_the_environment_is_refused(nonsense: str) -> None:
    done = run_python(PRINT, PYMLUOPS_NUM_THREADS=nonsense)
    assert done.returncode == 1
    assert f"PYMLUOPS_NUM_THREADS: expected an integer from 1 to 1024, got {nonsense!r}" in done.stderr


@pytest.mark.parametrize("nonsense", ["0", "-3", "many", "3.5", "99999999999999999999", " "])
def test_the_library_itself_passes_over_nonsense_in_the_environment(nonsense: str) -> None:
    code = (
        "import os, pymluops; library = pymluops.load('cpu').lib\n"
        f"os.environ['PYMLUOPS_NUM_THREADS'] = {nonsense!r}; print(library.mluopsExtGetNumThreads())"
    )
    assert 1 <= int(python_output(code, PYMLUOPS_NUM_THREADS="")) <= 1024


def test_python_threads_with_handles_of_their_own_get_equal_results() -> None:
    expected, found = workload.digests(), []

    def use() -> None:
        with pymluops.Handle() as handle:
            found.append(workload.digests(handle))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [workload.differing(digests, expected) for digests in found] == [[]] * 4


def test_changing_the_number_while_others_compute_does_no_harm() -> None:
    expected, found, done = workload.digests(), [], threading.Event()

    def change() -> None:
        number = 0
        while not done.is_set():
            number = number % 8 + 1
            pymluops.set_num_threads(number)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        found.extend(workload.digests() for _ in range(3))
    finally:
        done.set()
        changer.join()
    assert [workload.differing(digests, expected) for digests in found] == [[]] * 3


def test_work_goes_on_without_the_gil() -> None:
    # While one thread is inside a long call, another must get to run Python code.
    rng = np.random.default_rng(0)
    x = rng.random((4, 64, 64, 15 * 15), np.float32)
    started, counted, finished = threading.Event(), [0], threading.Event()

    def compute() -> None:
        started.set()
        for _ in range(5):
            CHOOSING.run(x, "collect", 15)
        finished.set()

    thread = threading.Thread(target=compute)
    thread.start()
    started.wait()
    while not finished.is_set():
        counted[0] += 1
        finished.wait(0.001)
    thread.join()
    assert counted[0] >= 5
