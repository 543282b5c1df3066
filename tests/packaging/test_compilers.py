"""A machine without a compiler is told what to install, in one sentence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def configured(folder: Path, **environment: str) -> str:
    """What CMake says where PATH has nothing but CMake."""
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("CMake is not installed")
    command = [cmake, "-S", str(ROOT), "-B", str(folder / "build"), "-G", "Ninja"]
    done = subprocess.run(
        command, env={"PATH": str(folder), **environment}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode != 0
    return " ".join(done.stderr.split())


def test_a_machine_without_a_compiler_is_told_what_to_install(tmp_path: Path) -> None:
    said = configured(tmp_path)
    assert (
        "pymluops: there is no C++ compiler: PATH has none of c++, g++, clang++, icpx; install one "
        "(Debian and Ubuntu: apt install g++; Fedora: dnf install gcc-c++) or name it in CXX. "
        "The extra [compiler] compiles kernels, after the installation."
    ) in said
    assert "CMAKE_CXX_COMPILER" not in said  # nor anything else that CMake would say


def test_a_missing_c_compiler_is_named(tmp_path: Path) -> None:
    (tmp_path / "g++").symlink_to("/bin/true")
    assert "pymluops: there is no C compiler: PATH has none of cc, gcc, clang, icx;" in configured(tmp_path)


def test_what_is_wrong_with_a_compiler_that_is_named_is_left_to_cmake(tmp_path: Path) -> None:
    said = configured(tmp_path, CC="/nonexistent/cc", CXX="/nonexistent/c++")
    assert "pymluops: there is no" not in said
    assert "CMake Error" in said
