"""Queue: work that is done in order while Python goes on, and how its errors come back."""

from __future__ import annotations

import gc
import pickle
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, Handle, Queue, sim
from support import assert_same_bits, canary, is_canary

FRAMES = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2)
SHIFTS = np.array([[1, -1], [0, 2]], np.int32)
MOVED = pymluops.tin_shift_forward(FRAMES, SHIFTS)


@pytest.fixture(autouse=True)
def nothing_leaks() -> Any:
    """Every test gives back what it took on the device, and leaves no error in the default queue."""
    pymluops.load("sim")
    gc.collect()
    before = sim.counters()
    yield
    gc.collect()
    after = sim.counters()
    assert (after.live_allocations, after.live_queues) == (before.live_allocations, before.live_queues)
    with Handle("sim") as handle:
        handle.sync()


@contextmanager
def held(queue: Queue) -> Iterator[threading.Event]:
    """Let a queue stand still until the event is set, which the end of the block does too."""
    backend, go = queue.backend, threading.Event()

    @backend.ffi.callback("cnrtHostFn_t")
    def wait(_: Any) -> None:
        go.wait(60)

    assert backend.lib.cnrtInvokeHostFunc(backend.ffi.cast("cnrtQueue_t", queue.address), wait, backend.ffi.NULL) == 0
    alive = weakref.ref(queue)
    del queue  # the block may drop it
    try:
        yield go
    finally:
        go.set()
        left = alive()
        if left is not None and not left.closed:
            left.sync()


@contextmanager
def init_checker() -> Iterator[None]:
    """Let the init checker watch. Its first launch takes what exists for written; inputs are to be made after that."""
    with sim.checking("init"), Handle("sim") as handle:
        pymluops.tin_shift_forward(FRAMES, SHIFTS, handle=handle)
        yield


def device(array: np.ndarray) -> DeviceArray:
    return DeviceArray.from_host(array, "sim")


def unwritten() -> DeviceArray:
    """An input that makes a kernel fail when the init checker watches."""
    return DeviceArray(FRAMES.shape, "float32", "sim")


# ---- its life --------------------------------------------------------------------------------------------------------


def test_a_queue_is_made_and_destroyed() -> None:
    before = sim.counters().live_queues
    with Queue("sim") as queue:
        assert sim.counters().live_queues == before + 1
        assert queue.backend is pymluops.load("sim")
        assert isinstance(queue.address, int)
        assert queue.address != 0
        assert queue.done
        queue.sync()
        assert repr(queue) == "<pymluops.Queue on sim>"
        assert not queue.closed
    assert queue.closed
    assert sim.counters().live_queues == before
    assert repr(queue) == "<pymluops.Queue on sim, closed>"
    queue.close()
    dropped = Queue("sim")
    del dropped
    assert sim.counters().live_queues == before


def test_use_after_close_raises() -> None:
    queue, array = Queue("sim"), device(FRAMES)
    queue.close()
    uses = [
        queue.sync,
        lambda: queue.done,
        lambda: queue.address,
        queue.__enter__,
        lambda: Handle(queue=queue),
        lambda: array.to_host(queue=queue),
        lambda: array.copy_from(FRAMES, queue),
        lambda: DeviceArray.from_host(FRAMES, queue=queue),
    ]
    for use in uses:
        with pytest.raises(pymluops.NotInitializedError, match="closed"):
            use()


def test_the_cpu_has_no_queues() -> None:
    with pytest.raises(pymluops.NotSupportedError, match=r"Queue.*cpu"):
        Queue("cpu")
    with pymluops.use("cpu"), pytest.raises(NotImplementedError):
        Queue()


def test_the_default_backend_is_taken() -> None:
    with pymluops.use("sim"), Queue() as queue:
        assert queue.backend is pymluops.load("sim")


def test_a_queue_cannot_be_pickled() -> None:
    with Queue("sim") as queue, pytest.raises(TypeError, match="pickled"):
        pickle.dumps(queue)


@pytest.mark.parametrize("queue", [0, "queue", object()], ids=type)
def test_what_is_no_queue_is_refused(queue: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="to_host: queue"):
        device(FRAMES).to_host(queue=queue)
    with pytest.raises(pymluops.BadParamError, match="from_host: queue"):
        DeviceArray.from_host(FRAMES, "sim", queue)


# ---- handles ---------------------------------------------------------------------------------------------------------


def test_a_handle_takes_the_backend_of_its_queue() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle:
        assert handle.backend is queue.backend
        with pytest.raises(pymluops.BadParamError, match="Handle: queue: expected a Queue on cpu"):
            Handle("cpu", queue=queue)


