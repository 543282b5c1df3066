"""Schedules: kernels whose result depends on them, and kernels whose result does not."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import pymluops
from pymluops import _advice, bang, sim
from pymluops.bang import _check
from support.processes import run_python
from support.selection import examples

SOURCE = """
#define N 64
__nram__ float a[2][N], b[2][N];
__mlu_shared__ float shared[N];

// ---- Right under every schedule ----

__mlu_entry__ void serial(const float *x, float *out, int n) {
  for (int i = taskId * N; i < n; i += taskDim * N) {
    int count = n - i < N ? n - i : N;
    __memcpy(a[0], x + i, count * sizeof(float), GDRAM2NRAM);
    __bang_add_scalar(a[0], a[0], 1.f, count);
    __memcpy(out + i, a[0], count * sizeof(float), NRAM2GDRAM);
  }
}

__mlu_func__ void pingpong_of(const float *x, float *out, int pieces, int wrong) {
  __memcpy_async(a[0], x, sizeof a[0], GDRAM2NRAM);
  __sync();
  for (int i = 0; i < pieces; ++i) {
    if (i + 1 < pieces) {
      __memcpy_async(a[wrong ? i % 2 : (i + 1) % 2], x + (i + 1) * N, sizeof a[0], GDRAM2NRAM);
    }
    __bang_add_scalar(b[i % 2], a[i % 2], 1.f, N);
    __sync_compute();
    __memcpy_async(out + i * N, b[i % 2], sizeof b[0], NRAM2GDRAM);
    __sync();
  }
}
__mlu_entry__ void pingpong(const float *x, float *out, int n) {
  if (taskId == 0 && !__is_mpu()) pingpong_of(x, out, n / N, 0);
}

__mlu_entry__ void through_sram(const float *x, float *out, int n) {
  __memcpy(shared, x, sizeof shared, GDRAM2SRAM);
  __sync_cluster();
  __memcpy(a[0], shared, sizeof shared, SRAM2NRAM);
  __bang_add_scalar(a[0], a[0], 1.f, N);
  __memcpy(out + taskId * N, a[0], sizeof shared, NRAM2GDRAM);
}

__mlu_entry__ void locked(const float *x, float *out, int n) {
  if (__is_mpu()) return;
  for (int i = 0; i < 20; ++i) {
    __bang_lock(3, 3);
    out[0] = out[0] + 1.f;
    __bang_unlock(3, 3);
  }
}

__mlu_entry__ void flag(const float *x, float *out, int n) {
  volatile float *ready = out + 1;
  if (__is_mpu()) return;
  if (taskId == 3) {
    *ready = 1.f;
  } else {
    while (*ready == 0.f) {}
  }
  __sync_all_ipu();
  if (taskId == 0) out[0] = 5.f;
}

// ---- Broken ----

__mlu_entry__ void without_sync(const float *x, float *out, int n) {
  __memcpy_async(a[0], x + taskId * N, sizeof a[0], GDRAM2NRAM);
  __bang_add_scalar(b[0], a[0], 1.f, N);
  __sync();
  __memcpy(out + taskId * N, b[0], sizeof b[0], NRAM2GDRAM);
}

__mlu_entry__ void wrong_buffer(const float *x, float *out, int n) {
  if (taskId == 0 && !__is_mpu()) pingpong_of(x, out, n / N, 1);
}

__mlu_entry__ void without_barrier(const float *x, float *out, int n) {
  out[taskId] = x[taskId] + 1.f;
  if (taskId == 0 && !__is_mpu()) {
    float sum = 0.f;
    for (int i = 0; i < taskDim; ++i) sum += out[i];
    out[taskDim] = sum;
  }
}

__mlu_entry__ void without_lock(const float *x, float *out, int n) {
  if (__is_mpu()) return;
  for (int i = 0; i < 20; ++i) {
    volatile float *sum = out;
    *sum = *sum + 1.f;
  }
}

