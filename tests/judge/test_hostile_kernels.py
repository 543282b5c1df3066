"""The judge survives sources that attack it, has the right verdict on each, and on the kernel after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.hostile import ACTS, DAEMONS, GOOD, HOSTILE, TASK, Hostile, at_load, probe
from pymluops.bang.judging import Judge, Kind, Limits, TaskError, judges

LIMITS = Limits(seconds=2.0, compile_seconds=10.0, memory_mib=512, output_kib=256)


@pytest.fixture(scope="module")
def strict(kept: None) -> Iterator[Judge]:
    with Judge(limits=LIMITS) as judge:
        yield judge


@pytest.mark.parametrize(
    "hostile", [pytest.param(each, id=each.name, marks=() if each.quick else pytest.mark.thorough) for each in HOSTILE]
)
def test_a_hostile_source(hostile: Hostile, strict: Judge) -> None:
    verdict = strict.judge(hostile.source, TASK, hostile.name)
    assert verdict.kind in hostile.kinds, str(verdict) + verdict.text
    assert strict.judge(GOOD, TASK).kind is Kind.RIGHT
    assert not Path("/tmp/pymluops-was-here").exists()


def test_the_probe_notices_what_is_allowed(strict: Judge) -> None:
    """The source with refused acts is right because they are refused, and for no other reason."""
    assert strict.judge(probe(ACTS), TASK).kind is Kind.RIGHT
    allowed = {**ACTS, "read the null device": 'open("/dev/null", O_RDONLY) >= 0'}
    verdict = strict.judge(probe(allowed), TASK)
    assert (verdict.kind, verdict.text.strip()) == (Kind.WRONG, "could: read the null device")


def test_the_limit_of_time_holds_while_the_library_is_loaded(strict: Judge) -> None:
    """A line each tenth of a second tells how long it ran; a busy machine writes fewer."""
    code = 'while (1) { puts("tick"); fflush(stdout); usleep(100000); }'
    verdict = strict.judge(at_load("ticks", code, Kind.TIME_LIMIT).source, TASK)
    assert verdict.kind is Kind.TIME_LIMIT
    assert verdict.message == "no end after 2 s"
    assert 0 < verdict.text.count("tick") < 45


def test_a_kernel_that_closes_files_gets_no_traceback(strict: Judge) -> None:
    code = "for (int i = 3; i < 1000; ++i) close(i);"
    verdict = strict.judge(at_load("closes", code, Kind.CRASH).source, TASK)
    assert (verdict.kind, verdict.text) == (Kind.CRASH, "OSError: [Errno 9] Bad file descriptor")
    refused = strict.judge(at_load("closes", code, Kind.CRASH).source.replace("float *out", "half *out"), TASK)
    assert (refused.kind, refused.text) == (verdict.kind, verdict.text)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lacking", "could"),
    [
        ("seccomp.is_available = lambda: False", "could: make a socket"),
        ("landlock.version = lambda: 0", "could: read the passwords"),
    ],
)
def test_a_system_that_lacks_a_part(lacking: str, could: str, kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other part still holds what it holds, and what a kernel started ends with it."""
    program = f"from pymluops.bang.judging import landlock, seccomp; {lacking}; {judges._PROGRAM}"
    monkeypatch.setattr(judges, "_PROGRAM", program)
    with Judge(limits=LIMITS) as judge:
        assert judge.judge(probe(ACTS), TASK).text.strip() == could
        assert judge.judge(DAEMONS.source, TASK).kind is Kind.RIGHT
        [server] = judge._servers
        assert server._process is not None
        process = server._process._process.pid
        assert Path(f"/proc/{process}/task/{process}/children").read_text() == ""
        for hostile in HOSTILE:
            if hostile.quick and hostile.source != probe(ACTS) and "passwords" not in hostile.name:
                assert judge.judge(hostile.source, TASK).kind in hostile.kinds, hostile.name
        assert judge.judge(GOOD, TASK).kind is Kind.RIGHT


def test_the_reference_is_not_to_be_found(strict: Judge, tmp_path: Path) -> None:
    """What the reference computed lies in files that the process of a kernel cannot open."""
    strict.judge(GOOD, TASK)
    [(_, problem)] = strict._problems.values()
    assert not isinstance(problem, TaskError)
    file = problem.folder / "expected" / problem.expected["out"].file
    assert file.exists()
    acts = {"read the reference": f'open("{file}", O_RDONLY) >= 0', "list": f'open("{file.parent}", O_RDONLY) >= 0'}
    assert strict.judge(probe(acts), TASK).kind is Kind.RIGHT
