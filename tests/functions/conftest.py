"""Libraries compiled from other.cpp: one for the CPU, one for the simulated device, and one that lacks nearly all."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

import pymluops

SOURCE = Path(__file__).with_name("other.cpp")
#: A library with handles and nothing else.
LEAN = """
#include "mlu_op.h"
extern "C" mluOpStatus_t mluOpCreate(mluOpHandle_t *handle) {
  static int something;
  *handle = reinterpret_cast<mluOpHandle_t>(&something);
  return MLUOP_STATUS_SUCCESS;
}
extern "C" mluOpStatus_t mluOpDestroy(mluOpHandle_t) { return MLUOP_STATUS_SUCCESS; }
"""


def build(compiler: str, folder: Path, name: str, text: str, behind: str | None) -> Path:
    """Compile a library, or find it from an earlier session."""
    package = Path(pymluops.load("sim").path).parent
    library = None if behind is None else (package / f"libmluops_{behind}.so").resolve()
    include = package / "_sim" / "include"
    state = hashlib.sha256(f"{text} {library}".encode())
    for header in sorted(include.glob("*.h")):
        state.update(header.read_bytes())
    target = folder / f"lib{name}-{state.hexdigest()[:16]}.so"
    if not target.is_file():
        source = target.with_suffix(".cpp")
        source.write_text(text, encoding="utf-8")
        options = ["-std=c++17", "-O1", "-fPIC", "-shared", f"-I{include}", "-o", str(target)]
        options += ["-DON_DEVICE"] if behind == "sim" else []
        linked = [] if library is None else [str(library), f"-Wl,-rpath,{library.parent}", "-Wl,--no-as-needed"]
        subprocess.run([compiler, *options, str(source), *linked, "-ldl"], check=True, timeout=300)
    return target


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest) -> Path:
    assert request.config.cache is not None
    return request.config.cache.mkdir("functions")


@pytest.fixture(scope="session", params=["cpu", "sim"])
def other(request: pytest.FixtureRequest, compiler: str, folder: Path) -> pymluops.Backend:
    """The library compiled from other.cpp, in host memory and on the device."""
    return pymluops.load(
        build(compiler, folder, f"other_{request.param}", SOURCE.read_text(encoding="utf-8"), request.param)
    )


@pytest.fixture(scope="session")
def on_device(compiler: str, folder: Path) -> pymluops.Backend:
    """The one for the simulated device."""
    return pymluops.load(build(compiler, folder, "other_sim", SOURCE.read_text(encoding="utf-8"), "sim"))


@pytest.fixture(scope="session")
def lean(compiler: str, folder: Path) -> pymluops.Backend:
    """A library that has handles and nothing else."""
    return pymluops.load(build(compiler, folder, "lean", LEAN, None))
