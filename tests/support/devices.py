"""Running an operator on the simulated device under the eyes of all checkers, and on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pymluops
from pymluops import sim

MODELS = ("MLU270", "MLU290", "MLU370-X8", "MLU590")
#: Sparse convolutions need architecture 372.
SPARSE_MODELS = ("MLU370-X8", "MLU590")


@contextmanager
def watched(model: str) -> Iterator[None]:
    """The operators run on this device with all checkers on, which must find nothing."""
    pymluops.load("sim")
    before = sim.device()
    sim.set_device(model)
    try:
        with pymluops.use("sim"), sim.checking("all"):
            sim.clear_findings()
            yield
            assert sim.findings() == []
    finally:
        sim.set_device(before)


def on_both(model: str, call: Callable[[], Any]) -> tuple[Any, Any]:
    """What the call gives on the device, and on the CPU."""
    with watched(model):
        found = call()
    with pymluops.use("cpu"):
        return found, call()
