"""The rules of findings as Python and the environment set them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import sim
from support.example import MOVING
from support.processes import python_output, run_python

NATIVE = Path(__file__).resolve().parents[2] / "native" / "sim"


@pytest.fixture(autouse=True)
def _usual() -> object:
    with pymluops.use("sim"):
        before = {rule.name: rule.action for rule in sim.rules()}
        sim.set_rules(None)
        yield
        sim.set_rules(before)


def actions() -> dict[str, str]:
    return {rule.name: rule.action for rule in sim.rules()}


def test_usual_actions_follow_severities() -> None:
    for rule in sim.rules():
        assert rule.severity in {"error", "warning", "remark"}
        usual = {"error": {"fail"}, "warning": {"record"}, "remark": {"off", "record"}}
        assert rule.action in usual[rule.severity], rule
        assert rule.meaning
    assert len(actions()) == len(sim.rules())


def test_later_words_win_and_others_are_usual() -> None:
    usual = actions()
    sim.set_rules({"race": "record", "race/between-jobs": "off"})
    changed = actions()
    assert changed["race/between-jobs"] == "off"
    assert changed["race/between-cores"] == "record"
    assert {name: action for name, action in changed.items() if not name.startswith("race/")} == {
        name: action for name, action in usual.items() if not name.startswith("race/")
    }
    sim.set_rules("init = record, init/copy=fail")
    changed = actions()
    assert (changed["init/copy"], changed["init/atomic"]) == ("fail", "record")
    assert changed["race/between-cores"] == usual["race/between-cores"]
    sim.set_rules(None)
    assert actions() == usual


def test_rules_of_the_machine_always_fail() -> None:
    sim.set_rules({"all": "off"})
    assert {name for name, action in actions().items() if action != "off"} == {
        name for name in actions() if name.startswith("machine/") or name == "sync/deadlock"
    }


@pytest.mark.parametrize(
    "rules",
    ["race", "race=loud", "speed=off", "race/speed=off", "=off", {"race": "loud"}, {"race,init": "off"}, {"": "off"},
     {"race": None}, {3: "off"}, "race=off\0", "x" * 9000],
)  # fmt: skip
def test_what_is_no_rule_is_refused_and_changes_nothing(rules: object) -> None:
    before = actions()
    with pytest.raises(pymluops.BadParamError, match="set_rules: rules: expected ") as caught:
        sim.set_rules(rules)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert actions() == before


def test_a_block_gives_rules_back() -> None:
    sim.set_rules("race=record")
    before = actions()
    with sim.checking("none", {"all": "off"}):
        assert actions()["init/copy"] == "off"
    assert actions() == before
    with pytest.raises(pymluops.BadParamError), sim.checking("speed", {"all": "off"}):
        pass
    assert actions() == before


def test_recorded_findings_do_not_raise() -> None:
    shifts = np.array([[-1, 0, 0, 2]], np.int32)
    sim.clear_findings()
    with pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle:
        with sim.checking("init", {"init": "record"}):
            frames = pymluops.DeviceArray((1, 8, 16, 49), "float32")  # never written
            MOVING.run(frames, pymluops.DeviceArray.from_host(shifts), handle=handle)
            queue.sync()
            recorded = sim.findings()
            assert {(finding.checker, finding.rule, finding.launch_failed) for finding in recorded} == {
                ("init", "copy", 0)
            }
        with sim.checking("init"):
            MOVING.run(frames, pymluops.DeviceArray.from_host(shifts), handle=handle)
            with pytest.raises(pymluops.ExecutionFailedError) as caught:
                queue.sync()
    assert [finding.launch_failed for finding in caught.value.findings] == [1] * len(caught.value.findings)
    assert len(caught.value.findings) == len(recorded)
    sim.clear_findings()


def test_the_environment_sets_rules() -> None:
    code = (
        "import pymluops; pymluops.load('sim'); "
        "print({rule.name: rule.action for rule in pymluops.sim.rules()}['race/between-cores'])"
    )
    assert python_output(code, PYMLUOPS_SIM_RULES="") == "fail"
    assert python_output(code, PYMLUOPS_SIM_RULES="race=record") == "record"
    done = run_python(code, PYMLUOPS_SIM_RULES="race=loud")
    assert done.returncode != 0
    assert "PYMLUOPS_SIM_RULES is race=loud: " in done.stderr.splitlines()[-1]


def test_the_library_reads_the_environment_without_python() -> None:
    code = (
        "import ctypes, sys, pymluops; path = pymluops.backends()['sim'].path; import os; "
        "os.environ['PYMLUOPS_SIM_RULES'] = 'race=loud'; library = ctypes.CDLL(path); "
        "rule = ctypes.create_string_buffer(512); library.mlusimGetRule(0, rule)"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert "mlusim: PYMLUOPS_SIM_RULES: expected rules" in done.stderr
    assert "got 'race=loud'" in done.stderr


def test_every_rule_of_the_sources_is_in_the_table() -> None:
    known = {rule.name for rule in sim.rules()}
    found = set()
    for source in NATIVE.rglob("*.cpp"):
        found |= {
            f"{checker}/{rule}"
            for checker, rule in re.findall(
                r'FindingText text = \{"(\w+)", "([\w-]+)"', source.read_text(encoding="utf-8")
            )
        }
    assert found
    assert found <= known


def test_the_documentation_lists_the_rules() -> None:
    text = (NATIVE.parents[1] / "docs" / "simulator-rules.md").read_text(encoding="utf-8")
    rows = [
        tuple(cell.strip() for cell in line.strip("|\n ").split(" | ")) for line in text.splitlines() if "` | " in line
    ]
    expected = [(f"`{rule.name}`", rule.severity, rule.action, rule.meaning) for rule in sim.rules()]
    assert rows == expected
