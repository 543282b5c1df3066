"""What every test needs: the installed package, not the source folder beside these tests."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _leave_the_source_tree() -> None:
    """Take the repository root off sys.path, where `python -m pytest` puts it.

    The folder pymluops/ there has no compiled modules and would hide the installed package. Programs that tests start
    get PYTHONSAFEPATH, so that Python does not put their working folder on the path either.
    """
    if any((ROOT / "pymluops").glob("_core*.so")):
        return  # built in place: the source tree is the installation
    sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != ROOT]
    os.environ["PYTHONSAFEPATH"] = "1"


_leave_the_source_tree()


# ---- Settings and fixtures that the tests share; they come after the path is right ----------------------------------

from collections.abc import Iterator  # noqa: E402
from typing import Any  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402

# Derandomised, so that a run can be repeated; HYPOTHESIS_PROFILE=explore looks for new examples.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, database=None, print_blob=True)
hypothesis.settings.register_profile("explore", deadline=None, derandomize=False, database=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def raw() -> Iterator[Any]:
    """The C functions of the CPU library."""
    from raw import Raw

    import pymluops

    with Raw(pymluops.load("cpu")) as functions:
        yield functions
