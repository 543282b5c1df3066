"""The gen-case switches: the directory that is told, and what the environment says at the start."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from typing import Any

import pytest

from abi.c_objects import UNTOUCHED, RawAbi
from abi.facts import BAD_PARAM, SUCCESS
from support.processes import python_output


@pytest.fixture
def switches(abi: RawAbi) -> Iterator[RawAbi]:
    yield abi
    abi.lib.mluOpSetGenCaseDirectory(b"")
    abi.lib.mluOpSetGenCaseMode(0)


def told(abi: RawAbi, buffer: Any, size: int) -> tuple[Any, int, int]:
    """Pointer, length and status."""
    length, status = abi.out("size_t"), abi.ffi.new("mluOpStatus_t *")
    pointer = abi.lib.mluOpGetGenCaseDirectory(buffer, size, length, status)
    return pointer, length[0], int(status[0])


def text_of(abi: RawAbi) -> str:
    buffer = abi.ffi.new("char[]", 4096)
    pointer, length, status = told(abi, buffer, 4096)
    assert (pointer, status) == (buffer, SUCCESS)
    text = abi.ffi.string(buffer).decode()
    assert len(text) == length
    return text


def test_directory_is_told(switches: RawAbi) -> None:
    assert text_of(switches) == os.getcwd()
    assert switches.lib.mluOpSetGenCaseDirectory(b"/some/where") == SUCCESS
    assert text_of(switches) == "/some/where"
    assert switches.lib.mluOpSetGenCaseDirectory(switches.null) == BAD_PARAM
    assert text_of(switches) == "/some/where"
    assert switches.lib.mluOpSetGenCaseDirectory(b"") == SUCCESS
    assert text_of(switches) == os.getcwd()


def test_placeholders_are_replaced_once(switches: RawAbi) -> None:
    switches.lib.mluOpSetGenCaseDirectory(b"{deviceid}/{pid}/{pid}{deviceid}")
    assert text_of(switches) == f"deviceid-1/pid{os.getpid()}/{{pid}}{{deviceid}}"


def test_short_buffer_is_left_alone(switches: RawAbi) -> None:
    switches.lib.mluOpSetGenCaseDirectory(b"/some/where")
    for size in (0, 1, 11):
        buffer = switches.ffi.new("char[]", b"z" * 20)
        assert told(switches, buffer, size) == (buffer, 0, BAD_PARAM)
        assert switches.ffi.string(buffer) == b"z" * 20
    buffer = switches.ffi.new("char[]", b"z" * 20)
    assert told(switches, buffer, 12) == (buffer, 11, SUCCESS)
    assert switches.ffi.buffer(buffer)[:] == b"/some/where\0" + b"z" * 8 + b"\0"


def test_without_buffer_a_copy_is_returned(switches: RawAbi) -> None:
    switches.lib.mluOpSetGenCaseDirectory(b"/some/where")
    pointer, length, status = told(switches, switches.null, 0)
    assert (switches.ffi.string(pointer), length, status) == (b"/some/where", 11, SUCCESS)
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(int(switches.ffi.cast("intptr_t", pointer)))


def test_length_and_status_may_be_null(switches: RawAbi) -> None:
    switches.lib.mluOpSetGenCaseDirectory(b"/some/where")
    buffer = switches.ffi.new("char[]", 20)
    assert switches.lib.mluOpGetGenCaseDirectory(buffer, 20, switches.null, switches.null) == buffer
    assert switches.ffi.string(buffer) == b"/some/where"
    length = switches.out("size_t")
    assert switches.lib.mluOpGetGenCaseDirectory(buffer, 1, length, switches.null) == buffer
    assert length[0] == 0 != UNTOUCHED


STARTED = """
import os
os.environ.update({"MLUOP_GEN_CASE": "nonsense", "MLUOP_GEN_CASE_DIR": "/from/{pid}/the/environment"})
import pymluops
backend = pymluops.load("cpu")
buffer = backend.ffi.new("char[]", 100)
backend.lib.mluOpGetGenCaseDirectory(buffer, 100, backend.ffi.NULL, backend.ffi.NULL)
print(backend.ffi.string(buffer).decode() == f"/from/pid{os.getpid()}/the/environment")
pymluops.Handle("cpu").close()

os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
backend.lib.mluOpSetGenCaseDirectory(b"")
length, status = backend.ffi.new("size_t *", 9), backend.ffi.new("mluOpStatus_t *")
print(backend.lib.mluOpGetGenCaseDirectory(buffer, 100, length, status) == backend.ffi.NULL, length[0], int(status[0]))
"""


def test_environment_and_a_working_directory_that_is_gone(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert python_output(STARTED).splitlines() == ["True", "True 0 4"]
