"""`pymluops.bang.testing`: metrics, random shapes, the plugin for pytest, and lines of kernels in coverage.py."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pymluops.bang.testing import assert_close, diff1, diff2, diff3, diff3_2, diff4, random_shape
from pymluops.bang.testing._names import check_options
from support.selection import examples

# ---- Metrics -------------------------------------------------------------------------------------


@examples(100)
@given(st.data(), hnp.array_shapes(max_side=6), st.sampled_from(["float16", "float32", "float64", "int32"]))
def test_metrics_are_their_formulas(data: st.DataObject, shape: tuple[int, ...], dtype: str) -> None:
    elements = st.integers(-1000, 1000) if dtype == "int32" else st.floats(-1000, 1000, width=16)
    m, b = (data.draw(hnp.arrays(dtype, shape, elements=elements)) for _ in range(2))
    errors = [abs(float(x) - float(y)) for x, y in zip(m.flat, b.flat, strict=True)]
    sizes = [abs(float(y)) for y in b.flat]
    small = {"float16": 1e-4, "float32": 1e-6}.get(dtype, 0.0)
    assert diff1(m, b) == pytest.approx(sum(errors) / (sum(sizes) + 1e-9))
    squares = sum(e**2 for e in errors) / (sum(s**2 for s in sizes) + 1e-9)
    assert diff2(m, b) == pytest.approx(squares**0.5)
    relative = [e if s < small else e / (s + 1e-9) for e, s in zip(errors, sizes, strict=True)]
    assert diff3(m, b) == pytest.approx(max(relative))
    assert diff3_2(m, b) == max(errors)


def test_diff4_counts_distinct_errors() -> None:
    b = np.arange(200, dtype=np.float32)
    assert diff4(b + np.where(b < 50, -1, 1), b) == pytest.approx(0.25)
    assert diff4(b - 1, b) == 1
    assert diff4(b[:99] - 1, b[:99]) == -1  # too few
    assert diff4(np.repeat(1.0, 500), np.repeat(2.0, 500)) == -1  # one distinct pair


def test_the_parts_of_complex_numbers_count_apart() -> None:
    b = np.array([10 + 1j])
    assert diff1(b + 0.5j, b) == pytest.approx(0.5)
    assert diff1(b + 0.5, b) == pytest.approx(0.05)


def test_assert_close_says_what_is_wrong() -> None:
    b = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    m = b.copy()
    m[1, 0] = 3.5
    assert_close(m, b, diff1=0.06)
    with pytest.raises(
        AssertionError, match=r"diff1 is 0\.05, .* 0\.001; the largest error is at \(1, 0\): 3\.5 against 3"
    ):
        assert_close(m, b, diff1=1e-3, diff2=1)
    with pytest.raises(AssertionError, match="all errors are above"):
        assert_close(np.arange(200) + 1, np.arange(200), diff4=True)
    with pytest.raises(ValueError, match=r"same shape, got \[2\] and \[1\]"):
        diff1([1, 2], [1])
    with pytest.raises(ValueError, match="expected a threshold"):
        assert_close(b, b)


def test_assert_close_hides_its_frames() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_close([1.0], [2.0], diff1=1e-3)
    assert [entry.name for entry in caught.traceback if not entry.ishidden(caught)] == [
        "test_assert_close_hides_its_frames"
    ]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_infinities_must_be_those_of_the_baseline(bad: float) -> None:
    b = np.array([1.0, bad, 3.0])
    assert_close(b, b, diff3_2=0)
    for m in (np.array([1.0, 2.0, 3.0]), np.array([bad, bad, 3.0])):
        with pytest.raises(AssertionError, match="NaN or infinity in 1 places"):
            assert_close(m, b, diff3_2=10)


# ---- Shapes --------------------------------------------------------------------------------------


@examples(200)
@given(st.integers(0, 2**32 - 1), st.integers(0, 300), st.integers(0, 300))
def test_random_shapes_keep_their_limits(seed: int, low: int, more: int) -> None:
    shape = random_shape(np.random.default_rng(seed), 3, (low, low + more))
    assert shape[0] == 3
    assert low <= shape[1] <= low + more
    assert shape == random_shape(np.random.default_rng(seed), 3, (low, low + more))


def test_random_shapes_try_edges_often() -> None:
    rng = np.random.default_rng(1)
    sizes = [random_shape(rng, (1, 1000))[0] for _ in range(400)]
    assert {1, 1000} <= set(sizes)
    assert sum(size % 64 in (63, 0, 1) for size in sizes) > 60
    with pytest.raises(ValueError, match="smallest first"):
        random_shape(rng, (5, 4))


# ---- The plugin ----------------------------------------------------------------------------------

KERNELS = """
__nram__ float a[64], b[64];
__mlu_entry__ void twice(float *x, int racy) {
  __memcpy_async(a, x, 256, GDRAM2NRAM);
  if (racy == 0) __sync_io();
  __bang_add(b, a, a, 64);
  if (racy == 2) {
    __bang_mul(b, a, a, 64);
  }
  __memcpy(x, b, 256, NRAM2GDRAM);
}
__mlu_entry__ void stuck(float *x) {
  if (taskId == 0) __sync_all();
}
"""

TESTS = """
import numpy
import pytest
from pymluops import sim
from pymluops.bang.testing import assert_close, random_shape

