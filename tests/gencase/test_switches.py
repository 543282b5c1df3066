"""Which files the libraries write: by environment variables, by functions, by what calls do."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import gencase
from support.processes import python_output, run_python

CALLS = """
import numpy as np, pymluops
x = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3) / 3
pymluops.tin_shift_forward(x, np.zeros((1, 2), np.int32))
pymluops.tin_shift_backward(x, np.zeros((1, 2), np.int32))
"""


def written(folder: Path, code: str = CALLS, **environment: str) -> list[Path]:
    """The cases that a program leaves, by the operators' names."""
    python_output(code, MLUOP_GEN_CASE_DIR=str(folder), **environment)
    return sorted(folder.rglob("*.prototxt"))


def names(paths: list[Path]) -> list[str]:
    return [path.parent.name for path in paths]


def test_off_by_default(tmp_path: Path) -> None:
    assert written(tmp_path) == [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["abc", "2x", " 2", "+2", "99999999999"])
@pytest.mark.parametrize("name", ["MLUOP_GEN_CASE", "MLUOP_GEN_CASE_DUMP_DATA", "MLUOP_GEN_CASE_DUMP_DATA_FILE"])
def test_numbers_that_are_none_are_told(name: str, text: str, tmp_path: Path) -> None:
    done = run_python("import pymluops; pymluops.load('cpu')", MLUOP_GEN_CASE_DIR=str(tmp_path), **{name: text})
    assert f"mluops: {name}: expected a whole number, got '{text}'; it counts as 0\n" in done.stderr
    assert not [*tmp_path.iterdir()]
    assert run_python("import pymluops; pymluops.load('cpu')", **{name: ""}).stderr == ""


def test_names_of_files(tmp_path: Path) -> None:
    paths = written(tmp_path, MLUOP_GEN_CASE="1")
    assert names(paths) == ["tin_shift_backward", "tin_shift_forward"]
    stem = paths[1].stem.split("_")
    assert stem[:3] == ["tin", "shift", "forward"]
    assert [len(part) for part in stem[3:8]] == [8, 2, 2, 2, 6]
    assert stem[8].startswith("tid")
    assert stem[9] == "device-1"
    assert paths[1].parent == tmp_path / "gen_case" / "tin_shift_forward"


def test_mode_1_has_random_data(tmp_path: Path) -> None:
    x, shifts = gencase.read(written(tmp_path, MLUOP_GEN_CASE="1")[1]).inputs
    assert x.is_random
    assert shifts.is_random
    assert (x.message.random_data.seed, x.message.random_data.upper_bound) == (233, -10)
    assert (shifts.message.random_data.lower_bound, shifts.message.random_data.upper_bound) == (-10, 10)


@pytest.mark.parametrize(
    ("data", "fields"),
    [("0", ("random_data", "value_i")), ("1", ("value_f", "value_i")), ("2", ("value_h", "value_i"))],
)
def test_mode_2_has_data(data: str, fields: tuple[str, str], tmp_path: Path) -> None:
    from pymluops.gencase._values import stated_field

    case = gencase.read(written(tmp_path, MLUOP_GEN_CASE="2", MLUOP_GEN_CASE_DUMP_DATA=data)[1])
    assert tuple(stated_field(tensor.message) for tensor in case.inputs) == fields
    if data != "0":
        x = case.inputs[0].values()
        assert x is not None
        np.testing.assert_array_equal(x, np.arange(24, dtype=np.float32) / np.float32(3))


def test_data_and_outputs_in_files(tmp_path: Path) -> None:
    environment = {"MLUOP_GEN_CASE_DUMP_DATA": "1", "MLUOP_GEN_CASE_DUMP_DATA_FILE": "1"}
    paths = written(tmp_path, MLUOP_GEN_CASE="2", MLUOP_GEN_CASE_DUMP_DATA_OUTPUT="1", **environment)
    case = gencase.read(paths[1])
    assert [tensor.message.path for tensor in (*case.inputs, *case.outputs)] == [
        f"{paths[1].stem}_data{i}_{side}" for i, side in enumerate(("input", "input", "output"))
    ]
    for tensor in (case.inputs[0], case.outputs[0]):  # without shifts nothing moves
        values = tensor.values()
        assert values is not None
        np.testing.assert_array_equal(values, np.arange(24, dtype=np.float32) / np.float32(3))
    assert case.run(against="file").passed


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("tin_shift_forward", ["tin_shift_forward"]),
        ("psamask_forward;tin_shift_backward", ["tin_shift_backward"]),
        ("-tin_shift_forward", ["tin_shift_backward"]),
        ("a; tin_shift_forward", []),  # names are not trimmed
        ("+tin_shift_forward", ["tin_shift_backward", "tin_shift_forward"]),
    ],
)
def test_selection(selection: str, expected: list[str], tmp_path: Path) -> None:
    paths = written(tmp_path, MLUOP_GEN_CASE="1", MLUOP_GEN_CASE_OP_NAME=selection)
    assert names(paths) == expected
    if selection.startswith("+"):  # with data, whatever the mode
        assert not gencase.read(paths[1]).inputs[1].is_random
        assert gencase.read(paths[0]).inputs[1].is_random


