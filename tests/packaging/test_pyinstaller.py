"""Programs that PyInstaller packs: the hooks name all that it does not see itself."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import pymluops

ROOT = Path(__file__).parents[2]
#: Parts that need packages which the package itself does not need.
OPTIONAL = ("torch", "mmcv", "dropins", "demo", "bang.testing", "bang.coverage")


def hook_folder() -> Path:
    (entry,) = [one for one in entry_points(group="pyinstaller40") if one.value.startswith("pymluops")]
    assert entry.name == "hook-dirs"
    (folder,) = entry.load()()
    return Path(folder)


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    return runpy.run_path(str(hook_folder() / "hook-pymluops.py"))


def test_the_hook_names_what_the_compiled_module_imports(hook: dict[str, Any]) -> None:
    source = (ROOT / "pymluops" / "_core" / "_core.pyx").read_text(encoding="utf-8")
    lists = re.findall(r"^from pymluops import (.+)$", source, re.MULTILINE)
    names = {f"pymluops.{name}" for line in lists for name in line.partition("#")[0].replace(" ", "").split(",")}
    assert "pymluops._hints" in names
    assert names | {"pymluops._core", "pymluops._abi"} <= set(hook["hiddenimports"])


def test_the_hook_names_all_modules_but_the_optional_parts(hook: dict[str, Any]) -> None:
    folder = ROOT / "pymluops"
    wanted = set[str]()
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name and not any(name == part or name.startswith(f"{part}.") for part in (*OPTIONAL, "_pyinstaller")):
            wanted.add(f"pymluops.{name}")
    assert wanted <= set(hook["hiddenimports"])
    assert {f"pymluops.{part}" for part in OPTIONAL} <= set(hook["excludedimports"])
    assert not any(name.startswith(f"pymluops.{part}") for part in OPTIONAL for name in hook["hiddenimports"])


def test_the_optional_parts_with_families_have_hooks() -> None:
    names = {path.stem.removeprefix("hook-pymluops").lstrip(".") for path in hook_folder().glob("hook-*.py")}
    assert names == {"", "torch", "mmcv", "dropins"}
    for path in hook_folder().glob("hook-*.py"):
        part = path.stem.removeprefix("hook-pymluops").lstrip(".")
        found = runpy.run_path(str(path))["hiddenimports"]
        assert len(found) > 5
        assert all(name == f"pymluops.{part}" or name.startswith(f"pymluops.{part}") for name in found)


def test_the_hook_names_the_libraries_and_the_files_that_are_read(hook: dict[str, Any]) -> None:
    libraries = {Path(source).name for source, _ in hook["binaries"]}
    assert {"libmluops_cpu.so", "libmluops_sim.so", "libmlusim.so", "libmlusim_cnnl.so"} <= libraries
    assert {folder for _, folder in hook["binaries"]} == {"pymluops"}
    files = {f"{folder}/{Path(source).name}" for source, folder in hook["datas"]}
    read = {"pymluops/sim/cards.toml", "pymluops/sim/intrinsics.json", "pymluops/_sim/include/mlu_op.h"}
    assert read <= files
    assert not any("_share" in name for name in files)
    assert all(Path(source).is_file() for source, _ in (*hook["binaries"], *hook["datas"]))


PROGRAM = """
import numpy as np
import pymluops

x, shifts = np.ones((1, 2, 4, 3), np.float32), np.zeros((1, 2), np.int32)
print(pymluops.tin_shift_forward(x, shifts).sum())
with pymluops.use("sim"):
    print(pymluops.tin_shift_forward(x, shifts).sum())
try:
    pymluops.tin_shift_forward([1.0], shifts)
except TypeError as error:
    print("numpy.asarray" in str(error))
print(pymluops.__version__, pymluops.functions.mluOpGetLibVersion())
"""


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["--onedir", "--onefile"])
def test_a_packed_program_runs(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("PyInstaller")
    if len(pymluops.__path__) > 1:
        pytest.skip("PyInstaller does not find the compiled modules of an editable installation")
    (tmp_path / "app.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "PyInstaller", kind, "--log-level", "ERROR", "--specpath", "."]
    command += ["--distpath", "dist", "--workpath", "work", "app.py"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    program = tmp_path / "dist" / ("app/app" if kind == "--onedir" else "app")
    done = subprocess.run([program], cwd="/", check=False, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["24.0", "24.0", "True", f"{pymluops.__version__} (1, 11, 1)"], done.stderr
