"""Results are the same bits for every number of threads, every instruction level and every run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import pymluops
from support import families, workload
from support.processes import python_output

LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = pymluops.get_num_threads()
    yield
    pymluops.set_num_threads(before)


@cache
def _one_thread() -> dict[str, str]:
    pymluops.set_num_threads(1)
    return workload.digests()


@cache
def _child(**environment: str) -> dict[str, Any]:
    return json.loads(
        python_output("import runpy; runpy.run_module('support.workload', run_name='__main__')", **environment)
    )


def test_the_workload_calls_every_operator() -> None:
    for name in families.OPERATORS:
        assert any(key.startswith(name) for key in _one_thread()), name


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    expected = _one_thread()
    pymluops.set_num_threads(threads)
    for _ in range(3):
        assert workload.differing(workload.digests(), expected) == []


@pytest.mark.thorough
@pytest.mark.parametrize("level", LEVELS)
def test_any_instruction_level_gives_the_same_bits(level: str) -> None:
    found = _child(PYMLUOPS_INSTRUCTION_LEVEL=level)
    # A level above what this CPU has falls back to the best that it has.
    best = _child()["level"]
    if best in LEVELS:
        assert found["level"] == LEVELS[min(LEVELS.index(level), LEVELS.index(best))]
    assert workload.differing(found["digests"], _one_thread()) == []


@pytest.mark.thorough
@pytest.mark.parametrize("level", LEVELS)
def test_results_past_the_caches_are_the_same_bits(level: str) -> None:
    for mib in ("0", "1000000"):
        found = _child(PYMLUOPS_INSTRUCTION_LEVEL=level, PYMLUOPS_STREAM_MIB=mib, PYMLUOPS_NUM_THREADS="2")
        assert workload.differing(found["digests"], _one_thread()) == []


def test_another_process_gives_the_same_bits() -> None:
    assert workload.differing(_child(PYMLUOPS_NUM_THREADS="3")["digests"], _one_thread()) == []


def test_one_handle_used_again_gives_the_same_bits() -> None:
    with pymluops.Handle() as handle:
        for _ in range(2):
            assert workload.differing(workload.digests(handle), _one_thread()) == []
