"""Memory of results that were let go, and is used again."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import pymluops
from pymluops._results import LEAST_BYTES, Blocks

MIB = 1 << 20


def place(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_a_block_is_used_again_when_nothing_shows_it_any_more() -> None:
    blocks = Blocks(64 * MIB)
    first = blocks.array((5, MIB), np.float32)
    assert (first.shape, first.dtype, first.flags.c_contiguous, first.flags.writeable) == (
        (5, MIB), np.float32, True, True,
    )  # fmt: skip
    where, view = place(first), first[2:, 3:7]
    view[...] = 7
    del first
    other = blocks.array((5, MIB), np.float32)
    assert place(other) != where  # the view still shows the first
    other[...] = 1
    assert (view == 7).all()
    del view
    assert place(blocks.array((MIB, 2, 2), np.int32)) == where


def test_memory_that_other_libraries_look_at_is_not_used_again() -> None:
    blocks = Blocks(64 * MIB)
    array = blocks.array((8 * MIB,), np.uint8)
    seen, where = memoryview(array), place(array)
    del array
    assert place(blocks.array((8 * MIB,), np.uint8)) != where
    assert len(seen) == 8 * MIB


@pytest.mark.parametrize("size", [0, 1, LEAST_BYTES - 1, 64 * MIB + 1])
def test_small_and_huge_arrays_have_memory_of_their_own(size: int) -> None:
    array = Blocks(256 * MIB).array((size,), np.uint8)
    assert array.shape == (size,)
    assert array.base is None


def test_a_block_is_not_used_for_much_less() -> None:
    blocks = Blocks(64 * MIB)
    where = place(blocks.array((40 * MIB,), np.uint8))
    small = blocks.array((8 * MIB,), np.uint8)
    assert not where <= place(small) < where + 40 * MIB
    assert place(blocks.array((21 * MIB,), np.uint8)) == where


def test_no_more_is_kept_than_was_asked_for() -> None:
    blocks = Blocks(20 * MIB)
    held = [blocks.array((8 * MIB,), np.uint8) for _ in range(5)]
    assert sum(block.size for block in blocks._blocks) <= 20 * MIB
    assert len({place(array) for array in held}) == 5
    nothing = Blocks(0)
    assert nothing.array((8 * MIB,), np.uint8).base is None
    assert nothing._blocks == []


def test_threads_never_share_a_block() -> None:
    blocks, wrong = Blocks(64 * MIB), []

    def work(number: int) -> None:
        for _ in range(50):
            array = blocks.array((LEAST_BYTES,), np.uint8)
            array[::4096] = number
            if not (array[::4096] == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_operators_use_it_and_old_results_stay_as_they_are() -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal((2, 4, 8, 40_000), np.float32)
    shifts = np.array([[0, 1], [1, 0]], np.int32)
    first = pymluops.tin_shift_forward(values, shifts)
    kept = first.copy()
    second = pymluops.tin_shift_forward(-values, shifts)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, -kept)
    where = place(second)
    del second
    gc.collect()
    third = pymluops.tin_shift_forward(values, shifts)
    assert place(third) == where
    np.testing.assert_array_equal(third, kept)


@pytest.mark.parametrize(("text", "kept"), [("0", False), ("16", True), ("many", True), ("-3", True)])
def test_the_environment_says_how_much(text: str, kept: bool) -> None:
    code = "from pymluops._results import new_array as a; print(a((6 << 20,), 'u1').base is not None)"
    found = subprocess.run(
        [sys.executable, "-c", code], env={"PYMLUOPS_KEEP_MIB": text}, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == str(kept)


def many_rows() -> dict[str, object]:
    """Return arguments of get_indice_pairs that give small results and need a large workspace."""
    rows = np.zeros((600_000, 4), np.int32)
    rows[:, 2], rows[:, 3] = np.divmod(np.arange(600_000), 1000)
    return {
        "indices": rows, "batch_size": 1, "spatial_shape": (1, 600, 1000),
        "kernel_size": 1, "stride": 1, "padding": 0, "subm": True,
    }  # fmt: skip


def test_a_large_workspace_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, workspaces = Blocks(64 * MIB), []

    def new_array(shape: tuple[int, ...], dtype: type) -> np.ndarray:
        if len(shape) > 1:  # a result
            return np.empty(shape, dtype)
        array = blocks.array(shape, dtype)
        workspaces.append(place(array))
        return array

    monkeypatch.setattr(pymluops._results, "new_array", new_array)
    for _ in range(3):
        result = pymluops.get_indice_pairs(**many_rows())
        assert np.array_equal(result.indice_pairs[0, 0], np.arange(600_000))
    assert len(workspaces) == 3
    assert len(set(workspaces)) == 1


def test_a_workspace_that_cannot_be_had_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(shape: tuple[int, ...], dtype: type) -> np.ndarray:
        if len(shape) == 1:
            raise MemoryError
        return np.empty(shape, dtype)

    monkeypatch.setattr(pymluops._results, "new_array", none_left)
    with pytest.raises(pymluops.AllocFailedError, match=r"get_indice_pairs: no memory for a workspace of [0-9]+ bytes"):
        pymluops.get_indice_pairs(**many_rows())
