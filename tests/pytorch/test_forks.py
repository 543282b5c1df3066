"""Forks of a program that has used PyTorch's threads, which its children do not have."""

from __future__ import annotations

import pytest

from support.example import MOVING
from support.processes import python_output

# Children in every order of fork, import and call. Their tensors are made before, so that no
# operator of PyTorch itself needs threads in the child.
ORDERS = f"""
import multiprocessing, os, signal, sys, threading
import torch

torch.set_num_threads(2)
numbers = torch.rand(4_000_000)
(numbers * numbers + 1).sum()  # starts PyTorch's threads
clip, shifts = torch.ones(2, 8, 64, 4096), torch.zeros(2, 4, dtype=torch.int32)

def call(backend="cpu"):
    import pymluops
    import pymluops.torch
    with pymluops.use(backend):
        out = pymluops.torch.{MOVING.family}(clip if backend == "cpu" else clip[:, :, :, :4].contiguous(), shifts)
    return 0 if bool((out[0, 0, :, :4] == 1).all()) else 3

def call_with_other_numbers_of_threads():
    codes = [call()]
    for threads in (3, 1, 2):
        torch.set_num_threads(threads)
        codes.append(call())
    return max(codes)

def call_of_numpy_first():
    import pymluops
    frames, places = clip.numpy(), shifts.numpy()
    return 0 if (pymluops.{MOVING.name}(frames, places) == 1).all() and call() == 0 else 3

def call_of_mmcv():
    from pymluops.mmcv._extension import contents
    out = torch.empty_like(clip)
    contents()["{MOVING.name}"](clip, shifts, out)
    return 0 if bool((out[0, 0, 0] == 1).all()) else 3

def in_child(work):
    child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.alarm(20)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def in_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]

def in_a_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return max(pool.map_async(call, ["cpu"] * 4).get(timeout=60))

WAYS = {{
    "child": lambda: in_child(call),
    "child on the simulator": lambda: in_child(lambda: call("sim")),
    "child with other numbers of threads": lambda: in_child(call_with_other_numbers_of_threads),
    "child with NumPy first": lambda: in_child(call_of_numpy_first),
    "child with mmcv's names": lambda: in_child(call_of_mmcv),
    "child of a child": lambda: in_child(lambda: in_child(call)),
    "child that calls, then its child": lambda: in_child(lambda: max(call(), in_child(call))),
    "child of a thread": lambda: in_thread(lambda: in_child(call)),
    "thread of a child": lambda: in_child(lambda: in_thread(call)),
    "pool": in_a_pool,
}}

def failures(order):
    return [(order, way, code) for way, work in WAYS.items() if (code := work()) != 0]

failed = failures("imported in the child")
import pymluops
failed += failures("imported before the fork")
pymluops.load("cpu")
failed += failures("loaded before the fork")
import pymluops.torch
failed += failures("pymluops.torch imported before the fork")
assert call() == 0
failed += failures("called before the fork")
print(failed)
"""


@pytest.mark.thorough
def test_children_do_not_wait_for_threads_of_pytorch() -> None:
    assert python_output(ORDERS, PYMLUOPS_NUM_THREADS="") == "[]"
