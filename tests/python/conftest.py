"""Fixtures for the tests of Python objects."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.schemas import Library

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    made = tmp_path_factory.mktemp("schema") / "libschema.so"
    source, headers = Path(__file__).with_name("schema_library.cpp"), ROOT / "native/include"
    subprocess.run(
        [compiler, "-std=c++17", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{headers}", str(source), "-o", str(made)],
        check=True,
    )
    library = Library(made)
    yield library
    library.handle.close()