def test_mode_3_prints_a_line(tmp_path: Path) -> None:
    done = run_python(CALLS, MLUOP_GEN_CASE="3", MLUOP_GEN_CASE_DIR=str(tmp_path))
    assert done.stderr.splitlines()[0] == (
        "mluops: gen_case mluOpTinShiftForward("
        "input float [1, 2, 4, 3], shifts int32 [1, 2], output float [1, 2, 4, 3])"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_line_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "gen_case").write_text("a file")
    done = run_python(CALLS, MLUOP_GEN_CASE="2", MLUOP_GEN_CASE_DIR=str(tmp_path))
    assert done.returncode == 0
    assert "the case of tin_shift_forward was not written" in done.stderr


def test_refused_and_empty_calls_leave_no_file(tmp_path: Path) -> None:
    x, shifts = np.ones((1, 2, 4, 3), np.float32), np.zeros((1, 2), np.int32)
    with gencase.recording(tmp_path):
        with pytest.raises(pymluops.BadParamError):
            pymluops.functions.mluOpTinShiftForward(x, shifts.astype(np.int64), x.copy())
        boxes = np.zeros((0, 5), np.float32)
        pymluops.functions.mluOpBoxIouRotated(0, False, boxes, boxes, np.zeros((0, 0), np.float32))
    assert list(tmp_path.rglob("*.prototxt")) == []
    with gencase.recording(tmp_path):  # a call that failed does not stop later ones
        pymluops.tin_shift_forward(x, shifts)
    assert len(list(tmp_path.rglob("*.prototxt"))) == 1
    pymluops.tin_shift_forward(x, shifts)
    assert len(list(tmp_path.rglob("*.prototxt"))) == 1


def test_threads_write_files_of_their_own(tmp_path: Path) -> None:
    x, shifts = np.ones((1, 2, 4, 3), np.float32), np.zeros((1, 2), np.int32)

    def work() -> None:
        for _ in range(20):
            pymluops.tin_shift_forward(x, shifts)

    threads = [threading.Thread(target=work) for _ in range(4)]
    with gencase.recording(tmp_path):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    paths = list(tmp_path.rglob("*.prototxt"))
    assert len(paths) == 80
    assert all(gencase.read(path).op_name == "tin_shift_forward" for path in paths)


def test_recording_on_the_simulator_restores_the_switches(tmp_path: Path) -> None:
    x, shifts = np.ones((1, 2, 4, 3), np.float32), np.zeros((1, 2), np.int32)
    with pymluops.use("sim"):
        before = pymluops.functions.mluOpGetGenCaseDirectory()
        with gencase.recording(tmp_path / "{pid}{deviceid}", "sim", outputs=True) as directory:
            pymluops.tin_shift_forward(x, shifts)
        pymluops.tin_shift_forward(x, shifts)
        assert pymluops.functions.mluOpGetGenCaseDirectory() == before
    (path,) = directory.rglob("*.prototxt")
    assert directory.name.endswith("deviceid0")
    assert gencase.read(path).run("sim", against="file").passed


def test_a_kernel_that_crashes_leaves_the_case(tmp_path: Path) -> None:
    code = """
import numpy as np, pymluops
from support.c_calls import Raw, Tensor
x = np.ones((1, 2, 4, 3), np.float32)
with Raw(pymluops.load("cpu")) as raw:
    out, nowhere = np.ones_like(x), 1 << 20
    shifts = Tensor(np.zeros((1, 2), np.int32))
    raw.status("mluOpTinShiftForward", Tensor(x, address=nowhere), shifts, Tensor(out))
"""
    done = run_python(code, MLUOP_GEN_CASE="1", MLUOP_GEN_CASE_DIR=str(tmp_path))
    assert done.returncode == -signal.SIGSEGV, done.stderr
    assert names(list(tmp_path.rglob("*.prototxt"))) == ["tin_shift_forward"]
