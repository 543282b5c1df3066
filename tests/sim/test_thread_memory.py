"""Threads that use the simulator when there is no memory: calls fail, the process goes on."""

from __future__ import annotations

import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile

import pymluops
from support.data_files import TESTS

SIM = TESTS.parent / "native" / "sim"
SUCCESS, ARGS_INVALID = "0", "100006"


def library() -> Path:
    return Path(pymluops.load("sim").path)


def test_no_thread_local_variable_is_allocated_by_the_loader() -> None:
    with library().open("rb") as file:
        symbols = {symbol.name for symbol in ELFFile(file).get_section_by_name(".dynsym").iter_symbols()}
    assert "pthread_setspecific" in symbols
    assert "__tls_get_addr" not in symbols


def test_threads_without_memory_are_told(compiler: str, tmp_path: Path) -> None:
    program = tmp_path / "thread_memory"
    source = TESTS / "sim" / "thread_memory.c"
    command = [
        compiler,
        "-x",
        "c",
        "-O1",
        "-rdynamic",
        f"-I{SIM / 'include'}",
        str(source),
        "-o",
        str(program),
        "-lpthread",
        "-ldl",
    ]
    subprocess.run(command, check=True)
    done = subprocess.run([program, library()], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("|") for line in done.stdout.splitlines()]
    assert len(rows) == 40
    for refused, explanation, last_error, own_queue, report, level in rows:
        assert refused == last_error == ARGS_INVALID
        # One of the reserves, or nothing when all of them are taken.
        assert explanation in ("cnrtQueueCreate: queue: expected a pointer, got NULL", "")
        assert own_queue == SUCCESS
        assert (report, level) == ("", "mtp_592")
    assert rows[0][1] != ""
