"""Names and launch forms of older releases, in programs of bangcc; and tools between launches and the runtime."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pymluops import sim
from pymluops.bang.driver import main

OLDER = Path(__file__).resolve().parent / "older"


def run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYMLUOPS_SIM_DEVICE": "", "PYMLUOPS_SIM_CHECK": "all", **environment}
    return subprocess.run([program], env=env, capture_output=True, text=True, timeout=60, check=False)


def test_kernels_are_launched_by_their_addresses(tmp_path: Path) -> None:
    kernels, program = tmp_path / "kernels.o", tmp_path / "program"
    assert main(["-c", "--bang-device-only", str(OLDER / "kernels.mlu"), "-o", str(kernels)]) == 0
    assert main([str(OLDER / "main.cpp"), str(kernels), "-o", str(program), "-lcnrt"]) == 0
    done = run(program)
    assert done.stdout == "0 failures\n"
    # The last line of the program fails on purpose.
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"{OLDER / 'main.cpp'}:")
    assert ": cnrtInit(1): cnrtErrorArgsInvalid (100006): an argument is not valid" in line
    assert done.returncode == 1


@pytest.mark.thorough
def test_a_program_finds_kernels_of_a_library_by_their_addresses(tmp_path: Path) -> None:
    """Where the program is not position-independent, the address that it takes is not the one in the library."""
    library, program = tmp_path / "libkernels.so", tmp_path / "program"
    assert main(["-shared", str(OLDER / "kernels.mlu"), "-o", str(library)]) == 0
    assert main(["-no-pie", "-fno-pic", str(OLDER / "main.cpp"), str(library), "-o", str(program)]) == 0
    assert run(program, LD_LIBRARY_PATH=str(tmp_path)).stdout == "0 failures\n"


def test_a_tool_stands_between_launches_and_the_runtime(tmp_path: Path) -> None:
    program = tmp_path / "program"
    wrapped = "-Wl,--wrap=cnrtInvokeKernel,--wrap=__bangRegisterFunction"
    sources = [str(OLDER / "traced.mlu"), str(OLDER / "tracer.cpp")]
    assert main([*sources, wrapped, "-ldl", "-o", str(program)]) == 0
    done = run(program, LD_LIBRARY_PATH=str(sim.neuware() / "lib64"))
    assert done.stdout.splitlines() == ["twice<int> 4", "negate 4", "twice<int> 4", "negate 4", "4 16 2.5"]
