"""Handle and SparseConvolutionDescriptor: objects that a library keeps and Python closes."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import Handle, SparseConvolutionDescriptor
from support.arrays import canary, is_canary
from support.example import MOVING, PAIRING

SOURCE = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)
SHIFTS = np.zeros((1, 2), np.int32)


def test_with_block_closes() -> None:
    with Handle() as handle:
        np.testing.assert_array_equal(MOVING.run(SOURCE, SHIFTS, handle=handle), SOURCE)
    with pytest.raises(pymluops.MluOpError, match="closed"):
        MOVING.run(SOURCE, SHIFTS, handle=handle)


def test_close_is_idempotent_and_use_after_it_raises() -> None:
    handle, out = Handle(), canary(SOURCE.shape, "float32")
    handle.close()
    handle.close()
    with pytest.raises(pymluops.MluOpError):
        MOVING.run(SOURCE, SHIFTS, out=out, handle=handle)
    assert is_canary(out)
    with pytest.raises(pymluops.MluOpError):
        _ = handle.cdata
    with pytest.raises(pymluops.MluOpError), handle:
        pass
    assert "closed" in repr(handle)


def test_a_with_block_that_raises_closes_too() -> None:
    with pytest.raises(KeyError), Handle() as handle:
        raise KeyError
    with pytest.raises(pymluops.MluOpError):
        MOVING.run(SOURCE, SHIFTS, handle=handle)


@pytest.mark.parametrize(
    "handle", [0, "cpu", object(), SHIFTS, Handle], ids=["int", "name", "object", "array", "class"]
)
def test_what_is_no_handle_is_refused(handle: Any) -> None:
    out = canary(SOURCE.shape, "float32")
    with pytest.raises((pymluops.BadParamError, TypeError), match="handle"):
        MOVING.run(SOURCE, SHIFTS, out=out, handle=handle)
    assert is_canary(out)


def test_a_handle_names_its_backend_in_three_ways() -> None:
    backend = pymluops.load("cpu")
    for given in (None, "cpu", backend, backend.path):
        with Handle(given) as handle:
            MOVING.run(SOURCE, SHIFTS, handle=handle)
    with Handle(backend=backend, queue=None):
        pass


def test_cdata_works_with_the_raw_library_and_keeps_the_handle() -> None:
    backend = pymluops.load("cpu")
    handle = Handle(backend)
    pointer, queue = handle.cdata, backend.ffi.new("cnrtQueue_t *")
    del handle
    gc.collect()
    assert backend.lib.mluOpGetQueue(pointer, queue) == 0
    assert queue[0] == backend.ffi.NULL


def test_a_queue_is_set_on_the_handle() -> None:
    backend = pymluops.load("cpu")
    with Handle(backend, queue=0x1000) as handle:
        queue = backend.ffi.new("cnrtQueue_t *")
        assert backend.lib.mluOpGetQueue(handle.cdata, queue) == 0
        assert int(backend.ffi.cast("uintptr_t", queue[0])) == 0x1000


@pytest.mark.parametrize("queue", [-1, 2**64, 1.5, "queue", True], ids=repr)
def test_queues_that_are_refused(queue: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="Handle: queue"):
        Handle("cpu", queue=queue)


def test_on_the_cpu_there_is_nothing_to_wait_for() -> None:
    handle = Handle("cpu")
    handle.sync()
    handle.close()
    with pytest.raises(pymluops.NotInitializedError, match="closed"):
        handle.sync()


def test_the_cpu_has_neither_queues_nor_device_memory() -> None:
    for name, make in {
        "Queue": lambda: pymluops.Queue("cpu"),
        "DeviceArray": lambda: pymluops.DeviceArray((1,), "float32", "cpu"),
    }.items():
        with pytest.raises(pymluops.NotSupportedError, match=f"{name}: backend: expected .* got cpu"):
            make()
    with pytest.raises(pymluops.NotSupportedError, match="got cpu"):
        pymluops.DeviceArray.from_host(SOURCE, "cpu")


def test_handles_are_freed_in_any_order() -> None:
    handles = [Handle() for _ in range(50)]
    for handle in handles[::2]:
        handle.close()
    del handles, handle
    gc.collect()
    assert MOVING.run(SOURCE, SHIFTS).shape == SOURCE.shape


def test_a_handle_made_on_one_thread_may_be_used_and_closed_on_another() -> None:
    handle, errors = Handle(), []

    def use() -> None:
        try:
            MOVING.run(SOURCE, SHIFTS, handle=handle)
            handle.close()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert not errors
    with pytest.raises(pymluops.MluOpError):
        MOVING.run(SOURCE, SHIFTS, handle=handle)


def test_default_handles_serve_many_threads() -> None:
    results: list[np.ndarray] = []

    def use() -> None:
        results.extend(MOVING.run(SOURCE, SHIFTS) for _ in range(50))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 400
    assert all(np.array_equal(result, SOURCE) for result in results)


# ---- SparseConvolutionDescriptor -----------------------------------------------------------------


def test_sparse_descriptor_and_the_raw_call() -> None:
    backend = pymluops.load("cpu")
    desc = SparseConvolutionDescriptor(1, (1, 1, 4), (1, 1, 2), (1, 1, 3))
    assert desc.num_act_out == 0
    indices = np.array([[0, 0, 0, 0], [0, 0, 0, 3]], np.int32)
    pairs, out, num = canary((2, 2, 2), "int32"), canary((3, 4), "int32"), canary(2, "int32")
    ffi, lib = backend.ffi, backend.lib
    bound = [pymluops.TensorDescriptor.of(a).bind(backend) for a in (indices, pairs, out, num)]
    size = ffi.new("size_t *")
    with Handle(backend) as handle:
        assert PAIRING.workspace_of(lib)(handle.cdata, desc.cdata, *bound, size) == 0
        workspace = np.empty(max(size[0], 1), np.uint8)
        pointers = [ffi.cast("void *", a.ctypes.data) for a in (indices, workspace, pairs, out, num)]
        status = PAIRING.of(lib)(
            handle.cdata, desc.cdata, bound[0], pointers[0], pointers[1], size[0], bound[1], pointers[2], bound[2],
            pointers[3], bound[3], pointers[4],
        )  # fmt: skip
    assert status == 0
    assert desc.num_act_out == 2
    assert out[:2].tolist() == [[0, 0, 0, 0], [0, 0, 0, 2]]
    assert num.tolist() == [1, 1]
    assert is_canary(out[2:])


@pytest.mark.parametrize(
    "changes",
    [
        {"batch": 0}, {"batch": -1}, {"input_space": (0, 1, 1)}, {"filter_space": (1, 1)},
        {"output_space": (1, 1, 1, 1)},
        {"stride": 0}, {"padding": -1}, {"dilation": (1, 1, 0)}, {"batch": 2**31}, {"input_space": (2**31, 1, 1)},
        {"stride": 1.5}, {"filter_space": None}, {"subm": "yes"},
    ],
    ids=str,
)  # fmt: skip
def test_sparse_descriptors_that_are_refused(changes: dict[str, Any]) -> None:
    legal: dict[str, Any] = {"batch": 1, "input_space": (4, 4, 4), "filter_space": 1, "output_space": 4}
    SparseConvolutionDescriptor(**legal)
    with pytest.raises((pymluops.BadParamError, TypeError), match=next(iter(changes))):
        SparseConvolutionDescriptor(**{**legal, **changes})
