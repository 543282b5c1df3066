"""Which folders count as private: what is loaded comes from them alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pymluops._cache import private


def folder_of(parent: Path, *names: str, mode: int = 0o700) -> Path:
    for name in names:
        parent = parent / name
        parent.mkdir(exist_ok=True)
        parent.chmod(mode)
    return parent


def test_a_folder_of_this_user_alone_is_private(tmp_path: Path) -> None:
    assert private.problem_with(folder_of(tmp_path, "own")) == ""
    assert private.problem_with(folder_of(tmp_path, "read", mode=0o755)) == ""


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_a_folder_that_others_write_to_is_not(tmp_path: Path, mode: int) -> None:
    folder = folder_of(tmp_path, "open", mode=mode)
    assert private.problem_with(folder) == f"other users may write to {folder}"


def test_a_folder_of_another_user_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, "own", mode=0o755)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4711)
    assert f"belongs to another user (uid {owner})" in private.problem_with(folder)


def test_the_folders_above_count_too(tmp_path: Path) -> None:
    open_for_all = folder_of(tmp_path, "open", mode=0o777)
    folder = folder_of(open_for_all, "own")
    assert private.problem_with(folder) == f"other users may write to {open_for_all}"
    open_for_all.chmod(0o1777)  # as /tmp: nobody else can remove or rename the folder
    assert private.problem_with(folder) == ""


@pytest.mark.parametrize("target", [Path.absolute, lambda path: Path("..", path.parent.name, path.name)])
def test_symbolic_links_are_followed(tmp_path: Path, target: Callable[[Path], Path]) -> None:
    open_for_all = folder_of(tmp_path, "open", mode=0o777)
    folder = folder_of(open_for_all, "own")
    link = folder_of(tmp_path, "links") / "link"
    link.symlink_to(target(folder))
    assert private.problem_with(link) == f"other users may write to {open_for_all}"
    open_for_all.chmod(0o755)
    assert private.problem_with(link) == ""


def test_a_link_that_others_could_change_is_not_private(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "own")
    open_for_all = folder_of(tmp_path, "open", mode=0o777)
    (open_for_all / "link").symlink_to(folder)
    assert private.problem_with(open_for_all / "link") == f"other users may write to {open_for_all}"


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        private.problem_with(tmp_path / "a")


def test_a_group_counts_as_others_unless_it_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, "group", mode=0o770)
    monkeypatch.setattr(private, "_is_own_group", lambda group, user: False)
    assert private.problem_with(folder) == f"other users may write to {folder}"
    monkeypatch.setattr(private, "_is_own_group", lambda group, user: True)
    assert private.problem_with(folder) == ""
    folder = folder_of(tmp_path, "list", mode=0o770)
    monkeypatch.setattr(private, "_has_access_list", lambda place: True)  # further users behind the group's bits
    assert private.problem_with(folder) == f"other users may write to {folder}"


@pytest.mark.parametrize("umask", [0, 0o777])
def test_a_new_folder_is_private_whatever_the_umask_says(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        private.make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b")] == [0o700, 0o700]


def test_a_change_is_noticed_though_the_answer_is_kept(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "own")
    assert private.problem_with(folder) == private.problem_with(folder) == ""
    folder.chmod(0o777)
    assert private.problem_with(folder) == f"other users may write to {folder}"
    folder.rmdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "own").symlink_to("open")
    assert private.problem_with(folder) == f"other users may write to {tmp_path / 'open'}"
