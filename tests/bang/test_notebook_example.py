"""The notebook of the examples runs from its first cell to its last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "workbench.ipynb"

PROGRAM = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
for cell in json.load(sys.stdin)["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
"""


@pytest.mark.thorough
def test_the_notebook_runs(compiler: str) -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYMLUOPS_BACKEND": ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=text, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "largest error: " in done.stdout
    assert "line 4: race/copy-in-flight: __bang_add reads memory" in done.stdout
    assert not any(cell.get("outputs") for cell in json.loads(text)["cells"])  # a diff shows code only
