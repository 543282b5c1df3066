"""Kernels and tasks in files, and verdicts in files."""

from __future__ import annotations

import dataclasses
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops.bang.judging import Cost, JudgedFinding, Kind, Task, Verdict, WrittenOutput, output
from pymluops.bang.judging.files import kernels_in, read_tasks, refusal_of, task_for
from pymluops.bang.judging.records import Records, table_of, write_junit


def task(name: str, *files: str) -> Task:
    return Task(name, {"out": output(1)}, lambda: np.ones(1), files=files)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("add.mlu", "add"), ("add-7.mlu", "add"), ("add.fast.mlu", "add"), ("add__2.mlu", "add"),
        ("add_7.mlu", "add"), ("add_v12.mlu", "add"), ("add_3_fast.mlu", "add"), ("add_2d.mlu", None),
        ("add_v.mlu", None),
        ("add_relu.mlu", "add_relu"), ("add_relu_3.mlu", "add_relu"),
        ("add_relu-3.mlu", "add_relu"), ("adder.mlu", None), ("add/candidate.mlu", "add"), ("add/try/3.mlu", "add"),
        ("add/mul-3.mlu", "mul"), ("mul/add/3.mlu", "add"), ("product_3.mlu", "mul"), ("other/x.mlu", None),
    ],
)  # fmt: skip
def test_the_task_of_a_file(path: str, name: str | None) -> None:
    found = task_for(Path(path), [task("add"), task("add_relu"), task("mul", "product_*")])
    assert (None if found is None else found.name) == name


def test_a_task_that_is_alone_has_all_files() -> None:
    alone = task("add")
    assert task_for(Path("anything.mlu"), [alone]) is alone


def test_kernels_in_folders(tmp_path: Path) -> None:
    for name in ("b.mlu", "a/c.mlu", "a/notes.txt", "z.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [
        path.relative_to(tmp_path).as_posix() for path in kernels_in([tmp_path, tmp_path / "z.cpp", tmp_path / "b.mlu"])
    ]
    assert names == ["a/c.mlu", "b.mlu", "z.cpp"]
    (tmp_path / "empty").mkdir()
    for missing, said in (("none", "there is no such file"), ("empty", "there are no files .mlu")):
        with pytest.raises(pymluops.BadParamError, match=said):
            kernels_in([tmp_path / missing])


