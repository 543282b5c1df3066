"""pymluops.sim: devices, checkers, the time limit, findings, counters, and the environment that sets them."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, Handle, sim
from support.comparison import assert_same_bits
from support.example import MOVING
from support.processes import python_output, run_python
from support.queues import init_checker

pytestmark = pytest.mark.usefixtures("nothing_leaks")

CHECKERS = ("memory", "init", "race", "sync", "align")
FRAMES = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)
SHIFTS = np.array([[1, -1]], np.int32)
#: Operators whose float results are sums, which the device may round or order in its own way.


@pytest.fixture(scope="module")
def handle() -> Any:
    with Handle("sim") as handle:
        yield handle


def on_device(array: np.ndarray) -> DeviceArray:
    return DeviceArray.from_host(array, "sim")


def test_known_devices() -> None:
    models = {model.name: model for model in sim.devices()}
    assert list(models) == ["MLU270", "MLU290", "MLU370-X8", "MLU590"]
    assert [model.arch for model in models.values()] == [270, 290, 372, 592]
    assert all(isinstance(model, sim.DeviceModel) for model in models.values())


@pytest.fixture
def device_as_before(nothing_leaks: None) -> Any:  # which is to see the device as it was
    before = sim.device()
    yield before
    sim.set_device(before)


@pytest.mark.usefixtures("device_as_before")
def test_a_device_is_chosen_by_name() -> None:
    for name in ("MLU270", "mlu590"):
        sim.set_device(name)
        assert sim.device().name == name.upper()
        with pymluops.use("sim"):
            moved = MOVING.run(FRAMES, SHIFTS)
        assert_same_bits(moved, MOVING.run(FRAMES, SHIFTS))


def test_a_device_is_described(device_as_before: sim.DeviceModel, tmp_path: Path) -> None:
    model = dataclasses.replace(device_as_before, name="mine", clusters=1, cores_per_cluster=2)
    sim.set_device(model)
    assert sim.device() == model
    path = tmp_path / "card.toml"
    path.write_text('name = "half a card"\nbase = "MLU370-X8"\nclusters = 2\n')
    sim.set_device(path)
    base = next(known for known in sim.devices() if known.name == "MLU370-X8")
    assert sim.device() == dataclasses.replace(base, name="half a card", clusters=2)
    whole = "".join(f"{key} = {json.dumps(value)}\n" for key, value in dataclasses.asdict(model).items())
    path.write_text(whole)
    sim.set_device(str(path))
    assert sim.device() == model


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clusters = 0", "clusters: expected 1 to 16, got 0"),
        ("clusters = 17", "clusters: expected 1 to 16, got 17"),
        ("arch = 100", "arch: expected .*got 100"),
        ('clusters = "4"', r"clusters: expected an integer .*got '4' \(str\)"),
        ("clusters = true", r"clusters: expected an integer .*got True \(bool\)"),
        ("clusters = 2.0", r"clusters: expected an integer .*got 2.0 \(float\)"),
        ("memory_mib = 9999999999", "memory_mib: expected an integer .*got 9999999999"),
        ("sram_mib = 4", "sram_mib: expected only base, name, "),
        ('base = "MLU100"', r"base: expected one of MLU270, .*got 'MLU100' \(str\)"),
        ("base = 370", "base: expected one of"),
        ('name = ""', "name: expected a text"),
        (f'name = "{"n" * 32}"', "name: expected a text"),
        ("name = 3", "name: expected a text"),
        ("clusters", "Expected '=' after a key"),
    ],
)
@pytest.mark.usefixtures("device_as_before")
def test_descriptions_that_are_refused(text: str, message: str, tmp_path: Path) -> None:
    before = sim.device()
    path = tmp_path / "card.toml"
    path.write_text(("" if text.startswith("base") else 'base = "MLU370-X8"\n') + text)
    with pytest.raises(pymluops.BadParamError, match=rf"card\.toml: .*{message}"):
        sim.set_device(path)
    assert sim.device() == before


def test_descriptions_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(pymluops.BadParamError, match=r"none\.toml: No such file"):
        sim.set_device(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(pymluops.BadParamError, match=r"binary\.toml: "):
        sim.set_device(str(binary))
    lacking = tmp_path / "lacking.toml"
    lacking.write_text("clusters = 2")
    with pytest.raises(pymluops.BadParamError, match=r"lacking\.toml: name: expected a value"):
        sim.set_device(lacking)


@pytest.mark.parametrize("device", ["MLU999", "", 370, ("MLU270",)], ids=repr)
def test_devices_that_do_not_exist_are_refused(device: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="set_device: device: expected one of MLU270"):
        sim.set_device(device)


def test_none_is_the_device_that_nobody_has_set() -> None:
    program = (
        "from pymluops import sim; sim.set_device('MLU270'); sim.set_device(None); print(sim.device().name); "
        "sim.set_device('MLU270'); print(sim.device().name)"
    )
    for card in ("MLU290", ""):
        found = python_output(program, PYMLUOPS_SIM_DEVICE=card)
        assert found.split() == [card or "MLU590", "MLU270"]


def test_the_device_does_not_change_under_its_memory() -> None:
    with DeviceArray((1,), "int8", "sim"), pytest.raises(pymluops.BadParamError, match="memory is still allocated"):
        sim.set_device("MLU590")
    with pymluops.Queue("sim"), pytest.raises(pymluops.BadParamError, match="queues"):
        sim.set_device("MLU590")


def test_checkers_are_chosen() -> None:
    before = sim.checks()
    try:
        for chosen, names in (
            ("memory,init", ("memory", "init")), ("all", CHECKERS), ("none", ()), (None, ()), ("", ()), ([], ()),
            (["sync", "race"], ("race", "sync")), (" align , memory", ("memory", "align")), (("all", "init"), CHECKERS),
        ):  # fmt: skip
            sim.set_checks(chosen)  # type: ignore[arg-type]
            assert sim.checks() == names
    finally:
        sim.set_checks(before)


def test_checkers_are_chosen_for_a_block() -> None:
    before = sim.checks()
    with sim.checking("memory"):
        assert sim.checks() == ("memory",)
        with sim.checking():
            assert sim.checks() == CHECKERS
        with pytest.raises(ZeroDivisionError), sim.checking(None):
            assert 1 / len(sim.checks())
        assert sim.checks() == ("memory",)
    assert sim.checks() == before


@pytest.mark.parametrize(
    "checks",
    ["speed", "memory,speed", "none,memory", ["memory", 3], ["memory,init"], "memory\0", "x" * 5000, "memory\nrace"],
    ids=range(8),
)
def test_checkers_that_do_not_exist_are_refused(checks: Any) -> None:
    before = sim.checks()
    with pytest.raises(pymluops.BadParamError, match="set_checks: checks: expected names out of memory, init, race"):
        sim.set_checks(checks)
    assert sim.checks() == before


def test_a_refused_checker_is_told_in_a_short_line() -> None:
    for checks in ("x" * 5000, "memory\nrace", ["x" * 5000], "\udcff"):
        with pytest.raises(pymluops.BadParamError) as caught:
            sim.set_checks(checks)
        assert len(str(caught.value)) < 300
        assert "\n" not in str(caught.value)


def test_the_time_limit_is_set() -> None:
    before = sim.time_limit()
    try:
        sim.set_time_limit(2.5)
        assert sim.time_limit() == 2.5
        for seconds in (-1, float("nan"), float("inf")):
            with pytest.raises(pymluops.BadParamError, match="seconds"):
                sim.set_time_limit(seconds)
        assert sim.time_limit() == 2.5
    finally:
        sim.set_time_limit(before)


def test_findings_are_data(handle: Handle) -> None:
    sim.clear_findings()
    assert sim.findings() == []
    with init_checker(), DeviceArray(FRAMES.shape, "float32", "sim") as unwritten:
        for number in (1, 2):
            with pytest.raises(pymluops.ExecutionFailedError) as caught:
                MOVING.run(unwritten, SHIFTS, handle=handle)
            found = sim.findings()
            assert len(found) > (number - 1)
            assert tuple(found[-len(caught.value.findings) :]) == caught.value.findings
    first = found[0]
    assert isinstance(first, sim.Finding)
    assert first.checker == "init"
    assert first.kernel in sim.report()
    assert first.message in sim.report()
    place = f"{first.file}:{first.line}"
    assert str(first).startswith(f"init/{first.rule}: {place}: {first.message} ({first.kernel}, task ")
    memory_core = dataclasses.replace(first, cluster=1, core=0x80)
    assert str(memory_core).endswith(f"task {first.task}, cluster 1, memory core)")
    with init_checker(), DeviceArray(FRAMES.shape, "float32", "sim") as unwritten:
        sim.clear_findings()
        assert sim.findings() == []
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            MOVING.run(unwritten, SHIFTS, handle=handle)
        assert tuple(sim.findings()) == caught.value.findings
    sim.clear_findings()


def test_what_the_host_does_wrong_is_found_too() -> None:
    backend = pymluops.load("sim")
    with sim.checking("memory"), DeviceArray((4,), "float32", "sim") as array:
        start = len(sim.findings())
        target, host = backend.ffi.cast("void *", array.address), backend.ffi.new("char[64]")
        assert backend.lib.cnrtMemcpy(target, host, 64, backend.lib.cnrtMemcpyHostToDev) != 0
        (finding,) = sim.findings()[start:]
        assert (finding.checker, finding.kernel) == ("memory", "")
        assert finding.rule in str(finding)


def test_launches_are_counted(handle: Handle) -> None:
    before = sim.counters()
    MOVING.run(FRAMES, SHIFTS, handle=handle)
    after = sim.counters()
    assert after.launches > before.launches
    assert after.tasks > before.tasks
    assert after.failed_launches == before.failed_launches


PRINT_STATE = "import pymluops; pymluops.load('sim'); from pymluops import sim; print(sim.device().name, sim.checks())"


def test_the_environment_sets_device_and_checkers(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text('name = "from a file"\nbase = "MLU270"')
    clean = {"PYMLUOPS_SIM_DEVICE": "", "PYMLUOPS_SIM_CHECK": ""}
    assert python_output(PRINT_STATE, **clean).startswith("MLU590")
    found = python_output(PRINT_STATE, **clean | {"PYMLUOPS_SIM_DEVICE": "MLU290", "PYMLUOPS_SIM_CHECK": "init,race"})
    assert found == "MLU290 ('init', 'race')"
    found = python_output(PRINT_STATE, **clean | {"PYMLUOPS_SIM_DEVICE": str(path), "PYMLUOPS_SIM_CHECK": "all"})
    assert found == f"from a file {CHECKERS}"
    assert python_output(PRINT_STATE, **clean | {"PYMLUOPS_SIM_CHECK": "none"}).endswith("()")


@pytest.mark.parametrize(("variable", "value"), [("PYMLUOPS_SIM_DEVICE", "MLU999"), ("PYMLUOPS_SIM_CHECK", "speed")])
def test_an_environment_that_cannot_be_followed_is_told(variable: str, value: str) -> None:
    code = "import pymluops; print(pymluops.backends()['sim'].reason); pymluops.load('sim')"
    done = run_python(code, **{variable: value})
    assert done.returncode != 0
    assert done.stdout.startswith(f"{variable} is {value}: ")
    assert f"NotInitializedError: {variable} is {value}: " in done.stderr.splitlines()[-1]


@pytest.mark.sampled("variable", "value")
@pytest.mark.parametrize("variable", ["PYMLUOPS_SIM_DEVICE", "PYMLUOPS_SIM_CHECK"])
@pytest.mark.parametrize(
    "value", ["x" * 5000, "/" + "x" * 5000, "a\nb/c.toml", "\udcff/", "none,none"], ids=lambda value: ascii(value)[:12]
)
def test_an_environment_that_makes_no_sense_is_told_in_a_line(variable: str, value: str) -> None:
    code = "import pymluops\ntry: pymluops.load('sim')\nexcept pymluops.NotInitializedError as error: print(error)"
    done = run_python(code, **{variable: value})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{variable} is ")
    assert done.stdout.count("\n") == 1
    assert len(done.stdout) < 600


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/proc", "pipe.toml", "large.toml"])
def test_what_is_no_small_regular_file_is_not_read(path: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (1 << 20) + b"\n")
    code = (
        "import sys, pymluops\ntry: pymluops.sim.set_device(sys.argv[1])\n"
        "except pymluops.BadParamError as error: print(error)"
    )
    path = path if path.startswith("/") else os.fspath(tmp_path / path)
    told = python_output(code, path)
    assert told.endswith(("expected a regular file, got something else", "expected at most 1048576 bytes, got more"))


@pytest.mark.parametrize(
    "text",
    [
        "base = [1]",
        "base = {a = 1}",
        "x = " + "[" * 5000,
        'base = "MLU590"\nclusters = 0x' + "f" * 9000,
        "a" * 9000 + " = 1",
    ],
    ids=["list", "table", "deep", "huge", "long key"],
)
def test_a_file_that_makes_no_sense_is_told_in_a_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text(text)
    with pytest.raises(pymluops.BadParamError) as caught:
        sim.set_device(path)
    assert "device.toml: " in str(caught.value)
    assert len(str(caught.value)) < 600


def test_the_module_is_there_without_an_import() -> None:
    code = "import sys, pymluops; print('pymluops.sim' in sys.modules); print(pymluops.sim.__name__)"
    assert python_output(code).split() == ["False", "pymluops.sim"]


def test_libraries_in_one_process_share_the_machine(tmp_path: Path) -> None:
    """A library that lies elsewhere finds the machine of the package."""
    path = tmp_path / "libanother.so"
    path.write_bytes(Path(pymluops.load("sim").path).read_bytes())
    code = (
        "import sys, pymluops; sim = pymluops.sim\n"
        "with pymluops.use(sys.argv[1]): sim.set_device('MLU590'); print(sim.device().name)\n"
        "print(sim.device().name)"
    )
    assert python_output(code, os.fspath(path), PYMLUOPS_SIM_DEVICE="").split() == ["MLU590", "MLU590"]
