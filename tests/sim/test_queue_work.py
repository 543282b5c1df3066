"""Asynchronous work: what a queue orders, waits for and keeps."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, Handle, Queue, sim
from support.arrays import canary, is_canary
from support.comparison import assert_same_bits
from support.example import MOVING
from support.queues import FRAMES, MOVED, SHIFTS, device, held

pytestmark = pytest.mark.usefixtures("nothing_leaks")


def test_operators_and_copies_are_done_in_order_later() -> None:
    frames, shifts = device(np.zeros_like(FRAMES)), device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle:
        out = canary(FRAMES.shape, "float32")
        with held(queue) as go:
            frames.copy_from(FRAMES, queue)
            result = MOVING.run(frames, shifts, handle=handle)
            assert result.to_host(out, queue) is out
            assert not queue.done
            assert is_canary(out)
            go.set()
            queue.sync()
        assert queue.done
        assert_same_bits(out, MOVED)


def test_a_new_host_array_is_filled_when_the_queue_is_done() -> None:
    array = device(FRAMES)
    with Queue("sim") as queue:
        found = array.to_host(queue=queue)
        queue.sync()
        assert_same_bits(found, FRAMES)


def test_host_memory_of_a_copy_is_kept() -> None:
    array, room = DeviceArray((24,), "float32", "sim"), bytearray(96)
    with Queue("sim") as queue:
        with held(queue) as go:
            array.copy_from(np.arange(24, dtype=np.float32), queue)  # no other reference to this source
            array.to_host(memoryview(room).cast("f"), queue)
            with pytest.raises(BufferError):
                room.extend(b"more")
            go.set()
            queue.sync()
        room.extend(b"more")
    assert room[:96] == np.arange(24, dtype=np.float32).tobytes()


def test_numpy_arrays_of_a_queued_copy_are_kept() -> None:
    # Large enough to be given back to the system when they are freed.
    size = 1 << 22
    array = DeviceArray((size,), "float32", "sim")
    with Queue("sim") as queue:
        source, target = np.ones(size, np.float32), np.zeros(size, np.float32)
        alive = [weakref.ref(source), weakref.ref(target)]
        with held(queue) as go:
            other = DeviceArray.from_host(source, queue=queue)
            array.copy_from(source, queue)
            other.to_host(target, queue)
            del source, target
            gc.collect()
            assert all(reference() is not None for reference in alive)
            go.set()
            queue.sync()
        assert all(reference() is None for reference in alive), "kept for longer than the copies"
        assert array.to_host().min() == 1


def test_work_that_another_thread_is_about_to_queue_is_not_taken_for_done() -> None:
    # While one thread is between the number of its copy and the queue, another one waits for the
    # queue.
    array = DeviceArray((1 << 18,), "float32", "sim")
    with Queue("sim") as queue, ThreadPoolExecutor(2) as threads:
        stop = threading.Event()

        def wait() -> None:
            while not stop.is_set():
                queue.sync()

        waiting = threads.submit(wait)
        for number in range(300):
            array.copy_from(np.full(1 << 18, number, np.float32), queue)  # no other reference to this source
            if number % 10 == 0:
                found = array.to_host()
                assert found[0] == found[-1] == number
        stop.set()
        waiting.result()


def test_waiting_lets_other_threads_run() -> None:
    with Queue("sim") as queue, held(queue) as go:
        threading.Timer(0.05, go.set).start()
        queue.sync()
        assert go.is_set()


def test_an_array_waits_for_the_queue_that_writes_it() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle, held(queue) as go:
        result = MOVING.run(frames, shifts, handle=handle)
        threading.Timer(0.05, go.set).start()
        assert_same_bits(result.to_host(), MOVED)
        assert go.is_set()


def test_another_queue_waits_for_the_one_that_writes() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as first, Queue("sim") as second, Handle(queue=first) as one, Handle(queue=second) as two:
        with held(first) as go:
            between = MOVING.run(frames, shifts, handle=one)
            threading.Timer(0.05, go.set).start()
            result = MOVING.run(between, shifts, handle=two)
            assert go.is_set()
        assert_same_bits(result.to_host(), MOVING.run(MOVED, SHIFTS))


def test_writing_waits_for_the_queues_that_read() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle, held(queue) as go:
        result = MOVING.run(frames, shifts, handle=handle)
        threading.Timer(0.05, go.set).start()
        frames.copy_from(-FRAMES)
        assert go.is_set()
        assert_same_bits(result.to_host(), MOVED)


def test_two_queues_may_read_at_the_same_time() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as first, Queue("sim") as second, Handle(queue=first) as one, Handle(queue=second) as two:
        with held(first):
            slow = MOVING.run(frames, shifts, handle=one)
            quick = MOVING.run(frames, shifts, handle=two)
            out = quick.to_host(queue=second)
            assert not first.done
        assert_same_bits(slow.to_host(), MOVED)
        second.sync()
        assert_same_bits(out, MOVED)


def test_an_array_that_is_dropped_lives_until_its_queue_is_done() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle, held(queue) as go:
        frames, shifts = device(FRAMES), device(SHIFTS)
        result = MOVING.run(frames, shifts, handle=handle)
        assert not queue.done
        threading.Timer(0.05, go.set).start()
        del frames, shifts
        assert go.is_set(), "freed while the queue had to read them"
        assert_same_bits(result.to_host(), MOVED)


def test_nothing_waits_for_a_queue_that_a_function_holds() -> None:
    with Queue("sim") as first, Queue("sim") as second, Handle(queue=second) as handle, held(first) as go:
        waiting = device(np.zeros_like(FRAMES))
        waiting.copy_from(FRAMES, first)
        frames, shifts = device(FRAMES), device(SHIFTS)
        result = MOVING.run(frames, shifts, handle=handle)
        assert_same_bits(result.to_host(), MOVED)
        assert_same_bits(MOVING.run(FRAMES, SHIFTS, handle=handle), MOVED)
        with pymluops.use("sim"):
            assert_same_bits(MOVING.run(FRAMES, SHIFTS), MOVED)
        for array in (frames, shifts, result):
            array.close()
        second.sync()
        assert not first.done
        go.set()
        assert_same_bits(waiting.to_host(), FRAMES)


def test_closing_waits_for_the_work() -> None:
    out = canary(FRAMES.shape, "float32")
    array, queue = device(FRAMES), Queue("sim")
    with held(queue) as go:
        array.to_host(out, queue)
        threading.Timer(0.05, go.set).start()
        queue.close()
        assert_same_bits(out, FRAMES)


def test_a_queue_that_ends_is_waited_for_by_those_who_need_its_work() -> None:
    before = sim.counters().live_queues
    frames, shifts = device(FRAMES), device(SHIFTS)
    queue = Queue("sim")
    handle = Handle(queue=queue)
    with held(queue) as go, ThreadPoolExecutor(3) as threads:
        result = MOVING.run(frames, shifts, handle=handle)
        last = [queue, handle]
        del queue, handle
        ending = threads.submit(last.clear)
        readers = [threads.submit(result.to_host) for _ in range(2)]
        time.sleep(0.05)
        assert not ending.done()
        assert not any(reader.done() for reader in readers)
        go.set()
        assert ending.result() is None
        for reader in readers:
            assert_same_bits(reader.result(), MOVED)
    assert sim.counters().live_queues == before


def test_an_array_that_is_closed_waits_for_all_queues_that_used_it() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as first, Queue("sim") as second, Handle(queue=first) as one, Handle(queue=second) as two:
        with held(second) as go:
            kept = [MOVING.run(frames, shifts, handle=handle) for handle in (two, one)]
            threading.Timer(0.05, go.set).start()
            frames.close()
            assert go.is_set()
        assert_same_bits(kept[0].to_host(), MOVED)


def test_what_a_function_of_a_queue_drops_is_freed_later() -> None:
    before = sim.counters()
    backend, done = pymluops.load("sim"), threading.Event()
    dropped: list[Any] = [device(FRAMES), Queue("sim")]
    out = np.zeros_like(FRAMES)

    @backend.ffi.callback("cnrtHostFn_t")
    def drop(_: Any) -> None:
        dropped.clear()
        done.set()

    with Queue("sim") as queue, held(dropped[1]) as go:
        dropped[0].to_host(out, dropped[1])  # cannot be done yet
        address = backend.ffi.cast("cnrtQueue_t", queue.address)
        assert backend.lib.cnrtInvokeHostFunc(address, drop, backend.ffi.NULL) == 0
        assert done.wait(60)
        assert not out.any()
        go.set()
    device(FRAMES).close()
    after = sim.counters()
    assert_same_bits(out, FRAMES)
    assert (after.live_allocations, after.live_queues) == (before.live_allocations, before.live_queues)
