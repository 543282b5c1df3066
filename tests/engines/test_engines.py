"""The examples of examples/engines: nothing is lost with a worker, and two processes train like one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.example import PAIRING

FOLDER = Path(__file__).parents[2] / "examples" / "engines"

# They start processes that import PyTorch or Dask.
pytestmark = pytest.mark.thorough


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments; the folder of the checkout is not in the way of the package."""
    return subprocess.run([sys.executable, "-P", *command], capture_output=True, text=True, timeout=280, check=False)


def scans(folder: Path, count: int) -> Path:
    """A folder of small scans."""
    folder.mkdir()
    for number in range(count):
        rng = np.random.default_rng(number)
        np.save(folder / f"scan{number}.npy", rng.uniform(-5, 5, (400 + number, 4)).astype(np.float32))
    return folder


def test_no_scan_is_lost_with_a_worker_of_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    folder, output = scans(tmp_path / "scans", 6), tmp_path / "new" / "voxels"
    done = run(str(FOLDER / "dask_voxels.py"), str(folder), "--output", str(output), "--kill-worker")
    assert done.returncode == 0, done.stderr
    killed = re.search(r"killed worker \S+, process \d+: it had (\d+) results", done.stdout)
    assert killed and int(killed[1]) >= 1, done.stdout
    assert re.search(r"^dashboard: http://", done.stdout, re.MULTILINE)
    assert re.search(r"^6 scans in .* threads of an operator: 1$", done.stdout, re.MULTILINE)
    assert "equal, bit by bit, to what one process computes" in done.stdout
    assert sorted(path.name for path in output.iterdir()) == [f"scan{number}.npz" for number in range(6)]
    for path in output.iterdir():
        with np.load(path) as arrays:
            coordinates = arrays["coordinates"]
            space = [int(size) for size in coordinates.max(0)[1:] + 1]
            _, pairs, counts = PAIRING.run(
                coordinates, batch_size=1, spatial_shape=space, kernel_size=3, padding=1, subm=True
            )
            np.testing.assert_array_equal(arrays["submanifold_pairs"], pairs)
            np.testing.assert_array_equal(arrays["submanifold_counts"], counts)


def test_a_folder_without_scans_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    for folder, problem in ((tmp_path, "has no scan (.bin, .npy, .ply)"), (tmp_path / "none", "expected a folder")):
        done = run(str(FOLDER / "dask_voxels.py"), str(folder))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"dask_voxels.py: {folder}: {problem}\n"


def test_two_processes_train_like_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    picture = tmp_path / "shown.png"
    done = run(str(FOLDER / "ddp_second.py"), "--steps", "2", "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    found = re.search(r"losses differ by at most (\S+) \(relative\), weights by (\S+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    assert float(found[1]) < 1e-9 and float(found[2]) < 1e-6  # float64: what sums in another order make
    assert picture.stat().st_size > 10_000
    assert done.stdout.count("step    1 of 2") == 2  # of the first process, and alone
