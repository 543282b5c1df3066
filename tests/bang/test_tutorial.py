"""The commands of docs/tutorial.md print what the page shows, and the page shows the files as they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
FOLDER = ROOT / "examples" / "tutorial"

#: A command, and what it prints.
SESSION = re.compile(r"^```sh\n(?P<command>.*?)```\n\n```text\n(?P<output>.*?)```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```cpp (?P<file>\S+)\n(?P<text>.*?)```$", re.MULTILINE | re.DOTALL)


class Session(NamedTuple):
    command: str
    output: str


SESSIONS = [Session(match["command"], match["output"]) for match in SESSION.finditer(PAGE)]


def plain(text: str) -> str:
    """The text without addresses, which differ from run to run."""
    return re.sub(r"0x[0-9a-f]{6,}", "0xADDRESS", text).strip()


def run(command: str, folder: Path) -> str:
    scripts = sysconfig.get_path("scripts")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYMLUOPS_SIM")}
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    words = ["bash", "-c", command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


def test_the_page_shows_the_files() -> None:
    shown = {match["file"]: match["text"] for match in SHOWN.finditer(PAGE)}
    assert shown
    for file, text in shown.items():
        assert text == (FOLDER / file).read_text(encoding="utf-8")
    commands = " ".join(session.command for session in SESSIONS)
    for path in FOLDER.iterdir():
        assert path.name in commands


@pytest.mark.thorough
@pytest.mark.parametrize("session", SESSIONS, ids=[str(number) for number in range(len(SESSIONS))])
def test_a_command_prints_what_the_page_shows(session: Session, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "tutorial"))
    assert plain(run(session.command, folder)) == plain(session.output)


@pytest.mark.thorough
def test_the_pipeline_is_estimated_to_be_faster() -> None:
    times = [float(match) for match in re.findall(r"^ *estimated time.*?([\d.]+) us", PAGE, re.MULTILINE)]
    assert len(times) == 2
    assert times[1] < 0.8 * times[0]
