"""Handle, version, error strings, thread number, library facts."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from abi.c_objects import UNTOUCHED, RawAbi
from abi.facts import BAD_PARAM, ENUMS, SUCCESS
from support.processes import python_output


def test_new_handle(abi: RawAbi) -> None:
    handle = abi.handle()
    queue = abi.ffi.new("cnrtQueue_t *", abi.ffi.cast("cnrtQueue_t", 1))
    atomics, rounding = abi.out("mluOpAtomicsMode_t"), abi.out("mluOpQuantizeRoundMode_t")
    assert abi.lib.mluOpGetQueue(handle, queue) == SUCCESS
    assert abi.lib.mluOpGetAtomicsMode(handle, atomics) == SUCCESS
    assert abi.lib.mluOpGetQuantizeRoundMode(handle, rounding) == SUCCESS
    assert (queue[0], atomics[0], rounding[0]) == (abi.null, 1, 0)


def test_queue_is_stored(abi: RawAbi) -> None:
    handle, found = abi.handle(), abi.ffi.new("cnrtQueue_t *")
    for address in (0x1000, 1, 0):
        queue = abi.ffi.cast("cnrtQueue_t", address)
        assert abi.lib.mluOpSetQueue(handle, queue) == SUCCESS
        assert abi.lib.mluOpGetQueue(handle, found) == SUCCESS
        assert found[0] == queue


@pytest.mark.parametrize("mode", [1, 2, 0, 3, 77, -1])
def test_atomics_mode_is_stored_unchecked(abi: RawAbi, mode: int) -> None:
    handle, found = abi.handle(), abi.out("mluOpAtomicsMode_t")
    assert abi.lib.mluOpSetAtomicsMode(handle, abi.enum("mluOpAtomicsMode_t", mode)) == SUCCESS
    assert abi.lib.mluOpGetAtomicsMode(handle, found) == SUCCESS
    assert int(found[0]) == mode % 2**32


def test_round_mode_is_checked(abi: RawAbi) -> None:
    handle, found = abi.handle(), abi.out("mluOpQuantizeRoundMode_t")
    for mode in (2, 1, 0, 2):
        assert abi.lib.mluOpSetQuantizeRoundMode(handle, mode) == SUCCESS
        assert abi.lib.mluOpGetQuantizeRoundMode(handle, found) == SUCCESS
        assert found[0] == mode
    for mode in (3, -1, 2**31 - 1, -(2**31)):
        assert abi.lib.mluOpSetQuantizeRoundMode(handle, abi.enum("mluOpQuantizeRoundMode_t", mode)) == BAD_PARAM
        assert abi.lib.mluOpGetQuantizeRoundMode(handle, found) == SUCCESS
        assert found[0] == 2


def test_update_context_information(abi: RawAbi) -> None:
    handle = abi.handle()
    abi.lib.mluOpSetAtomicsMode(handle, 2)
    assert abi.lib.mluOpUpdateContextInformation(handle) == SUCCESS
    mode = abi.out("mluOpAtomicsMode_t")
    assert abi.lib.mluOpGetAtomicsMode(handle, mode) == SUCCESS
    assert mode[0] == 2


def test_handles_are_independent(abi: RawAbi) -> None:
    first, second, mode = abi.handle(), abi.handle(), abi.out("mluOpAtomicsMode_t")
    abi.lib.mluOpSetAtomicsMode(first, 2)
    assert abi.lib.mluOpGetAtomicsMode(second, mode) == SUCCESS
    assert mode[0] == 1


def test_refused_getter_writes_nothing(abi: RawAbi) -> None:
    mode = abi.out("mluOpAtomicsMode_t")
    assert abi.lib.mluOpGetAtomicsMode(abi.null, mode) == BAD_PARAM
    assert mode[0] == UNTOUCHED


# ---- version and names ---------------------------------------------------------------------------


def test_abi_version(abi: RawAbi) -> None:
    numbers = [abi.out("int") for _ in range(3)]
    abi.lib.mluOpGetLibVersion(*numbers)
    assert [number[0] for number in numbers] == [1, 11, 1]


@pytest.mark.parametrize(("name", "value"), ENUMS["mluOpStatus_t"].items())
def test_error_string(abi: RawAbi, name: str, value: int) -> None:
    assert abi.ffi.string(abi.lib.mluOpGetErrorString(value)).decode() == name


@pytest.mark.parametrize("value", [9, 10, 12345, 2**31 - 1, -1, -(2**31)])
def test_error_string_of_an_unknown_status(abi: RawAbi, value: int) -> None:
    text = abi.lib.mluOpGetErrorString(abi.enum("mluOpStatus_t", value))
    assert abi.ffi.string(text) == b"MLUOP_STATUS_UNKNOWN"


def test_library_facts(abi: RawAbi) -> None:
    assert abi.ffi.string(abi.lib.mluopsExtGetLibraryKind()) == b"cpu"
    assert abi.ffi.string(abi.lib.mluopsExtGetLibraryVersion()).decode() == version("pymluops")
    level = abi.ffi.string(abi.lib.mluopsExtGetInstructionLevel()).decode()
    assert re.fullmatch(r"[a-z0-9_-]+", level)


def test_streaming_bytes(abi: RawAbi) -> None:
    assert 1 << 20 <= abi.lib.mluopsExtGetStreamingBytes() <= 32 << 20
    code = "import pymluops; print(pymluops.load('{}').lib.mluopsExtGetStreamingBytes())"
    assert python_output(code.format("cpu"), PYMLUOPS_STREAM_MIB="77") == str(77 << 20)
    assert python_output(code.format("sim")) == "0"


def test_an_interrupt_check_is_set_and_removed(abi: RawAbi) -> None:
    check = abi.ffi.callback("int(void)", lambda: 0)
    assert abi.lib.mluopsExtSetInterruptCheck(check) == SUCCESS
    assert abi.lib.mluopsExtSetInterruptCheck(abi.ffi.NULL) == SUCCESS


def test_thread_number(abi: RawAbi) -> None:
    before = abi.lib.mluopsExtGetNumThreads()
    assert before >= 1
    try:
        for number in (1, 3, 1024):
            assert abi.lib.mluopsExtSetNumThreads(number) == SUCCESS
            assert abi.lib.mluopsExtGetNumThreads() == number
        for number in (0, -1, 1025, 2**31 - 1, -(2**31)):
            assert abi.lib.mluopsExtSetNumThreads(number) == BAD_PARAM
            assert abi.reason().startswith("mluopsExtSetNumThreads: num_threads: expected ")
            assert abi.lib.mluopsExtGetNumThreads() == 1024
    finally:
        assert abi.lib.mluopsExtSetNumThreads(before) == SUCCESS
