"""The C++ targets: alive, and quiet about the library for a moment. ``python tests/fuzz`` runs them for longer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fuzz.__main__ import LIBRARIES, native_job
from fuzz.build import TARGETS, Build, installed_library
from support.example import CHOOSING

#: The targets are compiled first.
pytestmark = pytest.mark.thorough

HERE = Path(__file__).resolve().parent
CASES = [(name, kind) for name in TARGETS for kind in LIBRARIES[name]]


@pytest.fixture(scope="session")
def build(request: pytest.FixtureRequest, compiler: str) -> Build:
    """Compiles; what did not change since an earlier session, not again."""
    assert request.config.cache is not None
    return Build(request.config.cache.mkdir("fuzz"), compiler)


@pytest.fixture(scope="session")
def programs(build: Build) -> dict[str, Path]:
    return build.targets(list(TARGETS))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_finding_in_a_moment(programs: dict[str, Path], tmp_path: Path, name: str, kind: str) -> None:
    result = native_job(name, kind, programs[name], installed_library(kind)).run(1, 0.7, tmp_path)
    assert result.runs > 0
    assert result.findings == {}


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_past_findings_stay_mended(programs: dict[str, Path], name: str, kind: str) -> None:
    files = sorted((HERE / "corpus" / name).iterdir())
    environment = {**os.environ, **native_job(name, kind, programs[name], installed_library(kind)).environment}
    done = subprocess.run([programs[name], *files], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"runs {len(files)}" in done.stdout


@pytest.mark.parametrize(
    ("name", "kind", "broken", "message"),
    [
        ("abi_any", "cpu", "abi_any", "mluOpSetTensorDescriptorPosition changes an object and then refuses"),
        ("abi_operators", "cpu", "abi_operators", "finding: m"),
        ("abi_operators", "cpu", "abi_repetition", f"{CHOOSING.function} gives y twice differently"),
        ("abi_operators", "sim", "abi_repetition", "finding: "),
        ("cnrt", "sim", "cnrt", "finding: "),
        ("cnrt", "sim", "hang", "finding: a call does not return"),
    ],
)
def test_broken_libraries_are_found(
    build: Build, programs: dict[str, Path], tmp_path: Path, name: str, kind: str, broken: str, message: str
) -> None:
    job = native_job(name, kind, programs[name], installed_library(kind))
    environment = {**os.environ, **job.environment, "MLUOPS_FUZZ_OVERRIDE": str(build.broken(broken))}
    kept = tmp_path / "kept"
    limit = ["--limit", "1" if broken == "hang" else "30"]
    options = ["--seconds", "20", *limit, "--keep", str(kept)]
    first = subprocess.run([*job.command, *options], capture_output=True, text=True, check=False, env=environment)
    assert first.returncode != 0
    assert message in first.stderr
    # The input that was kept shows the same again.
    again = subprocess.run([*job.command, *limit, kept], capture_output=True, text=True, check=False, env=environment)
    assert again.returncode != 0
    assert message in again.stderr


def test_every_function_has_a_caller(programs: dict[str, Path]) -> None:
    """What the target for any function leaves out, another one calls by its name."""
    sources = "".join(path.read_text() for path in (HERE / "native").glob("*.cpp") if path.stem != "abi_any")
    for line in (
        (HERE / "native" / "abi_any.cpp").read_text().split("kElsewhere[] = {")[1].split("};")[0].split('"')[1::2]
    ):
        assert f'"{line}' in sources, line
