"""Cases and libraries that do harm: each fails alone, and says why."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gencase.small_cases import answering, run, stated, tin_shift, waited
from pymluops import functions, gencase
from pymluops.bang import _compilers
from pymluops.bang.command import debug
from pymluops.gencase import _pool, _report, _worker
from pymluops.gencase._pool import Worker, run_files

# ---- processes: a program that answers as a worker does ------------------------------------------


@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGSEGV)"])
def test_a_process_that_ended_between_two_cases_is_replaced(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, behind=ending)
    found = list(run_files([Path(name) for name in "abc"], "cpu", "file", jobs=1, timeout=5))
    assert [result["path"] for result in found] == ["a", "b", "c"]
    assert len({result["process"] for result in found}) == 3


def test_a_process_that_was_ended_between_two_cases_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch)
    with Worker("cpu", "file", 5) as worker:
        first = worker.run(Path("a"))
        os.kill(first["process"], signal.SIGKILL)
        second = worker.run(Path("b"))
    assert second["outcome"] == "passed"
    assert second["process"] != first["process"]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("raise ImportError('no such\\nthing')", "does not start: the process ended with code 1: thing"),
        ("os.kill(os.getpid(), signal.SIGABRT)", "does not start: the process was ended by SIGABRT"),
        ("say(refused='NotInitializedError: no library'); sys.exit(1)", "NotInitializedError: no library"),
        ("time.sleep(60)", "is not ready after 0.3 s"),
    ],
)
def test_a_process_that_cannot_start_is_an_error(before: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, before=before)
    if "sleep" in before:
        monkeypatch.setattr(_pool, "START_LIMIT", 0.3)
    found = list(run_files([Path("a"), Path("b")], "cpu", "file", jobs=1, timeout=5))
    assert [result["outcome"] for result in found] == ["error", "error"]
    for result in found:
        assert result["message"].endswith(said)


def test_an_interpreter_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Worker("cpu", "file", 5) as worker:
        found = worker.run(Path("a"))
    assert found["outcome"] == "error"
    assert found["message"] == "a process for cases cannot be started: No such file or directory"


CHILD = "child = os.fork(); time.sleep(100 * (child == 0)); "


@pytest.mark.parametrize(
    ("line", "outcome", "said"),
    [
        (CHILD + "os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "the process was ended by SIGSEGV"),
        (CHILD + "os._exit(3)", "crashed", "the process ended with code 3"),
        ("os.close(1); time.sleep(100)", "timed out", "no result after 0.5 s"),
        (CHILD + "time.sleep(100)", "timed out", "no result after 0.5 s"),
        ("say(computing='cpu'), time.sleep(100)", "timed out", "no result after 0.5 s: cpu was computing"),
        ("say(computing='oracle'), time.sleep(100)", "timed out", "no result after 0.5 s: the oracle was computing"),
        ("say(computing='cpu'), os._exit(3)", "crashed", "the process ended with code 3"),
        ("say(computing='oracle'), os._exit(3)", "crashed", "the process ended with code 3: the oracle was computing"),
        ("print('noise\\x1b[2J', flush=True)", "error", "no answer of the process: noise\\x1b[2J"),
    ],
)
def test_a_case_that_does_harm(line: str, outcome: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, line)
    with Worker("cpu", "file", 0.5) as worker:
        found = worker.run(Path("flat/a.pb"))
    assert (found["outcome"], found["message"], found["operator"]) == (outcome, said, "abs")


def test_children_of_a_library_end_with_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, CHILD + "path = child")
    with Worker("cpu", "file", 5) as worker:
        child = worker.run(tmp_path)["path"]
        os.kill(child, 0)
    waited(lambda: not Path(f"/proc/{child}/exe").exists())


def test_standard_error_is_of_one_case_short_and_without_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = "os.kill(os.getpid(), signal.SIGKILL)"
    loud = "sys.stderr.write('x' * 100_000 + chr(27) + 'end'), sys.stderr.flush()"
    answering(
        monkeypatch, f"path == 'a' and ({loud}); path == 'quiet' and {crash}; path == 'loud' and ({loud}, {crash})"
    )
    with Worker("cpu", "file", 5) as worker:
        found = [worker.run(Path(name)) for name in ("a", "quiet", "loud")]
    assert [result["outcome"] for result in found] == ["passed", "crashed", "crashed"]
    assert found[1]["message"] == "the process was ended by SIGKILL"
    assert found[2]["message"].endswith("xxx\\x1bend")
    assert len(found[2]["message"]) < 500


def test_results_come_in_the_order_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "time.sleep(0.2 * (path in 'ad'))")
    found = list(run_files([Path(name) for name in "abcdefg"], "cpu", "file", jobs=3, timeout=5))
    assert [result["path"] for result in found] == list("abcdefg")
    assert len({result["process"] for result in found}) <= 3


def test_processes_do_not_dump_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLUOP_GEN_CASE", "MLUOP_GEN_CASE_DIR", "MLUOP_GEN_CASE_OF_THE_FUTURE"):
        monkeypatch.setenv(name, "2")
    answering(monkeypatch, "path = [name for name in os.environ if name.startswith('MLUOP')]")
    with Worker("cpu", "file", 5) as worker:
        assert worker.run(Path("a"))["path"] == []


# ---- processes: the real ones --------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        RecursionError("deep"), OverflowError("large"), AssertionError(), ZeroDivisionError("by 0"), MemoryError(),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), KeyError("name"), OSError(5, "failed", "data"),
    ],
)  # fmt: skip
def test_any_exception_is_an_error_of_its_case(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> Any:
        raise error

    tin_shift(tmp_path / "a.pb")
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(_worker, "run_case", failing)
    result = _worker._run(str(tmp_path / "a.pb"), "cpu", "file", lambda *answer: said.append(answer))
    assert (result.outcome, result.operator) == (gencase.Outcome.ERROR, "tin_shift_forward")
    assert said == [("operator", "tin_shift_forward")]
    assert type(error).__name__ in result.message or result.message == "data: failed"


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_error_of_a_case(end: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def ending(_: object) -> Any:
        raise end

    monkeypatch.setattr(gencase, "read", ending)
    with pytest.raises(end):
        _worker._run("a.pb", "cpu", "file", print)


@pytest.mark.thorough
def test_nothing_of_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "numpy", "ctypes", "pymluops", "ziglang"):
        (tmp_path / f"{name}.py").write_text("open('was_run', 'w')\nraise SystemExit(7)\n")
    monkeypatch.chdir(tmp_path)
    tin_shift(tmp_path / "a.pb")
    with Worker("cpu", "file", 60) as worker:
        assert worker.run(tmp_path / "a.pb")["outcome"] == "passed"
    assert not (tmp_path / "was_run").exists()


def test_programs_of_the_package_run_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "pymluops", "ziglang"):
        (tmp_path / f"{name}.py").write_text("open('was_run', 'w')\n")
    spec = ModuleSpec("ziglang", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    zig = _compilers._zig()
    assert zig is not None
    options = {"file": [Path("a.mlu")], "dim": (1,), "type": "block", "arch": "mtp_592", "entry": None}
    lists = dict.fromkeys(("arg", "save", "include_dirs", "defines", "option"), ())
    launch = debug._launch_again(argparse.Namespace(**options, **lists))
    launch[launch.index("kernel") :] = ["--version"]
    for words in (zig.command, launch):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "ziglang" in done.stderr or done.stdout.startswith("pymluops ")
    assert not (tmp_path / "was_run").exists()


@pytest.mark.thorough
def test_a_library_that_forks_answers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "from pymluops.gencase import _worker; import os; real = _worker._run\n"
    program += "def run(*given):\n    result = real(*given)\n    os.fork()\n    return result\n"
    monkeypatch.setattr(_pool, "_PROGRAM", f"{program}_worker._run = run; raise SystemExit(_worker.main())")
    paths = [tmp_path / name for name in ("a.pb", "b.pb", "c.pb")]
    for path in paths:
        tin_shift(path)
    found = list(run_files(paths, "cpu", "file", jobs=1, timeout=60))
    assert [result["path"] for result in found] == [*map(str, paths)]
    assert {result["outcome"] for result in found} == {"passed"}


@pytest.mark.thorough
def test_a_library_that_is_none_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tin_shift(tmp_path / "a.pb")
    (tmp_path / "none.so").write_text("nothing")
    code, out, _ = run(capsys, "run", tmp_path / "a.pb", "--library", tmp_path / "none.so", "--json")
    (found,) = json.loads(out)
    assert (code, found["outcome"]) == (1, "error")
    assert "none.so" in found["message"]


HANGING = """
import sys
from pymluops import cli
from pymluops.gencase import _pool
_pool._PROGRAM = '''
import sys, time
from pymluops.gencase import _worker
def hang(path, *more):
    open(path + ".pid", "w").write(str(__import__("os").getpid()))
    time.sleep(1000)
_worker._run = hang
raise SystemExit(_worker.main())
'''
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_end_all_processes_at_once(number: signal.Signals, tmp_path: Path) -> None:
    for name in ("a.pb", "b.pb"):
        tin_shift(tmp_path / name)
    command = [sys.executable, "-c", HANGING, "case", "run", str(tmp_path), "--jobs", "2", "--timeout", "900"]
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, process_group=0, **options) as process:
        notes = [tmp_path / "a.pb.pid", tmp_path / "b.pb.pid"]
        waited(lambda: all(note.exists() and note.read_text() for note in notes))
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert (out, err) == ("", "interrupted\n" if number == signal.SIGINT else "")
    for note in notes:
        waited(lambda note=note: not Path(f"/proc/{note.read_text()}/exe").exists())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--timeout", "0"), "argument --timeout: expected seconds, a number above 0, got 0"),
        (("--timeout", "nan"), "argument --timeout: expected seconds, a number above 0, got nan"),
        (("--timeout", "inf"), "argument --timeout: expected seconds, a number above 0, got inf"),
        (("--timeout=-1",), "argument --timeout: expected seconds, a number above 0, got -1"),
        (("--timeout", "soon"), "argument --timeout: expected seconds, a number above 0, got soon"),
        (("--jobs", "0"), "argument --jobs: expected a number from 1 on, got 0"),
        (("--jobs=-2",), "argument --jobs: expected a number from 1 on, got -2"),
        (("--jobs", "9" * 5000), "argument --jobs: expected a number from 1 on, got 999"),
        (("--jobs", "1.5"), "argument --jobs: expected a number from 1 on, got 1.5"),
    ],
)
def test_numbers_of_the_command(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "run", "a.pb", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_no_more_processes_than_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    given: list[int] = []

    def no_results(*_: object, jobs: int, **__: object) -> Generator[dict[str, Any]]:
        given.append(jobs)
        yield from ()

    monkeypatch.setattr(_pool, "run_files", no_results)
    tin_shift(tmp_path / "a.pb")
    run(capsys, "run", tmp_path / "a.pb", "--jobs", "1000000")
    assert given == [1]


# ---- comparison ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, np.nan, 0.5])
@pytest.mark.parametrize("value", [np.inf, np.nan, 1.0])
def test_results_are_json_whatever_they_measure(value: float, threshold: float) -> None:
    found = stated(np.array([1, value]), ("DIFF1", threshold)).run(against="file").to_json()
    again = json.loads(json.dumps(found, allow_nan=False))
    (criterion,) = again["outputs"][0]["criteria"]
    assert criterion["threshold"] == (0.5 if threshold == 0.5 else str(threshold))
    assert str(threshold) in "\n".join([_report.table([again]), *_report.details(again)])


def test_the_command_prints_json_for_infinite_thresholds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated(np.array([1, 2]), ("DIFF1", np.inf)).write(tmp_path / "a.pb")

    def no_number(text: str) -> Any:
        raise AssertionError(text)

    code, out, _ = run(capsys, "run", tmp_path / "a.pb", "--against", "file", "--json")
    (found,) = json.loads(out, parse_constant=no_number)
    assert (code, found["outputs"][0]["criteria"][0]["threshold"]) == (0, "inf")


def lgamma(out: np.ndarray) -> gencase.Case:
    x = np.arange(1, 5, dtype=np.float32)
    return gencase.Case.build("lgamma", [("x", x)], [("y", out)], {"inplace": True})


def test_an_output_in_place_has_shape_and_type_of_its_input() -> None:
    assert lgamma(np.zeros(4, np.float32)).run().passed
    for out in (np.zeros(5, np.float32), np.zeros(4, np.float16), np.zeros((2, 2), np.float32)):
        result = lgamma(out).run()
        assert result.outcome is gencase.Outcome.ERROR
        said = f"lgamma works in place, but y is {list(out.shape)} {'half' if out.itemsize == 2 else 'float'}"
        assert f"{said} and x is [4] float" in result.message


def test_inputs_without_values_are_zeros_for_all() -> None:
    case = tin_shift()
    for name in ("value_f", "value_i"):
        for tensor in case.node.input:
            tensor.ClearField(name)
    result = case.run("cpu", "oracle")
    assert result.passed, result
    assert result.outputs[0].unseen is None


def unseen(case: gencase.Case) -> dict[str, Any] | None:
    result = case.run(against="file")
    assert result.passed, result
    found = result.to_json()
    place: dict[str, Any] | None = found["outputs"][0]["unseen"]
    said = [line for line in _report.details(found) if "the criteria do not see" in line]
    assert len(said) == (place is not None)
    return place


def test_numbers_beside_a_nan_are_not_seen() -> None:
    values = np.array([1, 2, 3, np.nan])
    case = stated(values)
    case.inputs[0].set_values(values.astype(np.float32))
    assert unseen(case) is None
    case.outputs[0].set_values(np.array([1, 2.001, 3, np.nan], np.float32))  # a difference that would pass
    assert unseen(case) is None
    case.outputs[0].set_values(np.array([1, 9, 3, np.nan], np.float32))
    place = unseen(case)
    assert place is not None
    assert (place["index"], place["found"], place["wanted"], place["differing"]) == ([1], 2, 9, 1)
    case.node.test_param.error_threshold[0] = 0  # exact ones see it
    assert case.run(against="file").outcome is gencase.Outcome.FAILED


def test_integers_beyond_float32_are_not_seen() -> None:
    case = stated(np.array([1, 2]), ("DIFF3", 0.0), np.int32)
    case.inputs[0].set_values(np.array([1 << 24, (1 << 31) - 1]))
    case.outputs[0].set_values(np.array([(1 << 24) + 1, (1 << 31) - 2]))
    place = unseen(case)
    assert place is not None
    assert (place["differing"], place["found"] - place["wanted"]) in ((2, 1), (2, -1))
    result = case.run(against="file")
    assert "y: the criteria do not see that 2 of 2 elements differ, most at [0]: 16777216 for 16777217" in (
        _report.details(result.to_json())
    )


def test_an_integer_beyond_float32_is_not_seen_beside_others_that_are() -> None:
    case = stated(np.array([1, 2]), ("DIFF1", 0.5), np.int32)
    case.inputs[0].set_values(np.array([1 << 24, 100]))
    case.outputs[0].set_values(np.array([(1 << 24) + 1, 101]))
    place = unseen(case)
    assert place is not None
    assert (place["index"], place["differing"]) == ([0], 1)


@pytest.mark.parametrize("criterion", [("DIFF4", 0.0), ("DIFF_KL", 0.0), ("DIFF_KL", -1.0), ("DIFF1", np.inf)])
def test_criteria_that_say_nothing(criterion: tuple[str, float]) -> None:
    assert unseen(stated(np.array([1, 2]), criterion)) is None
    place = unseen(stated(np.array([1, 7]), criterion))
    assert place is not None
    assert place["wanted"] == 7


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Lets a function of the CPU library do what "change" does with its inputs."""
    real, state = functions.mluOpTinShiftForward, dict[str, Any](libraries=["cpu"])

    class Broken:
        positional, descriptors = real.positional, real.descriptors  # type: ignore[attr-defined]

        def __call__(self, input: Any, shifts: Any, output: Any, handle: Any) -> None:
            real(input=input, shifts=shifts, output=output, handle=handle)
            if handle.backend.name in state["libraries"]:
                state["change"](input[1], shifts[1])

    monkeypatch.setattr(functions, "mluOpTinShiftForward", Broken())
    return state


def test_a_library_that_writes_into_its_inputs_fails(broken: dict[str, Any]) -> None:
    def write(values: np.ndarray, shifts: np.ndarray) -> None:
        values.reshape(-1).view(np.uint8)[3] ^= 1
        shifts.reshape(-1).view(np.uint8)[0] ^= 1

    broken["change"] = write
    result = tin_shift().run("cpu", "oracle")
    assert result.outcome is gencase.Outcome.FAILED
    assert all(output.passed for output in result.outputs)
    assert result.message == "the library wrote to what it only reads: input, shifts"
    result = tin_shift().run("sim", "cpu")
    assert result.outcome is gencase.Outcome.FAILED
    assert result.message == "cpu: the library wrote to what it only reads: input, shifts"
