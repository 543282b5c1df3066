"""``pymluops kernel``: its arguments, what it prints, its exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pymluops.bang import Parameter
from pymluops.bang.command import values
from pymluops.cli import CommandError, main
from support.selection import examples

SOURCE = """
__nram__ float a[256];
template <typename T> __mlu_global__ void fill(T *out, T value) { out[taskId] = value + BASE; }

__mlu_entry__ void increase(const float *x, float *out, int n) {
  __memcpy(a, x, n * sizeof(float), GDRAM2NRAM);
  __bang_add_scalar(a, a, 1.f, n);
  __memcpy(out, a, n * sizeof(float), NRAM2GDRAM);
}

__mlu_entry__ void broken(const float *x, float *out, int n) {
  __memcpy_async(a, x, n * sizeof(float), GDRAM2NRAM);
  __bang_add_scalar(a, a, 1.f, n);
  __memcpy(out, a, n * sizeof(float), NRAM2GDRAM);
}

__mlu_entry__ void exponential(const float *x, float *out, int n) {
  __memcpy(a, x, n * sizeof(float), GDRAM2NRAM);
  __bang_active_exp(a, a, n);
  __memcpy(out, a, n * sizeof(float), NRAM2GDRAM);
}

__mlu_entry__ void stuck(int *out) {
  if (__is_mpu()) return;
  out[taskId] = 1;
  __sync_cluster();
}