def test_a_handle_keeps_its_queue() -> None:
    before = sim.counters().live_queues
    handle = Handle(queue=Queue("sim"))
    gc.collect()
    assert sim.counters().live_queues == before + 1
    assert_same_bits(pymluops.tin_shift_forward(device(FRAMES), device(SHIFTS), handle=handle).to_host(), MOVED)
    handle.close()
    assert sim.counters().live_queues == before


def test_a_closed_queue_refuses_its_handles() -> None:
    before = sim.counters().live_queues
    queue = Queue("sim")
    handle, out = Handle(queue=queue), canary(FRAMES.shape, "float32")
    queue.close()
    assert sim.counters().live_queues == before + 1, "not destroyed under a handle"
    with pytest.raises(pymluops.NotInitializedError, match="queue is closed"):
        pymluops.tin_shift_forward(FRAMES, SHIFTS, out=out, handle=handle)
    assert is_canary(out)
    handle.close()
    assert sim.counters().live_queues == before


def test_the_queue_of_a_handle() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle:
        assert handle.queue is queue
    with pytest.raises(pymluops.NotInitializedError):
        _ = handle.queue
    with Handle("sim") as handle:
        assert handle.queue is None


def test_a_handle_keeps_its_queue_open() -> None:
    with Handle(queue=Queue("sim")) as handle:
        gc.collect()
        assert not handle.queue.closed
        array = DeviceArray.from_host(np.zeros((1, 2, 2, 1), np.float32), "sim")
        shifts = DeviceArray.from_host(np.zeros((1, 1), np.int32), "sim")
        moved = pymluops.tin_shift_forward(array, shifts, handle=handle)
        handle.queue.sync()
        assert handle.queue.done
        assert not moved.to_host().any()
        queue = weakref.ref(handle.queue)
    assert queue() is None


def test_a_queue_of_somebody_else() -> None:
    backend = pymluops.load("sim")
    slot = backend.ffi.new("cnrtQueue_t *")
    assert backend.lib.cnrtQueueCreate(slot) == 0
    address = int(backend.ffi.cast("uintptr_t", slot[0]))
    with Handle(backend, queue=address) as handle:
        assert handle.queue == address
        result = pymluops.tin_shift_forward(device(FRAMES), device(SHIFTS), handle=handle)
    # The handle has waited for what it started, so its array needs the queue no more.
    assert backend.lib.cnrtQueueDestroy(slot[0]) == 0
    assert_same_bits(result.to_host(), MOVED)


def test_a_queue_that_is_none_is_told() -> None:
    with Handle("sim", queue=0x1000) as handle, pytest.raises(pymluops.MluOpError, match="queue"):
        handle.sync()


def test_an_operator_on_a_queue_that_is_gone_says_its_name() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Handle("sim", queue=0x1000) as handle:
        for operator in (pymluops.tin_shift_forward, pymluops.tin_shift_backward):
            with pytest.raises(pymluops.MluOpError) as caught:
                operator(frames, shifts, handle=handle)
            assert str(caught.value).startswith(f"mluOp{operator.__name__.title().replace('_', '')}: ")


# ---- asynchronous work -----------------------------------------------------------------------------------------------


def test_operators_and_copies_are_done_in_order_later() -> None:
    frames, shifts = device(np.zeros_like(FRAMES)), device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle:
        out = canary(FRAMES.shape, "float32")
        with held(queue) as go:
            frames.copy_from(FRAMES, queue)
            result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
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
    # While one thread is between the number of its copy and the queue, another one waits for the queue.
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
        result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
        threading.Timer(0.05, go.set).start()
        assert_same_bits(result.to_host(), MOVED)
        assert go.is_set()


def test_another_queue_waits_for_the_one_that_writes() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as first, Queue("sim") as second, Handle(queue=first) as one, Handle(queue=second) as two:
        with held(first) as go:
            between = pymluops.tin_shift_forward(frames, shifts, handle=one)
            threading.Timer(0.05, go.set).start()
            result = pymluops.tin_shift_forward(between, shifts, handle=two)
            assert go.is_set()
        assert_same_bits(result.to_host(), pymluops.tin_shift_forward(MOVED, SHIFTS))


def test_writing_waits_for_the_queues_that_read() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle, held(queue) as go:
        result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
        threading.Timer(0.05, go.set).start()
        frames.copy_from(-FRAMES)
        assert go.is_set()
        assert_same_bits(result.to_host(), MOVED)


def test_two_queues_may_read_at_the_same_time() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Queue("sim") as first, Queue("sim") as second, Handle(queue=first) as one, Handle(queue=second) as two:
        with held(first):
            slow = pymluops.tin_shift_forward(frames, shifts, handle=one)
            quick = pymluops.tin_shift_forward(frames, shifts, handle=two)
            out = quick.to_host(queue=second)
            assert not first.done
        assert_same_bits(slow.to_host(), MOVED)
        second.sync()
        assert_same_bits(out, MOVED)


