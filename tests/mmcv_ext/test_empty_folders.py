"""Folders without code that have the names of mmcv, or of its extension, where a program looks for these first."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes import python_output

from .stand_in import make

pytest.importorskip("torch")

#: Only the folder is there: an installed mmcv would be found in its place.
ONLY = """
import sys
sys.path.insert(0, FOLDER)
import importlib.util, torch, pymluops, pymluops.mmcv
found = importlib.util.find_spec
sys.path[:] = [FOLDER]
"""


def test_an_empty_folder_is_no_mmcv(tmp_path: Path) -> None:
    (tmp_path / "mmcv").mkdir()
    code = """
try:
    pymluops.mmcv.install()
except ModuleNotFoundError as error:
    print(error, error.name)
print("mmcv" in pymluops.install(), len([one for one in sys.meta_path if "mmcv" in type(one).__module__]))
"""
    lines = python_output(f"FOLDER = {str(tmp_path)!r}\n{ONLY}{code}").splitlines()
    text = f"pymluops.mmcv: {tmp_path / 'mmcv'}, a folder without __init__.py, is found as mmcv: remove it"
    assert lines == [f"{text}, and pip install mmcv-lite mmcv", "False 0"]


def test_a_folder_with_the_name_of_the_extension_is_told(tmp_path: Path) -> None:
    make(tmp_path)
    folder = tmp_path / "mmcv" / "_ext"
    folder.mkdir()
    code = f"""
import sys, warnings
sys.path.insert(0, {str(tmp_path)!r})
import pymluops.mmcv
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(pymluops.mmcv.install(), caught[0].filename)
    print(caught[0].message)
    print(pymluops.mmcv.install(force=True), len(caught))
import mmcv.ops
print(mmcv.ops.info.ext_module.get_compiling_cuda_version())
"""
    lines = python_output(code).splitlines()
    assert lines[0] == "False <string>" and lines[2:] == ["True 1", "not available"]
    assert lines[1] == (
        f"install: 'mmcv' is not provided, since {folder} has the name mmcv._ext, a folder without code; "
        "remove that, or call install(force=True)"
    )