__mlu_entry__ void prints(int *out) {
  printf("task %d\\n", taskId);
  __bang_printf("half %f\\n", half(1.5));
  __assert("goes on", "kernels.mlu", 7);
  assert(out[0] == 4);
}
"""


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Program = Callable[..., Answer]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sources") / "kernels.mlu"
    file.write_text(SOURCE, encoding="utf-8")
    return file


@pytest.fixture
def program(capfd: pytest.CaptureFixture[str], source: Path) -> Program:
    def run(command: str, *arguments: object, file: Path = source) -> Answer:
        capfd.readouterr()
        code = main(["kernel", command, str(file), "-DBASE=0", *map(str, arguments)])
        return Answer(code, *capfd.readouterr())

    return run


def launch(entry: str, *arguments: str) -> list[str]:
    return ["--entry", entry, *(word for argument in arguments for word in ("--arg", argument))]


INCREASE = launch("increase", "x=f32[256]=range", "out=f32[256]", "n=256")
BROKEN = launch("broken", "x=f32[256]=ones", "out=f32[256]", "n=256")


# ---- run -----------------------------------------------------------------------------------------


def test_a_run_prints_and_saves_outputs(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "out.npy"
    answer = program("run", *INCREASE, "--save", f"out={file}")
    assert answer.code == 0, answer
    assert "nothing found" in answer.out
    assert "out: float32[256], from 1 to 256, mean 128.5: 1 2 3 4 5 6 ..." in answer.out
    assert np.array_equal(np.load(file), np.arange(1, 257, dtype=np.float32))
    again = program("run", *launch("increase", f"@{file}", "f32[256]", "256"), "--format", "json")
    assert json.loads(again.out)["outputs"][0]["summary"].startswith("out: float32[256], from 2 to 257")


@pytest.mark.thorough
def test_templates_macros_and_architectures(program: Program) -> None:
    answer = program(
        "run", *launch("fill<half>", "0=f16[8]", "value=1.5"), "--dim", "4,2,1", "--arch", "MLU370-X8", "-DBASE=2",
        "--option=-O1", "--check", "none",
    )  # fmt: skip
    assert answer.code == 0, answer
    assert "fill<half>[(4, 2, 1), 'block']" in answer.out
    assert "from 3.5 to 3.5" in answer.out


def test_a_run_follows_a_schedule(program: Program) -> None:
    late = program("run", *BROKEN, "--check", "none", "--schedule", "memory=zero")
    early = program("run", *BROKEN, "--check", "none", "--schedule", "copies=early", "--seed", 3)
    assert (late.code, early.code) == (0, 0)
    assert "from 2 to 2" in early.out
    assert "seed=3" in early.out
    assert "copies=early" not in late.out


def test_findings_have_exit_code_1(program: Program, source: Path) -> None:
    answer = program("run", *BROKEN)
    line = next(i for i, text in enumerate(SOURCE.splitlines(), 1) if "add_scalar" in text and i > 10)
    assert answer.code == 1
    assert f"{source}:{line}: error: race/copy-in-flight" in answer.out
    assert "next: wait before the access" in answer.out
    assert program("run", *BROKEN, "--rules", "race=record").code == 0
    assert program("run", *BROKEN, "--check", "align").code == 0


def test_strict_means_every_rule(program: Program) -> None:
    inside = launch("exponential", "x=f32[256]=-7.5", "out=f32[256]", "n=256")
    below = launch("exponential", "x=f32[256]=-8", "out=f32[256]", "n=256")
    assert program("run", *below).code == 0
    assert program("run", *inside, "--strict").code == 0
    answer = program("run", *below, "--strict")
    assert answer.code == 1
    assert "__bang_active_exp: src: expected numbers from -7.75 to 10.25, got -8 and 255 more" in answer.out
    assert program("run", *below, "--strict", "--rules", "align/domain=record").code == 0


def test_a_hang_prints_who_waits_and_what_was_written(program: Program) -> None:
    answer = program("run", *launch("stuck", "i32[4]"), "--dim", 4, "--type", "union1")
    assert answer.code == 1
    assert "tasks 0 to 3 at __sync_cluster" in answer.out
    assert "out: int32[4], from 1 to 1" in answer.out


def test_kernels_print_and_assert(program: Program) -> None:
    answer = program("run", *launch("prints", "i32[1]=4"), "--dim", 2)
    assert answer.code == 0, answer
    for text in ("task 1\n", "half 1.5", "goes on"):
        assert text in answer.out + answer.err
    failing = program("run", *launch("prints", "i32[1]=5"))
    assert failing.code == 1
    assert "machine/assert" in failing.out
    assert "out[0] == 4" in failing.out


# ---- check ---------------------------------------------------------------------------------------


def test_a_check_compares_schedules(program: Program) -> None:
    assert program("check", *INCREASE).code == 0
    answer = program("check", *BROKEN, "--random-runs", 1, "--seed", 9)
    assert answer.code == 1
    assert "out differs in 256 elements under copies=early" in answer.out
    assert "cores=random,memory=pattern,seed=9" in answer.out
    schedules = ["--schedule", "copies=early", "--schedule", "copies=early,seed=2"]
    two = program("check", *BROKEN, *schedules, "--check", "none")
    assert two.code == 0


def test_json_has_everything(program: Program, source: Path) -> None:
    told = json.loads(program("check", *BROKEN, "--format", "json").out)
    assert told["ok"] is False
    assert told["findings"][0]["rule"] == "race/copy-in-flight"
    assert told["findings"][0]["file"] == str(source)
    assert told["differences"][0] == {
        "output": "out", "index": [0], "expected": told["differences"][0]["expected"], "got": "2.0", "count": 256,
        "schedule": "copies=early,cores=fixed,memory=pattern,seed=0", "error": told["differences"][0]["error"],
        "next_step": "look for a missing sync, barrier or initialisation; repeat the run with its schedule and seed",
    }  # fmt: skip
    assert len(told["runs"]) == 9


def test_sarif_follows_the_standard(program: Program, source: Path) -> None:
    log = json.loads(program("check", *BROKEN, "--format", "sarif").out)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    assert set(run) <= {"tool", "invocations", "results"}
    rules = run["tool"]["driver"]["rules"]
    assert all(isinstance(run["tool"]["driver"][key], str) for key in ("name", "version"))
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(isinstance(invocation["executionSuccessful"], bool) for invocation in run["invocations"])
    found = set()
    for result in run["results"]:
        assert set(result) <= {
            *("ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "partialFingerprints")
        }
        assert not re.search(r"[^.] Next:", result["message"]["text"]), "a sentence ends before the next one"
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        for place in [*result["locations"], *result.get("relatedLocations", [])]:
            physical = place["physicalLocation"]
            assert physical["artifactLocation"]["uri"] == source.as_uri()
            assert physical["region"]["startLine"] >= 1
        found.add(result["ruleId"])
    assert {"race/copy-in-flight", "schedule/output-differs"} <= found
    prints = [result["partialFingerprints"]["kernelLine/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    assert run["tool"]["driver"]["informationUri"].startswith("https://")
    clean = json.loads(program("run", *INCREASE, "--format", "sarif").out)
    assert clean["runs"][0]["results"] == []


# ---- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--entry"),
        (launch("nothing"), "increase"),
        (launch("increase", "x=f32[4]"), "float *out"),
        (launch("increase", "f32[4]", "f32[4]", "4", "5"), "all 3 parameters"),
        (launch("increase", "y=4"), "--arg y"),
        (launch("increase", "x=f32[4]", "0=f32[4]"), "twice"),
        (launch("increase", "x=f64[4]", "f32[4]", "4"), "float64"),
        (launch("increase", "x=f33[4]", "f32[4]", "4"), "f33"),
        (launch("increase", "x=f32[4]=many", "f32[4]", "4"), "many"),
        (launch("increase", "x=@missing.npy", "f32[4]", "4"), "missing.npy"),
        (launch("increase", "f32[4]", "f32[4]", "four"), "four"),
        (launch("increase", "f32[4]", "f32[4]", "2.5"), "n"),
        ([*INCREASE, "--dim", "0"], "--dim"),
        ([*INCREASE, "--dim", "1,2,3,4"], "--dim"),
        ([*INCREASE, "--type", "union3"], "union1"),
        ([*INCREASE, "--type", "union1"], "4"),
        ([*INCREASE, "--arch", "mtp_100"], "mtp_592"),
        ([*INCREASE, "--check", "everything"], "everything"),
        ([*INCREASE, "--rules", "race=ignore"], "race=ignore"),
        ([*INCREASE, "--save", "out"], "--save"),
        ([*INCREASE, "--save", "y=out.npy"], "y"),
        ([*INCREASE, "--schedule", "copies=soon"], "copies=soon"),
        ([*INCREASE, "--seed", "-1"], "seed"),
        ([*INCREASE, "--time-limit", "-1"], "--time-limit"),
        ([*INCREASE, "-I", "no/such/folder"], "no/such/folder"),
        ([*INCREASE, "--form", "json"], "--form"),
    ],
)
def test_bad_input_is_one_line(program: Program, arguments: list[str], named: str) -> None:
    answer = program("run", *arguments)
    assert answer.code == 2, answer
    assert answer.out == ""
    (line,) = answer.err.splitlines()
    assert line.startswith("pymluops kernel run: ")
    assert named in line


def test_a_source_that_does_not_compile_is_shown(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "wrong.mlu"
    file.write_text("__mlu_entry__ void k(int *out) {\n  out[0] = valeu;\n}\n", encoding="utf-8")
    answer = program("run", *launch("k", "i32[1]"), file=file)
    assert answer.code == 2
    assert f"{file}:2:12: error" in answer.err
    assert answer.err.splitlines()[-1] == "pymluops kernel run: the sources cannot be compiled"
    missing = program("run", file=tmp_path / "missing.mlu")
    assert missing.code == 2
    assert "missing.mlu" in missing.err


# ---- Arguments -----------------------------------------------------------------------------------

TYPES = {
    "f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool", "float32": "float32",
}  # fmt: skip


@given(
    name=st.sampled_from(sorted(TYPES)),
    shape=st.lists(st.integers(0, 5), max_size=4),
    contents=st.sampled_from(["", "=zeros", "=ones", "=range", "=random", "=random:7", "=3"]),
)
@examples(60)
def test_arrays_are_as_they_are_written(name: str, shape: list[int], contents: str) -> None:
    array = values.value_of("x", f"{name}[{','.join(map(str, shape))}]{contents}")
    assert array.dtype == TYPES[name]
    assert array.shape == tuple(shape)
    count = array.size
    expected = {
        "": np.zeros(count), "=zeros": np.zeros(count), "=ones": np.ones(count), "=range": np.arange(count),
        "=3": np.full(count, 3),
    }.get(contents)  # fmt: skip
    if expected is not None:
        assert np.array_equal(array.reshape(-1), expected.astype(array.dtype))
    elif contents == "=random:7":
        assert np.array_equal(array, values.value_of("x", f"{name}[{','.join(map(str, shape))}]=random:7"))


@given(st.permutations(range(4)), st.integers(0, 4))
@examples(30)
def test_names_and_places_fill_all_parameters(order: list[int], named: int) -> None:
    parameters = [Parameter(name, "int") for name in "abcd"]
    texts = [f"{'abcd'[number]}={number}" for number in order[:named]]
    texts += [str(number) for number in sorted(order[named:])]
    assert values.arrange([values.read(text) for text in texts], parameters) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), ("-0x10", -16), ("1e3", 1000.0), ("null", None), ("true", True)]
)
def test_scalars(text: str, value: Any) -> None:
    found = values.value_of("n", text)
    assert found == value
    assert type(found) is type(value)


@given(st.text(max_size=20))
@examples(60)
def test_any_text_is_a_value_or_refused_in_a_line(text: str) -> None:
    try:
        values.value_of("n", text.replace("@", ""))
    except CommandError as error:
        assert "--arg n" in str(error)
        assert "\n" not in str(error)
