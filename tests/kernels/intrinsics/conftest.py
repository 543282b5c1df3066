"""Fixtures for the tests of intrinsics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from kernels.device import Device
from kernels.intrinsics.calls import Calls
from pymluops.sim.toolchain import Toolchain


@pytest.fixture(scope="session")
def calls(toolchain: Toolchain, device: Callable[[int], Device]) -> Callable[[int, Iterable[str]], Calls]:
    """``calls(arch, statements)``: the statements of a module compiled for an architecture, once."""
    compiled: dict[tuple[int, tuple[str, ...]], Calls] = {}

    def of(arch: int, statements: Iterable[str]) -> Calls:
        key = arch, tuple(statements)
        if key not in compiled:
            compiled[key] = Calls(toolchain, device, *key)
        return compiled[key]

    return of
