"""Compiled kernels come from the cache or are compiled again, whatever happens to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang
from pymluops._cache import notices, scratch, store
from pymluops.bang import _build, _loaded
from pymluops.bang._build import Build, Input
from pymluops.bang._compilers import find_compiler
from pymluops.sim.toolchain import Simulator

SOURCE = "__mlu_entry__ void set(float *x) { if (taskId == 0) x[0] = NUMBER; }\n"
PROGRAM = f"""
import numpy as np, pymluops
from pymluops import bang
with pymluops.use("sim"):
    x = np.zeros(1, np.float32)
    bang.compile({SOURCE!r}, defines={{"NUMBER": 5}}).kernel("set")[1](x)
print(x[0])
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(notices, "_said", set[str]())
    monkeypatch.setattr(store, "_swept", set[Path]())
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the module of `SOURCE`."""
    folder = tmp_path_factory.mktemp("kernels") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYMLUOPS_CACHE_DIR", str(folder))
        assert run_kernel() == 5
    return folder


@pytest.fixture
def as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded yet."""
    monkeypatch.setattr(_loaded._state, "paths", {})


def run_kernel(number: int = 5) -> float:
    """Compile `SOURCE` and launch its kernel."""
    x = np.zeros(1, np.float32)
    bang.compile(SOURCE, defines={"NUMBER": number}).kernel("set")[1](x)
    return float(x[0])


def entry(cache: Path, suffix: str) -> Path:
    [path] = cache.glob(f"*{suffix}")
    return path


def never(*_: object, **__: object) -> str:
    raise AssertionError("a compiler runs")


def test_a_warm_cache_runs_no_compiler(
    cache: Path, compiled: Path, as_in_a_new_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(compiled, cache)
    monkeypatch.setattr(_build, "warnings_of", never)
    assert run_kernel() == 5
    entry(cache, ".json").unlink()  # then it is translated again, but not compiled
    assert run_kernel() == 5


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 3000)


@pytest.mark.parametrize("damage", [zeros, cut])
def test_a_broken_library_is_linked_again(
    damage: Callable[[Path], None], cache: Path, compiled: Path, as_in_a_new_process: None
) -> None:
    shutil.copytree(compiled, cache)
    damage(entry(cache, ".so"))
    assert run_kernel() == 5
    assert entry(cache, ".so").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.thorough
@pytest.mark.parametrize("damage", [zeros, cut])
@pytest.mark.parametrize("suffix", [".o", ".json", ""])
def test_other_broken_entries_are_made_again(
    suffix: str, damage: Callable[[Path], None], cache: Path, compiled: Path, as_in_a_new_process: None
) -> None:
    shutil.copytree(compiled, cache)
    if suffix == ".o":
        entry(cache, ".so").unlink()
    for path in cache.glob(f"*{suffix}"):
        damage(path) if path.stat().st_size > 3000 else zeros(path)
    assert run_kernel() == 5


def test_a_library_is_linked_without_being_loaded(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_loaded._state, "paths", {})
    monkeypatch.setattr(_build, "loaded", never)
    build = Build(find_compiler(), 592, Simulator.installed())
    source = Input("set.mlu", tmp_path, SOURCE.replace("NUMBER", "5"))
    first = build.linked([source])
    assert (first.data[:4], first.kept) == (b"\x7fELF", False)
    assert build.linked([source]) == first._replace(kept=True)
    entry(cache, ".so").unlink()
    assert build.linked([source]) == first


def test_a_library_that_was_put_there_is_not_loaded(
    tmp_path: Path, cache: Path, compiled: Path, as_in_a_new_process: None
) -> None:
    source = tmp_path / "planted.c"
    source.write_text(
        '#include <stdlib.h>\n__attribute__((constructor)) void planted(void) { setenv("PLANTED", "1", 1); }'
    )
    shutil.copytree(compiled, cache)
    planted = entry(cache, ".so")
    planted.unlink()
    subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", source, "-o", planted], check=True)
    assert run_kernel() == 5
    assert "PLANTED" not in os.environ
    assert b"PLANTED" not in planted.read_bytes()


def test_what_is_loaded_does_not_change_with_the_cache(cache: Path) -> None:
    x = np.zeros(1, np.float32)
    module = bang.compile(SOURCE, defines={"NUMBER": 6})
    assert not module.path.is_relative_to(cache)
    for path in cache.iterdir():
        zeros(path)
    shutil.rmtree(cache)
    module.kernel("set")[1](x)
    assert x[0] == 6
    assert run_kernel(6) == 6


def test_files_are_private_whatever_the_umask_says(cache: Path) -> None:
    before = os.umask(0)
    try:
        assert run_kernel(7) == 7
    finally:
        os.umask(before)
    assert cache.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in cache.iterdir()} == {0o600}
    assert len(list(cache.iterdir())) == 3


def wrapper_of(compiler: str, folder: Path, before: str) -> Path:
    """A compiler that does something else first."""
    wrapper = folder / "g++"
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *source.cpp*) {before};; esac\nexec {compiler} "$@"\n', encoding="utf-8"
    )
    wrapper.chmod(0o755)
    return wrapper


def test_the_cache_is_deleted_while_a_compiler_runs(
    cache: Path, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = wrapper_of(compiler, tmp_path, f"rm -rf '{cache}'; touch '{tmp_path}/ran'")
    monkeypatch.setenv("PYMLUOPS_CXX", str(wrapper))
    assert run_kernel(8) == 8
    assert (tmp_path / "ran").exists()
    assert len(list(cache.iterdir())) == 3
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.thorough
def test_temporary_files_are_deleted_while_nothing_is_compiled(cache: Path) -> None:
    assert run_kernel(9) == 9
    shutil.rmtree(scratch.scratch_folder())
    assert run_kernel(9) == 9
    assert run_kernel(10) == 10


def test_a_cache_that_cannot_be_written_is_told_once_and_does_without(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(store, "locked_folder", refuse)
    with pytest.warns(RuntimeWarning, match="what is compiled is not kept: .*: Read-only file system"):
        assert run_kernel(11) == 11
    assert not list(cache.iterdir())


def test_no_room_for_temporary_files_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(28, os.strerror(28), "/tmp/some")

    monkeypatch.setattr(_build, "mkdtemp", full)
    with pytest.raises(pymluops.NotInitializedError, match=r"^/tmp/some: No space left on device: there is no place"):
        run_kernel(12)
    monkeypatch.undo()
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(cache))
    assert run_kernel(12) == 12


def test_a_cache_of_others_is_not_used(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="other users may write to .*; what is compiled is kept until this process"):
        assert run_kernel(13) == 13
    assert not list(cache.iterdir())


@pytest.mark.thorough
def test_processes_compile_the_same_at_once(cache: Path) -> None:
    command = [sys.executable, "-c", PROGRAM]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate() for process in running] == [("5.0\n", "")] * 4
    assert len(list(cache.iterdir())) == 3
    assert all((cache / path.name).stat().st_mode & 0o077 == 0 for path in cache.iterdir())


@pytest.mark.thorough
def test_a_killed_run_leaves_nothing_for_long(cache: Path, compiler: str, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    wrapper = wrapper_of(compiler, tmp_path, "kill -9 $PPID; exit 1")
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    killed = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**environment, "PYMLUOPS_CXX": str(wrapper)}, check=False
    )
    assert killed.returncode == -9
    assert len(list(cache.iterdir())) == 1
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "5.0\n"
    assert len(list(cache.iterdir())) == 3
    assert not list((tmp_path / "temporary").iterdir())
