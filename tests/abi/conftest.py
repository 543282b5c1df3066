"""Fixtures for the tests of the raw C ABI of the CPU library."""

from __future__ import annotations

from typing import Any

import pytest

import pymluops
from abi.c_objects import RawAbi


@pytest.fixture(scope="session")
def backend() -> Any:
    return pymluops.load("cpu")


@pytest.fixture(scope="session")
def abi(backend: Any) -> RawAbi:
    return RawAbi(backend)
