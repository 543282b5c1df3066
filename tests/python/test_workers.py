"""Processes that engines start: operators work in them, however they are started, and threads do not multiply."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pymluops
from support.example import MOVING
from support.processes import python_output

METHODS = ["fork", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("spawn", "forkserver"))]
PRINT = "import pymluops; print(pymluops.get_num_threads())"


def work(backend: str) -> tuple[int, list[float]]:
    """The number of threads in this process, and what an operator gives there on a library."""
    frames, shift = np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1), np.array([[1]], np.int32)
    with pymluops.use(backend):
        moved = MOVING.run(frames, shift)
    return pymluops.get_num_threads(), moved.ravel().tolist()


POOL = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}]
from multiprocessing import get_context
from concurrent.futures import ProcessPoolExecutor
import pymluops
from test_workers import work
if __name__ == "__main__":
    if sys.argv[2] != "0":
        pymluops.set_num_threads(int(sys.argv[2]))
    before = [work(name) for name in ("cpu", "sim")]  # both libraries are at work when processes are forked
    context = get_context(sys.argv[1])
    with context.Pool(2) as pool:
        found = pool.map(work, ["cpu", "sim"] * 2)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        found += executor.map(work, ["sim", "cpu"])
    assert {{str(values) for _, values in found + before}} == {{"[0.0, 0.0, 1.0, 2.0]"}}, found
    assert before[0][0] == pymluops.get_num_threads()
    print(*sorted({{threads for threads, _ in found}}))
"""


def in_pools(folder: Path, method: str, number: int = 0, **environment: str) -> str:
    """The numbers of threads in the processes of a pool; `number` is what the program sets before, if it is not 0."""
    script = folder / "pools.py"
    script.write_text(POOL)
    run = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    return python_output(run, str(script), method, str(number), **environment)


@pytest.mark.parametrize("method", METHODS)
def test_the_processes_of_a_pool_have_one_thread_each(method: str, tmp_path: Path) -> None:
    assert in_pools(tmp_path, method, PYMLUOPS_NUM_THREADS="") == "1"


@pytest.mark.parametrize("method", METHODS)
def test_a_number_in_the_environment_counts_in_a_pool_too(method: str, tmp_path: Path) -> None:
    assert in_pools(tmp_path, method, PYMLUOPS_NUM_THREADS="3") == "3"


def test_a_number_that_the_program_chose_counts_in_what_it_forks(tmp_path: Path) -> None:
    assert in_pools(tmp_path, "fork", 5, PYMLUOPS_NUM_THREADS="") == "5"


def test_a_process_that_is_forked_by_hand_keeps_its_number() -> None:
    code = f"import os; {PRINT}; sys = __import__('sys'); sys.stdout.flush()\nif os.fork() == 0:\n"
    code += "    print(pymluops.get_num_threads(), flush=True)\n    os._exit(0)\nos.wait()"
    first, second = python_output(code, PYMLUOPS_NUM_THREADS="").split()
    assert first == second


@pytest.mark.parametrize(("limit", "number"), [("1,4", 1), ("512", 512), ("many", 512)])
def test_the_variable_of_openmp_is_an_upper_limit(limit: str, number: int) -> None:
    found = int(python_output(PRINT, PYMLUOPS_NUM_THREADS="", OMP_NUM_THREADS=limit))
    assert found == min(number, int(python_output(PRINT, PYMLUOPS_NUM_THREADS="", OMP_NUM_THREADS="")))


def test_the_own_variable_counts_before_that_of_openmp() -> None:
    assert python_output(PRINT, PYMLUOPS_NUM_THREADS="3", OMP_NUM_THREADS="1") == "3"
