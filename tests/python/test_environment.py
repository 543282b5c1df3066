"""Environment variables: what they may hold, what is said otherwise, and that the table of them is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pymluops
from pymluops import _environment
from support.processes import python_output, run_python

ROOT = Path(__file__).parents[2]
LOAD = "import pymluops; print('imported', flush=True); pymluops.load('cpu')"
MANY = "9" * 5000

REFUSED = [
    ("PYMLUOPS_POOL_MIB", "abc", "an integer from 0 to 1099511627776, got 'abc'"),
    ("PYMLUOPS_POOL_MIB", "-1", "an integer from 0 to 1099511627776, got '-1'"),
    ("PYMLUOPS_POOL_MIB", "1099511627777", "an integer from 0 to 1099511627776, got '1099511627777'"),
    ("PYMLUOPS_POOL_MIB", MANY, "an integer from 0 to 1099511627776, got '9999999"),
    ("PYMLUOPS_POOL_MIB", "\u0663", "an integer from 0 to 1099511627776, got '\u0663'"),
    ("PYMLUOPS_STREAM_MIB", "1.5", "an integer from 0 to 1099511627776, got '1.5'"),
    ("PYMLUOPS_NUM_THREADS", "0", "an integer from 1 to 1024, got '0'"),
    ("PYMLUOPS_NUM_THREADS", "1025", "an integer from 1 to 1024, got '1025'"),
    ("PYMLUOPS_NUM_THREADS", "two\nlines", "an integer from 1 to 1024, got 'two\\nlines'"),
    ("PYMLUOPS_INSTRUCTION_LEVEL", "avx512", "got 'avx512'"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_a_bad_value_is_refused_when_a_library_is_loaded(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(pymluops.NotInitializedError) as caught:
        _environment.check()
    assert str(caught.value).startswith(f"{name}: expected ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("name", "value"), [("PYMLUOPS_POOL_MIB", MANY), ("PYMLUOPS_INSTRUCTION_LEVEL", "fast")])
def test_a_bad_value_is_told_at_the_first_use_and_not_at_import(name: str, value: str) -> None:
    done = run_python(LOAD, **{name: value})
    assert (done.returncode, done.stdout) == (1, "imported\n")
    assert f"NotInitializedError: {name}: expected " in done.stderr.splitlines()[-1]


def test_good_values_are_taken() -> None:
    code = (
        "import pymluops; from pymluops import _environment as e, _pool\n"
        "pymluops.load('cpu'); mib = e.integer('PYMLUOPS_STREAM_MIB')\n"
        "print(pymluops.get_num_threads(), mib, _pool.limit_from_environment())"
    )
    good = {"PYMLUOPS_NUM_THREADS": "0003", "PYMLUOPS_STREAM_MIB": "1099511627776", "PYMLUOPS_POOL_MIB": "7"}
    assert python_output(code, **good) == f"3 {2**40} {7 << 20}"
    assert python_output(LOAD, **dict.fromkeys(_environment.NAMES, "")) == "imported"


def test_long_names_of_libraries_are_shortened() -> None:
    done = run_python("import pymluops; pymluops.Handle()", PYMLUOPS_BACKEND="/x" * 4000)
    assert "NotInitializedError: PYMLUOPS_BACKEND is /x/x" in done.stderr.splitlines()[-1]
    assert len(done.stderr.splitlines()[-1]) < 400
    reason = python_output(
        "import pymluops; print(pymluops.backends()['mlu'].reason)", PYMLUOPS_MLU_LIBRARY="/y" * 4000
    )
    assert reason.startswith("PYMLUOPS_MLU_LIBRARY is /y/y")
    assert len(reason) < 300


def _read_in(folder: str, pattern: str) -> set[str]:
    sources = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".pyx", ".pxi", ".cpp", ".h")]
    texts = [path.read_text(encoding="utf-8") for path in sources if "tests" not in path.parts]
    return {name for text in texts for name in re.findall(pattern, text)}


def test_the_table_lists_what_is_read() -> None:
    native = _read_in("native", r'"(PYMLUOPS_[A-Z_]+)"')
    python = _read_in("pymluops", r'"(PYMLUOPS_[A-Z_]+)"')
    assert {"PYMLUOPS_NUM_THREADS", "PYMLUOPS_SIM_CHECK"} <= native
    table = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(PYMLUOPS_[A-Z_]+)` \|", table, re.MULTILINE)
    assert sorted(listed) == sorted(_environment.NAMES) == sorted(native | python)
