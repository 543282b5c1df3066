"""Settings and fixtures that the tests share."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

import selection

# Derandomised, so that a run can be repeated; HYPOTHESIS_PROFILE=explore looks for new examples.
hypothesis.settings.register_profile(
    "quick", deadline=None, derandomize=True, database=None, print_blob=True, max_examples=selection.QUICK_EXAMPLES
)
hypothesis.settings.register_profile(
    "thorough", hypothesis.settings.get_profile("quick"), max_examples=selection.THOROUGH_EXAMPLES
)
hypothesis.settings.register_profile("explore", hypothesis.settings.get_profile("thorough"), derandomize=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    selection.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    selection.configure(config)
    profile = "thorough" if selection.is_thorough() else "quick"
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))


# Last, so that what pytest's own options leave out (-m, -k, --lf) is left out before.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selection.deselect(config, items)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what compiles, so that ``-m "not compiler"`` runs the rest on a machine without a compiler."""
    if "compiler" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.compiler)


def pytest_collection_finish() -> None:
    # Thousands of tests are a million objects that live to the end. Many tests call the garbage collector, which would
    # look at all of them every time.
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _imported_objects_are_frozen() -> None:
    """The same for what tests have imported since: PyTorch alone is another million objects."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def compiler() -> str:
    """The command of a compiler for C and C++: what MLUOPS_TEST_COMPILER names, or g++."""
    return os.environ.get("MLUOPS_TEST_COMPILER", "g++")


@pytest.fixture
def raw() -> Iterator[Any]:
    """The C functions of the CPU library."""
    import pymluops
    from raw import Raw

    with Raw(pymluops.load("cpu")) as functions:
        yield functions
