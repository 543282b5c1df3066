"""pymluops kernel judge: exit codes, files, and input that is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymluops import cli

KERNEL = "__mlu_entry__ void ones(float *out) { for (int i = 0; i < 64; ++i) out[i] = 1.f; }\n"
TASKS = (
    "import numpy\nfrom pymluops.bang.judging import *\n"
    "TASKS = [Task('ones', {'out': output(64)}, lambda: numpy.ones(64))]\n"
)


@pytest.fixture
def folder(tmp_path: Path, kept: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    for name, source in (("a", KERNEL), ("b", KERNEL.replace("1.f", "2.f")), ("c", KERNEL.replace("out[i]", "ou[i]"))):
        (tmp_path / "kernels" / f"{name}.mlu").write_text(source)
    (tmp_path / "tasks.py").write_text(TASKS)
    return tmp_path


def test_a_folder_of_kernels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "kernel",
        "judge",
        "kernels",
        "--tasks",
        "tasks.py",
        "--json",
        "out.json",
        "--junit",
        "out.xml",
        "--jobs",
        "2",
    ]
    assert cli.main(command) == 1
    out, err = capsys.readouterr()
    assert err == ""
    *verdicts, head, _, total, speed = out.splitlines()
    assert sorted(verdicts)[0] == "kernels/a.mlu: right"
    assert sorted(verdicts)[1].startswith(
        "kernels/b.mlu: wrong: out: 64 of 64 elements are too far off; out[0] is 2.0, not 1.0"
    )
    assert sorted(verdicts)[2].startswith("kernels/c.mlu: compile error: kernels/c.mlu:1: ")
    assert head.split() == ["task", "kernels", "right", "wrong", "not", "compiled"]
    assert total.split() == ["all", "3", "1", "1", "1"]
    assert speed.startswith("3 kernels in ")
    lines = [json.loads(line) for line in (folder / "out.json").read_text().splitlines()]
    assert sorted(line["kind"] for line in lines) == ["compile error", "right", "wrong"]
    assert (folder / "out.xml").read_text().count("<testcase") == 3

    # What is known is not judged again; what has changed is.
    (folder / "kernels" / "b.mlu").write_text(KERNEL)
    (folder / "kernels" / "c.mlu").unlink()
    assert cli.main([*command, "--resume", "--quiet"]) == 0
    *_, total, speed = capsys.readouterr().out.splitlines()
    assert total.split() == ["all", "2", "2"]
    assert re.search("a minute; 1 verdict was known; [01] (was|were) compiled before$", speed)
    lines = [json.loads(line) for line in (folder / "out.json").read_text().splitlines()]
    assert sorted((line["name"], line["kind"]) for line in lines) == [
        ("kernels/a.mlu", "right"), ("kernels/b.mlu", "right"),
    ]  # fmt: skip
    assert cli.main([*command, "--resume", "--quiet"]) == 0
    assert capsys.readouterr().out.endswith("a minute; 2 verdicts were known\n")
    assert cli.main([*command[:5], "--full"]) == 0
    assert "\n  ones[(1, 1, 1), 'block'] on MLU590, guessed\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none", "--tasks", "tasks.py"], "none: there is no such file"),
        (["kernels", "--tasks", "none.py"], "none.py: No such file or directory"),
        (["kernels", "--tasks", "kernels"], "kernels: expected a file in Python"),
        (["kernels"], "--tasks"),
        (["kernels", "--tasks", "tasks.py", "--resume"], "--resume: expected --json"),
        (["kernels", "--tasks", "tasks.py", "--json", "none/out.json"], "--json: none/out.json: No such file"),
        (["kernels", "--tasks", "tasks.py", "--jobs", "0"], "--jobs"),
        (["kernels", "--tasks", "tasks.py", "--time-limit", "0"], "--time-limit: expected a number above 0"),
        (
            ["kernels", "--tasks", "two.py"],
            "kernels/a.mlu (and 2 others): expected a file that belongs to one of the tasks ones, twos by its name",
        ),
        (["kernels", "--tasks", "broken.py"], "broken.py:1: NameError"),
        (["kernels", "--tasks", "half.py"], "task rest: reference: ZeroDivisionError: division by zero"),
        (["kernels", "--tasks", "failing.py"], "task ones: reference: ZeroDivisionError: division by zero"),
        (
            ["kernels", "--tasks", "tasks.py", "--allow-read", "none"],
            "--allow-read: none: there is no such file or folder",
        ),
        (["kernels", "--tasks", "tasks.py", "--allow-write", "none"], "--allow-write: none: there is no such"),
    ],
)
def test_input_that_is_wrong(arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = TASKS + "TASKS.append(Task('twos', {'out': output(64)}, lambda: numpy.ones(64)))\n"
    (folder / "two.py").write_text(two)
    (folder / "broken.py").write_text("unknown\n")
    rest = "Task('rest', {'out': output(64)}, lambda: 1 / 0, files=['b.mlu', 'c.mlu'])"
    ones = "Task('a', {'out': output(64)}, lambda: numpy.ones(64))"
    (folder / "half.py").write_text(f"{TASKS}TASKS = [{ones}, {rest}]\n")
    (folder / "failing.py").write_text(TASKS.replace("numpy.ones(64)", "1 / 0"))
    assert cli.main(["kernel", "judge", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_link_out_of_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "kernels" / "d.mlu").symlink_to("/etc/passwd")
    command = ["kernel", "judge", "kernels", "--tasks", "tasks.py", "--json", "out.json", "--quiet"]
    assert cli.main(command) == 1
    assert capsys.readouterr().out.splitlines()[-2].split() == ["all", "4", "1", "1", "2"]
    found = [json.loads(line) for line in (folder / "out.json").read_text().splitlines()]
    [line] = [line for line in found if line["name"] == "kernels/d.mlu"]
    assert (line["kind"], line["text"]) == ("compile error", "")
    assert "a link that leads out of the folder" in line["message"]


def test_a_file_to_resume_that_is_something_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "out.json").write_text("something else\n")
    assert cli.main(["kernel", "judge", "kernels", "--tasks", "tasks.py", "--json", "out.json", "--resume"]) == 2
    assert "out.json:1: expected a verdict" in capsys.readouterr().err
    assert (folder / "out.json").read_text() == "something else\n"
