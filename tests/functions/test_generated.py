"""The checked-in description and stubs are what the header gives."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "--enums": "pymluops/enums.py",
    "--signatures": "pymluops/functions/_signatures.py",
    "--stubs": "pymluops/functions/__init__.pyi",
}


@pytest.mark.parametrize("option", FILES)
def test_it_is_current(option: str, tmp_path: Path) -> None:
    written = tmp_path / "written"
    command = [sys.executable, "native/abi/generate.py", "--header", "native/include/mlu_op.h", option, str(written)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    assert written.read_text(encoding="utf-8") == (ROOT / FILES[option]).read_text(encoding="utf-8")


def test_stubs_have_the_parameters_of_the_callables() -> None:
    from pymluops.functions._signature import SIGNATURES

    tree = ast.parse((ROOT / FILES["--stubs"]).read_text(encoding="utf-8"))
    stubs = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert list(stubs) == list(SIGNATURES)
    for name, arguments in stubs.items():
        assert [argument.arg for argument in arguments.args] == [a.name for a in SIGNATURES[name].given]
        assert [argument.arg for argument in arguments.kwonlyargs] == list(SIGNATURES[name].keywords)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("const int n[]", "const int strange[]", "the length of this array is not known"),
        ("const mluOpLogBase_t base", "const mluOpIndicesType_t base", "the role of a mluOpIndicesType_t is not known"),
    ],
)
def test_a_parameter_without_a_role_is_an_error(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = (ROOT / "native/include/mlu_op.h").read_text(encoding="utf-8")
    assert old in text
    header = tmp_path / "mlu_op.h"
    header.write_text(text.replace(old, new), encoding="utf-8")
    command = [sys.executable, "native/abi/generate.py", "--header", str(header), "--signatures", str(tmp_path / "x")]
    done = subprocess.run(command, cwd=ROOT, check=False, timeout=120, capture_output=True, text=True)
    assert done.returncode != 0
    assert message in done.stderr
