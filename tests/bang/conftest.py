"""Fixtures of the tests that compile BANG C through the package."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress

import pytest

import pymluops
from pymluops import sim
from pymluops.sim import _devices


@pytest.fixture(autouse=True)
def everything_here_compiles(compiler: str) -> None:
    """Give all tests of the folder the mark `compiler`."""


@pytest.fixture(autouse=True)
def _kept_between_sessions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not change since an earlier session is not compiled again."""
    assert request.config.cache is not None
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(request.config.cache.mkdir("bang")))


@pytest.fixture(scope="module", autouse=True)
def _simulator() -> Iterator[None]:
    """The simulator is the default, found nothing yet, nobody has chosen a card, and afterwards all is as it was."""
    with pymluops.use("sim") as backend:
        sim.clear_findings()
        card, chosen = sim.device(), set(_devices._chosen)
        _devices._chosen.clear()
        yield
        gc.collect()
        with suppress(pymluops.BadParamError):  # the traceback of a test that failed may keep its arrays
            _devices._set_device(backend, card)
        _devices._chosen.clear()
        _devices._chosen.update(chosen)
