"""What the tests of the benchmark share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import pymluops
from benchmarks.cases import Case
from benchmarks.command import main
from benchmarks.threads import close_teams
from support.example import MOVING


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = pymluops.get_num_threads()
    yield
    close_teams()
    pymluops.set_num_threads(before)


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run ``python -m benchmarks`` in this process; gives exit code, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def tiny_case() -> Case:
    facts = {"shape": [1, 4, 4, 8], "groups": 2, "largest_shift": 1}
    return Case(f"{MOVING.name}/tiny/f32", MOVING.family, MOVING.name, "tiny", "small", "float32", facts)
