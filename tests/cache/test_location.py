"""Which folder is the cache, and what is said where there is none."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

import pymluops
from pymluops._cache import location, notices, scratch
from pymluops._cache.location import cache_folder, lasting_folder, locate
from support.processes import run_python

VARIABLES = ("PYMLUOPS_CACHE_DIR", "XDG_CACHE_HOME", "HOME")


@pytest.fixture(autouse=True)
def _nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notices, "_said", set[str]())
    yield
    scratch._state.owner = None  # a folder of another user, as tests pretend, is not taken over


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_it_lies_in_the_home(home: Path) -> None:
    assert cache_folder() == home / ".cache" / "pymluops"
    assert {path.stat().st_mode & 0o777 for path in home.rglob("*")} == {0o700}


def test_a_folder_that_an_earlier_version_made_becomes_private(home: Path) -> None:
    folder = home / ".cache" / "pymluops"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assert cache_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_xdg_cache_home_moves_it(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder() == tmp_path / "caches" / "pymluops"
    assert not list(home.iterdir())


def test_a_relative_xdg_cache_home_counts_as_not_set(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert cache_folder() == home / ".cache" / "pymluops"
    assert not (tmp_path / "caches").exists()


@pytest.mark.parametrize("named", ["{}/own", "own", "~/own", "./a/../own"])
def test_the_variable_names_it(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", named.format(tmp_path))
    assert cache_folder() == (home if named.startswith("~") else tmp_path) / "own"


def test_without_home_it_is_that_of_the_user_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = pwd.struct_passwd(("me", "x", os.geteuid(), os.getegid(), "", str(tmp_path), ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: entry)
    assert cache_folder() == tmp_path / ".cache" / "pymluops"


@pytest.mark.parametrize("home", ["", "~", "here", None])
def test_without_any_home_it_is_temporary(home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    with pytest.warns(RuntimeWarning, match="there is no folder for the cache: this user has no home") as said:
        folder = cache_folder()
    assert folder.parent == scratch.scratch_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert said[0].filename == __file__
    assert not list(tmp_path.iterdir())
    assert cache_folder() == folder  # without another warning, which would be an error
    with pytest.raises(pymluops.NotInitializedError, match="this user has no home: set PYMLUOPS_CACHE_DIR to a folder"):
        lasting_folder()


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))
    with pytest.warns(RuntimeWarning, match="gone: No such file or directory"):
        assert cache_folder().parent == scratch.scratch_folder()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_folder_of_another_user_is_not_used(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".cache" / "pymluops"
    folder.mkdir(parents=True)
    values = {"PYMLUOPS_CACHE_DIR": folder, "XDG_CACHE_HOME": folder.parent, "HOME": tmp_path}
    monkeypatch.setenv(variable, str(values[variable]))
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 4711)
    found = locate()
    assert f"belongs to another user (uid {user})" in found.problem or "other users may write" in found.problem
    monkeypatch.setattr(location, "scratch_folder", lambda: tmp_path)
    with pytest.warns(RuntimeWarning, match="the cache is not used: .*; what is compiled is kept until this process"):
        assert cache_folder() == tmp_path / "cache"
    assert not list(folder.iterdir())


def test_a_folder_that_others_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(tmp_path / "open" / "own"))
    with pytest.warns(RuntimeWarning, match="the cache is not used: other users may write to "):
        assert cache_folder().parent == scratch.scratch_folder()
    with pytest.raises(pymluops.NotInitializedError, match="other users may write to "):
        lasting_folder()


@pytest.mark.parametrize("named", ["file", "file/below", "/proc/pymluops", "a" * 5000])
def test_what_cannot_be_a_folder_is_told(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", named)
    with pytest.raises(pymluops.NotInitializedError, match="set PYMLUOPS_CACHE_DIR to a folder that can be") as caught:
        cache_folder()
    assert len(str(caught.value)) < 300


def test_the_variable_with_a_tilde_needs_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", "~/kernels")
    with pytest.raises(
        pymluops.NotInitializedError, match="expected a folder, got ~/kernels, and this user has no home"
    ):
        cache_folder()


def test_the_program_says_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    code = "import sys; from pymluops.cli import main; sys.exit(main(['cache', 'info']))"
    done = run_python(code, PYMLUOPS_CACHE_DIR=str(tmp_path / "open"))
    line = f"pymluops cache info: the cache is not used: other users may write to {tmp_path / 'open'}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
