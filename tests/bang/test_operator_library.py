"""A library of operators that is not ours, with host code of its own, built by its own build file."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import functions as f
from pymluops import sim

OPERATORS = Path(__file__).resolve().parent / "operators"
HEADERS = Path(__file__).resolve().parents[2] / "native" / "include"


def built(folder: Path, *words: str) -> Path:
    """The library, made by `make` as its authors would."""
    root = sim.neuware()
    names = [f"NEUWARE_HOME={root}", f"SOURCE={OPERATORS}", f"HEADERS={HEADERS}", *words]
    command = ["make", "-f", str(OPERATORS / "Makefile"), *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "liboperators.so"


def check_values() -> None:
    rng = np.random.default_rng(3)
    for dtype in (np.float32, np.float16):
        x = rng.standard_normal((7, 1001)).astype(dtype)
        y = np.empty_like(x)
        f.mluOpAbs(x, y)
        np.testing.assert_array_equal(y, np.abs(x))
    x, y = rng.standard_normal((2, 333)).astype(np.float32)
    z = np.empty_like(x)
    f.mluOpDiv(0, x, y, z)
    np.testing.assert_array_equal(z, x / y)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_two_libraries_of_operators_beside_ours(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Built for two cards and for one: both run, under all checkers, on one machine, each on its own cards."""
    libraries = []
    for name, archs in (("first", ()), ("second", ("ARCHS=--bang-mlu-arch=mtp_592",))):
        (tmp_path / name).mkdir()
        libraries.append(built(tmp_path / name, *archs))
    before = sim.device()
    sim.clear_findings()
    with sim.checking("all"):
        for card in ("MLU370-X8", "MLU590"):
            sim.set_device(card)
            for library in libraries:
                with pymluops.use(library) as backend:
                    assert (backend.kind, backend.version) == ("sim", "1.4.2")
                    assert backend.path == os.fspath(library)
                    if (card, library) == ("MLU370-X8", libraries[1]):
                        # The library looks at the last error of its thread, which stays.
                        with ThreadPoolExecutor(1) as thread:
                            failure = thread.submit(check_values).exception()
                        assert isinstance(failure, pymluops.ExecutionFailedError)
                        assert "compiled for architecture 592" in capfd.readouterr().err
                    else:
                        check_values()
                    assert sim.findings() == []
        with pymluops.use("sim") as ours:
            assert ours.version == "1.11.1"
    sim.set_device(before)
