"""A package that cannot be imported from where it lies says why: an archive, another Python, a part of it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "pymluops"


def message(folder: Path) -> str:
    """The last line of an import with a path in front of all others and no packages installed."""
    command = [sys.executable, "-S", "-c", "import pymluops"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def copy(folder: Path) -> Path:
    target = folder / "pymluops"
    target.mkdir()
    for name in ("__init__.py", "_location.py"):
        (target / name).write_text((PACKAGE / name).read_text(encoding="utf-8"))
    return target


def test_an_archive(tmp_path: Path) -> None:
    copy(tmp_path)
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted((tmp_path / "pymluops").iterdir()):
            file.write(path, f"pymluops/{path.name}")
    assert message(archive) == (
        f"ImportError: pymluops cannot be imported from the archive {archive}: its compiled module and its libraries "
        "have to be files; install the wheel with pip, or unpack the archive"
    )


def test_another_python(tmp_path: Path) -> None:
    (copy(tmp_path) / "_core.cpython-39-x86_64-linux-gnu.so").touch()
    assert message(tmp_path) == (
        f"ImportError: pymluops in {tmp_path} was built for another Python (_core.cpython-39-x86_64-linux-gnu.so): "
        f"install it with {sys.executable} -m pip"
    )


def test_a_part_of_the_package(tmp_path: Path) -> None:
    copy(tmp_path)
    assert message(tmp_path) == (
        f"ImportError: pymluops in {tmp_path} lacks its compiled module: install it again with pip"
    )


def test_a_clone(tmp_path: Path) -> None:
    copy(tmp_path)
    (tmp_path / "CMakeLists.txt").touch()
    assert message(tmp_path) == (
        "ImportError: pymluops is not built: run 'python3 -m pip install .' in the root of the clone"
    )
