"""Fixtures for tests that compile and run BANG C."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from kernels.workshop import Device, Workshop


@pytest.fixture(scope="session")
def workshop(request: pytest.FixtureRequest) -> Workshop:
    """Compiles sources with MLUOPS_TEST_COMPILER or g++; what did not change since an earlier session, not again."""
    assert request.config.cache is not None
    return Workshop(request.config.cache.mkdir("workshop"), os.environ.get("MLUOPS_TEST_COMPILER", "g++"))


@pytest.fixture(scope="session")
def device(workshop: Workshop) -> Iterator[Callable[[int], Device]]:
    """``device(arch)``: a process with the model of that architecture, started when first used."""
    devices: dict[int, Device] = {}

    def of(arch: int = 372) -> Device:
        if arch not in devices:
            devices[arch] = Device(workshop.simulator, arch)
        return devices[arch]

    yield of
    for used in devices.values():
        used.close()
