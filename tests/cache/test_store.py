"""Entries of the cache: whole or none, whatever happens to their files."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pymluops._cache import notices, store
from pymluops._cache.scratch import Locked
from pymluops._cache.store import Store
from support.selection import examples

NAME = "kernel-0123456789abcdef0123456789abcdef.so"
OTHER = "other-0123456789abcdef0123456789abcdef.so"
DATA = bytes(range(256)) * 40
NOTES = {"said": "é \udcff\n", "headers": {}}


@pytest.fixture(autouse=True)
def _nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_said", set[str]())
    monkeypatch.setattr(store, "_swept", set[Path]())
    monkeypatch.delenv("PYMLUOPS_CACHE_MIB", raising=False)


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    found = Store(tmp_path / "cache")
    put(found, NAME)
    return found


def put(into: Store, name: str, data: bytes = DATA) -> None:
    with into.writer() as writer:
        writer.put(name, data, NOTES)


def test_an_entry_is_what_was_written(kept: Store) -> None:
    assert kept.read(NAME) == (DATA, NOTES)
    assert kept.read(OTHER) is None
    assert os.listdir(kept.folder) == [NAME]


@pytest.mark.parametrize("umask", [0, 0o777])
def test_files_are_private_whatever_the_umask_says(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        put(Store(tmp_path / "cache"), NAME)
    finally:
        os.umask(before)
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "cache" / NAME).stat().st_mode & 0o777 == 0o600
    assert Store(tmp_path / "cache").read(NAME) == (DATA, NOTES)


def in_another_place(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_a_folder(path: Path) -> None:
    path.unlink()
    (path / "below").mkdir(parents=True)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: os.truncate(path, 0),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "without its last byte": lambda path: os.truncate(path, path.stat().st_size - 1),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a byte changed": lambda path: path.write_bytes(path.read_bytes().replace(b"\x10\x11", b"\x10\x12", 1)),
    "notes changed": lambda path: path.write_bytes(path.read_bytes().replace(b'"said"', b'"sadi"')),
    "an impossible length": lambda path: path.write_bytes(path.read_bytes()[:-13] + b"9" * 12 + b"\n"),
    "under another name": lambda path: path.write_bytes(path.with_name(OTHER).read_bytes()),
    "others may write": lambda path: path.chmod(0o622),
    "a link": in_another_place,
    "a dangling link": lambda path: (path.unlink(), path.symlink_to("/nonexistent")),
    "a pipe": as_a_pipe,
    "a folder": as_a_folder,
    "gone": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_broken_entry_is_none_and_can_be_written_again(kept: Store, damage: Callable[[Path], object]) -> None:
    put(kept, OTHER, DATA[::-1])
    damage(kept.folder / NAME)
    assert kept.read(NAME) is None
    put(kept, NAME)
    assert kept.read(NAME) == (DATA, NOTES)
    assert kept.read(OTHER) == (DATA[::-1], NOTES)


def test_the_file_of_another_user_is_none(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 4711)
    assert kept.read(NAME) is None


@examples(200)
@given(st.binary(max_size=300), st.dictionaries(st.text(max_size=5), st.text(max_size=5)), st.data())
def test_any_change_of_a_file_is_noticed(data: bytes, notes: dict[str, str], drawn: st.DataObject) -> None:
    content = store._sealed(NAME, data, store.json.dumps(notes).encode("ascii"))
    assert store._opened(NAME, content) == (data, notes)
    assert store._opened(OTHER, content) is None
    at = drawn.draw(st.integers(0, len(content) - 1))
    other = drawn.draw(st.binary(max_size=3).filter(lambda some: some != content[at : at + 1]))
    assert store._opened(NAME, content[:at] + other + content[at + 1 :]) is None


# ---- The folder changes meanwhile ----------------------------------------------------------------


def test_the_folder_may_be_deleted_before_an_entry_is_put(kept: Store) -> None:
    with kept.writer() as writer:
        shutil.rmtree(kept.folder)
        writer.put(NAME, DATA, NOTES)
        writer.put(OTHER, DATA, NOTES)
    assert sorted(os.listdir(kept.folder)) == [NAME, OTHER]
    assert kept.read(OTHER) == (DATA, NOTES)
    shutil.rmtree(kept.folder)
    assert kept.read(NAME) is None


def test_a_folder_that_somebody_else_made_again_is_not_used(kept: Store) -> None:
    with kept.writer() as writer:
        shutil.rmtree(kept.folder)
        kept.folder.mkdir()
        kept.folder.chmod(0o777)
        with pytest.warns(RuntimeWarning, match="what is compiled is not kept: .*other users may write to"):
            writer.put(NAME, DATA, NOTES)
    assert not list(kept.folder.iterdir())


@pytest.mark.filterwarnings("ignore:what is compiled is not kept")  # it may be faster each time
def test_the_folder_is_deleted_again_and_again(kept: Store) -> None:
    stop = threading.Event()

    def delete() -> None:
        while not stop.is_set():
            shutil.rmtree(kept.folder, ignore_errors=True)

    thread = threading.Thread(target=delete)
    thread.start()
    try:
        for _ in range(50):
            put(kept, NAME)
            assert kept.read(NAME) in (None, (DATA, NOTES))
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES])
@pytest.mark.parametrize("step", ["mkdtemp", "replace"])
def test_a_full_disk_or_one_that_cannot_be_written_is_told_once(
    kept: Store, number: int, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(*((tempfile, step) if step == "mkdtemp" else (Path, step)), refuse)
    with pytest.warns(RuntimeWarning, match=f"what is compiled is not kept: {kept.folder}: {os.strerror(number)}"):
        put(kept, OTHER)
    put(kept, OTHER)  # a second warning would be an error
    monkeypatch.undo()
    assert kept.read(NAME) == (DATA, NOTES)
    assert os.listdir(kept.folder) == [NAME]


# ---- The whole -----------------------------------------------------------------------------------


def numbered(number: int) -> str:
    return f"kernel-{number:032x}.o"


def test_what_was_not_used_longest_is_removed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYMLUOPS_CACHE_MIB", "2")
    kept = Store(tmp_path)
    for number in range(6):
        put(kept, numbered(number), bytes(600 << 10))
        os.utime(tmp_path / numbered(number), (number, number))
        if number == 2:
            assert kept.read(numbered(0)) is not None  # which counts as used now
            assert (tmp_path / numbered(0)).stat().st_mtime > 1e9
    assert sorted(os.listdir(tmp_path)) == [numbered(0), numbered(4), numbered(5)]
    assert kept.usage().size <= 2 << 20


@pytest.mark.parametrize(("mib", "count"), [("0", 0), ("1", 0), ("2", 1)])
def test_an_entry_beyond_the_limit_is_not_kept(
    tmp_path: Path, mib: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYMLUOPS_CACHE_MIB", mib)
    put(Store(tmp_path), NAME, bytes(1 << 20))
    assert len(list(tmp_path.iterdir())) == count


def test_what_killed_processes_left_is_swept(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with kept.writer() as running:
        assert isinstance(running.folder, Locked)
        (kept.folder / "tmp-killed").mkdir()
        (kept.folder / "tmp-killed" / NAME).write_bytes(DATA)
        old = [".12-7f00-name.so", "tmpabcd1234", f"{NAME.removesuffix('.so')}.txt"]
        for name in [*old, "mine.txt"]:
            (kept.folder / name).touch()
            os.utime(kept.folder / name, (1, 1))
        (kept.folder / ".13-7f00-name.so").touch()  # of an earlier version that runs
        monkeypatch.setattr(store, "_swept", set[Path]())
        Store(kept.folder)
        left = sorted(os.listdir(kept.folder))
        assert left == sorted([".13-7f00-name.so", NAME, "mine.txt", running.folder.path.name])


def test_clear_leaves_what_is_not_ours(kept: Store) -> None:
    (kept.folder / "mine.txt").touch()
    (kept.folder / "neuware-0123456789abcdef" / "bin").mkdir(parents=True)
    put(kept, OTHER)
    usage, left = kept.clear()
    assert (usage.entries, usage.toolkits, left) == (2, 1, 0)
    assert os.listdir(kept.folder) == ["mine.txt"]
