"""Fixtures for the tests of intrinsics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kernels.host_functions import Device, Outcome
from kernels.intrinsics.intrinsic_calls import Calls, Run
from pymluops.sim.toolchain import Toolchain

HERE = Path(__file__).resolve().parent

#: Modules with sources of their own, which are compiled for each architecture. The quick selection
#: takes 372.
COMPILED_APART = ("test_copies", "test_control", "test_declared", "test_fills")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the quick selection compile for one architecture: 592, which has most, for all modules but the above."""
    for item in items:
        if item.path.parent != HERE or not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        chosen = 372 if item.path.stem in COMPILED_APART else 592
        if item.callspec.params.get("arch", chosen) != chosen:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def calls(toolchain: Toolchain, device: Callable[[int], Device]) -> Callable[[int], Calls]:
    """``calls(arch)``: the statements of all modules compiled for an architecture, once."""
    from kernels.intrinsics.test_rules import all_statements

    compiled: dict[int, Calls] = {}

    def of(arch: int) -> Calls:
        if arch not in compiled:
            compiled[arch] = Calls(toolchain, device, arch, all_statements(arch))
        return compiled[arch]

    return of


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, toolchain: Toolchain, device: Callable[[int], Device]) -> Run:
    """``run(arch, function, *arguments)`` calls a host function of ``x.mlu``, the source of the module ``test_x``."""
    source = HERE / f"{request.path.stem.removeprefix('test_')}.mlu"

    def call(arch: int, function: str, *arguments: object, checks: str = "all") -> Outcome:
        return device(arch).call(toolchain.compile(source, arch), function, *arguments, checks=checks)

    return call
