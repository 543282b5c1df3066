"""Verdicts on kernels that are right, wrong, at fault, refused or not compiled."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pymluops import bang
from pymluops.bang.judging import (
    Judge,
    Kind,
    Limits,
    Task,
    TaskError,
    Tolerance,
    Verdict,
    Work,
    changed,
    output,
    random,
)

N = 1000
ADD = """__nram__ float a[256], b[256];

__mlu_entry__ void add(const float *x, const float *y, float *out, int n) {
  for (int i = taskId * 256; i < n; i += taskDim * 256) {
    int count = n - i < 256 ? n - i : 256;
    __memcpy(a, x + i, count * sizeof(float), GDRAM2NRAM);
    __memcpy(b, y + i, count * sizeof(float), GDRAM2NRAM);
    __bang_add(a, a, b, count);
    __memcpy(out + i, a, count * sizeof(float), NRAM2GDRAM);
  }
}
"""
TASK = Task("add", {"x": random(N), "y": random(N), "out": output(N), "n": N}, lambda x, y: x + y)


def change(old: str, new: str, source: str = ADD) -> str:
    assert old in source
    return source.replace(old, new)


def test_a_kernel_that_is_right(judge: Judge) -> None:
    verdict = judge.judge(ADD, TASK, "mine")
    assert verdict.kind is Kind.RIGHT
    assert verdict.is_right
    assert (verdict.name, verdict.task, verdict.card, verdict.cards) == ("mine", "add", "MLU590", {"MLU590": "right"})
    assert (verdict.launch, verdict.guessed) == ("add[(16, 1, 1), 'block']", True)
    assert verdict.cost is not None
    assert verdict.cost.bytes_moved == verdict.cost.bytes_least == 12 * N
    assert verdict.cost.modelled_share == 1
    assert verdict.cost.estimate_ns > 0
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert judge.judge(ADD, TASK, "mine").kept


def test_a_kernel_that_leaves_elements_out(judge: Judge) -> None:
    verdict = judge.judge(change("i < n;", "i < n - 256;"), TASK)
    assert verdict.kind is Kind.WRONG
    [out] = verdict.outputs
    assert (out.unwritten, out.wrong, out.index, out.got) == (232, 232, (768,), "nan")
    assert (out.schedules, out.schedule) == (3, "copies=late,cores=fixed,memory=nan,seed=0")
    assert "232 elements were never written; out[768] is nan, not" in verdict.message


def test_zeros_that_are_never_written_are_no_zeros(judge: Judge) -> None:
    zeros = dataclasses.replace(TASK, reference=lambda x: 0 * x, tolerance=Tolerance(diff1=1e9))
    verdict = judge.judge(change("__memcpy(out + i", "if (n < 0) __memcpy(out + i"), zeros)
    assert (verdict.kind, verdict.outputs[0].unwritten) == (Kind.WRONG, N)


def test_a_kernel_that_computes_something_else(judge: Judge) -> None:
    verdict = judge.judge(change("__bang_add", "__bang_sub"), TASK)
    assert verdict.kind is Kind.WRONG
    [out] = verdict.outputs
    assert (out.unwritten, out.wrong) == (0, N)
    assert out.largest > 1
    x, y = (TASK.values()[name] for name in "xy")
    assert (float(out.got), float(out.expected)) == (pytest.approx(x[0] - y[0]), pytest.approx(x[0] + y[0]))


def test_a_kernel_with_a_fault_has_its_rule_and_line(judge: Judge) -> None:
    verdict = judge.judge(change("n - i < 256 ? n - i : 256", "256"), TASK, "tail")
    assert (verdict.kind, verdict.rule, verdict.line) == (Kind.FAULT, "memory/out-of-bounds", 6)
    assert {(found.rule, found.line) for found in verdict.findings} >= {("memory/out-of-bounds", 9), ("init/copy", 9)}
    assert verdict.outputs[0].right


def test_a_missing_sync_is_seen_under_some_schedules(judge: Judge) -> None:
    source = change("__memcpy(b, y", "__memcpy_async(b, y")
    task = dataclasses.replace(TASK, schedules=(TASK.schedules[1], TASK.schedules[0]))
    verdict = judge.judge(source, task)
    assert (verdict.kind, verdict.rule, verdict.line) == (Kind.FAULT, "race/copy-in-flight", 8)
    [out] = verdict.outputs
    assert (out.right, out.schedules, out.schedule) == (False, 1, str(task.schedules[1]))


def test_a_remark_leaves_a_kernel_right(judge: Judge) -> None:
    source = change("b[256];", "b[256], c[16];")
    source = change("NRAM2GDRAM);", "NRAM2GDRAM);\n    __memcpy_async(c, y, 64, GDRAM2NRAM);", source)
    verdict = judge.judge(source, TASK)
    assert (verdict.kind, [found.rule for found in verdict.findings]) == (Kind.FINDINGS, ["sync/never-waited"])
    assert not verdict.findings[0].fails


def test_an_input_that_is_overwritten(judge: Judge) -> None:
    source = change("__memcpy(out + i", "__memcpy((float *)x + i, a, 4, NRAM2GDRAM);\n__memcpy(out + i")
    verdict = judge.judge(source, TASK)
    assert (verdict.kind, verdict.overwritten) == (Kind.WRONG, ("x",))
    assert "an input" in verdict.message


def test_the_first_error_of_the_compiler(judge: Judge) -> None:
    verdict = judge.judge(change("a, a, b, count", "a, a, b, coun"), TASK, "some.mlu")
    assert (verdict.kind, verdict.file, verdict.line) == (Kind.COMPILE_ERROR, "some.mlu", 8)
    assert "coun" in verdict.message
    assert "error" in verdict.text


@pytest.mark.parametrize(
    ("source", "further", "said"),
    [
        (change("b[256]", "b[256 << 10]"), {}, "does not fit on the card: NRAM of 524288 bytes, 1049600 are"),
        (ADD.replace(", int n", "").replace("n - i", "9").replace("i < n", "i < 9"), {}, "expected a kernel with 4"),
        (change("float *out", "half *out"), {}, "out: expected dtype float16, got float32"),
        (ADD + "__mlu_entry__ void mul(float *x) {}\n", {"name": "other"}, "expected one kernel, or one named other"),
        (ADD, {"entry": "sub"}, "expected the kernel sub, which the task names, got add"),
    ],
)  # fmt: skip
def test_what_is_refused(source: str, further: dict[str, object], said: str, judge: Judge) -> None:
    verdict = judge.judge(source, dataclasses.replace(TASK, **further))  # type: ignore[arg-type]
    assert verdict.kind is Kind.REFUSED
    assert said in verdict.message


def test_parameters_of_the_names_of_the_task_may_come_in_any_order(judge: Judge) -> None:
    source = change(
        "const float *x, const float *y, float *out, int n", "int n, float *out, const float *y, const float *x"
    )
    assert judge.judge(source, TASK).kind is Kind.RIGHT


def test_an_instance_of_a_template(judge: Judge) -> None:
    source = change("__mlu_entry__", "template <typename T, int step>\n__mlu_entry__", ADD)
    source = source.replace("float", "T").replace("__nram__ T a[256], b[256];", "__nram__ float a[256], b[256];")
    task = dataclasses.replace(TASK, entry="add<float, 4>")
    verdict = judge.judge(source.replace("256;", "64 * step;"), task)
    assert verdict.kind is Kind.RIGHT
    assert verdict.launch.startswith("add<float, 4>[")
    assert judge.judge(source, dataclasses.replace(TASK, entry="sub<float>")).kind is Kind.REFUSED


def test_arrays_that_are_changed_and_other_types(judge: Judge) -> None:
    source = "__mlu_entry__ void scale(half *x, int *count, half by) {\n" \
             "  for (int i = 0; i < 100; ++i) x[i] = x[i] * by;\n  count[0] += 100;\n}\n"  # fmt: skip
    task = Task(
        "scale",
        {"x": changed(random(100, dtype="float16")), "count": changed(np.array([7], np.int32)), "by": 2.0},
        lambda x, by: {"x": by * x, "count": np.array([107])},
        launch=lambda card: (1, "block"),
    )
    verdict = judge.judge(source, task)
    assert (verdict.kind, verdict.guessed) == (Kind.RIGHT, False)
    wrong = judge.judge(change("+= 100", "+= 99", source), task)
    assert (wrong.kind, wrong.message.split(":")[0]) == (Kind.WRONG, "count")


def test_the_worst_of_the_cards_counts(judge: Judge) -> None:
    task = dataclasses.replace(TASK, cards=("MLU590", "MLU370-X8"))
    source = change("b[256];", "b[256];\n#if __BANG_ARCH__ == 372\n#define __bang_add __bang_sub\n#endif")
    verdict = judge.judge(source, task)
    assert (verdict.kind, verdict.card) == (Kind.WRONG, "MLU370-X8")
    assert verdict.cards == {"MLU590": Kind.RIGHT, "MLU370-X8": Kind.WRONG}


def test_a_task_that_is_not_in_order_blames_no_kernel(judge: Judge) -> None:
    def broken(x: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("a reference")

    def ending(x: np.ndarray) -> np.ndarray:
        raise SystemExit(0)

    def no_launch(card: object) -> tuple[int, str]:
        raise KeyError("a launch")

    changes: list[tuple[dict[str, Any], str]] = [
        ({"reference": broken}, "reference: ZeroDivisionError: a reference"),
        ({"reference": lambda x: x[1:]}, "reference: expected shape [1000] for out, got [999]"),
        ({"reference": lambda z: z}, "reference: expected parameters out of x, y, n, got 'z'"),
        ({"reference": ending}, "reference: SystemExit: 0"),
        ({"launch": no_launch}, "launch: KeyError: 'a launch'"),
        ({"launch": lambda card: (3, "union1")}, "launch: expected a multiple of 4 tasks in x for union1 on MLU590"),
        ({"options": ["--nonsense"]}, "options: the compiler refuses --nonsense: "),
        ({"options": ["-S"]}, "options: expected options for compiling a source, got '-S'"),
        ({"include_dirs": ["none"]}, "include_dirs: expected folders, got none"),
    ]
    for change, said in changes:
        task = dataclasses.replace(TASK, **change)
        for ask in (lambda task=task: judge.judge(ADD, task), lambda task=task: judge.require_task(task)):
            with pytest.raises(TaskError) as refusal:
                ask()
            assert refusal.value.detail.startswith(f"task add: {said}")
    works = [Work(ADD, TASK), Work(ADD, dataclasses.replace(TASK, reference=broken))]
    verdicts = judge.verdicts(works)
    with pytest.raises(TaskError) as failed:
        list(verdicts)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    assert judge.judge(ADD, TASK).kind is Kind.RIGHT


def test_a_file_that_is_not_there_fails_alone(judge: Judge, tmp_path: Path) -> None:
    path = tmp_path / "none.mlu"
    verdicts = list(judge.verdicts([Work(path, TASK), Work(path, TASK, "mine"), Work(ADD, TASK)]))
    found = {verdict.name: (verdict.kind.value, verdict.message) for verdict in verdicts}
    reason = "No such file or directory"
    assert found == {
        str(path): ("compile error", reason), "mine": ("compile error", f"{path}: {reason}"), "<source>": ("right", ""),
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", " \n", "I cannot do that.", "/etc/passwd", "add.mlu", "int f() { return 1; }\n"])
def test_a_text_is_never_a_path(text: str, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "add.mlu").write_text(ADD)
    verdict = judge.judge(text, TASK)
    assert (verdict.kind, verdict.name) == (Kind.COMPILE_ERROR, "<source>")
    assert verdict.message.startswith("no kernel: the source has no function with __mlu_entry__")
    assert judge.judge(Path("add.mlu"), TASK).kind is Kind.RIGHT


def test_a_kernel_may_stand_in_a_header(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "add.mlu").write_text(ADD)
    (tmp_path / "other.mlu").write_text('#include "add.mlu"\n')
    assert judge.judge(tmp_path / "other.mlu", TASK).kind is Kind.RIGHT
    (tmp_path / "add.mlu").write_text(ADD.replace("float", "floa"))
    verdict = judge.judge(tmp_path / "other.mlu", TASK)
    assert verdict.kind is Kind.COMPILE_ERROR
    assert "no kernel" not in verdict.message


SEES = (
    '#include "size.h"\n', '#if __has_include("size.h")\n#error seen\n#endif\n', '#include "{}/size.h"\n',
    '#if __has_include("{}/size.h")\n#error seen\n#endif\n', 'asm(".data\\n.incbin \\"{}/size.h\\"");\n',
    'asm(".data\\n.incbin \\"size.h\\"");\n', '#include "{}/other.mlu"\n', '#include "other.mlu"\n',
)  # fmt: skip


@pytest.mark.parametrize("line", SEES)
def test_a_text_sees_nothing_of_its_callers_folder(
    line: str, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "size.h").write_text("int secret;\n")
    (tmp_path / "other.mlu").write_text("__mlu_func__ int secret() { return 5; }\n")
    verdict = judge.judge(line.replace("{}", str(tmp_path)) + ADD, TASK)
    unseen = '__has_include("size.h")' in line
    assert verdict.kind is (Kind.RIGHT if unseen else Kind.COMPILE_ERROR), verdict.text
    assert "secret" not in verdict.text


@pytest.mark.parametrize(
    "further",
    [{"include_dirs": ["headers"]}, {"options": ["-Iheaders"]}, {"options": ["-I", "headers"]},
     {"options": ["-isystem", "headers"]}, {"options": ["-iquoteheaders"]},
     {"options": ["-include", "headers/size.h"]}],
)  # fmt: skip
def test_folders_that_the_task_names_are_seen(
    further: dict[str, Any], judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "size.h").write_text("#pragma once\n#define SIZE 256\n")
    include = "" if "-include" in str(further) else '#include "size.h"\n'
    verdict = judge.judge(include + ADD.replace("256", "SIZE"), dataclasses.replace(TASK, **further))
    assert verdict.kind is Kind.RIGHT, verdict.text


def test_secrets_of_the_environment_stay_outside(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("LICENSE_OF_A_COMPILER", "file")
    prints = (
        "#include <stdio.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void begin() {\n"
        '  for (char **at = environ; *at; ++at) printf("%s\\n", *at);\n  fflush(stdout);\n}\n'
    )
    with Judge(limits=Limits(seconds=20), variables=["LICENSE_OF_A_COMPILER"]) as judge:
        verdict = judge.judge(prints + ADD, TASK)
    assert verdict.kind is Kind.RIGHT
    assert "PATH=" in verdict.text
    assert "LICENSE_OF_A_COMPILER=file" in verdict.text
    assert "hunter2" not in verdict.text


def test_scalar_accesses_move_bytes(judge: Judge) -> None:
    source = (
        "__mlu_entry__ void twice(const float *x, float *out) { for (int i = 0; i < 64; ++i) out[i] = 2 * x[i]; }\n"
    )
    cost = judge.judge(source, Task("twice", {"x": random(64), "out": output(64)}, lambda x: 2 * x)).cost
    assert cost is not None
    assert cost.bytes_moved == cost.bytes_least == 512


def test_a_reference_is_brought_to_the_type_of_the_output(judge: Judge) -> None:
    source = "__mlu_entry__ void twice(const half *x, half *out) {\n" \
             "  for (int i = 0; i < 64; ++i) out[i] = (half)(2 * (float)x[i]);\n}\n"  # fmt: skip
    task = Task(
        "twice",
        {"x": np.full(64, 60000, np.float16), "out": output(64, dtype="float16")},
        lambda x: 2 * x.astype(np.float64),
    )
    assert judge.judge(source, task).kind is Kind.RIGHT
    [out] = judge.judge(source.replace("2 *", "1 *"), task).outputs
    assert (float(out.got), out.expected) == (60000, "inf")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda judge: judge.judge(None, TASK),
            r"judge: source: expected a text in BANG C \(str\) or the path .* got None",
        ),
        (lambda judge: judge.judge(b"x", TASK), "judge: source: expected a text"),
        (lambda judge: judge.judge(ADD, "task"), "judge: task: expected a Task, got 'task'"),
        (lambda judge: judge.judge(ADD, TASK, 5), "judge: name: expected a text, got 5"),
        (lambda judge: bang.judge(ADD, TASK, limits=3), "judge: limits: expected Limits, got 3"),
        (lambda judge: list(judge.verdicts([(ADD, TASK)])), r"Judge: works: expected Work\(source, task\), got \("),
        (lambda judge: Judge(jobs="2"), "Judge: jobs: expected a number from 1, got '2'"),
        (lambda judge: Judge(jobs=True), "Judge: jobs: expected a number from 1, got True"),
        (lambda judge: Judge(limits=3), "Judge: limits: expected Limits, got 3"),
        (lambda judge: Judge(readable="/usr"), "Judge: readable: expected a list of paths, got '/usr'"),
        (lambda judge: Judge(variables="HOME"), "Judge: variables: expected a list of texts, got 'HOME'"),
    ],
)
def test_arguments_of_a_wrong_type(ask: Any, said: str, judge: Judge) -> None:
    with pytest.raises(TypeError, match=said):
        ask(judge)


def test_folders_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="Judge: writable: none: there is no such file or folder"):
        Judge(writable=["none"])


def test_headers_beside_the_source_are_seen(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define SIZE 256\n")
    kernel = tmp_path / "add.mlu"
    kernel.write_text('#include "size.h"\n' + ADD.replace("256", "SIZE"))
    assert judge.judge(kernel, TASK).kind is Kind.RIGHT
    (tmp_path / "size.h").write_text("#define SIZE 257\n#error no\n")
    verdict = judge.judge(kernel, TASK)
    assert (verdict.kind, verdict.line) == (Kind.COMPILE_ERROR, 2)


def test_two_kernels_at_a_time(kept: None) -> None:
    sources = [ADD, change("__bang_add", "__bang_sub"), change("i < n;", "i < 0;"), ADD]
    with Judge(jobs=2, limits=Limits(seconds=20)) as judge:
        verdicts = list(judge.verdicts(Work(source, TASK, str(i)) for i, source in enumerate(sources)))
        assert {verdict.name: verdict.kind.value for verdict in verdicts} == {
            "0": "right", "1": "wrong", "2": "wrong", "3": "right",
        }  # fmt: skip
        assert len({verdict.key for verdict in verdicts}) == 4
        some = judge.verdicts(Work(source, TASK) for source in sources)
        next(some)
        some.close()  # what is judged meanwhile ends
        assert judge.judge(ADD, TASK).kind is Kind.RIGHT


def test_a_process_of_the_judge_that_ends_is_started_again(judge: Judge) -> None:
    judge.judge(ADD, TASK)
    [server] = judge._servers
    assert server._process is not None
    server._process._process.kill()
    server._process._process.wait()
    assert judge.judge(ADD, TASK).kind is Kind.RIGHT


@pytest.mark.thorough
def test_a_process_of_the_judge_that_is_killed_meanwhile_is_started_again(judge: Judge) -> None:
    verdicts = judge.verdicts(Work(change("int count", f"/* {i} */ int count"), TASK) for i in range(3))
    assert next(verdicts).kind is Kind.RIGHT
    [server] = judge._servers
    assert server._process is not None
    server._process._process.kill()
    assert [verdict.kind for verdict in verdicts] == [Kind.RIGHT, Kind.RIGHT]


def test_the_function(kept: None) -> None:
    assert bang.judge(ADD, TASK).kind is Kind.RIGHT
    assert bang.judge(ADD, TASK, limits=Limits(seconds=15)).kept


@pytest.mark.thorough
def test_no_process_stays_when_the_program_ends(kept: None, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\nfrom pathlib import Path\nfrom pymluops import bang\nfrom pymluops.bang.judging import *\n"
        "task = Task('ones', {'out': output(4)}, lambda: [1, 1, 1, 1])\n"
        "source = '__mlu_entry__ void ones(float *out) { for (int i = 0; i < 4; ++i) out[i] = 1; }'\n"
        "print(bang.judge(source, task).kind)\n"
        "from pymluops.bang.judging.judges import _shared\n"
        "[server] = next(iter(_shared.judges.values()))._servers\nprint(server._process._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9) if sys.argv[1:] else None\n"
    )
    for arguments in ([], ["killed"]):
        done = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, check=False)
        kind, process = done.stdout.split()
        assert kind == "right"
        # The kernel ends it when it has ended the other one.
        deadline = time.monotonic() + 30
        while _runs(process) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not _runs(process)


def _runs(process: str) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
