"""The memory pool: memory of released results and workspaces is recycled, and never while anything shows it."""

from __future__ import annotations

import gc
import itertools
import os
import random
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pymluops
from pymluops._core import PooledMemory, pool_idle, set_pool_limit
from pymluops._pool import LEAST_BYTES, MOST_BYTES
from support.example import MOVING, PAIRING

MIB = 1 << 20


@pytest.fixture(autouse=True)
def pool() -> Iterator[None]:
    """An empty pool with a limit of 64 MiB; the default afterwards."""
    set_pool_limit(0)
    set_pool_limit(64 * MIB)
    yield
    gc.collect()
    set_pool_limit(128 * MIB)


def place(memory: object) -> int:
    return int(np.frombuffer(memory, np.uint8).ctypes.data)  # type: ignore[call-overload]


def result(seed: int = 1) -> np.ndarray:
    """A result of 10 MB whose values all are ``seed``."""
    values = np.full((2, 4, 8, 40_000), seed, np.float32)
    return MOVING.run(values, np.zeros((2, 2), np.int32))


def test_a_block_is_used_again_when_nothing_shows_it_any_more() -> None:
    first = PooledMemory(20 * MIB)
    assert pool_idle() == 0
    view = np.frombuffer(first, np.uint8)[2:70]
    where, view[...] = place(first), 7
    del first
    assert pool_idle() == 0  # the view still shows the first
    other = PooledMemory(20 * MIB)
    np.frombuffer(other, np.uint8)[...] = 1
    assert place(other) != where
    assert (view == 7).all()
    del view
    assert pool_idle() == 20 * MIB
    assert place(PooledMemory(20 * MIB)) == where


def test_it_is_aligned_writable_and_of_the_size_asked_for() -> None:
    for size in (0, 1, 63, 64, 65, 4097, LEAST_BYTES - 1, LEAST_BYTES, LEAST_BYTES + 1, MOST_BYTES, MOST_BYTES + 1):
        memory = PooledMemory(size)
        view = memoryview(memory)
        assert (len(memory), view.nbytes, view.readonly, view.format) == (size, size, False, "B")
        array = np.frombuffer(memory, np.uint8) if size else np.zeros(0)
        array[...] = 255
        assert size == 0 or place(memory) % 64 == 0
        del array, view, memory


@pytest.mark.parametrize("size", [0, 1, LEAST_BYTES - 64, MOST_BYTES + 1])
def test_small_and_huge_blocks_are_not_kept(size: int) -> None:
    set_pool_limit(256 * MIB)
    del (memory := [PooledMemory(size)])[:]
    assert not memory
    assert pool_idle() == 0


def test_sizes_that_cannot_be_had_are_refused() -> None:
    with pytest.raises(MemoryError):
        PooledMemory(sys.maxsize)
    with pytest.raises(ValueError, match="size"):
        PooledMemory(-1)
    with pytest.raises(OverflowError):
        PooledMemory(2**70)


def test_a_block_is_not_used_for_much_less() -> None:
    where = place(PooledMemory(40 * MIB))
    small = PooledMemory(8 * MIB)
    assert not where <= place(small) < where + 40 * MIB
    assert place(PooledMemory(21 * MIB)) == where


def test_the_smallest_block_that_fits_is_taken() -> None:
    blocks = [PooledMemory(size * MIB) for size in (12, 9, 15)]
    places = [place(block) for block in blocks]
    del blocks[:]
    assert place(PooledMemory(8 * MIB)) == places[1]
    held = PooledMemory(8 * MIB), PooledMemory(10 * MIB)
    assert [place(block) for block in held] == [places[1], places[0]]


def test_no_more_is_idle_than_the_limit_and_the_oldest_goes_first() -> None:
    set_pool_limit(20 * MIB)
    blocks = [PooledMemory(8 * MIB) for _ in range(5)]
    places = [place(block) for block in blocks]
    assert len(set(places)) == 5
    while blocks:
        blocks.pop(0)
        assert pool_idle() <= 20 * MIB
    assert pool_idle() == 16 * MIB
    held = PooledMemory(8 * MIB)
    assert place(held) == places[4]
    assert place(PooledMemory(8 * MIB)) == places[3]
    del held
    set_pool_limit(10 * MIB)
    assert pool_idle() == 8 * MIB
    del (large := [PooledMemory(16 * MIB)])[:]
    assert not large
    assert pool_idle() == 8 * MIB  # what is larger than the limit drives nothing out
    set_pool_limit(0)
    assert pool_idle() == 0


