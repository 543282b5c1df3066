"""The driver interface answers from the figures of the card."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import pytest

from pymluops import sim
from pymluops.sim.toolchain import Simulator, cards
from sim.numbers_of import numbers_of

CN = numbers_of("cn_api.h")
PRESENT = "CN_DEVICE_ATTRIBUTE_"


@pytest.fixture(scope="module")
def driver() -> Any:
    library = ctypes.CDLL(str(Simulator.installed().library))
    library.mlusimGetLastError.restype = c_char_p
    return library


@pytest.fixture(params=[card["name"] for card in cards()])
def card(request: pytest.FixtureRequest, driver: Any) -> Iterator[dict[str, Any]]:
    """Each card in turn."""
    before = sim.device()
    sim.set_device(request.param)
    yield next(card for card in cards() if card["name"] == request.param)
    sim.set_device(before)


def attribute(driver: Any, name: str) -> int:
    value = c_int(-1)
    assert driver.cnDeviceGetAttribute(byref(value), getattr(CN, PRESENT + name), 0) == CN.CN_SUCCESS
    return value.value


def context_of(driver: Any) -> c_void_p:
    context = c_void_p()
    assert driver.cnCtxGetCurrent(byref(context)) == CN.CN_SUCCESS
    return context


def test_attributes(driver: Any, card: dict[str, Any]) -> None:
    assert attribute(driver, "MAX_CLUSTER_COUNT") == card["clusters"]
    assert attribute(driver, "MAX_CORE_COUNT_PER_CLUSTER") == card["cores_per_cluster"]
    assert attribute(driver, "MLU_ISA_VERSION") == card["arch"]
    assert attribute(driver, "NRAM_SIZE_PER_CORE") == card["nram_kib"] * 1024
    assert attribute(driver, "WEIGHT_RAM_SIZE_PER_CORE") == card["wram_kib"] * 1024
    assert attribute(driver, "MAX_SHARED_RAM_SIZE_PER_CLUSTER") == card["sram_kib"] * 1024
    assert attribute(driver, "LOCAL_MEMORY_SIZE_PER_CORE") == card["stack_kib"] * 1024
    assert attribute(driver, "CLUSTER_CLOCK_RATE") == card["clock_mhz"] * 1000
    assert attribute(driver, "MAX_BLOCK_TASK_DIM_X") > 65536
    # As host code computes it: bits * kHz * 2 / 8e6 are GB/s.
    bandwidth = attribute(driver, "GLOBAL_MEMORY_BUS_WIDTH") * attribute(driver, "MEMORY_CLOCK_RATE") * 2 / 8e6
    assert round(bandwidth) == card["bandwidth_gb_s"]


def test_every_attribute_of_the_header_has_an_answer(driver: Any) -> None:
    names = [name.removeprefix(PRESENT) for name in vars(CN) if name.startswith(PRESENT)]
    assert len(names) > 20
    assert all(attribute(driver, name) >= 0 for name in names)


def test_jobs_that_run_at_once(driver: Any, card: dict[str, Any]) -> None:
    context = context_of(driver)
    count, clusters = c_int(), card["clusters"]
    wanted = {"BLOCK": clusters * card["cores_per_cluster"], "UNION": clusters}
    wanted |= {f"UNION{n}": clusters // n for n in (1, 2, 4, 8, 16)}
    for name, number in wanted.items():
        kind = getattr(CN, f"CN_KERNEL_CLASS_{name}")
        assert driver.cnGetCtxMaxParallelUnionTasks(context, kind, byref(count)) == CN.CN_SUCCESS
        assert count.value == number, name
    limit = c_uint()
    assert driver.cnGetCtxConfigParam(context, CN.CN_CTX_CONFIG_UNION_LIMIT, byref(limit)) == CN.CN_SUCCESS
    assert limit.value == 4 * max(n for n in (1, 2, 4, 8, 16) if n <= clusters)
    assert driver.cnGetCtxConfigParam(context, CN.CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, byref(limit)) == CN.CN_SUCCESS
    assert limit.value == clusters
    assert driver.cnSetCtxConfigParam(context, CN.CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, byref(limit)) == CN.CN_SUCCESS
    limit.value += 1
    status = driver.cnSetCtxConfigParam(context, CN.CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, byref(limit))
    assert status == CN.CN_OPS_ERROR_NOT_SUPPORTED


def test_device_and_context(driver: Any, card: dict[str, Any]) -> None:
    device, count, version, name = c_int(9), c_int(), (c_int * 3)(), ctypes.create_string_buffer(32)
    assert driver.cnInit(0) == driver.cnDeviceGetCount(byref(count)) == CN.CN_SUCCESS
    assert driver.cnDeviceGet(byref(device), 0) == driver.cnCtxGetDevice(byref(device)) == CN.CN_SUCCESS
    assert (count.value, device.value) == (8, 0)
    pointers = [byref(version, 4 * i) for i in range(3)]
    assert driver.cnGetLibVersion(*pointers) == CN.CN_SUCCESS
    assert tuple(version) >= (2, 7, 0)
    assert driver.cnDeviceGetName(name, 32, 0) == CN.CN_SUCCESS
    assert name.value.decode() == card["name"]
    size = c_size_t()
    assert driver.cnDeviceTotalMem(byref(size), 0) == CN.CN_SUCCESS
    assert size.value == card["memory_mib"] << 20
    contexts = [c_void_p(), c_void_p()]
    assert driver.cnSharedContextAcquire(byref(contexts[0]), 0) == CN.CN_SUCCESS
    assert driver.cnQueueGetContext(None, byref(contexts[1])) == CN.CN_SUCCESS
    assert {context.value for context in contexts} == {context_of(driver).value}
    assert driver.cnCtxSetCurrent(contexts[0]) == driver.cnSharedContextRelease(0) == CN.CN_SUCCESS


@pytest.mark.parametrize(
    ("name", "arguments", "status", "said"),
    [
        ("cnInit", (1,), CN.CN_ERROR_INVALID_VALUE, "flags: expected 0, got 1"),
        ("cnDeviceGetCount", (None,), CN.CN_ERROR_INVALID_VALUE, "count: expected a pointer, got NULL"),
        ("cnDeviceGet", (c_int(), 8), CN.CN_ERROR_INVALID_DEVICE, "ordinal: expected 0 to 7, got 8"),
        ("cnDeviceGetAttribute", (None, 14, 0), CN.CN_ERROR_INVALID_VALUE, "value: expected a pointer, got NULL"),
        ("cnDeviceGetAttribute", (c_int(), 14, 9), CN.CN_ERROR_INVALID_DEVICE, "device: expected 0 to 7, got 9"),
        (
            "cnDeviceGetAttribute",
            (c_int(), 999, 0),
            CN.CN_OPS_ERROR_NOT_SUPPORTED,
            "attribute: none has the number 999",
        ),
        ("cnDeviceGetName", (c_int(), 2, 0), CN.CN_ERROR_INVALID_VALUE, "length: expected at least "),
        ("cnCtxGetCurrent", (None,), CN.CN_ERROR_INVALID_VALUE, "context: expected a pointer, got NULL"),
        (
            "cnCtxSetCurrent",
            (c_void_p(5),),
            CN.CN_CONTEXT_ERROR_INVALID,
            "context: expected a context from cnCtxGetCurrent",
        ),
        ("cnQueueGetContext", (c_void_p(99), c_int()), CN.CN_ERROR_INVALID_HANDLE, "queue: "),
        ("cnGetCtxConfigParam", (c_void_p(5), 1, c_int()), CN.CN_CONTEXT_ERROR_INVALID, "context: expected "),
        ("cnGetCtxMaxParallelUnionTasks", (None, 4, c_int()), CN.CN_CONTEXT_ERROR_INVALID, "context: expected "),
    ],
)
def test_bad_arguments(driver: Any, name: str, arguments: tuple[Any, ...], status: int, said: str) -> None:
    given = [byref(value) if isinstance(value, c_int) else value for value in arguments]
    driver.cnrtGetLastError()
    assert getattr(driver, name)(*given) == status
    assert driver.mlusimGetLastError().decode().startswith(f"{name}: {said}")
    assert driver.cnrtGetLastError() == 0  # which is for calls of the runtime


def test_classes_and_kinds_of_parameters_that_there_are_not(driver: Any) -> None:
    context, number = context_of(driver), c_int()
    for kind in (0, 2, 3, 5, 12, 128, -1):
        assert driver.cnGetCtxMaxParallelUnionTasks(context, kind, byref(number)) == CN.CN_ERROR_INVALID_VALUE
    for kind in (0, 3):
        assert driver.cnGetCtxConfigParam(context, kind, byref(number)) == CN.CN_ERROR_INVALID_VALUE


def test_errors_have_names(driver: Any) -> None:
    text = c_char_p()
    for name, number in vars(CN).items():
        if "ERROR" in name or name == "CN_SUCCESS":
            assert driver.cnGetErrorName(number, byref(text)) == CN.CN_SUCCESS
            assert text.value == name.encode()
            assert driver.cnGetErrorString(number, byref(text)) == CN.CN_SUCCESS
    assert driver.cnGetErrorName(7, byref(text)) == driver.cnGetErrorString(0, None) == CN.CN_ERROR_INVALID_VALUE


# ---- Memory, queues and notifiers ----------------------------------------------------------------


@pytest.fixture
def memory(driver: Any) -> Iterator[c_uint64]:
    """64 bytes of device memory, by their address."""
    address = c_uint64()
    assert driver.cnMalloc(byref(address), c_uint64(64)) == CN.CN_SUCCESS
    yield address
    assert driver.cnFree(address) == CN.CN_SUCCESS


def test_memory(driver: Any, memory: c_uint64) -> None:
    free, total, size = c_uint64(), c_uint64(), c_uint64(64)
    assert driver.cnMemGetInfo(byref(free), byref(total)) == CN.CN_SUCCESS
    assert 0 < free.value < total.value == sim.device().memory_mib << 20
    host, back = ctypes.create_string_buffer(bytes(range(64)), 64), ctypes.create_string_buffer(64)
    other = c_uint64()
    assert driver.cnMallocConstant(byref(other), size) == driver.cnMemcpyHtoD(memory, host, size) == CN.CN_SUCCESS
    assert driver.cnMemcpyDtoD(other, memory, size) == driver.cnMemcpyDtoH(back, other, size) == CN.CN_SUCCESS
    assert back.raw == host.raw
    assert driver.cnMemcpy(c_uint64(ctypes.addressof(back)), memory, c_uint64(2)) == CN.CN_SUCCESS
    assert driver.cnFree(other) == CN.CN_SUCCESS
    pinned = c_void_p()
    assert driver.cnMallocHost(byref(pinned), size) == driver.cnFreeHost(pinned) == CN.CN_SUCCESS


@pytest.mark.parametrize(("bits", "value"), [(8, 0x12), (16, 0x1234), (32, 0x12345678)])
def test_elements_are_set(driver: Any, memory: c_uint64, bits: int, value: int) -> None:
    size, back = bits // 8, ctypes.create_string_buffer(64)
    queue = c_void_p()
    assert driver.cnMemsetD8(memory, 0, c_uint64(64)) == driver.cnCreateQueue(byref(queue), 0) == CN.CN_SUCCESS
    begin, behind = memory, c_uint64(memory.value + 8 * size)
    assert getattr(driver, f"cnMemsetD{bits}")(begin, value, c_uint64(3)) == CN.CN_SUCCESS
    assert getattr(driver, f"cnMemsetD{bits}Async")(behind, value, c_uint64(2), queue) == CN.CN_SUCCESS
    assert driver.cnMemcpyDtoHAsync(back, memory, c_uint64(64), queue) == driver.cnQueueSync(queue) == CN.CN_SUCCESS
    element = value.to_bytes(size, "little")
    assert back.raw == (element * 3 + bytes(5 * size) + element * 2).ljust(64, b"\0")
    assert driver.cnQueryQueue(queue) == driver.cnDestroyQueue(queue) == CN.CN_SUCCESS
    if bits == 16:
        return
    # The runtime has the same, without that for 16 bits.
    pointer = c_void_p(memory.value)
    assert getattr(driver, f"cnrtMemsetD{bits}")(pointer, 1, c_size_t(2)) == 0
    assert getattr(driver, f"cnrtMemsetD{bits}Async")(pointer, value, c_size_t(1), None) == 0
    assert driver.cnMemcpyDtoHAsync(back, memory, c_uint64(64), None) == driver.cnCtxSync() == CN.CN_SUCCESS
    assert back.raw[: 3 * size] == element + (1).to_bytes(size, "little") + element


def test_queues_and_notifiers(driver: Any) -> None:
    queues, notifiers = [c_void_p(), c_void_p()], [c_void_p(), c_void_p()]
    assert driver.cnCreateQueueWithPriority(byref(queues[0]), 0, 3) == CN.CN_SUCCESS
    assert driver.cnCreateQueue(byref(queues[1]), 0) == CN.CN_SUCCESS
    priority, elapsed = c_int(), c_float(-1)
    assert driver.cnQueueGetPriority(queues[0], byref(priority)) == CN.CN_SUCCESS
    assert priority.value == 3
    called: list[int] = []

    @ctypes.CFUNCTYPE(None, c_void_p)
    def function(_: int | None) -> None:
        called.append(1)

    for notifier in notifiers:
        assert driver.cnCreateNotifier(byref(notifier), 0) == CN.CN_SUCCESS
        assert driver.cnPlaceNotifier(notifier, queues[0]) == CN.CN_SUCCESS
        assert driver.cnInvokeHostFunc(queues[0], function, None) == CN.CN_SUCCESS
    assert driver.cnQueueWaitNotifier(notifiers[1], queues[1], 0) == driver.cnWaitNotifier(notifiers[1]) == 0
    assert called[:1] == [1]
    assert driver.cnQueryNotifier(notifiers[0]) == CN.CN_SUCCESS
    assert driver.cnNotifierElapsedTime(*notifiers, byref(elapsed)) == CN.CN_SUCCESS
    assert elapsed.value >= 0
    for queue, notifier in zip(queues, notifiers, strict=True):
        assert driver.cnDestroyNotifier(notifier) == driver.cnDestroyQueue(queue) == CN.CN_SUCCESS
    assert called == [1, 1]


def test_a_context_is_that_of_its_device(driver: Any) -> None:
    context, device = c_void_p(), c_int()
    assert driver.cnCtxCreate(byref(context), 0, 1) == driver.cnCtxGetDevice(byref(device)) == CN.CN_SUCCESS
    assert device.value == 1
    assert context_of(driver).value == context.value
    assert driver.cnCtxDestroy(context) == CN.CN_SUCCESS
    assert driver.cnCtxCreate(byref(context), 0, 0) == CN.CN_SUCCESS


@pytest.mark.parametrize(
    ("name", "arguments", "status", "said"),
    [
        ("cnMalloc", (c_void_p(), 0), "CN_ERROR_INVALID_VALUE", "bytes: expected at least 1, got 0"),
        ("cnMalloc", (None, 4), "CN_ERROR_INVALID_VALUE", "pointer: expected a pointer, got NULL"),
        ("cnMalloc", (c_void_p(), 1 << 50), "CN_MEMORY_ERROR_OUT_OF_MEMORY", ""),
        ("cnFree", (64,), "CN_ERROR_INVALID_VALUE", "pointer: "),
        ("cnMemcpyHtoD", (64, c_void_p(), 4), "CN_ERROR_INVALID_VALUE", "dst: expected 4 bytes of device memory"),
        ("cnMemsetD32", (66, 1, 1), "CN_ERROR_INVALID_VALUE", "pointer: expected a multiple of 4"),
        ("cnMemsetD16", (0, 1, 1), "CN_ERROR_INVALID_VALUE", "pointer: expected a pointer, got NULL"),
        ("cnMemsetD16", (64, 1, 1 << 63), "CN_ERROR_INVALID_VALUE", "count: expected elements that "),
        ("cnCreateQueue", (None, 0), "CN_ERROR_INVALID_VALUE", "queue: expected a pointer, got NULL"),
        ("cnCreateQueue", (c_void_p(), 1), "CN_ERROR_INVALID_VALUE", "flags: "),
        ("cnQueueSync", (99,), "CN_ERROR_INVALID_HANDLE", "queue: "),
        ("cnWaitNotifier", (99,), "CN_ERROR_INVALID_HANDLE", "notifier: "),
        ("cnCtxCreate", (c_void_p(), 1, 0), "CN_ERROR_INVALID_VALUE", "flags: expected 0, got 1"),
        ("cnCtxDestroy", (5,), "CN_CONTEXT_ERROR_INVALID", "context: expected a context from "),
    ],
)
def test_bad_arguments_of_work(driver: Any, name: str, arguments: tuple[Any, ...], status: str, said: str) -> None:
    """Messages name the function of the driver, not that of the runtime that does its work."""
    given = [byref(value) if isinstance(value, c_void_p) else value for value in arguments]
    driver.cnrtGetLastError()
    words = [c_uint64(value) if isinstance(value, int) else value for value in given]
    assert getattr(driver, name)(*words) == getattr(CN, status)
    assert driver.mlusimGetLastError().decode().startswith(f"{name}: {said}")
    assert driver.cnrtGetLastError() == 0
    sim.clear_findings()
