"""Fixtures for tests that compile and run BANG C."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernels.host_functions import HERE, Device
from pymluops.sim.toolchain import Simulator, Toolchain


@pytest.fixture(autouse=True)
def everything_here_compiles(compiler: str) -> None:
    """Give all tests of the folder the mark `compiler`."""


@pytest.fixture(scope="session")
def toolchain(request: pytest.FixtureRequest, compiler: str) -> Toolchain:
    """Compiles sources; what did not change since an earlier session, not again.

    MLUOPS_TEST_SIM_LIBRARY is the machine, libmlusim.so, of another build than the installed one.
    """
    assert request.config.cache is not None
    built = os.environ.get("MLUOPS_TEST_SIM_LIBRARY")
    headers = HERE.parents[1] / "native" / "sim" / "include"
    return Toolchain(
        request.config.cache.mkdir("toolchain"),
        compiler,
        Simulator(Path(built).resolve(), headers) if built else Simulator.installed(),
        (HERE,),
    )


@pytest.fixture(scope="session")
def device(toolchain: Toolchain) -> Iterator[Callable[[int], Device]]:
    """``device(arch)``: a process with the model of that architecture, started when first used."""
    devices: dict[int, Device] = {}

    def of(arch: int = 592) -> Device:
        if arch not in devices:
            devices[arch] = Device(toolchain.simulator, arch)
        return devices[arch]

    yield of
    for used in devices.values():
        used.close()