def test_an_array_that_is_dropped_lives_until_its_queue_is_done() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle, held(queue) as go:
        frames, shifts = device(FRAMES), device(SHIFTS)
        result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
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
        result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
        assert_same_bits(result.to_host(), MOVED)
        assert_same_bits(pymluops.tin_shift_forward(FRAMES, SHIFTS, handle=handle), MOVED)
        with pymluops.use("sim"):
            assert_same_bits(pymluops.tin_shift_forward(FRAMES, SHIFTS), MOVED)
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
        result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
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
            kept = [pymluops.tin_shift_forward(frames, shifts, handle=handle) for handle in (two, one)]
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


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_what_fails_is_raised_by_sync() -> None:
    shifts = device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        pymluops.tin_shift_forward(unwritten(), shifts, handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            queue.sync()
        assert str(caught.value) == sim.report()
        assert caught.value.findings
        assert caught.value.findings[0].checker == "init"
        assert "tin_shift" in caught.value.findings[0].file
        assert caught.value.findings[0].line > 0
        queue.sync()  # once
        # The queue serves on.
        result = pymluops.tin_shift_forward(device(FRAMES), shifts, handle=handle)
        assert_same_bits(result.to_host(), MOVED)


def test_what_fails_is_raised_where_its_result_is_asked_for() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        result = pymluops.tin_shift_forward(unwritten(), device(SHIFTS), handle=handle)
        out = canary(FRAMES.shape, "float32")
        with pytest.raises(pymluops.ExecutionFailedError):
            result.to_host(out)
        assert is_canary(out)


def test_what_fails_is_raised_by_query_and_close() -> None:
    shifts = device(SHIFTS)
    with init_checker():
        queue = Queue("sim")
        handle = Handle(queue=queue)
        result = pymluops.tin_shift_forward(unwritten(), shifts, handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError):
            _query_until_done(queue)
        result = pymluops.tin_shift_forward(unwritten(), shifts, handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError):
            queue.close()
        assert queue.closed
        queue.close()
        del result


def _query_until_done(queue: Queue) -> None:
    while not queue.done:
        pass


def test_the_error_that_ends_a_block_is_the_one_to_see() -> None:
    shifts = device(SHIFTS)
    with init_checker():
        queue = Queue("sim")
        with pytest.raises(KeyError):
            _fail_twice(queue, shifts)
        assert queue.closed


def _fail_twice(queue: Queue, shifts: DeviceArray) -> None:
    with queue:
        pymluops.tin_shift_forward(unwritten(), shifts, handle=Handle(queue=queue))
        raise KeyError


def test_what_fails_is_not_lost_with_its_arrays() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        pymluops.tin_shift_forward(unwritten(), device(SHIFTS), handle=handle).close()
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            handle.sync()
        assert caught.value.findings


def test_what_failed_before_does_not_pass_for_the_next_call() -> None:
    out = canary(FRAMES.shape, "float32")
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        failing = pymluops.tin_shift_forward(unwritten(), device(SHIFTS), handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError):
            pymluops.tin_shift_forward(FRAMES, SHIFTS, out=out, handle=handle)
        assert is_canary(out)
        assert_same_bits(pymluops.tin_shift_forward(FRAMES, SHIFTS, out=out, handle=handle), MOVED)
        del failing


def test_errors_can_be_pickled_with_their_findings() -> None:
    with Handle("sim") as handle, init_checker():
        pymluops.tin_shift_forward(unwritten(), device(SHIFTS), handle=handle).close()
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            handle.sync()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is pymluops.ExecutionFailedError
    assert (str(again), again.findings) == (str(caught.value), caught.value.findings)
    assert again.status is pymluops.Status.EXECUTION_FAILED


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_queues_and_launches_from_four_threads() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)

    def work(_: int) -> bool:
        for _ in range(250):
            with Queue("sim") as queue, Handle(queue=queue) as handle:
                result = pymluops.tin_shift_forward(frames, shifts, handle=handle)
                found = result.to_host(queue=queue)
                queue.sync()
                if not np.array_equal(found, MOVED):
                    return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(4)))


def test_one_queue_serves_four_threads() -> None:
    with Queue("sim") as queue:

        def work(_: int) -> bool:
            with Handle(queue=queue) as handle:
                for _ in range(100):
                    result = pymluops.tin_shift_forward(device(FRAMES), device(SHIFTS), handle=handle)
                    if not np.array_equal(result.to_host(), MOVED):
                        return False
            return True

        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(work, range(4)))
