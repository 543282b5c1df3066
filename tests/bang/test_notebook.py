"""The cell magic of `pymluops.bang`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from pymluops import bang
from pymluops.errors import BadParamError

CELL = "__mlu_entry__ void fill(float *out) {\n  out[taskId] = VALUE;\n}"


@pytest.fixture(scope="module")
def shell() -> Any:
    settings = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(config=settings)
    shell.run_line_magic("load_ext", "pymluops.bang.notebook")
    return shell


def test_a_cell_becomes_a_module(shell: Any) -> None:
    shown = shell.run_cell_magic("bang", "filling --arch MLU370-X8 -D VALUE=3.5f", CELL)
    module = shell.user_ns["filling"]
    assert shown is module
    assert module.arch == 372
    out = np.zeros(4, np.float32)
    module.kernel("fill")[4](out)
    assert out.tolist() == [3.5] * 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "the following arguments are required: name"),
        ("3x", "name: expected the name of a variable, got '3x'"),
        ("x --card 3", "unrecognized arguments"),
        ("x 'open", "No closing quotation"),
        ("x --arch 999", "arch: expected one of"),
    ],
)
def test_a_line_that_does_not_fit_is_refused(shell: Any, line: str, message: str) -> None:
    with pytest.raises(BadParamError, match=message):
        shell.run_cell_magic("bang", line, CELL)


def test_errors_name_the_line_of_the_cell(shell: Any) -> None:
    with pytest.raises(bang.CompileError, match=r"<source>:2:\d+: error: .*VALUE"):
        shell.run_cell_magic("bang", "x", CELL)
