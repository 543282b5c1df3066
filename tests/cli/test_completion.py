"""The completion of shells knows the words of the parser."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pymluops.cli import build_parser

COMPLETE = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_pymluops
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def bash_script(program, tmp_path: Path) -> Path:
    answer = program("completion", "bash")
    assert answer.code == 0
    path = tmp_path / "completion.bash"
    path.write_text(answer.out)
    return path


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pymluops ke", ["kernel"]),
        ("pymluops in", ["info"]),
        ("pymluops demo --sc", ["--scan"]),
        ("pymluops demo --view t", ["top"]),
        ("pymluops demo --scan x --view t", ["top"]),
        ("pymluops demo --scan t", [""]),
        ("pymluops kernel ch", ["check"]),
        ("pymluops kernel check --form", ["--format"]),
        ("pymluops kernel check --format sa", ["sarif"]),
        ("pymluops kernel judge --ju", ["--junit"]),
        ("pymluops case to", ["to-pytest"]),
        ("pymluops cache c", ["clear"]),
        ("pymluops completion z", ["zsh"]),
        ("pymluops --vers", ["--version"]),
    ],
)
def test_bash_completes(bash_script: Path, words: str, found: list[str]) -> None:
    code = COMPLETE.format(script=bash_script, words=words)
    done = subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == found
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_have_all_subcommands(program, shell: str) -> None:
    answer = program("completion", shell)
    assert answer.code == 0
    (subparsers,) = (action for action in build_parser()._actions if action.dest == "command")
    assert subparsers.choices is not None
    for name in (*subparsers.choices, "to-pytest", "judge", "sarif"):
        assert name in answer.out
    assert all(option in answer.out for option in (("--scan",) if shell == "zsh" else ("-l scan",)))


def test_another_shell_is_refused(program) -> None:
    program("completion", "bsh").refused("invalid choice: 'bsh'")
    program("completion", "bsh").refused("; did you mean bash? (see pymluops completion --help)")
