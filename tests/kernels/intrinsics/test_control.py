"""Syncs, barriers and locks; what the scalar unit is asked; half in scalar code; text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernels.host_functions import KERNEL_TRAP, SUCCESS, Device
from kernels.intrinsics.intrinsic_calls import Run
from pymluops.sim.toolchain import Toolchain

SOURCE = Path(__file__).with_name("control.mlu")
ARCHS = (270, 372, 592)

FROM_GDRAM, WITHIN_NRAM = 1, 2


# By number of the sync in control.mlu: what has arrived behind it.
ARRIVED = {
    0: FROM_GDRAM | WITHIN_NRAM,  # sync;
    1: 0,  # __sync_compute
    2: FROM_GDRAM,  # __sync_copy_dram_to_nram
    3: WITHIN_NRAM,  # __sync_copy_nram_to_nram
    4: FROM_GDRAM,  # the other direction of the same pipe, ...
    5: FROM_GDRAM,
    6: FROM_GDRAM,
    7: WITHIN_NRAM,
    8: WITHIN_NRAM,
    9: FROM_GDRAM | WITHIN_NRAM,  # __sync_cluster in a Block task
    10: FROM_GDRAM | WITHIN_NRAM,  # __sync
    11: FROM_GDRAM,  # __sync_io
    12: WITHIN_NRAM,  # __sync_move
    13: FROM_GDRAM | WITHIN_NRAM,  # __sync_io_move_compute
    14: FROM_GDRAM,
    15: WITHIN_NRAM,
    16: 0,  # nothing has to wait
    17: FROM_GDRAM | WITHIN_NRAM,
    18: FROM_GDRAM | WITHIN_NRAM,
    19: FROM_GDRAM | WITHIN_NRAM,
    20: FROM_GDRAM | WITHIN_NRAM,
}


@pytest.mark.parametrize("arch", [372, 592])
@pytest.mark.parametrize("sync", ARRIVED)
def test_what_a_sync_waits_for(sync: int, arch: int, run: Run) -> None:
    arrived = np.zeros(1, np.int32)
    assert run(arch, "after_a_sync_run", arrived, sync, checks="none").code == SUCCESS
    # Copies within NRAM happen in the order of the program, whether waited for or not.
    assert arrived[0] == ARRIVED[sync] | WITHIN_NRAM
    # The race checker knows what may be read.
    outcome = run(arch, "after_a_sync_run", arrived, sync, checks="race")
    assert (not outcome.findings) == (ARRIVED[sync] == FROM_GDRAM | WITHIN_NRAM)


@pytest.mark.parametrize("sync", range(10))
def test_syncs_of_the_older_family(sync: int, run: Run) -> None:
    """There is one pipe for all asynchronous copies, but copies within NRAM are compute instructions, done at once."""
    arrived = np.zeros(1, np.int32)
    assert run(270, "after_a_sync_run", arrived, sync, checks="none").code == SUCCESS
    assert arrived[0] == (WITHIN_NRAM if sync in (1, 3) else FROM_GDRAM | WITHIN_NRAM)


@pytest.mark.parametrize("arch", [372, 592])
@pytest.mark.parametrize(
    ("barrier", "expected"),
    [
        (0, [5] * 10),
        (1, [10] * 10),
        (2, [8, 8, 8, 8, -1] * 2),
        (3, [-1, -1, -1, -1, 2] * 2),
        (4, [4, 4, 4, 4, -1] * 2),
    ],
)
def test_barriers(barrier: int, expected: list[int], arch: int, run: Run) -> None:
    seen = np.zeros(10, np.int32)
    outcome = run(arch, "meet_run", seen, barrier)
    assert outcome.code == SUCCESS, outcome.report
    assert seen.tolist() == expected


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("form", [0, 1])
def test_locks(form: int, arch: int, run: Run) -> None:
    counter = np.zeros(1, np.int32)
    outcome = run(arch, "count_under_a_lock_run", counter, form)
    assert outcome.code == SUCCESS, outcome.report
    assert counter[0] == 10


@pytest.mark.parametrize("arch", ARCHS)
def test_kinds_of_cores_and_addresses(arch: int, run: Run) -> None:
    found = np.zeros(5, np.int32)
    outcome = run(arch, "kinds_run", found)
    assert outcome.code == SUCCESS, outcome.report
    both = 32 | (128 if arch >= 372 else 0)
    assert found.tolist() == [2 | 4 | 8 | both] * 4 + [1 | both]


def test_bits_of_a_value(run: Run) -> None:
    found = np.zeros(3, np.int32)
    assert run(372, "bits_run", found).code == SUCCESS
    assert found.tolist() == [5, 9, 17]


@pytest.mark.parametrize("function", ["single_float_run", "single_half_run", "single_int_run"])
def test_single_elements(function: str, run: Run) -> None:
    outcome = run(372, function)
    assert outcome.code == SUCCESS, outcome.report


@pytest.mark.parametrize("which", range(4))
def test_single_elements_from_elsewhere(which: int, run: Run) -> None:
    outcome = run(372, "load_from_elsewhere_run", which)
    assert outcome.code == KERNEL_TRAP
    assert [(finding.checker, finding.rule) for finding in outcome.findings] == [("memory", "wrong-space")]


@pytest.mark.parametrize("arch", ARCHS)
def test_half_in_scalar_code(arch: int, run: Run) -> None:
    found = np.zeros(12, np.float32)
    assert run(arch, "arithmetic_of_half_run", found).code == SUCCESS
    b = np.float16(2.505)
    expected = [np.inf, np.float16(1000) + b, 1, 1, np.sqrt(b), b, 5, 1000, 0, 2.5, 1, 8]
    assert found.tolist() == [np.float32(value) for value in expected]


def test_text(run: Run, capfd: pytest.CaptureFixture[str], toolchain: Toolchain) -> None:
    library = toolchain.compile(SOURCE, 372)
    # In a process of its own, whose output is seen.
    with Device(toolchain.simulator) as device:
        assert device.call(library, "print_run", 5).code == SUCCESS
        outcome = device.call(library, "insist_run", 5)
        assert device.call(library, "insist_run", 2).code == SUCCESS
    out, err = capfd.readouterr()
    assert out == "one 5, two 1.25, three text\n"
    assert "some.mlu:17: assertion failed: number < 3" in err
    assert outcome.code == KERNEL_TRAP
    assert [(finding.checker, finding.rule) for finding in outcome.findings] == [("machine", "assert")]
    line = SOURCE.read_text(encoding="utf-8").splitlines()[outcome.findings[0].line - 1]
    assert "assert(number < 3)" in line
