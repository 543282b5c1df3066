"""The kernels of the gallery are right, and what changes their results is called wrong or faulty."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallery.case import KERNELS
from gallery.judged import CAUGHT, TASKS, mutants_table, write_files
from pymluops.bang.judging import Judge, Kind, Work
from pymluops.bang.judging.files import kernels_in, task_for


@pytest.mark.parametrize(
    "kernels",
    [
        ("vector_add",),
        pytest.param(tuple(path.stem for path in KERNELS.glob("*.mlu")), id="all", marks=pytest.mark.thorough),
    ],
)
def test_kernels_are_right_and_mutants_are_caught(kernels: tuple[str, ...], judge: Judge, tmp_path: Path) -> None:
    write_files(tmp_path, kernels, per_kernel=1 if len(kernels) > 1 else 3)
    works = [Work(path, task) for path in kernels_in([tmp_path]) if (task := task_for(path, TASKS)) is not None]
    verdicts = list(judge.verdicts(works))
    originals = [verdict for verdict in verdicts if "-mutant" not in verdict.name]
    assert {verdict.name: verdict.kind for verdict in originals if verdict.kind is not Kind.RIGHT} == {}
    assert {Path(verdict.name).stem.rpartition(".")[0] for verdict in originals} == set(kernels)
    caught = [verdict for verdict in verdicts if verdict.kind in CAUGHT]
    assert len(caught) >= (len(verdicts) - len(originals)) / 2
    assert f"| kernels | {len(kernels)} | {len(kernels)} |" in mutants_table(verdicts)
