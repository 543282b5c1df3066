"""The threads that operators run on under PyTorch: its own, but in the child of a fork."""

from __future__ import annotations

import pytest

from support.example import MOVING
from support.processes import python_output

pytest.importorskip("torch")

PROGRAM = f"""
import os, torch, pymluops, pymluops.torch as ops
torch.set_num_threads(3)
(torch.randn(1 << 20) * 2).sum()  # starts the threads of OpenMP
clip, shifts = torch.randn(2, 4, 64, 4096), torch.ones(2, 2, dtype=torch.int32)
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
moved = ops.{MOVING.family}(clip, shifts)
"""


def test_operators_run_on_the_threads_of_torch() -> None:
    assert python_output(PROGRAM + "print(count() - before, pymluops.get_num_threads())") == "0 3"


def test_a_number_of_its_own_means_threads_of_its_own() -> None:
    code = PROGRAM + "print(count() - before, pymluops.get_num_threads())"
    assert python_output(code, PYMLUOPS_NUM_THREADS="3") == "2 3"


def test_other_numbers_of_threads_have_no_team() -> None:
    code = PROGRAM + f"pymluops.set_num_threads(2); ops.{MOVING.family}(clip, shifts); print(count() - before)"
    assert python_output(code) == "1"


# OpenMP's threads do not exist in the child, where a region of several threads would wait for them
# forever. NumPy compares, since an operator of PyTorch would begin one.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_child_of_a_fork_has_threads_of_its_own() -> None:
    code = f"""
child = os.fork()
if child == 0:
    before = count()
    equal = bool((ops.{MOVING.family}(clip, shifts).numpy() == moved.numpy()).all())
    os._exit(10 * equal + count() - before)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert python_output(PROGRAM + code) == "12"


def test_calls_of_several_python_threads() -> None:
    code = f"""
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(all(pool.map(lambda _: torch.equal(ops.{MOVING.family}(clip, shifts), moved), range(40))))
"""
    assert python_output(PROGRAM + code) == "True"
