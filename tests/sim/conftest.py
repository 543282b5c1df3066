"""Fixtures for the tests of the simulator."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import pymluops
from pymluops import Handle, sim


@pytest.fixture
def nothing_leaks() -> Iterator[None]:
    """The test frees what it takes on the device, keeps device and checkers, and leaves no error in the queue."""
    pymluops.load("sim")
    gc.collect()
    before, device, checks = sim.counters(), sim.device(), sim.checks()
    yield
    gc.collect()
    after = sim.counters()
    assert (after.live_allocations, after.live_queues) == (before.live_allocations, before.live_queues)
    assert (sim.device(), sim.checks()) == (device, checks)
    with Handle("sim") as handle:
        handle.sync()