SIZES = st.integers(0, 24).map(lambda k: k * MIB // 2)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(["take", "drop", "limit"]), SIZES), max_size=40))
def test_any_order_of_takes_and_releases(steps: list[tuple[str, int]]) -> None:
    set_pool_limit(limit := 32 * MIB)
    held: list[tuple[PooledMemory, int]] = []
    for number, (step, size) in enumerate(steps):
        if step == "take":
            memory = PooledMemory(size)
            np.frombuffer(memory, np.uint8)[::4096] = number if size else 0
            held.append((memory, number))
        elif step == "limit":
            set_pool_limit(limit := size)
        elif held:
            held.pop(size % len(held))
        memory = None
        assert pool_idle() <= limit
        spans = sorted((place(block), place(block) + len(block)) for block, _ in held if len(block))
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
        assert all((np.frombuffer(block, np.uint8)[::4096] == value).all() for block, value in held if len(block))


def test_threads_never_share_a_block() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        rng, held = random.Random(number), []
        for _ in range(60):
            memory = PooledMemory(rng.choice((4, 5, 8)) * MIB)
            array = np.frombuffer(memory, np.uint8)[::4096]
            array[...] = number
            held.append(array)
            if len(held) > 2 and not (held.pop(rng.randrange(3)) == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pool_idle() <= 64 * MIB


def test_results_may_be_released_by_another_thread() -> None:
    results = [result(seed) for seed in range(3)]
    places = {array.ctypes.data for array in results}
    thread = threading.Thread(target=results.clear)
    thread.start()
    thread.join()
    assert pool_idle() >= 3 * results_size()
    assert result().ctypes.data in places


def results_size() -> int:
    return 2 * 4 * 8 * 40_000 * 4


def test_a_fork_while_others_take_and_release_leaves_the_child_a_pool_that_works() -> None:
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            PooledMemory(5 * MIB)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    memory = [PooledMemory(size * MIB) for size in (5, 6, 5)]
                    np.frombuffer(memory[2], np.uint8)[...] = 3
                    del memory
                    code = 0 if 16 * MIB <= pool_idle() <= 64 * MIB else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_operators_use_it_and_old_results_stay_as_they_are() -> None:
    first = result(3)
    assert isinstance(first.base, PooledMemory)
    assert first.flags.c_contiguous and first.flags.writeable and first.ctypes.data % 64 == 0
    second = result(4)
    assert (first == 3).all() and (second == 4).all()
    where, part = second.ctypes.data, first[1, 2:]
    del first, second
    third = result(5)
    assert third.ctypes.data == where
    assert (part == 3).all() and (third == 5).all()


def test_memory_that_other_libraries_look_at_is_not_used_again() -> None:
    array = result(6)
    seen, imported = memoryview(array), np.from_dlpack(array[1:])
    del array
    other = result(7)
    assert np.asarray(seen).ravel()[0] == 6 and imported.ravel()[-1] == 6
    assert other.ctypes.data != imported.ctypes.data


def test_a_refused_call_gives_its_memory_back() -> None:
    rows = np.zeros((1 << 18, 4), np.int32)
    rows[-1] = -1
    with pytest.raises(pymluops.BadParamError, match="row 262143"):
        PAIRING.run(rows, batch_size=1, spatial_shape=(64, 64, 64), kernel_size=3, padding=1, subm=True)
    gc.collect()
    assert 0 < pool_idle() <= 64 * MIB


def test_a_loop_of_calls_does_not_grow() -> None:
    result()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(30):
        result()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 25 * 1024  # KiB; 300 MiB if nothing were freed
    assert pool_idle() < 2 * results_size()


@pytest.mark.parametrize(("text", "idle"), [("0", 0), ("16", 6), ("5", 0), ("", 6), ("many", 6), ("-3", 6)])
def test_the_environment_says_how_much(text: str, idle: int) -> None:
    code = "from pymluops._core import PooledMemory, pool_idle; PooledMemory(6 << 20); print(pool_idle() >> 20)"
    found = subprocess.run(
        [sys.executable, "-c", code], env={"PYMLUOPS_POOL_MIB": text}, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == str(idle)


ROWS = 600_000


def many_rows() -> dict[str, object]:
    """Return arguments that need a workspace of more than 4 MiB."""
    rows = np.zeros((ROWS, 4), np.int32)
    rows[:, 2], rows[:, 3] = np.divmod(np.arange(ROWS), 1000)
    return {
        "indices": rows, "batch_size": 1, "spatial_shape": (1, 600, 1000),
        "kernel_size": 1, "stride": 1, "padding": 0, "subm": True,
    }  # fmt: skip


def test_a_large_workspace_is_used_again() -> None:
    found = PAIRING.run(**many_rows())
    workspace = pool_idle()  # the results are not idle yet
    assert workspace >= LEAST_BYTES
    for _ in range(3):
        pairs = found.indice_pairs
        found = PAIRING.run(**many_rows())
        assert np.array_equal(found.indice_pairs[0, 0], np.arange(ROWS))
        del pairs
    assert pool_idle() <= workspace + found.indice_pairs.nbytes


def test_a_workspace_that_cannot_be_had_is_named() -> None:
    code = (
        "import resource, numpy as np, pymluops\n"
        f"rows = np.zeros(({ROWS}, 4), np.int32)\n"
        f"rows[:, 2], rows[:, 3] = np.divmod(np.arange({ROWS}), 1000)\n"
        "kept = dict(batch_size=1, spatial_shape=(30, 6000, 10000), kernel_size=(1, 1, 1), subm=True)\n"
        "pymluops.set_num_threads(1)\n"
        f"pymluops.{PAIRING.name}(rows[:4], **kept)\n"
        "size = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmSize')) << 10\n"
        # Room for the result of 9.6 MB but not for the workspace behind it.
        "resource.setrlimit(resource.RLIMIT_AS, (size + (16 << 20),) * 2)\n"
        "try:\n"
        f"    pymluops.{PAIRING.name}(rows, **kept)\n"
        "except pymluops.AllocFailedError as error:\n"
        "    print(error)\n"
    )
    environment = os.environ | {"PYMLUOPS_POOL_MIB": "0", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert f"{PAIRING.name}: no memory for a workspace of" in done.stdout
