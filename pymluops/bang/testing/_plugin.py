"""The hooks and fixtures for pytest."""

from __future__ import annotations

import gc
import os
import secrets
import zlib
from collections.abc import Generator, Sequence
from typing import Any, cast

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from pymluops._causes import folded, lines_of_following, name_of
from pymluops.bang import _coverage
from pymluops.bang.testing import _names
from pymluops.errors import ExecutionFailedError

_SEED = pytest.StashKey[int]()
_SECTION = "simulated MLU"


class Device:
    """The simulated card of a test, from the fixture `mlu`.

    Attributes
    ----------
    model : pymluops.sim.DeviceModel
        Its figures.
    """

    def __init__(self, model: sim.DeviceModel) -> None:
        self.model = model

    def compile(
        self, source_or_paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any
    ) -> bang.Module:
        """Compile sources for this card; the arguments and errors are those of `pymluops.bang.compile`."""
        return bang.compile(source_or_paths, arch=self.model.arch, **options)

    def __repr__(self) -> str:
        return f"<simulated {self.model.name}>"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("simulated MLU")
    group.addoption(
        "--mlu-cards", default="MLU590", metavar="NAMES", help="cards that tests with the fixture mlu run on, or all"
    )
    group.addoption("--mlu-check", default="all", metavar="NAMES", help="checkers that watch these tests (all)")
    group.addoption("--mlu-rules", default="", metavar="RULES", help="actions of rules: race/on-chip-order=off,...")
    group.addoption("--mlu-seed", type=int, metavar="N", help="repeats the random numbers of an earlier run")


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, choose the seed, and announce the markers."""
    _names.check_options(config)
    config.addinivalue_line("markers", "mlu_cards(*names): the cards that the test runs on")
    config.addinivalue_line("markers", "mlu_finds(*rules): the test passes if just these rules are broken")
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)  # in a process of pytest-xdist
    seed = config.getoption("--mlu-seed")
    config.stash[_SEED] = worker["mlu_seed"] if worker else secrets.randbelow(2**32) if seed is None else seed


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give each process of pytest-xdist the same seed."""
    node.workerinput["mlu_seed"] = node.config.stash[_SEED]


def pytest_report_header(config: pytest.Config) -> str:
    """Say the seed at the start."""
    return f"simulated MLU: --mlu-seed={config.stash[_SEED]}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with the fixture `mlu` on each card."""
    if "mlu" not in metafunc.fixturenames:
        return
    try:
        names = _names.cards_of(metafunc.definition, metafunc.config)
        _names.rules_of(metafunc.definition)
    except pytest.UsageError as error:
        pytest.fail(str(error), pytrace=False)
    metafunc.parametrize("mlu", names, indirect=True)


@pytest.fixture
def mlu(request: pytest.FixtureRequest) -> Generator[Device]:
    """Give the simulated card, which the checkers watch until the test ends."""
    rules = {}
    wanted = request.config.getoption("--mlu-rules")
    if wanted:
        rules = dict(part.partition("=")[::2] for part in wanted.split(","))
    rules |= dict.fromkeys(_names.rules_of(request.node), "record")
    with pymluops.use("sim"):
        gc.collect()  # arrays of an earlier test keep the device as it is
        sim.set_device(request.param)
        sim.clear_findings()
        with sim.checking(request.config.getoption("--mlu-check"), rules):
            yield Device(sim.device())


@pytest.fixture
def mlu_rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Give random numbers, which depend on the seed of the run and the name of the test."""
    seed = request.config.stash[_SEED]
    request.node.add_report_section("setup", _SECTION, f"--mlu-seed={seed} repeats the random numbers")
    return np.random.default_rng([seed, zlib.crc32(request.node.nodeid.encode())])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test with the fixture `mlu` for findings of the checkers."""
    __tracebackhide__ = True
    if "mlu" not in cast("list[str]", getattr(item, "fixturenames", [])):
        return (yield)
    expected = set(_names.rules_of(item))
    result = None
    try:
        result = yield
    except ExecutionFailedError as error:
        # Rules such as sync/deadlock end a launch whatever their action is, and the test with it.
        if not error.findings or not {_name(finding) for finding in error.findings} <= expected:
            raise
    found = sim.findings()
    unexpected = [finding for finding in found if _name(finding) not in expected]
    if unexpected:
        pytest.fail("\n".join(["the checkers found:", *_lines_of(unexpected)]), pytrace=False)
    missing = expected - {_name(finding) for finding in found}
    if missing:
        pytest.fail(f"expected findings of {', '.join(sorted(missing))}, got none", pytrace=False)
    return result


def _lines_of(findings: list[sim.Finding]) -> list[str]:
    """Return the lines of findings; what follows from one that is told needs no lines of its own."""
    told = {name_of(_name(finding), finding.file, finding.line) for finding in findings if not finding.cause}
    lines: list[str] = []
    for finding, following in folded(findings, [each.cause if each.cause in told else "" for each in findings]):
        lines += [str(finding), *([f"  next: {finding.next_step}"] if finding.next_step else [])]
        lines += lines_of_following([name_of(_name(each), each.file, each.line) for each in following])
    return lines


def _name(finding: sim.Finding) -> str:
    return f"{finding.checker}/{finding.rule}"


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop() -> Generator[None, Any, Any]:
    """Hand the lines of kernels to coverage.py before it saves its data."""
    result = yield
    _coverage.hand_over()
    return result
