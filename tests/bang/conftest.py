"""Fixtures of the tests that compile BANG C through the package."""

from __future__ import annotations

import gc
import platform
from collections.abc import Iterator
from contextlib import suppress

import pytest

import pymluops
from pymluops import sim
from pymluops.bang._compilers import find_compiler


@pytest.fixture(autouse=True)
def everything_here_compiles(compiler: str) -> None:
    """Give all tests of the folder the mark `compiler`."""


@pytest.fixture(autouse=True)
def _kept_between_sessions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not change since an earlier session is not compiled again."""
    assert request.config.cache is not None
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(request.config.cache.mkdir("bang")))


@pytest.fixture(scope="session")
def gcc_on_x86() -> None:
    """Skip tests of what GCC has on x86-64 where kernels are compiled by another compiler."""
    if find_compiler().kind != "GNU" or platform.machine() != "x86_64":
        pytest.skip("kernels are compiled by another compiler, or for another machine")


@pytest.fixture(scope="module", autouse=True)
def _simulator() -> Iterator[None]:
    """The simulator is the default, found nothing yet, nobody has set a card, and afterwards it is so again."""
    with pymluops.use("sim"):
        sim.clear_findings()
        card = sim.device()
        sim.set_device(None)
        yield
        gc.collect()
        with suppress(pymluops.BadParamError):  # the traceback of a test that failed may keep its arrays
            sim.set_device(card)
            sim.set_device(None)
