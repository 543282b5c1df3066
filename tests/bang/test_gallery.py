"""The kernels of ``examples/kernels`` compute what their oracles say, and no checker finds anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gallery.case import KERNELS, Case, assert_close, entry_of, expected_of, rng_of, run, together
from gallery.cases import CASES
from pymluops import bang, sim
from pymluops.bang.driver import main
from pymluops.sim.toolchain import card_of

#: What is one source in these tests. Its arrays have to fit into NRAM together.
KERNELS_OF_A_UNIT = 5
#: Kernels whose last copies only the end of the task waits for, as many kernels for cards do.
DRAINED_AT_END = {"adam", "cluster_ring", "swish_gate"}


def units(arch: int) -> list[tuple[str, ...]]:
    names = sorted({case.kernel for case in CASES if arch in case.archs})
    return [tuple(names[first : first + KERNELS_OF_A_UNIT]) for first in range(0, len(names), KERNELS_OF_A_UNIT)]


ALL = [(case, arch) for case in CASES for arch in case.archs]
QUICK = {case.kernel: case for case in CASES if case.kernel in units(592)[0]}


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest, compiler: str) -> Callable[[int, str], bang.Module]:
    """``compiled(arch, kernel)``: the module of the unit that has the kernel."""
    assert request.config.cache is not None
    folder = str(request.config.cache.mkdir("bang"))

    @cache
    def unit(arch: int, names: tuple[str, ...]) -> bang.Module:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYMLUOPS_CACHE_DIR", folder)
            # Less optimised, which compiles in half the time: what is tested is the kernels.
            return bang.compile(together(names), arch=arch, options=["-O0", "-Wall", "-Wextra", "-Werror"])

    return lambda arch, kernel: unit(arch, next(names for names in units(arch) if kernel in names))


def check(case: Case, module: bang.Module) -> None:
    sim.set_device(card_of(module.arch)["name"])
    arguments = case.arguments(rng_of(case))
    expected = expected_of(case, arguments)
    with sim.checking("all", {"all": "fail", "sync/drained-at-end": "record", "unused": "off"}):
        sim.clear_findings()
        results = run(case, module.kernel(entry_of(case)), arguments)
    assert_close(case, results, expected)
    assert bool(sim.findings()) == (case.kernel in DRAINED_AT_END)


def test_every_kernel_has_a_case() -> None:
    assert {path.stem for path in KERNELS.glob("*.mlu")} == {case.kernel for case in CASES}
    assert len({case.kernel for case in CASES}) >= 40


@pytest.mark.parametrize("case", QUICK.values(), ids=lambda case: case.name)
def test_some_kernels(case: Case, compiled: Callable[[int, str], bang.Module]) -> None:
    check(case, compiled(592, case.kernel))


@pytest.mark.thorough
@pytest.mark.parametrize(("case", "arch"), ALL, ids=[f"{case.name}-{arch}" for case, arch in ALL])
def test_all_kernels(case: Case, arch: int, compiled: Callable[[int, str], bang.Module]) -> None:
    check(case, compiled(arch, case.kernel))


DOT = sum((i % 7 - 3) * (i % 5 - 2) for i in range(12345))
PROGRAMS = {"dot": f"x . y = {DOT}, expected {DOT}\n", "older_launch": "0 of 12345 values are wrong\n"}


def test_there_is_a_case_for_each_program() -> None:
    assert {source.stem for source in (KERNELS.parent / "programs").iterdir()} == set(PROGRAMS)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs(name: str, tmp_path: Path) -> None:
    program = tmp_path / name
    assert main([str(KERNELS.parent / "programs" / f"{name}.mlu"), "-o", str(program)]) == 0
    environment = {**os.environ, "PYMLUOPS_SIM_CHECK": "all"}

    def run_with(argument: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, argument], env=environment, capture_output=True, text=True, check=False)

    done = run_with("12345")
    assert (done.returncode, done.stdout, done.stderr) == (0, PROGRAMS[name], "")
    done = run_with("none")
    assert (done.returncode, done.stderr) == (2, f"usage: {name} [length]\n")