def test_links_out_of_a_folder_are_no_sources(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.mlu").touch()
    (inside / "b.mlu").symlink_to("a.mlu")
    (inside / "c.mlu").symlink_to(outside / "a.mlu")
    (inside / "d.mlu").symlink_to("../outside/none")
    (tmp_path / "way").symlink_to(inside)
    for given in (inside, tmp_path / "way"):
        refused = {path.name: refusal_of(path, [given]) for path in kernels_in([given])}
        assert [name for name, said in refused.items() if not said] == ["a.mlu", "b.mlu"]
        assert "a link that leads out of the folder" in refused["c.mlu"]
        assert refused["d.mlu"]
    assert not refusal_of(inside / "c.mlu", [inside, outside])
    assert not refusal_of(inside / "c.mlu", [inside, inside / "c.mlu"])


HEAD = "from pymluops.bang.judging import Task, output\nimport numpy\n"
ONE = "Task('{}', {{'out': output(1)}}, lambda: numpy.ones(1))"


def test_tasks_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'b'\n")
    file = tmp_path / "tasks.py"
    file.write_text(f"{HEAD}from beside import NAME\nx = {ONE.format('a')}\ny = {ONE.format('c')}\n")
    assert [found.name for found in read_tasks(file)] == ["a", "c"]
    file.write_text(f"{HEAD}from beside import NAME\nTASKS = ({ONE.format('a')}, {ONE.format('b')})\n")
    assert [found.name for found in read_tasks(file)] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "TASKS: expected a list of tasks, got None"),
        (f"{HEAD}TASKS = 5\n", "TASKS: expected a list of tasks, got 5"),
        (f"{HEAD}TASKS = [{ONE.format('a')}, 5]\n", "TASKS: expected a list of tasks"),
        (f"{HEAD}TASKS = [{ONE.format('a')}, {ONE.format('a')}]\n", "two tasks are called 'a'"),
        (f"{HEAD}\n1 / 0\n", "tasks.py:4: ZeroDivisionError: division by zero"),
        ("def f(:\n", "tasks.py:1: SyntaxError"),
        ("import sys\nsys.exit(3)\n", "tasks.py:2: SystemExit: 3"),
        (f"{HEAD}Task('a', {{}}, print)\n", "tasks.py:3: task: arguments: expected at least one output"),
    ],
)
def test_files_that_have_no_tasks(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(text)
    with pytest.raises(pymluops.BadParamError, match=said):
        read_tasks(tmp_path / "tasks.py")


# ---- verdicts ------------------------------------------------------------------------------------

RIGHT = Verdict(
    "a.mlu", "add", Kind.RIGHT, seconds=0.5, cost=Cost(5.0, 1.0, 20, 10), cards={"MLU590": Kind.RIGHT}, key="1"
)
OUTPUT = WrittenOutput(
    "out", False, 1, 2, (3, 4), "nan", "1.0", float("inf"), "2 of 9 elements are too far off", "late", 3
)
FOUND = JudgedFinding("init/copy", "error", True, "b.mlu", 7, "undefined & <bytes>", ("late",))
WRONG = Verdict(
    "b.mlu", "add", Kind.WRONG, "out: \x00 & \ud800", outputs=(OUTPUT,), findings=(FOUND,), overwritten=("x",),
    text="p\x1b", key="2",
)  # fmt: skip
CRASH = dataclasses.replace(RIGHT, name="c.mlu", task="mul", kind=Kind.CRASH, message="ended", cost=None, key="3")


def test_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with Records(path) as records:
        records.add(RIGHT)
        assert json.loads(path.read_text())["kind"] == "right"
        records.add(WRONG)
    with Records(path, resume=True) as records:
        assert records.known == {"1": RIGHT, "2": WRONG}
    with path.open("ab") as file:
        file.write(b'{"name": "c')  # the program was killed here
    with Records(path, resume=True) as records:
        records.add(CRASH)
    with Records(path, resume=True) as records:
        assert list(records.known.values()) == [RIGHT, WRONG, CRASH]
    with Records(path) as records:
        assert not records.known
    assert path.read_bytes() == b""


def test_the_file_anew_without_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with Records(path) as records:
        for verdict in (RIGHT, WRONG):
            records.add(verdict)
    with Records(path, resume=True) as records:
        records.add(CRASH)
        records.keep_only([CRASH, RIGHT])
    assert [json.loads(line)["name"] for line in path.read_text().splitlines()] == ["c.mlu", "a.mlu"]
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_numbers_that_json_lacks(tmp_path: Path) -> None:
    cost = Cost(float("inf"), float("nan"), 20, 10)
    verdict = dataclasses.replace(WRONG, seconds=float("nan"), compile_seconds=float("-inf"), cost=cost)
    text = json.dumps(verdict.to_json(), allow_nan=False)
    assert '"largest": "inf"' in text
    again = Verdict.from_json(json.loads(text))
    assert str(again.to_json()) == str(verdict.to_json())
    assert (again.seconds != again.seconds, again.compile_seconds) == (True, float("-inf"))


@pytest.mark.parametrize("line", ["[]", "{}", "5", "x", json.dumps({**RIGHT.to_json(), "kind": "splendid"})])
def test_lines_that_are_no_verdicts(line: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(f"{json.dumps(RIGHT.to_json())}\n{line}\n")
    with pytest.raises(pymluops.BadParamError, match=r"out\.json:2: expected a verdict"):
        Records(path, resume=True)
    assert len(path.read_text().splitlines()) == 2


def test_junit(tmp_path: Path) -> None:
    write_junit(tmp_path / "out.xml", [RIGHT, WRONG, CRASH])
    suites = ET.parse(tmp_path / "out.xml").getroot()
    counts = [(suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in suites]
    assert counts == [("add", "2", "1", "0"), ("mul", "1", "0", "1")]
    failure = suites.find("testsuite/testcase[@name='b.mlu']/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("wrong", "out: ? & ?")
    assert "out[3, 4] is nan, not 1.0" in str(failure.text)
    assert suites.find("testsuite/testcase[@name='c.mlu']/error") is not None


def test_the_table() -> None:
    assert table_of([RIGHT, WRONG, CRASH]).splitlines() == [
        "task  kernels  right  wrong  crash",
        "add         2      1      1      0",
        "mul         1      0      0      1",
        "all         3      1      1      1",
    ]


def test_the_text_of_a_verdict() -> None:
    assert str(WRONG).splitlines()[2:] == [
        "  x is an input, and the kernel changed it",
        "  b.mlu:7: error: init/copy: undefined & <bytes>",
    ]
    assert "20 bytes moved, 10 at least" in str(RIGHT)
