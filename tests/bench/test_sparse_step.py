"""The comparison of a step of a sparse convolution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.problem import WrongResultError

pytest.importorskip("torch")
sparse_step: Any = pytest.importorskip("benchmarks.sparse_step")


def test_contenders_agree(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    scan = tmp_path / "scan.bin"
    np.random.default_rng(0).uniform((0, -4, -3, 0), (8, 4, 1, 1), (300, 4)).astype(np.float32).tofile(scan)
    monkeypatch.setattr(sparse_step, "_CHANNELS", ((3, 4),))
    assert sparse_step.main(["--scan", str(scan), "--seconds", "0", "--threads", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all("torch" in line for line in lines[1:])


def test_a_wrong_result_is_found() -> None:
    case = sparse_step.Case(sparse_step.voxels(None)[:200], (3, 4), True)
    expected = case.steps()["torch"]()
    case.filters[0, 0, 0] += 1
    with pytest.raises(WrongResultError):
        sparse_step._compare("x", expected, case.steps()["torch"]())
