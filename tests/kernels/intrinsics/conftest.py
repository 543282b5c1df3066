"""Fixtures for the tests of intrinsics."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernels.intrinsics.calls import Calls
from kernels.workshop import Device, Workshop


@pytest.fixture(scope="session")
def calls(workshop: Workshop, device: Callable[[int], Device]) -> Callable[[int], Calls]:
    """``calls(arch)``: the statements of all modules compiled for an architecture, once."""
    from kernels.intrinsics.test_rules import all_statements

    compiled: dict[int, Calls] = {}

    def of(arch: int) -> Calls:
        if arch not in compiled:
            compiled[arch] = Calls(workshop, device, arch, all_statements(arch))
        return compiled[arch]

    return of
