"""Resident memory stays flat over many objects, calls and refusals."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from abi.c_objects import SETTINGS, RawAbi
from abi.derived import PROBLEMS
from abi.facts import SUCCESS
from abi.operator_call import Call

ROUNDS = 10_000
#: Well below 10 000 times the smallest object.
ALLOWED_BYTES = 512 * 1024


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def assert_flat(work: Callable[[], None], rounds: int = ROUNDS) -> None:
    """Warm up, then measure; one repetition is allowed because the allocator may keep a page or two for itself."""
    for _ in range(rounds // 4):
        work()
    for attempt in range(2):
        gc.collect()
        before = resident_bytes()
        for _ in range(rounds):
            work()
        gc.collect()
        grown = resident_bytes() - before
        if grown < ALLOWED_BYTES:
            return
        assert attempt == 0, f"resident memory grew by {grown} bytes over {rounds} rounds, twice"


def test_handles(abi: RawAbi) -> None:
    def work() -> None:
        handle = abi.new_handle()
        abi.lib.mluOpSetAtomicsMode(handle, 2)
        assert abi.lib.mluOpDestroy(handle) == SUCCESS

    assert_flat(work)


def test_tensor_descriptors(abi: RawAbi) -> None:
    dims, layout, dtype = abi.ints((2, 3, 4, 5, 6, 7, 8, 9)), abi.layout("ARRAY"), abi.dtype("FLOAT")

    def work() -> None:
        desc = abi.new_tensor()
        assert abi.lib.mluOpSetTensorDescriptor(desc, layout, dtype, 8, dims) == SUCCESS
        assert abi.lib.mluOpDestroyTensorDescriptor(desc) == SUCCESS

    assert_flat(work)


def test_many_descriptors_alive_at_once(abi: RawAbi) -> None:
    """The places of 10 000 descriptors are used again by the next 10 000."""

    def work() -> None:
        descs = [abi.new_tensor() for _ in range(ROUNDS)]
        for desc in descs:
            assert abi.lib.mluOpDestroyTensorDescriptor(desc) == SUCCESS

    assert_flat(work, rounds=4)


def test_groups(abi: RawAbi) -> None:
    storage = abi.ffi.new("mluOpTensorDescriptor_t[8]")
    group = abi.ffi.new("mluOpTensorDescriptor_t *[8]", [storage + i for i in range(8)])

    def work() -> None:
        assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 8) == SUCCESS
        assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 8) == SUCCESS

    assert_flat(work)


def test_tensor_sets(abi: RawAbi) -> None:
    def work() -> None:
        tensor_set = abi.new_set((2, 3, 4))
        assert abi.lib.mluOpDestroyTensorSetDescriptor(tensor_set) == SUCCESS

    assert_flat(work)


def test_sequence_data(abi: RawAbi) -> None:
    dims, lengths = abi.longs((2, 3, 4)), abi.ints((5,) * 100)
    padding, layout, dtype = abi.ffi.new("float *"), abi.enum("mluOpSeqDataLayout_t", 2), abi.dtype("FLOAT")

    def work() -> None:
        desc = abi.new_seq_data()
        for count in (100, 3):
            status = abi.lib.mluOpSetSeqDataDescriptor_v2(desc, layout, dtype, 3, dims, count, lengths, padding)
            assert status == SUCCESS
        assert abi.lib.mluOpDestroySeqDataDescriptor(desc) == SUCCESS

    assert_flat(work)


def test_sparse_descriptors(abi: RawAbi) -> None:
    def work() -> None:
        desc = abi.new_sparse()
        assert abi.set_sparse(desc) == SUCCESS
        assert abi.lib.mluOpDestroySparseConvolutionDescriptor(desc) == SUCCESS

    assert_flat(work)


@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_objects(abi: RawAbi, kind: str) -> None:
    destroy = getattr(abi.lib, SETTINGS[kind].destroy)

    def work() -> None:
        assert destroy(abi.new_settings(kind)) == SUCCESS

    assert_flat(work)


def test_gen_case_directories(abi: RawAbi) -> None:
    names, buffer = [b"/" + b"x" * length for length in (1, 50, 3000)], abi.ffi.new("char[]", 4096)

    def work() -> None:
        for name in names:
            assert abi.lib.mluOpSetGenCaseDirectory(name) == SUCCESS
            assert abi.lib.mluOpGetGenCaseDirectory(buffer, 4096, abi.null, abi.null) == buffer

    assert_flat(work)
    assert abi.lib.mluOpSetGenCaseDirectory(b"") == SUCCESS


def test_refused_calls(abi: RawAbi) -> None:
    """Every operator refused, each for the pointer that is looked at last, and every create function."""
    refused = [Call(abi, make().edited({("handle", "value"): "null"})) for make in PROBLEMS.values()]
    prepared = [(getattr(abi.lib, call.problem.function), call.arguments()) for call in refused]
    creators = [getattr(abi.lib, name) for name in dir(abi.lib) if name.startswith("mluOpCreate")]
    creators = [function for function in creators if len(abi.ffi.typeof(function).args) == 1]

    def work() -> None:
        for function, arguments in prepared:
            assert function(*arguments) != SUCCESS
        for function in creators:
            assert function(abi.null) != SUCCESS

    assert_flat(work)


@pytest.mark.parametrize("name", PROBLEMS)
def test_operator_calls(abi: RawAbi, name: str) -> None:
    call = Call(abi, PROBLEMS[name]())
    function, arguments = getattr(abi.lib, name), call.arguments()

    def work() -> None:
        assert function(*arguments) == SUCCESS

    assert_flat(work, rounds=2_000)
