"""pymluops case: tables, exit codes, files that are wrong, cases that crash or hang, the smallest case, a test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pymluops import _processes, cli, gencase
from pymluops.gencase import _pool, _report
from pymluops.gencase._minimize import minimized
from pymluops.gencase._pool import Worker, run_files
from pymluops.gencase._report import details


def tin_shift(path: Path, wrong: bool = False) -> Path:
    """A case, with outputs that are wrong if wanted."""
    x = np.arange(1, 25, dtype=np.float32).reshape(1, 2, 4, 3)
    case = gencase.Case.build("tin_shift_forward", [("input", x), ("shifts", np.int32([[0, 0]]))], [("output", x)])
    values = x.reshape(-1).copy()
    values[7] += wrong
    case.outputs[0].set_values(values)
    case.write(path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = cli.main(["case", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tin_shift(tmp_path / "good.prototxt"), tin_shift(tmp_path / "bad.pb", wrong=True)
    code, out, err = run(capsys, "run", good, "--against", "file")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["operator", "case", "outcome", "criteria", "time"]
    assert out.splitlines()[1].split()[:6] == ["tin_shift_forward", "good", "passed", "diff3", "0", "<="]
    assert out.splitlines()[-1] == "1 passed"
    code, out, _ = run(capsys, "run", tmp_path, "--against", "file")
    assert code == 1
    assert "1 passed, 1 failed" in out
    assert f"{bad}\n  output: 1 of 24 elements differs, most at [0, 0, 2, 1]: 8 for 9" in out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "run", tin_shift(tmp_path / "a.pb"), "--library", "sim", "--against", "cpu", "--json")
    assert code == 0
    (found,) = json.loads(out)
    assert (found["operator"], found["outcome"], found["library"]) == ("tin_shift_forward", "passed", "sim")
    assert 0 < found["io_efficiency"] < 1
    assert found["outputs"][0]["criteria"][0] == {
        "name": "DIFF3", "part": "", "value": 0.0, "threshold": 0.0, "passed": True,
    }  # fmt: skip


def test_a_broken_file_fails_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tin_shift(tmp_path / "good.prototxt")
    (tmp_path / "bad.prototxt").write_text('op_name: "abs"\nnonsense: 3\n')
    code, out, _ = run(capsys, "run", tmp_path, "--against", "file")
    assert code == 1
    assert "1 passed, 1 error" in out
    assert "bad.prototxt:2: " in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "missing.prototxt"], "missing.prototxt: no such file or folder"),
        (["show", "missing.prototxt"], "missing.prototxt: No such file or directory"),
        (["run", "."], "no case (.prototxt or .pb) is in this folder"),
        (["show", "case.txt"], "a case is a file .prototxt or .pb"),
        (["minimize"], "the following arguments are required"),
        ([], "the following arguments are required"),
    ],
)
def test_bad_arguments(
    arguments: Sequence[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.txt").write_text("")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", tin_shift(tmp_path / "a.prototxt"))
    assert code == 0
    assert out.splitlines()[1:] == [
        "  C function: mluOpTinShiftForward",
        "  input input: [1, 2, 4, 3] float ARRAY, given, 1 to 24",
        "  input shifts: [1, 2] int32 ARRAY, given, 0 to 0",
        "  output output: [1, 2, 4, 3] float ARRAY, given, 1 to 24",
        "  criteria: diff3 <= 0",
    ]


# ---- processes -----------------------------------------------------------------------------------


def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> Path:
    """A worker that does something for a case whose name begins with ``bad``."""
    program = tmp_path / "worker.py"
    program.write_text(
        "import os, signal, sys, time\nfrom pymluops.gencase import _worker\nreal = _worker._run\n"
        f"def run(path, *more):\n    if '/bad' in path:\n        {line}\n    return real(path, *more)\n"
        "_worker._run = run\nsys.exit(_worker.main())\n"
    )
    real = subprocess.Popen

    def started(command: list[str], **options: object) -> object:
        return real([sys.executable, str(program), *command[3:]], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(_processes.subprocess, "Popen", started)
    folder = tmp_path / "cases"
    folder.mkdir()
    for name in ("a", "bad", "c"):
        tin_shift(folder / f"{name}.pb")
    return folder


@pytest.mark.parametrize(
    ("line", "outcome", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "the process was ended by SIGSEGV"),
        ("print('lost', file=sys.stderr); os._exit(3)", "crashed", "the process ended with code 3: lost"),
        ("time.sleep(60)", "timed out", "no result after 5 s"),
        ("print('between the answers'); os.write(1, b'noise')", "passed", ""),
    ],
)
def test_a_case_that_crashes_or_hangs_fails_alone(
    line: str, outcome: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = faulty(tmp_path, monkeypatch, line)
    results = list(run_files(sorted(folder.iterdir()), "cpu", "file", jobs=1, timeout=5.0))
    assert [result["outcome"] for result in results] == ["passed", outcome, "passed"]
    assert results[1]["message"] == said


def test_a_worker_that_was_closed_leaves_no_process(tmp_path: Path) -> None:
    with Worker("cpu", "file", 60) as worker:
        assert worker.run(tin_shift(tmp_path / "a.pb"))["outcome"] == "passed"
        process = worker._process
        assert process is not None
    assert process.has_ended
    assert worker._process is None


def test_libraries_are_named_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = str(tmp_path / "folder" / "libother.so")
    place = {"index": [0], "found": 1.0, "wanted": 0.0, "differing": 1, "elements": 2}
    judged = {"output": "y", "agrees": library, "distances": {library: 0.5, "sim": 0.0}}
    result = {"message": "", "outputs": [], "judgements": [{**judged, "places": {library: place, "sim": None}}]}
    monkeypatch.chdir(tmp_path)
    assert details(result)[0] == "y: folder/libother.so agrees with the oracle"
    assert details(result)[1].startswith("  folder/libother.so: diff2 0.5, 1 of 2 elements differs")
    monkeypatch.setattr(_report.os.path, "relpath", _gone)
    assert details(result)[0] == f"y: {library} agrees with the oracle"


def _gone(_: str) -> str:
    raise FileNotFoundError(2, "No such file or directory")


# ---- the smallest case, and a test ---------------------------------------------------------------


def test_the_smallest_case() -> None:
    """A fault that needs two channels and a value above 10 in the second frame."""
    x = np.random.default_rng(1).normal(0, 9, (2, 6, 8, 10)).astype(np.float32)
    case = gencase.Case.build("tin_shift_forward", [("x", x), ("s", np.zeros((2, 4), np.int32))], [("y", x)])

    def fails(one: gencase.Case) -> bool:
        found = one.inputs[0]
        values = found.values()
        assert values is not None
        _, frames, channels, _ = found.shape
        return frames > 1 and channels > 1 and bool((values.reshape(found.shape)[:, 1] > 10).any())

    steps: list[str] = []
    smallest = minimized(case, fails, steps.append)
    assert fails(smallest)
    frames = smallest.inputs[0].shape
    assert (frames[0], frames[1], frames[2]) == (1, 2, 2) or np.prod(frames) <= 16
    values = smallest.inputs[0].values()
    assert values is not None
    assert np.count_nonzero(values) <= 2
    assert smallest.inputs[1].shape[0] == frames[0]
    assert smallest.outputs[0].shape == frames
    assert steps
    assert case.inputs[0].shape == (2, 6, 8, 10)  # the first one stays


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 7, 15, 100])
def test_all_values_but_the_needed_one_become_simple(count: int) -> None:
    """The one is the last of the array, whose size the fault needs."""
    x = np.full(count, 9, np.float32)
    x[-1] = 3.5
    case = gencase.Case.build("abs", [("x", x)], [("y", x)])

    def fails(one: gencase.Case) -> bool:
        values = one.inputs[0].values()
        return values is not None and len(values) == count and values[-1] == 3.5

    values = minimized(case, fails).inputs[0].values()
    assert values is not None
    assert values.tolist() == [0] * (count - 1) + [3.5]


@pytest.mark.parametrize("place", [(0, 0), (2, 17), (3, 29), (0, 29), (1, 15)])
def test_shapes_become_smaller_from_both_ends(place: tuple[int, int]) -> None:
    x = np.full((4, 30), 9, np.float32)
    x[place] = 3.5
    case = gencase.Case.build("abs", [("x", x)], [("y", x)])

    def fails(one: gencase.Case) -> bool:
        values = one.inputs[0].values()
        return values is not None and bool((values == 3.5).any())

    smallest = minimized(case, fails).inputs[0]
    assert smallest.shape == (1, 1)


@pytest.mark.parametrize("harm", [True, False])
def test_minimize_keeps_the_kind_of_the_fault(
    harm: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong values of more than four elements; of fewer, and of none but zeros, the fault is another one."""
    program = f"""
import json, sys
from pymluops import gencase
print(json.dumps({{"ready": True}}), flush=True)
for text in sys.stdin:
    values = gencase.read(json.loads(text)).inputs[0].values()
    large = len(values) > 4
    message = "memory beside y was written" if large == {harm} else ""
    print(json.dumps({{"begun": True}}), flush=True)
    result = {{"path": "", "operator": "abs", "outcome": "failed", "message": message}}
    print(json.dumps({{"result": result}}), flush=True)
"""
    monkeypatch.setattr(_pool, "_PROGRAM", program)
    x = np.ones(40, np.float32)
    path, target = tmp_path / "a.pb", tmp_path / "b.pb"
    gencase.Case.build("abs", [("x", x)], [("y", x)]).write(path)
    assert run(capsys, "minimize", path, "-o", target)[0] == 0
    assert gencase.read(target).inputs[0].shape == (5,)


def test_minimize_wants_a_failing_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "minimize", tin_shift(tmp_path / "a.pb"), "--against", "file")
    assert (code, out) == (1, "")
    assert "the case does not fail: passed" in err


def test_minimize_writes_the_smallest_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = tin_shift(tmp_path / "a.pb", wrong=True), tmp_path / "b.prototxt"
    code, _, err = run(capsys, "minimize", path, "--against", "file", "-o", target)
    assert code == 0
    assert "becomes" in err
    smallest = gencase.read(target)
    assert np.prod(smallest.inputs[0].shape) < 24
    assert smallest.run("cpu", "file").outcome is gencase.Outcome.FAILED


@pytest.mark.parametrize("wrong", [False, True])
def test_a_test_of_its_own(wrong: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = tin_shift(tmp_path / "a.pb", wrong), tmp_path / "test_a.py"
    assert run(capsys, "to-pytest", path, "--against", "file", "-o", target)[0] == 0
    path.unlink()
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", str(target)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == int(wrong), done.stdout
    assert ("1 failed" if wrong else "1 passed") in done.stdout
