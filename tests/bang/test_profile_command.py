"""``pymluops kernel profile``: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pymluops.cli import main

SOURCE = str(Path(__file__).with_name("profiled.mlu"))
SERIAL = ("--entry", "serial", "--dim", "16", "--type", "union1", "--arch", "MLU370-X8")
ARRAYS = ("--arg", "out=f32[65536]", "--arg", "x=f32[65536]=4", "--arg", "tiles=16")


def profile(*arguments: str) -> int:
    return main(["kernel", "profile", SOURCE, *arguments])


def test_a_table_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert profile(*SERIAL, *ARRAYS) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for words in ("serial  (16 x 1 x 1 tasks, union1, MLU370-X8)", "estimated time", "NRAM2GDRAM", "profiled.mlu:"):
        assert words in out


def test_files_hold_the_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, trace, numbers, out = (tmp_path / name for name in ("a.html", "a.trace", "a.json", "out.npy"))
    files = ("--html", str(page), "--trace", str(trace), "--json", str(numbers), "--save", f"out={out}")
    assert profile(*SERIAL, *ARRAYS, *files) == 0
    assert capsys.readouterr().out == ""
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    (launch,) = json.loads(numbers.read_text(encoding="utf-8"))["launches"]
    assert launch["directions"]["GDRAM2NRAM"]["bytes"] == 65536 * 4
    assert np.array_equal(np.load(out), np.full(65536, 2, np.float32))


def estimate(capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    assert profile(*SERIAL, *ARRAYS, "--json", "-", *more) == 0
    return json.loads(capsys.readouterr().out)["launches"][0]["estimate"]


def test_figures_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    usual, slow = estimate(capsys), estimate(capsys, "--figure", "off_chip_latency_ns=90000")
    assert slow["ns"] > usual["ns"] + 80000
    assert slow["sources"]["off_chip_latency_ns"] == "given"


def test_instructions_can_be_limited(capsys: pytest.CaptureFixture[str]) -> None:
    assert estimate(capsys, "--most-events", "5")["modelled_share"] < 0.2


def test_what_fits_on_no_other_card_is_said_before_the_launch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "large.mlu"
    source.write_text("__nram__ char buffer[600 << 10];\n__mlu_entry__ void touch() { buffer[0] = 1; }\n")
    assert main(["kernel", "profile", str(source), "--arch", "372"]) == 0
    err = capsys.readouterr().err
    assert "does not fit on MLU290, as compiled for 372: NRAM of 524288 bytes, 614400 are declared" in err
    assert "MLU370" not in err


def test_a_kernel_that_fails_gives_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert profile("--entry", "scalars", "--arch", "372", "--arg", "x=null", "--arg", "count=1") == 1
    out, err = capsys.readouterr()
    assert "scalars  (1 x 1 x 1 task, block, MLU370-X8)  FAILED" in out
    assert "null" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--figure", "clock_mhz"), "--figure: expected NAME=VALUE, got clock_mhz"),
        (("--figure", "clock_mhz=fast"), "--figure: expected NAME=VALUE, got clock_mhz=fast"),
        (("--figure", "speed=1"), "figures: expected names out of clock_mhz"),
        (("--most-events", "-1"), "--most-events: expected an integer from 0"),
        (("--html", "/no/such/folder/a.html"), "--html: /no/such/folder/a.html: No such file or directory"),
    ],
)
def test_bad_options_give_code_2(options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert profile(*SERIAL, *ARRAYS, *options) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1
