"""What Clang has and other compilers lack: options, vectors, functions of the compiler, files of options."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pymluops import bang
from pymluops.bang._clang_options import for_compiler
from pymluops.bang._options import UsageError, read_options
from pymluops.bang.driver import main

OPTIONS = (
    "-fcolor-diagnostics -fno-color-diagnostics -ferror-limit=3 -fbracket-depth=999 -fdiagnostics-absolute-paths "
    "-fdiagnostics-show-category=name -fdiagnostics-show-option -fdiagnostics-format=clang -Qunused-arguments "
    "-fcaret-diagnostics -fno-spell-checking -Rpass=inline -gline-tables-only -fstandalone-debug -fno-elide-type"
)
KERNEL = """
typedef float float4 __attribute__((ext_vector_type(4)));
typedef __attribute__((ext_vector_type(8))) unsigned int uint8v;
using half2 = half __attribute__((ext_vector_type(2)));
__mlu_entry__ void f(float *x, int n) {
  __builtin_assume(n > 0);
  float4 a = {1, 2, 3, 4}, b = a + a;
  uint8v c = {5};
  half2 h = {1, 2};
  x[0] = b[3] + c[0] + (float)h[1];
  if (__builtin_unpredictable(n == 3)) x[1] = sizeof(float4) + sizeof(uint8v);
}
"""


@pytest.mark.parametrize("suffix", [".mlu", ".cpp"])
def test_options_of_clang(suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / f"a{suffix}").write_text("inline int f(int n) { __builtin_assume(n > 0); return n; }\n")
    assert main(["-c", str(tmp_path / f"a{suffix}"), "-o", str(tmp_path / "a.o"), *OPTIONS.split()]) == 0
    assert capfd.readouterr().err == ""
    assert (tmp_path / "a.o").stat().st_size > 0


def test_the_nearest_option_is_taken() -> None:
    given = ["-ferror-limit=3", "-fno-color-diagnostics", "-fbracket-depth=2", "-Weverything", "-O2", "-fno-such"]
    wanted = ["-fmax-errors=3", "-fdiagnostics-color=never", "-Wall", "-Wextra", "-O2", "-fno-such"]
    assert for_compiler(given, "GNU") == wanted
    assert for_compiler(given, "Clang") == given


def test_a_limit_of_errors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.mlu").write_text("".join(f"void f{i}() {{ no_{i}; }}\n" for i in range(9)))
    assert main(["-fsyntax-only", "-ferror-limit=2", "-fcolor-diagnostics", str(tmp_path / "a.mlu")]) == 1
    said = capfd.readouterr().err
    assert said.count(": error: ") == 2
    assert "\x1b" not in said


@pytest.mark.parametrize("suffix", [".mlu", ".cpp", ".c"])
def test_only_the_syntax(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"good{suffix}").write_text("int f(int x) { return x; }\n")
    (tmp_path / f"bad{suffix}").write_text("int f(int x) { return x }\n")
    assert main(["-fsyntax-only", f"good{suffix}"]) == 0
    assert main(["-fsyntax-only", f"bad{suffix}"]) == 1
    assert f"bad{suffix}:1:" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"bad{suffix}", f"good{suffix}"]


def test_files_of_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inner").write_text("-D'A=1 2'\n\"-Ia b\"")
    Path("outer").write_text("-c a.mlu @inner\n-O2")
    options = read_options(["@outer", "-o", "a.o", "@none"])
    assert (options.preprocessor, options.include_dirs) == (["-D", "A=1 2"], ["a b"])
    assert (options.compiler, [name for name, _ in options.inputs]) == (["-O2"], ["a.mlu", "@none"])
    Path("inner").write_text("@inner")
    with pytest.raises(UsageError, match="@inner: files of options name each other more than 32 deep"):
        read_options(["@inner"])
    Path("inner").write_text("'open")
    with pytest.raises(UsageError, match="@inner: a quotation is not closed"):
        read_options(["@inner"])


def test_vectors_and_functions_of_the_compiler() -> None:
    x = np.zeros(2, np.float32)
    bang.compile(KERNEL).kernel("f")[1](x, 3)
    assert list(x) == [8 + 5 + 2, 16 + 32]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("typedef float v __attribute__((ext_vector_type(3)));", "expected 2, 4, 8 or another power of two, got 3"),
        ("float x __attribute__((ext_vector_type(4)));", "is understood in a `typedef` and in `using` only"),
    ],
)
def test_vectors_that_the_compiler_cannot_have(text: str, said: str) -> None:
    with pytest.raises(bang.CompileError, match=f":2: ext_vector_type:? {said}"):
        bang.compile(f"__nram__ int x0;\n{text}\n")
