"""Queue: work that is done in order while Python goes on, and how its errors come back."""

from __future__ import annotations

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, Handle, Queue, sim
from support.arrays import canary, is_canary
from support.comparison import assert_same_bits
from support.example import MOVING, MOVING_BACK
from support.queues import FRAMES, MOVED, SHIFTS, device, init_checker, unwritten

pytestmark = pytest.mark.usefixtures("nothing_leaks")


# ---- its life ------------------------------------------------------------------------------------


def test_query_is_the_deprecated_name_of_done() -> None:
    with Queue(backend="sim") as queue, pytest.warns(DeprecationWarning, match=r"Queue\.query\(\) is deprecated"):
        assert queue.query()


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


# ---- handles -------------------------------------------------------------------------------------


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
    assert_same_bits(MOVING.run(device(FRAMES), device(SHIFTS), handle=handle).to_host(), MOVED)
    handle.close()
    assert sim.counters().live_queues == before


def test_a_closed_queue_refuses_its_handles() -> None:
    before = sim.counters().live_queues
    queue = Queue("sim")
    handle, out = Handle(queue=queue), canary(FRAMES.shape, "float32")
    queue.close()
    assert sim.counters().live_queues == before + 1, "not destroyed under a handle"
    with pytest.raises(pymluops.NotInitializedError, match="queue is closed"):
        MOVING.run(FRAMES, SHIFTS, out=out, handle=handle)
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
        moved = MOVING.run(array, shifts, handle=handle)
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
        result = MOVING.run(device(FRAMES), device(SHIFTS), handle=handle)
    # The handle has waited for what it started, so its array needs the queue no more.
    assert backend.lib.cnrtQueueDestroy(slot[0]) == 0
    assert_same_bits(result.to_host(), MOVED)


def test_a_queue_that_is_none_is_told() -> None:
    with Handle("sim", queue=0x1000) as handle, pytest.raises(pymluops.MluOpError, match="queue"):
        handle.sync()


def test_an_operator_on_a_queue_that_is_gone_says_its_name() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)
    with Handle("sim", queue=0x1000) as handle:
        for operator in (MOVING.run, MOVING_BACK.run):
            with pytest.raises(pymluops.MluOpError) as caught:
                operator(frames, shifts, handle=handle)
            assert str(caught.value).startswith(f"mluOp{operator.__name__.title().replace('_', '')}: ")


# ---- errors --------------------------------------------------------------------------------------


def test_what_fails_is_raised_by_sync() -> None:
    shifts = device(SHIFTS)
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        MOVING.run(unwritten(), shifts, handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            queue.sync()
        assert str(caught.value) == sim.report()
        assert caught.value.findings
        assert caught.value.findings[0].checker == "init"
        assert MOVING.family in caught.value.findings[0].file
        assert caught.value.findings[0].line > 0
        queue.sync()  # once
        # The queue serves on.
        result = MOVING.run(device(FRAMES), shifts, handle=handle)
        assert_same_bits(result.to_host(), MOVED)


def test_what_fails_is_raised_where_its_result_is_asked_for() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        result = MOVING.run(unwritten(), device(SHIFTS), handle=handle)
        out = canary(FRAMES.shape, "float32")
        with pytest.raises(pymluops.ExecutionFailedError):
            result.to_host(out)
        assert is_canary(out)


def test_what_fails_is_raised_by_query_and_close() -> None:
    shifts = device(SHIFTS)
    with init_checker():
        queue = Queue("sim")
        handle = Handle(queue=queue)
        result = MOVING.run(unwritten(), shifts, handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError):
            _query_until_done(queue)
        result = MOVING.run(unwritten(), shifts, handle=handle)
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
        MOVING.run(unwritten(), shifts, handle=Handle(queue=queue))
        raise KeyError


def test_what_fails_is_not_lost_with_its_arrays() -> None:
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        MOVING.run(unwritten(), device(SHIFTS), handle=handle).close()
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            handle.sync()
        assert caught.value.findings


def test_what_failed_before_does_not_pass_for_the_next_call() -> None:
    out = canary(FRAMES.shape, "float32")
    with Queue("sim") as queue, Handle(queue=queue) as handle, init_checker():
        failing = MOVING.run(unwritten(), device(SHIFTS), handle=handle)
        with pytest.raises(pymluops.ExecutionFailedError):
            MOVING.run(FRAMES, SHIFTS, out=out, handle=handle)
        assert is_canary(out)
        assert_same_bits(MOVING.run(FRAMES, SHIFTS, out=out, handle=handle), MOVED)
        del failing


def test_errors_can_be_pickled_with_their_findings() -> None:
    with Handle("sim") as handle, init_checker():
        MOVING.run(unwritten(), device(SHIFTS), handle=handle).close()
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            handle.sync()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is pymluops.ExecutionFailedError
    assert (str(again), again.findings) == (str(caught.value), caught.value.findings)
    assert again.status is pymluops.Status.EXECUTION_FAILED


# ---- threads -------------------------------------------------------------------------------------


def test_queues_and_launches_from_four_threads() -> None:
    frames, shifts = device(FRAMES), device(SHIFTS)

    def work(_: int) -> bool:
        for _ in range(250):
            with Queue("sim") as queue, Handle(queue=queue) as handle:
                result = MOVING.run(frames, shifts, handle=handle)
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
                    result = MOVING.run(device(FRAMES), device(SHIFTS), handle=handle)
                    if not np.array_equal(result.to_host(), MOVED):
                        return False
            return True

        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(work, range(4)))
