"""Tasks: arguments, references, guesses of launches, and what is refused."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.bang.judging import Limits, Task, TaskError, Tolerance, changed, output, random
from pymluops.bang.judging.arguments import made
from pymluops.bang.judging.dims import guessed
from pymluops.bang.judging.problem import write_problem
from pymluops.sim import Schedule, devices

ARGUMENTS: dict[str, Any] = {"x": random(3, 4), "n": 4, "out": output(3, 4)}


def ones(x: np.ndarray) -> np.ndarray:
    return np.ones_like(x)


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "half", "int8", "uint8", "int64", "bool", "bfloat16", "complex64"]
)
def test_random_arrays_are_the_same_in_every_run(dtype: str) -> None:
    first, second, other = (made(name, random(50, 3, dtype=dtype)) for name in ("x", "x", "y"))
    assert first.tobytes() == second.tobytes() != other.tobytes()
    assert first.shape == (50, 3)
    assert len(np.unique(first)) > (1 if dtype == "bool" else 20)
    assert made("x", random(50, 3, dtype=dtype, seed=5)).tobytes() != first.tobytes()


def test_ranges_of_random_numbers() -> None:
    x = made("x", random(1000, low=2, high=3))
    assert 2 <= x.min() < 2.1 < 2.9 < x.max() <= 3
    assert set(made("x", random(1000, dtype="int32", low=-1, high=1)).tolist()) == {-1, 0, 1}


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: x + 1, lambda n, x: x + 1, lambda x, **_: x + 1, lambda x: (x + 1,), lambda x: {"out": x + 1},
        lambda x, k=1: x + k, lambda x: (x + 1).tolist(),
    ],
)  # fmt: skip
def test_references(reference: Any) -> None:
    task = Task("add", ARGUMENTS, reference)
    values = task.values()
    np.testing.assert_array_equal(task.expected(values)["out"], values["x"] + 1)


def test_a_reference_without_names() -> None:
    task = Task("exp", ARGUMENTS, np.exp)
    values = task.values()
    np.testing.assert_array_equal(task.expected(values)["out"], np.exp(values["x"]))


def test_a_reference_does_not_change_the_arguments() -> None:
    def clear(x: np.ndarray) -> np.ndarray:
        x[:] = 0
        return x

    task = Task("clear", ARGUMENTS, clear)
    values = task.values()
    assert not task.expected(values)["out"].any()
    assert values["x"].all()


def test_several_outputs() -> None:
    task = Task("two", {**ARGUMENTS, "sum": changed(np.zeros(1, "f4"))}, lambda x, sum: (x, sum + 5))
    expected = task.expected(task.values())
    assert list(expected) == ["out", "sum"]
    assert expected["sum"].tolist() == [5]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "name: expected a text"),
        ({"arguments": {"x": random(3)}}, "expected at least one output"),
        ({"reference": 5}, "reference: expected a function"),
        ({"cards": ["MLU100"]}, "cards: expected names out of MLU270"),
        ({"cards": []}, "cards: expected one at least"),
        ({"launch": (0, "block")}, "launch: expected one to three numbers of tasks"),
        ({"launch": ((1, 2, 3, 4), "block")}, "launch: expected one to three"),
        ({"launch": (1, "cluster")}, r"launch: expected \(dim, kind\)"),
        ({"launch": 5}, r"launch: expected \(dim, kind\)"),
        ({"launch": (3, "union1")}, "launch: expected a multiple of 4 tasks in x for union1 on MLU590, got 3"),
        ({"launch": (64, "union16")}, "launch: expected a kind for 12 clusters of MLU590, got 'union16'"),
        ({"launch": (1, [])}, r"launch: expected \(dim, kind\)"),
        ({"launch": (1.5, "block")}, "launch: expected one to three numbers of tasks"),
        ({"launch": ((2**20, 2**20), "block")}, "launch: expected at most 2147483647 tasks"),
        ({"cards": ["MLU59"]}, "did you mean MLU590?"),
        ({"cards": "MLU590"}, "cards: expected a list of texts, got 'MLU590'"),
        ({"name": 5}, "name: expected a text, got 5"),
        ({"arguments": [output(3)]}, "arguments: expected a mapping of names to arguments"),
        ({"arguments": {5: output(3)}}, "arguments: expected names, got 5"),
        ({"arguments": {**ARGUMENTS, "y": [1.0, 2.0]}}, "arguments: y: expected an array, random.*, got .1.0, 2.0."),
        ({"arguments": {**ARGUMENTS, "y": "text"}}, "arguments: y: expected an array"),
        ({"arguments": {**ARGUMENTS, "y": np.array(["a"])}}, "arguments: y: expected an array of numbers"),
        ({"arguments": {**ARGUMENTS, "y": np.array([None])}}, "arguments: y: expected an array of numbers"),
        ({"arguments": {**ARGUMENTS, "y": np.zeros(2, [("a", "O")])}}, "arguments: y: expected an array of numbers or"),
        ({"arguments": {**ARGUMENTS, "y": np.str_("a")}}, "arguments: y: expected a number or a structure"),
        ({"tolerance": "tight"}, "tolerance: expected a Tolerance, or a dict of them .*, got 'tight'"),
        ({"tolerance": {"otu": Tolerance()}}, "tolerance: expected names out of out, got 'otu' .*; did you mean out?"),
        ({"tolerance": {"out": 5}}, "tolerance: out: expected a Tolerance, got 5"),
        ({"entry": 5}, "entry: expected a name, got 5"),
        ({"entry": " "}, r"entry: expected a kernel, such as 'add' or 'add<float, 4>', got ' '"),
        ({"entry": "add()"}, r"entry: expected a kernel, .* got 'add\(\)'"),
        ({"limits": 3}, "limits: expected Limits, got 3"),
        ({"options": "-O0"}, "options: expected a list of texts, got '-O0'"),
        ({"options": [5]}, "options: expected texts, got 5"),
        ({"include_dirs": "here"}, "include_dirs: expected a list of folders, got 'here'"),
        ({"files": {"a": "b"}}, "files: expected a list of texts, got"),
        ({"schedules": ["nonsense"]}, "schedules: expected a list of pymluops.sim.Schedule, got 'nonsense'"),
        ({"schedules": [Schedule(copies="maybe")]}, "schedules: .*copies"),
        ({"schedules": ()}, "schedules: expected one at least"),
    ],
)
def test_what_a_task_refuses(change: dict[str, Any], said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=said):
        Task(**{"name": "a", "arguments": ARGUMENTS, "reference": ones, **change})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: random(-1), "shape: expected dims from 0"),
        (lambda: output(2**30, 2**30), "shape: expected dims from 0"),
        (lambda: output(3, dtype="float33"), "dtype: expected an element type"),
        (lambda: output(3, dtype="U3"), "dtype: expected a type of numbers"),
        (lambda: random(3, low=2, high=1), "random: low, high: expected a range, got 2 to 1"),
        (lambda: random(3, high=float("inf")), "random: low, high: expected a range"),
        (lambda: random(3, low="a"), "random: low: expected a number, got 'a'"),  # type: ignore[arg-type]
        (lambda: random(3, seed=1.5), "random: seed: expected an integer, got 1.5"),  # type: ignore[arg-type]
        (lambda: random(3, seed=-1), "random: seed: expected an integer from 0, got -1"),
        (lambda: changed(np.array(["a"])), "dtype: expected a type of numbers"),
        (lambda: Limits(seconds=0), "Limits: seconds: expected a number above 0"),
        (lambda: Limits(memory_mib="5"), "Limits: memory_mib: expected a number"),  # type: ignore[arg-type]
    ],
)
def test_what_arguments_and_limits_refuse(make: Any, said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=said):
        make()


@pytest.mark.parametrize(
    ("dtype", "result", "expected"),
    [
        ("float16", [1e6, -1e6, 1 + 2**-12], [np.inf, -np.inf, 1]),
        ("float32", [1e300, 16777217, np.nan], [np.inf, 16777216, np.nan]),
        ("int8", np.array([200, -200, 5]), [-56, 56, 5]),
        ("int8", [127.0, -128.0, 3.0], [127, -128, 3]),
        ("int64", np.array([2**60 + 1] * 3), [2**60 + 1] * 3),
        ("complex64", [1 + 1j, 2, 3], [1 + 1j, 2, 3]),
        ("bool", [0, 1, 1], [False, True, True]),
        ("bfloat16", [1.0, 2**-9 + 1, 3e38], [1, 1, 3.003e38]),
    ],
)
def test_what_a_reference_computes_is_brought_to_the_type_of_the_output(dtype: str, result: Any, expected: Any) -> None:
    task = Task("a", {"out": output(3, dtype=dtype)}, lambda: np.asarray(result))
    found = task.expected({})["out"]
    assert found.dtype.name == dtype
    np.testing.assert_allclose(found.astype(np.complex128 if dtype == "complex64" else np.float64), expected, rtol=1e-3)
    assert dtype != "int64" or found.tolist() == expected
    start = np.zeros(3, found.dtype)
    changing = Task("a", {"x": changed(start)}, lambda: np.asarray(result))
    assert changing.expected({"x": start})["x"].tobytes() == found.tobytes()


@pytest.mark.parametrize(
    ("dtype", "result", "said"),
    [
        ("float32", np.ones(3, complex), "out: expected real numbers for an output of float32, got complex128"),
        ("int32", [1, 0.5, 1], r"out: expected whole numbers that int32 holds, got 0.5 at \[1\]"),
        ("int32", [1, 1, 2.0**31], r"out: expected whole numbers that int32 holds, got 2147483648.0 at \[2\]"),
        ("uint8", [1, -1.0, 2], r"out: expected whole numbers that uint8 holds, got -1.0 at \[1\]"),
        ("int64", [np.nan, 1, 2], r"out: expected whole numbers that int64 holds, got nan at \[0\]"),
        ("float32", None, "out: expected an array of numbers, got None"),
        ("float32", "abc", "out: expected an array of numbers, got 'abc'"),
        ("float32", [[1], [1, 2]], "out: expected an array"),
        ("float32", {"oot": 1}, r"expected the results out, got oot; did you mean out\?"),
        ("float32", {"out": np.ones(3), "other": 1}, "expected the results out, got out, other"),
        ("float32", {}, "expected the results out, got no result"),
        ("float32", (1, 2), r"expected 1 result \(out\), got 2"),
        ("float32", 1.0, r"expected shape \[3\] for out, got \[\]"),
    ],
)
def test_results_that_are_no_outputs(dtype: str, result: Any, said: str) -> None:
    task = Task("a", {"out": output(3, dtype=dtype)}, lambda: result)
    with pytest.raises(pymluops.BadParamError, match=f"task: reference: {said}"):
        task.expected({})


def test_functions_of_a_task_that_fail() -> None:
    task = Task("a", {"out": output(3)}, lambda: 1 / 0, launch=lambda card: {}[card])  # type: ignore[misc]
    with pytest.raises(TaskError, match="task: reference: ZeroDivisionError") as failed:
        task.expected({})
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    with pytest.raises(TaskError, match="task: launch: KeyError"):
        task.launch_on(devices()[0])


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float))


def test_a_task_as_data(tmp_path: Any) -> None:
    record = np.array([(3, 2.5)], np.dtype([("a", "i4"), ("b", "f4")]))
    arguments = {
        **ARGUMENTS,
        "pair": Pair(3, 2.5),
        "record": record,
        "flag": True,
        "none": None,
        "half": np.float32(0.5),
    }
    problem = write_problem(Task("add", arguments, ones, launch=lambda card: (card.clusters, "union1")), tmp_path)
    given = problem.arguments()
    assert given["pair"] == given["record"] == bytes(Pair(3, 2.5))
    assert (given["flag"], given["none"], given["half"], given["out"]) == (True, None, 0.5, None)
    np.testing.assert_array_equal(given["x"], made("x", arguments["x"]))
    np.testing.assert_array_equal(problem.reference("out"), np.ones((3, 4)))
    assert problem.launches == {"MLU590": ((12, 1, 1), "union1")}


def test_arrays_of_the_other_byte_order(tmp_path: Any) -> None:
    swapped = np.arange(5, dtype=np.dtype(np.float32).newbyteorder())
    arguments = {"x": swapped, "y": changed(swapped[::2]), "zero": np.array(swapped[1])}
    problem = write_problem(Task("twice", arguments, lambda x, y: 2 * y), tmp_path)
    given = problem.arguments()
    np.testing.assert_array_equal(given["x"], np.arange(5))
    np.testing.assert_array_equal(given["y"], [0, 2, 4])
    assert given["zero"] == 1
    np.testing.assert_array_equal(problem.reference("y"), [0, 4, 8])


def test_another_task_has_another_digest(tmp_path: Any) -> None:
    tasks = [
        Task("add", ARGUMENTS, ones),
        Task("add", ARGUMENTS, ones),
        Task("add", ARGUMENTS, lambda x: 2 * ones(x)),
        Task("add", {**ARGUMENTS, "n": 5}, ones),
        Task("add", {**ARGUMENTS, "x": random(3, 4, seed=1)}, ones),
        Task("add", ARGUMENTS, ones, launch=(4, "block")),
    ]
    digests = []
    for i, task in enumerate(tasks):
        (tmp_path / str(i)).mkdir()
        digests.append(write_problem(task, tmp_path / str(i)).digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == len(tasks) - 1


@pytest.mark.parametrize(
    ("body", "on_590", "on_370"),
    [
        ("out[0] = 1;", (1, "block"), (1, "block")),
        ("out[taskId] = 1;", (16, "block"), (16, "block")),
        ("// clusterId\nout[taskId] = 1;", (16, "block"), (16, "block")),
        ('printf("coreId"); out[taskIdX] = 1;', (16, "block"), (16, "block")),
        ("out[coreId] = 1;", (4, "union1"), (4, "union1")),
        ("__sync_cluster(); out[taskId] = 1;", (16, "union1"), (16, "union1")),
        ("out[clusterId] = taskDim;", (16, "union4"), (16, "union4")),
        ("__sync_all();", (16, "union4"), (16, "union4")),
    ],
)
def test_guesses(body: str, on_590: tuple[int, str], on_370: tuple[int, str]) -> None:
    source = f"__mlu_entry__ void k(float *out) {{ {body} }}"
    cards = {model.name: (model.clusters, model.cores_per_cluster) for model in devices()}
    for card, (tasks, kind) in (("MLU590", on_590), ("MLU370-X8", on_370)):
        assert guessed(source, *cards[card]) == ((tasks, 1, 1), kind)
    assert guessed("clusterId", 1, 2) == ((2, 1, 1), "union1")
    assert guessed("taskId", 1, 2) == ((2, 1, 1), "block")
