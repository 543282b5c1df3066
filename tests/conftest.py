"""Settings and fixtures that the tests share."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from support import selection

# Derandomised, so that a run can be repeated; HYPOTHESIS_PROFILE=explore looks for new examples.
hypothesis.settings.register_profile(
    "quick", deadline=None, derandomize=True, database=None, print_blob=True, max_examples=selection.QUICK_EXAMPLES
)
hypothesis.settings.register_profile(
    "thorough", hypothesis.settings.get_profile("quick"), max_examples=selection.THOROUGH_EXAMPLES
)
hypothesis.settings.register_profile("explore", hypothesis.settings.get_profile("thorough"), derandomize=False)


#: The sources of native/core that a library without operators needs.
BARE = ("reason", "status", "unimplemented")


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
    # Thousands of tests are a million objects that live to the end. Many tests call the garbage
    # collector, which would look at all of them every time.
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


@pytest.fixture(scope="session")
def bare_library(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that implements no operator: each is the placeholder that the build generates."""
    folder, native = tmp_path_factory.mktemp("bare"), Path(__file__).resolve().parents[1] / "native"
    entries, made = folder / "entries.c", folder / "libbare.so"
    headers = [native / "include" / name for name in ("mlu_op.h", "mluops_ext.h")]
    subprocess.run([sys.executable, native / "abi/generate.py", "--header", *headers, "--entries", entries], check=True)
    sources = [Path(__file__).with_name("support") / "bare_library.cpp", *(native / "core" / f"{n}.cpp" for n in BARE)]
    options = ["-fPIC", "-fvisibility=hidden", f"-I{native}", f"-I{native / 'include'}", '-DMLUOPS_LIBRARY_VERSION="0"']
    subprocess.run([compiler, *options, "-c", "-x", "c", entries, "-o", entries.with_suffix(".o")], check=True)
    command = [compiler, "-std=c++17", "-shared", *options, *sources, entries.with_suffix(".o"), "-o", made]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def raw() -> Iterator[Any]:
    """The C functions of the CPU library."""
    import pymluops
    from support.c_calls import Raw

    with Raw(pymluops.load("cpu")) as functions:
        yield functions
