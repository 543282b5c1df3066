"""Warnings of `bangcc` and `bang.compile`: those of Clang, whichever compiler is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymluops import bang
from pymluops.bang._compilers import find_compiler
from pymluops.bang._warnings import as_clang_warns
from pymluops.bang.driver import main

#: Each function has a warning in GCC's -Wall that Clang's -Wall has not.
ACCEPTED = """#include <cstring>
struct Pair { Pair() {} int first, second; };
int compare(int a, unsigned b) { return a < b; }
int bits(float x) { return *(int *)&x; }
int unused(int a) { int twice; twice = 2 * a; return a; }
void clear(Pair *pair) { memset(pair, 0, sizeof *pair); }
int maybe(int a, int b) { int found; for (int i = 0; i < a; ++i) { if (i == b) found = i; } return b < a ? found : 0; }
"""
#: Warnings that both have.
REFUSED = {
    "unused-variable": "int f() { int x = 0; return 1; }",
    "return-type": "int f(int x) { if (x) return 1; }",
    "reorder": "struct S { int a, b; S() : b(1), a(b) {} };",
    "parentheses": "int f(int a) { if (a = 1) return 2; return 3; }",
}
STRICT = ["-O2", "-Wall", "-Werror"]


def bangcc(folder: Path, text: str, suffix: str, *options: str) -> int:
    (folder / f"source{suffix}").write_text(text)
    return main(["-c", str(folder / f"source{suffix}"), "-o", str(folder / "out.o"), *STRICT, *options])


@pytest.mark.parametrize("suffix", [".mlu", ".cpp"])
def test_what_clang_accepts(suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert bangcc(tmp_path, ACCEPTED, suffix) == 0
    assert capfd.readouterr().err == ""


def test_in_the_process() -> None:
    bang.compile(ACCEPTED + "__mlu_entry__ void k(int *x) { x[0] = compare(1, 2); }", options=STRICT)


@pytest.mark.parametrize("name", REFUSED)
def test_what_clang_refuses(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert bangcc(tmp_path, REFUSED[name], ".mlu") == 1
    assert f"-Werror={name}" in capfd.readouterr().err.replace("-Werror,-W", "-Werror=")


def test_a_named_warning_stays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for option in ("-Wsign-compare", "-Wextra"):
        assert bangcc(tmp_path, "int compare(int a, unsigned b) { return a < b; }\n", ".cpp", option) == 1
        assert "sign-compare" in capfd.readouterr().err


def test_names_that_only_one_compiler_knows(tmp_path: Path) -> None:
    assert bangcc(tmp_path, "int f();\n", ".cpp", "-Wno-unused-private-field", "-Weverything", "-Wmost") == 0
    compiler = find_compiler()
    words = ["-Wmaybe-uninitialized", "-Wthread-safety-beta", "-Wa,-W", "-O2"]
    known = as_clang_warns(words, compiler.command, compiler.kind)
    assert len([word for word in known if word in words[:2]]) == 1
    assert known[-2:] == words[2:]


def test_sources_in_c_have_warnings_of_their_own_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Options for C++, and names that the compiler does not know, are not told to be wrong."""
    (tmp_path / "a.c").write_text("int f(void) { int x; return 0; }\n")
    options = ["-Wall", "-Wextra", "-Wnon-virtual-dtor", "-Wno-odd-warning"]
    assert main([*options, "-c", str(tmp_path / "a.c"), "-o", str(tmp_path / "a.o")]) == 0
    said = capfd.readouterr().err
    assert "unused-variable" in said
    assert "command-line option" not in said


@pytest.mark.parametrize("suffix", [".mlu", ".cpp"])
def test_pragmas_of_clang(suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "int f(int n) {\n#pragma clang loop unroll(full)\n  for (int i = 0; i < n; ++i) n += i;\n  return n;\n}\n"
    assert bangcc(tmp_path, text, suffix) == 0
    assert capfd.readouterr().err == ""