def run(mlu, racy):
    x = numpy.ones(64, "float32")
    mlu.compile("twice.mlu").kernel("twice")[1](x, racy)
    return x

def test_clean(mlu, mlu_rng):
    assert_close(run(mlu, 0), numpy.full(64, 2), diff3_2=0)

def test_fails(mlu):
    run(mlu, 1)

@pytest.mark.mlu_finds("race/copy-in-flight", "init/copy")
def test_finds(mlu):
    run(mlu, 1)

@pytest.mark.mlu_finds("race/copy-in-flight")
def test_finds_nothing(mlu):
    run(mlu, 0)

@pytest.mark.mlu_cards("MLU270")
def test_card(mlu):
    assert sim.device().arch == mlu.model.arch == 270

@pytest.mark.mlu_finds("sync/deadlock")
def test_ends(mlu):
    mlu.compile("twice.mlu").kernel("stuck")[4, "union1"](numpy.ones(1, "float32"))

@pytest.mark.mlu_finds("race/copy-in-flight")
def test_ends_otherwise(mlu):
    mlu.compile("twice.mlu").kernel("stuck")[4, "union1"](numpy.ones(1, "float32"))

def test_random(mlu_rng):
    assert mlu_rng.random() < 0, f"drew {mlu_rng.random()}"
"""


FAILING = ("test_fails", "test_finds_nothing", "test_ends_otherwise")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a kernel and its tests, as a user has it."""
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["pymluops.bang.testing"]\n')
    (tmp_path / "twice.mlu").write_text(KERNELS)
    (tmp_path / "test_twice.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text('[tool.coverage.run]\nplugins = ["pymluops.bang.coverage"]\n')
    return tmp_path


def _run(project: Path, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_plugin_runs_tests_on_cards(project: Path) -> None:
    text = _run(project, "pytest", "-p", "no:cacheprovider", "--mlu-cards=MLU370-X8,MLU590", "--mlu-seed=7")
    outcome = dict(re.findall(r"(?:FAILED|ERROR) test_twice.py::(\S+) - (.*)", text))
    assert "simulated MLU: --mlu-seed=7" in text
    assert set(outcome) == {
        *(f"{name}[{card}]" for name in FAILING for card in ("MLU370-X8", "MLU590")),
        "test_random",
    }, text
    assert "race/copy-in-flight: twice.mlu:6: __bang_add reads the array a of the kernel at element 0, which" in text
    assert re.search(r"^E +next: race/copy-in-flight: wait before the access", text, re.MULTILINE), text
    assert "which __memcpy_async still writes" in text
    assert "expected findings of race/copy-in-flight, got none" in text
    assert "--mlu-seed=7 repeats the random numbers" in text
    assert "7 passed" in text


@pytest.mark.parametrize(
    ("option", "word", "said"),
    [
        ("--mlu-cards", "MLU59", "expected names out of MLU270, .*, got 'MLU59'; did you mean MLU590"),
        ("--mlu-check", "memry", "memry.*; did you mean memory"),
        ("--mlu-rules", "race/on-chip-ordr=off", "did you mean race/on-chip-order"),
        ("--mlu-rules", "race=never", "never"),
    ],
)
def test_bad_names_in_options_are_refused_before_tests_run(option: str, word: str, said: str) -> None:
    options = {"--mlu-cards": "MLU590", "--mlu-check": "all", "--mlu-rules": "", option: word}
    config = cast("pytest.Config", SimpleNamespace(getoption=options.__getitem__))
    with pytest.raises(pytest.UsageError, match=f"^{option}.*{said}"):
        check_options(config)


def test_bad_names_in_markers_are_told_without_a_traceback(project: Path) -> None:
    (project / "test_twice.py").write_text(
        "import pytest\n@pytest.mark.mlu_finds('race/nosuch')\ndef test_rule(mlu): ...\n"
    )
    text = _run(project, "pytest", "-p", "no:cacheprovider")
    assert re.search(r"^E? *test_rule: mlu_finds: expected names of rules .*, got 'race/nosuch'", text, re.MULTILINE), (
        text
    )
    assert "1 error" in text
    assert "Traceback" not in text
    assert "_plugin.py" not in text


@pytest.mark.thorough
def test_a_seed_repeats_the_random_numbers(project: Path) -> None:
    words = ("pytest", "-p", "no:cacheprovider", "--mlu-seed=7", "test_twice.py::test_random")
    first, second = (re.findall(r"drew \S+", _run(project, *words, *more)) for more in ([], ["-n1"]))
    assert first == second != []
    assert re.findall(r"drew \S+", _run(project, *words, "--mlu-seed=8")) != first
    assert "names out of MLU270" in _run(project, "pytest", "-p", "no:cacheprovider", "--mlu-cards=MLU999")


@pytest.mark.thorough
def test_lines_of_kernels_are_in_the_report_of_coverage(project: Path) -> None:
    said = _run(project, "coverage", "run", "--include=*/test_twice.py", "-m", "pytest", "-q", "-k", "clean or finds")
    assert "2 passed" not in said.replace("1 failed, 2 passed", "")
    _run(project, "coverage", "json")
    files = json.loads((project / "coverage.json").read_text())["files"]
    kernel = files["twice.mlu"]
    assert kernel["missing_lines"] == [8]
    assert {4, 5, 6, 7, 10} <= set(kernel["executed_lines"])
    assert files["test_twice.py"]["summary"]["covered_lines"] > 0
