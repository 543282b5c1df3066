"""Temporary folders, which do not outlive their processes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

import pymluops
from pymluops._cache import scratch
from support.processes import python_output

#: Makes the folder of the process and prints it.
MAKE = "from pymluops._cache.scratch import scratch_folder; print(scratch_folder(), flush=True)"


def test_it_is_removed_at_the_end(tmp_path: Path) -> None:
    code = f"{MAKE}; folder = scratch_folder(); (folder / 'a').touch(); print(oct(folder.stat().st_mode & 0o777))"
    path, mode = python_output(code, TMPDIR=str(tmp_path)).split()
    assert Path(path).parent == tmp_path
    assert mode == "0o700"
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = Path(python_output(f"{MAKE}; import os, signal; os._exit(0)", TMPDIR=str(tmp_path)))
    assert path.is_dir()
    assert Path(python_output(MAKE, TMPDIR=str(tmp_path))) != path
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_process_that_runs_stays(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", f"{MAKE}; input()"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment) as running:
        assert running.stdout is not None
        path = Path(running.stdout.readline().strip())
        assert scratch.sweep(tmp_path, "pymluops-") == 0
        assert path.is_dir()
        running.kill()
    assert scratch.sweep(tmp_path, "pymluops-") == 1
    assert not path.exists()


def test_it_stays_as_long_as_a_child_of_a_fork_lives(tmp_path: Path) -> None:
    code = (
        f"{MAKE}; import os, time; from pathlib import Path; folder = scratch_folder(); begin, end = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.close(end); os.read(begin, 1); time.sleep(0.2)\n"  # until the parent has ended
        "    print(folder.is_dir(), scratch_folder() != folder, flush=True); os._exit(0)"
    )
    path, stayed, other = python_output(code, TMPDIR=str(tmp_path)).split()
    assert (stayed, other) == ("True", "True")
    assert Path(path).is_dir()
    assert scratch.sweep(tmp_path, "pymluops-") == 2
    assert not list(tmp_path.iterdir())


def test_a_link_or_a_file_with_such_a_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "pymluops-link").symlink_to(tmp_path / "precious")
    (tmp_path / "pymluops-file").touch()
    assert scratch.sweep(tmp_path, "pymluops-") == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_the_folder_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pymluops-other").mkdir()
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 4711)
    assert scratch.sweep(tmp_path, "pymluops-") == 0
    monkeypatch.undo()
    assert scratch.sweep(tmp_path, "pymluops-") == 1


def test_threads_share_it() -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(scratch.scratch_folder())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_it_is_made_again_where_it_was_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scratch, "_state", scratch._State())
    monkeypatch.setattr(scratch, "_places", lambda other: [tmp_path])
    first = scratch.scratch_folder()
    scratch.remove_tree(first)
    second = scratch.scratch_folder()
    assert second.is_dir()


def test_a_place_that_others_could_change_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "own").mkdir()
    monkeypatch.setattr(scratch, "_state", scratch._State())
    monkeypatch.setattr(scratch, "_places", lambda other: [tmp_path / "open", tmp_path / "gone", tmp_path / "own"])
    assert scratch.scratch_folder().parent == tmp_path / "own"
    monkeypatch.setattr(scratch, "_state", scratch._State())
    monkeypatch.setattr(scratch, "_places", lambda other: [tmp_path / "open", tmp_path / "gone"])
    with pytest.raises(
        pymluops.NotInitializedError, match=r"set TMPDIR to one .*open: other users may .*gone: No such"
    ):
        scratch.scratch_folder()


def test_a_folder_that_another_process_is_about_to_remove_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has locked the new folder, which was not locked yet, and has not removed it yet."""
    made, locks = list[str](), list[int]()
    real = tempfile.mkdtemp

    def folder(**options: Any) -> str:
        made.append(real(**options))
        if len(made) == 1:
            locks.append(os.open(made[0], os.O_RDONLY))
            fcntl.flock(locks[0], fcntl.LOCK_EX)
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", folder)
    found = scratch.locked_folder(tmp_path, "pymluops-")
    assert len(made) == 2
    assert found.path == Path(made[1])
    os.close(locks[0])
    found.remove()
    assert not Path(made[1]).exists()
