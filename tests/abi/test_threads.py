"""Many threads at once: own handles with equal results, objects made and destroyed anywhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abi.c_objects import NEW_STATE, RawAbi
from abi.everything import OPERATORS, SEVERAL, digests, large_problem
from abi.facts import BAD_PARAM, SUCCESS
from abi.operator_call import Call
from support.example import MOVING

THREADS = 8


@pytest.fixture(autouse=True)
def thread_number(abi: RawAbi) -> Iterator[int]:
    before = abi.lib.mluopsExtGetNumThreads()
    yield before
    assert abi.lib.mluopsExtSetNumThreads(before) == SUCCESS


def together(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """Run `work(number)` on as many threads, started at the same moment; re-raise what any of them raised."""
    barrier, results, errors = threading.Barrier(count), [None] * count, []

    def run(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def test_results_are_equal_on_8_threads(abi: RawAbi) -> None:
    abi.lib.mluopsExtSetNumThreads(4)
    wanted = digests(abi, SEVERAL)
    assert together(lambda _: digests(abi, SEVERAL)) == [wanted] * THREADS


@pytest.mark.parametrize("name", OPERATORS)
def test_results_are_equal_for_any_thread_number(abi: RawAbi, name: str) -> None:
    found = set()
    for number in (1, 2, 3, 7, 64):
        assert abi.lib.mluopsExtSetNumThreads(number) == SUCCESS
        found.add(digests(abi, [name])[name])
    assert len(found) == 1


def test_thread_number_may_change_during_calls(abi: RawAbi) -> None:
    wanted = digests(abi, SEVERAL)

    def work(number: int) -> bool:
        if number:
            return all(digests(abi, SEVERAL) == wanted for _ in range(2))
        return all(abi.lib.mluopsExtSetNumThreads(1 + i % 9) == SUCCESS for i in range(2000))

    assert all(together(work, 4))


def test_one_handle_passed_from_thread_to_thread(abi: RawAbi) -> None:
    """A handle serves one thread at a time, but it is not tied to one."""
    handle, wanted = abi.handle(), digests(abi, [MOVING.function])
    problem = large_problem(MOVING.function)
    for _ in range(5):
        assert together(lambda _: Call(abi, problem, handle).run(), 1) == [SUCCESS]
    assert digests(abi, [MOVING.function]) == wanted


def test_hammering_create_and_destroy(abi: RawAbi) -> None:
    """Every new object is a fresh one that no other thread has."""
    lib = abi.lib

    def work(number: int) -> bool:
        for i in range(400):
            handle, desc, other = abi.new_handle(), abi.new_tensor(), abi.new_tensor()
            seq, sparse, tensor_set = abi.new_seq_data(), abi.new_sparse(), abi.new_set((2, 2))
            if abi.state(desc) != NEW_STATE or abi.num_act_out(sparse):
                return False
            dims = abi.ints((number + 1, i + 1))
            lib.mluOpSetTensorDescriptorDim(desc, 2, dims)
            lib.mluOpSetTensorDescriptorPosition(other, 1000 * number + i)
            if abi.state(desc).dims != (number + 1, i + 1) or abi.state(other).position != 1000 * number + i:
                return False
            statuses = {
                lib.mluOpDestroy(handle),
                lib.mluOpDestroyTensorDescriptor(other),
                lib.mluOpDestroyTensorDescriptor(desc),
                lib.mluOpDestroySeqDataDescriptor(seq),
                lib.mluOpDestroySparseConvolutionDescriptor(sparse),
                lib.mluOpDestroyTensorSetDescriptor(tensor_set),
            }
            if statuses != {SUCCESS}:
                return False
        return True

    assert all(together(work))


def test_created_here_destroyed_there(abi: RawAbi) -> None:
    made = together(lambda _: [(abi.new_handle(), abi.new_tensor()) for _ in range(100)])

    def destroy(number: int) -> set[int]:
        statuses = set()
        for handle, desc in made[(number + 1) % THREADS]:
            statuses |= {abi.lib.mluOpDestroy(handle), abi.lib.mluOpDestroyTensorDescriptor(desc)}
        return statuses

    assert together(destroy) == [{SUCCESS}] * THREADS


def test_of_two_threads_that_destroy_the_same_one_succeeds(abi: RawAbi) -> None:
    descs = [abi.new_tensor() for _ in range(500)]
    statuses = together(lambda _: [abi.lib.mluOpDestroyTensorDescriptor(desc) for desc in descs], 4)
    for outcomes in zip(*statuses, strict=True):
        assert sorted(outcomes) == [SUCCESS, BAD_PARAM, BAD_PARAM, BAD_PARAM]
