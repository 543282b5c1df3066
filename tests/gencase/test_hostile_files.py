"""Files, folders and names that do harm: they are refused, and say why."""

from __future__ import annotations

import ast
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import pymluops
from gencase.small_cases import answering, run, stated, tin_shift
from pymluops import functions, gencase
from pymluops._cache.scratch import scratch_folder
from pymluops.gencase import _file, _worker, command
from pymluops.gencase._to_pytest import as_pytest

# ---- files ---------------------------------------------------------------------------------------

NANS = np.array([0x7FC00000, 0x7F800001, 0xFFC12345, 0x3F800000], np.uint32).view(np.float32)


def bits(case: gencase.Case) -> list[int]:
    values = case.inputs[0].values()
    assert values is not None
    found: list[int] = values.view(np.uint32).tolist()
    return found


@pytest.mark.parametrize("suffix", [".pb", ".prototxt"])
def test_files_keep_the_bits_of_a_nan(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(NANS.tobytes())
    case = stated(np.zeros(4))
    case.inputs[0].set_values(NANS[:0])
    case.node.input[0].path = "raw"
    case.path = tmp_path / "a.pb"
    wanted = NANS.view(np.uint32).tolist()
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        for data in ("files", "hexadecimal", "keep"):
            case.write(folder / f"a{suffix}", data=data)
            assert bits(gencase.read(folder / f"a{suffix}")) == wanted


def test_data_are_read_before_they_are_replaced(tmp_path: Path) -> None:
    """The input of one is the file that the output of the other becomes, and the other way round."""
    case = stated(np.arange(4) + 10.0)
    case.write(tmp_path / "a.pb", data="files")
    case = gencase.read(tmp_path / "a.pb")
    names = [case.node.input[0].path, case.node.output[0].path]
    case.node.input[0].path, case.node.output[0].path = reversed(names)
    case.write(tmp_path / "a.pb", data="files")
    again = gencase.read(tmp_path / "a.pb")
    assert [again.node.input[0].path, again.node.output[0].path] == names
    values = [tensor.values() for tensor in (again.inputs[0], again.outputs[0])]
    assert [one.tolist() for one in values if one is not None] == [[10, 11, 12, 13], [1, 2, 3, 4]]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = tin_shift(tmp_path / "a.pb")
    before = (tmp_path / "a.pb").read_bytes()

    def full(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.write(content[:9])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        case.write(tmp_path / "a.pb")
    assert [path.name for path in tmp_path.iterdir()] == ["a.pb"]
    assert (tmp_path / "a.pb").read_bytes() == before


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link to a device"])
def test_what_is_no_regular_file_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "data.pb"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    said = "Is a directory" if kind == "folder" else "is no regular file"
    code, out, err = run(capsys, "show", place)
    assert (code, out) == (2, "")
    assert err.endswith(f"{place}: {said}\n")
    result = _worker._run(str(place), "cpu", "file", print)
    assert (result.outcome, result.message) == (gencase.Outcome.ERROR, f"{place}: {said}")
    case = tin_shift()
    case.inputs[0].set_values(np.zeros(0, np.float32))
    case.node.input[0].path, case.path = place.name, tmp_path / "a.pb"
    with pytest.raises(gencase.CaseError, match=said):
        case.inputs[0].values()
    assert [path.name for path in command._found([str(tmp_path)])] == ["data.pb"] if kind != "folder" else True


def test_a_file_is_not_read_further_than_its_tensor(tmp_path: Path) -> None:
    """A file of 8 TiB that has no blocks."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(8 << 40)
    case = tin_shift()
    case.inputs[0].set_values(np.zeros(0, np.float32))
    case.node.input[0].path, case.path = "large", tmp_path / "a.pb"
    with pytest.raises(gencase.CaseError, match=r"large has 8796093022208 bytes, the tensor has 96"):
        case.inputs[0].values()


def test_a_tensor_larger_than_the_memory_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    case = tin_shift()
    monkeypatch.setattr(_file, "_MEMORY", 96)
    assert case.run().passed
    monkeypatch.setattr(_file, "_MEMORY", 95)
    with pytest.raises(gencase.CaseError, match="case: input: no memory for 24 elements"):
        case.inputs[0].values()
    case.inputs[0].set_values(np.zeros(0, np.float32))  # a file without values is no way around it
    assert case.run().message == "CaseError: case: input: no memory for 24 elements"


SHAPES = {
    "dims: -2": "[-2], a dim or a stride is negative",
    "dims: 2 dim_stride: 1 dim_stride: 1": "[2], 2 strides for 1 dims",
    f"dims: {1 << 62} dims: {1 << 62}": f"[{1 << 62}, {1 << 62}] float ARRAY, given",
    "dims: 1048576 dims: 1048576 dim_stride: 0 dim_stride: 0": "[1048576, 1048576] float ARRAY strides [0, 0]",
    f"dims: 0 dims: {1 << 62}": f"[0, {1 << 62}] float ARRAY",
    "dims: 1": "[1] float ARRAY, ",
    "dims: 1 dim_stride: 4611686018427387904": "[1] float ARRAY",
    "dims: 1 " * 70: "float ARRAY",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("values", ["value_f: [1, 2]", "random_data { distribution: GAUSSIAN mu: 0 sigma: 1 }", ""])
def test_show_prints_any_shape(shape: str, values: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'id: "a\\033[2J" shape {{ {shape} }} layout: LAYOUT_ARRAY dtype: DTYPE_FLOAT'
    criteria = "test_param { error_func: DIFF1 error_threshold: 1 baseline_device: CPU }"
    (tmp_path / "a.prototxt").write_text(f'op_name: "abs" input {{ {text} {values} }} output {{ {text} }} {criteria}')
    code, out, err = run(capsys, "show", tmp_path / "a.prototxt")
    assert (code, err) == (0, "")
    assert "  output a\\x1b[2J" in out
    assert SHAPES[shape].removesuffix("given" if "value_f" not in values else "").rstrip(", ") in out
    assert out.splitlines()[-1] == "  criteria: diff1 <= 1"
    result = _worker._run(str(tmp_path / "a.prototxt"), "cpu", "oracle", print)
    assert result.outcome in (gencase.Outcome.ERROR, gencase.Outcome.PASSED)


@pytest.mark.parametrize(
    "name", ['abs"""+1', "a'b", "a\\", "a\nimport os", "1 2", "", "__class__", "名前", "a\rb", "lambda", "\x00"]
)
def test_a_test_has_a_harmless_name(name: str, tmp_path: Path) -> None:
    case = tin_shift()
    case.node.op_name = name
    case.node.input[0].id = name
    case.path = Path("folder") / f'{name or "x"}""".pb'.replace("/", "")
    text = as_pytest(case, name, '\\"""\n')
    tree = ast.parse(text)
    functions_there = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
    assert len(functions_there) == 1
    assert re.fullmatch(r"test_[0-9A-Za-z_]+", functions_there[0])
    assert [type(one).__name__ for one in tree.body] == ["Expr", *["ImportFrom"] * 2, *["Assign"] * 2, "FunctionDef"]
    values = [ast.literal_eval(one.value) for one in tree.body if isinstance(one, ast.Assign)]
    assert values[0] == (name, '\\"""\n')
    (tmp_path / "case.prototxt").write_text(values[1], encoding="utf-8")
    assert gencase.read(tmp_path / "case.prototxt").op_name == name
    assert "\n" not in text.splitlines()[0]


# ---- recordings, and the smallest case -----------------------------------------------------------


def test_recordings_do_not_overlap(tmp_path: Path) -> None:
    said: list[str] = []

    def other() -> None:
        with pytest.raises(RuntimeError) as error, gencase.recording(tmp_path / "b"):
            pass
        said.append(str(error.value))

    with gencase.recording(tmp_path / "a"):
        other()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        pymluops.abs(np.ones(2, np.float32))
    assert all(f"are recorded already, into {tmp_path / 'a'}" in text for text in said)
    assert len(said) == 2
    assert len([*tmp_path.rglob("*.prototxt")]) == 1
    with pytest.raises(ZeroDivisionError), gencase.recording(tmp_path / "b"):
        raise ZeroDivisionError
    with gencase.recording(tmp_path / "b"):
        pymluops.abs(np.ones(2, np.float32))
    pymluops.abs(np.ones(2, np.float32))
    assert len([*tmp_path.rglob("*.prototxt")]) == 2


def test_a_recording_stays_where_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    with gencase.recording("out") as directory:
        monkeypatch.chdir(tmp_path / "second")
        pymluops.abs(np.ones(2, np.float32))
    assert directory == tmp_path / "first" / "out"
    assert len([*directory.rglob("*.prototxt")]) == 1
    assert functions.mluOpGetGenCaseDirectory(backend=pymluops.load("cpu")) == str(tmp_path / "second")


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError, match="the current folder is no longer there"), gencase.recording("out"):
        pass
    with gencase.recording(tmp_path / "out"):
        pymluops.abs(np.ones(2, np.float32))
    assert len([*(tmp_path / "out").rglob("*.prototxt")]) == 1
    monkeypatch.chdir(tmp_path)
    assert functions.mluOpGetGenCaseDirectory(backend=pymluops.load("cpu")) == str(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/b.pb", "No such file or directory"),
        ("b.txt", "a case is a file .prototxt or .pb"),
        ("folder.pb", "Is a directory"),
    ],
)
def test_minimize_looks_at_its_output_first(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, before="raise SystemExit('a case was run')")
    tin_shift(tmp_path / "a.pb")
    (tmp_path / "folder.pb").mkdir()
    code, out, err = run(capsys, "minimize", tmp_path / "a.pb", "-o", tmp_path / name)
    assert (code, out) == (2, "")
    assert err == f"pymluops case minimize: {tmp_path / name}: {said}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pb", "folder.pb"]


def test_minimize_keeps_its_files_in_the_folder_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tin_shift(tmp_path / "a.pb")
    answering(monkeypatch, f"open({str(tmp_path / 'note')!r}, 'w').write(path)")
    assert run(capsys, "minimize", tmp_path / "a.pb")[0] == 1
    place = Path((tmp_path / "note").read_text())
    assert scratch_folder() in place.parents
    assert not place.parent.exists()
