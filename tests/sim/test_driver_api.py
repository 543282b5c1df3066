"""The driver interface answers from the figures of the card."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
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
