"""The commands of docs/cases.md print what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
SESSION = re.compile(r"^```sh\n(?P<command>[^`]*)```\n\n```text\n(?P<output>.*?)```$", re.MULTILINE | re.DOTALL)
SESSIONS = [(match["command"], match["output"]) for match in SESSION.finditer(PAGE)]


def plain(text: str) -> str:
    """The text without addresses, times, shares, folders and the widths of columns."""
    text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
    text = re.sub(r"\S*/(?=libpsamask\.so)", "", text)
    text = re.sub(r"[\d.]+ (us|ms|s)\b", "TIME", text)
    text = re.sub(r"[\d.]+%", "SHARE", text)
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def test_the_page_finds_the_fault_in_five_commands() -> None:
    after_show = [line for command, _ in SESSIONS[1:4] for line in command.splitlines()]
    assert len(after_show) - 1 == 5  # one of them plants the fault


@pytest.mark.thorough
@pytest.mark.compiler
def test_a_fault_is_found_from_a_dumped_case(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "cases" / "psamask_forward.prototxt", tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYMLUOPS_SIM")}
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    environment["SOURCES"] = str(ROOT)
    for command, output in SESSIONS:
        words = ["bash", "-c", command]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert plain(done.stdout) == plain(output)