__mlu_entry__ void uninitialised(const float *x, float *out, int n) {
  __memcpy(a[0], x + taskId * N, N / 2 * sizeof(float), GDRAM2NRAM);
  __bang_add_scalar(a[0], a[0], 1.f, N);
  __memcpy(out + taskId * N, a[0], sizeof a[0], NRAM2GDRAM);
}

__mlu_entry__ void deadlock(const float *x, float *out, int n) {
  out[taskId] = 7.f;
  if (taskId == 2) return;
  __sync_all();
  out[taskId] = 8.f;
}

__mlu_entry__ void endless(const float *x, float *out, int n) {
  out[taskId] = 7.f;
  if (taskId == 1) {
    volatile float *never = out;
    while (*never != 99.f) {}
  }
  __sync_all_ipu();  // endless
}

__mlu_entry__ void show(const float *x, float *out, int n) {
  __memcpy(out, a[0], sizeof a[0], NRAM2GDRAM);
}
"""
RIGHT = ("serial", "pingpong", "through_sram", "locked", "flag")
#: For each broken kernel: a rule that reports it, and the part of schedules that changes its
#: result.
BROKEN = {
    "without_sync": ("race/copy-in-flight", "copies"),
    "wrong_buffer": ("race/copy-in-flight", "copies"),
    "without_barrier": ("race/between-cores", "cores"),
    "without_lock": ("race/between-cores", "cores"),
    "uninitialised": ("init/copy", "memory"),
}


@pytest.fixture(scope="module")
def module(request: pytest.FixtureRequest) -> bang.Module:
    return bang.compile(SOURCE)


@pytest.fixture(autouse=True)
def _usual() -> Any:
    yield
    sim.set_schedule()


def arguments() -> tuple[Any, ...]:
    return np.arange(1, 257, dtype=np.float32), np.zeros(256, np.float32), 256


def check(module: bang.Module, kernel: str, **options: Any) -> bang.CheckReport:
    return bang.check(module.kernel(kernel)[4, "union1"], *arguments(), **options)


def run(module: bang.Module, kernel: str, schedule: sim.Schedule) -> np.ndarray[Any, Any]:
    x, out, n = arguments()
    with sim.scheduling(*schedule):
        module.kernel(kernel)[4, "union1"](x, out, n)
    return out


# ---- What is set ---------------------------------------------------------------------------------


def test_a_schedule_is_set_and_told() -> None:
    assert sim.schedule() == sim.Schedule("late", "fixed", "pattern", 0)
    sim.set_schedule(copies="early", seed=2**64 - 1)
    with sim.scheduling(cores="random", memory="noise"):
        assert sim.schedule() == ("late", "random", "noise", 0)
    assert str(sim.schedule()) == "copies=early,cores=fixed,memory=pattern,seed=18446744073709551615"
    sim.set_schedule()
    assert sim.schedule() == sim.Schedule()


@pytest.mark.parametrize(
    ("given_", "named"),
    [
        ({"copies": "soon"}, "copies=soon"),
        ({"cores": "late"}, "cores=late"),
        ({"memory": ""}, "memory"),
        ({"memory": "nan,seed=3"}, "memory"),
        ({"copies": None}, "copies"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seed": 1.5}, "seed"),
    ],
)
def test_bad_words_are_named(given_: dict[str, Any], named: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=named) as caught:
        sim.set_schedule(**given_)
    assert "\n" not in str(caught.value)
    assert sim.schedule() == sim.Schedule()


def test_the_environment_sets_a_schedule() -> None:
    show = "import pymluops; pymluops.use('sim'); print(pymluops.sim.schedule())"
    done = run_python(show, PYMLUOPS_SIM_SCHEDULE=" copies = random, seed=12 ,")
    assert done.stdout.strip() == "copies=random,cores=fixed,memory=pattern,seed=12"
    refused = run_python(show, PYMLUOPS_SIM_SCHEDULE="copies=late,seed=x")
    assert refused.returncode != 0
    assert "PYMLUOPS_SIM_SCHEDULE" in refused.stderr
    assert "seed=x" in refused.stderr


# ---- What schedules do ---------------------------------------------------------------------------


@given(
    copies=st.sampled_from(["late", "early", "random"]),
    cores=st.sampled_from(["fixed", "random"]),
    memory=st.sampled_from(["pattern", "nan", "zero", "noise"]),
    seed=st.integers(0, 2**64 - 1),
)
@examples(60)
@pytest.mark.parametrize("kernel", RIGHT)
def test_right_kernels_do_not_notice(module: bang.Module, kernel: str, **schedule: Any) -> None:
    x, _, _ = arguments()
    expected = {
        "serial": x + 1,
        "pingpong": x + 1,
        "through_sram": np.tile(x[:64] + 1, 4),
        "locked": np.array([80.0]),
        "flag": np.array([5.0, 1.0]),
    }[kernel]
    assert np.array_equal(run(module, kernel, sim.Schedule(**schedule))[: expected.size], expected)


@given(seed=st.integers(0, 2**64 - 1))
@examples(20)
@pytest.mark.parametrize("kernel", BROKEN)
def test_a_seed_gives_the_same_run_again(module: bang.Module, kernel: str, seed: int) -> None:
    schedule = sim.Schedule("random", "random", "noise", seed)
    first, again = run(module, kernel, schedule), run(module, kernel, schedule)
    assert not _check.differing(first, again).any()


def test_copies_come_late_and_early(module: bang.Module) -> None:
    x, out, _ = arguments()
    run(module, "serial", sim.Schedule())  # leaves x + 1 in the buffer of task 0
    assert np.array_equal(run(module, "without_sync", sim.Schedule(copies="early")), x + 1)
    run(module, "serial", sim.Schedule(memory="zero"))
    with sim.scheduling(memory="zero"):
        module.kernel("without_sync")[4, "union1"](x, out, 256)
    assert np.array_equal(out, np.ones(256))


def test_random_runs_have_late_and_early_copies(module: bang.Module) -> None:
    firsts = set()
    for seed in range(40):
        with sim.scheduling("random", "fixed", "zero", seed):
            x, out, n = arguments()
            module.kernel("without_sync")[4, "union1"](x, out, n)
            firsts.add(float(out[0]))
    assert firsts == {1.0, 2.0}


def test_undefined_memory_is_filled(module: bang.Module) -> None:
    def shown(memory: str, seed: int = 0) -> np.ndarray[Any, Any]:
        return run(module, "show", sim.Schedule(memory=memory, seed=seed))[:64].view(np.uint32)

    assert (shown("nan") == 0xFFFFFFFF).all()
    assert (shown("zero") == 0).all()
    noise = [shown("noise", seed) for seed in (1, 2, 1)]
    assert np.array_equal(noise[0], noise[2])
    assert len(np.unique(noise[0])) > 32
    assert not np.array_equal(noise[0], noise[1])
    assert not np.isnan(shown("pattern").view(np.float32)).any()  # nothing of an earlier filling is left


def test_device_memory_is_filled() -> None:
    contents = {}
    for memory in ("nan", "zero", "noise"):
        with sim.scheduling(memory=memory, seed=5):
            contents[memory] = [pymluops.DeviceArray((1001,), "float32").to_host() for _ in range(2)]
    assert np.isnan(contents["nan"]).all()
    assert (np.array(contents["zero"]) == 0).all()
    first, second = contents["noise"]
    assert not np.array_equal(first, second)


# ---- bang.check ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", RIGHT)
def test_right_kernels_pass(module: bang.Module, kernel: str) -> None:
    report = check(module, kernel, rules={"race/between-cores": "off"} if kernel == "flag" else None)
    assert report.ok, report
    assert not report.findings
    assert "same results under all schedules" in str(report)


@pytest.mark.parametrize("kernel", BROKEN)
def test_broken_kernels_are_found_and_differ(module: bang.Module, kernel: str) -> None:
    rule, part = BROKEN[kernel]
    report = check(module, kernel)
    assert not report.ok
    found = next(found for found in report.findings if found.rule == rule)
    assert found.fails
    assert found.file == "<source>"
    assert 0 < found.line < len(SOURCE.splitlines())
    assert found.next_step == _advice.advice(rule)
    usual = getattr(sim.Schedule(), part)
    differing = [difference for difference in report.differences if getattr(difference.schedule, part) != usual]
    assert differing, report
    first = differing[0]
    assert first.output == "out"
    expected, got = (
        next(run for run in report.runs if run.schedule == schedule).outputs["out"]
        for schedule in (report.runs[0].schedule, first.schedule)
    )
    assert np.array_equal(expected[: first.index[0]], got[: first.index[0]], equal_nan=True)
    assert first.expected == expected[first.index]
    text = str(report)
    assert str(first.schedule) in text
    assert f"out[{first.index[0]}]" in text
    assert found.next_step in text


def test_values_differ_without_any_checker(module: bang.Module) -> None:
    for kernel in BROKEN:
        report = check(module, kernel, checks=None)
        assert not report.findings
        assert report.differences, kernel


def test_a_check_leaves_everything_as_it_was(module: bang.Module) -> None:
    x, out, n = arguments()
    on_device = pymluops.DeviceArray.from_host(out + 3)
    rules = [(rule.name, rule.action) for rule in sim.rules()]
    with sim.checking("align", {"init": "off"}), sim.scheduling(copies="early", seed=3):
        report = bang.check(module.kernel("serial")[4, "union1"], x, on_device, n)
        assert sim.checks() == ("align",)
        assert sim.schedule() == ("early", "fixed", "pattern", 3)
    assert report.ok
    assert np.array_equal(report.outputs["out"], x + 1)
    assert np.array_equal(on_device.to_host(), out + 3)
    assert np.array_equal(x, arguments()[0])
    assert rules == [(rule.name, rule.action) for rule in sim.rules()]


def test_rules_that_are_off_are_not_reported(module: bang.Module) -> None:
    report = check(module, "uninitialised", rules="init/copy=off")
    assert not report.findings
    assert report.differences
    recorded = check(module, "uninitialised", rules={"init": "record"}, schedules=[sim.Schedule()])
    assert [found.fails for found in recorded.findings] == [False]
    assert recorded.ok


def test_many_checks_find_the_same(module: bang.Module) -> None:
    sim.clear_findings()
    before = len(check(module, "uninitialised", random_runs=0).findings)
    assert before > 0
    assert check(module, "uninitialised", random_runs=0).findings[0].finding.rule == "copy"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"seed": -1}, "seed"),
        ({"random_runs": 1.5}, "random_runs"),
        ({"schedules": []}, "schedules"),
        ({"schedules": ["late"]}, "schedules"),
        ({"checks": "everything"}, "everything"),
        ({"rules": {"init": "ignore"}}, "init=ignore"),
        ({"tolerance": -1e-3}, "tolerance: expected a finite number from 0 on, got -0.001"),
        ({"tolerance": "small"}, "tolerance: expected a number, got 'small'"),
    ],
)
def test_bad_arguments_of_a_check(module: bang.Module, options: dict[str, Any], named: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=named):
        check(module, "serial", **options)
    with pytest.raises(pymluops.BadParamError, match="launch"):
        bang.check(module.kernel("serial"))  # type: ignore[arg-type]
    with pytest.raises(pymluops.BadParamError, match="arguments"):
        bang.check(module.kernel("serial")[4])


ADDING = """
__mlu_entry__ void add(const float *x, float *out) {
  __nram__ float before[1];
  if (__is_mpu()) return;
  __bang_atomic_add(before, out, x[taskId]);
}
"""


def test_a_sum_in_another_order_is_told_and_allowed() -> None:
    launch = bang.compile(ADDING).kernel("add")[16, "union4"]
    x = (np.float32(10) ** np.arange(16, dtype=np.float32) % 7 + np.float32(0.1)) * np.arange(1, 17, dtype=np.float32)
    x = np.ascontiguousarray(x / np.float32(3), np.float32)
    schedules = [sim.Schedule(), *(sim.Schedule(cores="random", seed=seed) for seed in range(6))]
    report = bang.check(launch, x, np.zeros(1, np.float32), schedules=schedules)
    assert not report.ok
    first = report.differences[0]
    assert 0 < first.error < 1e-5
    assert "next: the differences are as small as rounding" in str(report)
    largest = max(difference.error for difference in report.differences)
    advised = next(word for word in first.next_step.split() if "e-" in word).rstrip(",")
    assert first.error <= float(advised) < 3 * first.error
    for tolerance, ok in ((largest, True), (first.error / 2, False)):
        assert bang.check(launch, x, np.zeros(1, np.float32), schedules=schedules, tolerance=tolerance).ok is ok


def test_nan_is_nan() -> None:
    first = np.array([0x7FC00000, 0xFFFFFFFF, 0x7F800000, 0], np.uint32).view(np.float32)
    second = np.array([0x7FC00001, 0x7F800001, 0x7F800000, 0x80000000], np.uint32).view(np.float32)
    assert _check.differing(first, second).tolist() == [False, False, False, True]


@given(st.lists(st.integers(0, 255), min_size=8, max_size=8), st.lists(st.integers(0, 255), min_size=8, max_size=8))
@examples(30)
def test_differing_compares_bits(first: list[int], second: list[int]) -> None:
    for dtype in ("u1", "i2", "i4", "i8"):
        arrays = [np.array(values, np.uint8).view(dtype) for values in (first, second)]
        assert np.array_equal(_check.differing(*arrays), arrays[0] != arrays[1])


def test_every_rule_has_a_next_step() -> None:
    for rule in sim.rules():
        assert _advice.advice(rule.name), rule.name
    assert set(_advice._ADVICE) == {rule.name for rule in sim.rules()}


# ---- Hangs ---------------------------------------------------------------------------------------


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def test_a_deadlock_names_who_waits_where(module: bang.Module) -> None:
    x, out, n = arguments()
    with pytest.raises(pymluops.ExecutionFailedError) as caught:
        module.kernel("deadlock")[4, "union1"](x, out, n)
    line = line_of("__sync_all();")
    message = caught.value.findings[0].message
    assert f"tasks 0, 1, 3, the memory core of cluster 0 at __sync_all (<source>:{line})" in message
    assert "task 2 ended" in message
    states = sim.core_states()
    assert [state.state for state in states] == ["waiting", "waiting", "ended", "waiting", "waiting"]
    assert {state.line for state in states if state.state == "waiting"} == {line}
    assert str(states[4]) == f"cluster 0, memory core: waiting at __sync_all (<source>:{line})"
    assert not out.any()
    assert caught.value.outputs["out"][:5].tolist() == [7, 7, 7, 7, 0]
    copied = pickle.loads(pickle.dumps(caught.value))
    assert np.array_equal(copied.outputs["out"], caught.value.outputs["out"])
    assert copied.findings == caught.value.findings
    assert copied.findings[0].next_step == _advice.advice("sync/deadlock")


def test_the_time_limit_names_who_was_where(module: bang.Module) -> None:
    before = sim.time_limit()
    x, out, n = arguments()
    on_device = pymluops.DeviceArray.from_host(out)
    sim.set_time_limit(0.2)
    try:
        with pymluops.Queue() as queue:
            module.kernel("endless")[4, "union1", queue](pymluops.DeviceArray.from_host(x), on_device, n)
            with pytest.raises(pymluops.ExecutionFailedError) as caught:
                queue.sync()
    finally:
        sim.set_time_limit(before)
    message = caught.value.findings[0].message
    assert f"tasks 0, 2, 3 at __sync_all_ipu (<source>:{line_of('__sync_all_ipu();  // endless')})" in message
    assert f"task 1 at <source>:{line_of('*never != 99.f')}" in message
    assert on_device.to_host()[:4].tolist() == [7, 7, 7, 7]


def test_a_hang_in_a_check_keeps_what_was_written(module: bang.Module) -> None:
    report = check(module, "deadlock", schedules=[sim.Schedule(), sim.Schedule(cores="random", seed=1)])
    assert not report.ok
    assert len(report.failed) == 2
    for failed, start in itertools.product(report.failed, (0, 3)):
        assert failed.outputs["out"][start] == 7
        assert "deadlock" in failed.error
    assert "2 runs failed" in str(report)
