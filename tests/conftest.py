"""Settings and fixtures that the tests share."""

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

# Derandomised, so that a run can be repeated; HYPOTHESIS_PROFILE=explore looks for new examples.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, database=None, print_blob=True)
hypothesis.settings.register_profile("explore", deadline=None, derandomize=False, database=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def raw() -> Iterator[Any]:
    """The C functions of the CPU library."""
    import pymluops
    from raw import Raw

    with Raw(pymluops.load("cpu")) as functions:
        yield functions
