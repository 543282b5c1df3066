"""Macros of users: those of the command line, and those of a source that stand for words of BANG C."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang
from pymluops.bang._compilers import find_compiler
from pymluops.bang.driver import main
from pymluops.sim.toolchain import Simulator, run_tool

#: Uses every macro of the headers that a translated source uses.
SOURCE = """
__nram__ float buffer_[64];
__mlu_shared__ float first_[2] = {3, 4};
__mlu_const__ int table_[2] = {5, 6};
extern __nram__ float buffer_[64];
template <typename U_>
__mlu_entry__ void scale_(U_ *x_) {
  x_[taskId] *= 2;
}
__mlu_entry__ void double_(float *x_) {
  __nram__ __attribute__((aligned(64))) float local_[2] = {1, 2};
  __wram__ float weights_[64];
  __memcpy(buffer_, x_, 256, GDRAM2NRAM);
  __bang_add(buffer_, buffer_, buffer_, 64);
  __memcpy(x_, buffer_, 256, NRAM2GDRAM);
  x_[0] += local_[1] + first_[0] + table_[1];
  x_[1] = sizeof weights_;  // mlusim: allow(race)
}
namespace inner_ {
void launch_(float *x_) {
  double_<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x_);
  scale_<float><<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x_);
  CNRT_CHECK(cnrtQueueSync(nullptr));
}
}  // namespace inner_
"""
#: Names that a translated source may not make macros of: those that begin so, and those of the
#: language and of system headers.
RESERVED = re.compile(r"_|mlusim(_|[A-Z]|$)|MLUSIM_|mluops_module(_|$)|MLUOPS_MODULE_|NDEBUG|cnrt|printf|fprintf|exit")
KEYWORDS = re.compile(
    r"and|or|not|xor|alignas|alignof|asm|auto|bool|break|case|catch|char|class|const|constexpr|const_cast|continue|"
    r"decltype|default|delete|do|double|dynamic_cast|else|enum|explicit|extern|false|final|float|for|friend|goto|if|"
    r"inline|int|long|namespace|new|noexcept|nullptr|operator|private|protected|public|register|reinterpret_cast|"
    r"return|short|signed|sizeof|static|static_assert|static_cast|struct|switch|template|this|throw|true|try|"
    r"typedef|typeid|typename|union|unsigned|using|virtual|void|volatile|wchar_t|while|override"
)


def words_of_headers() -> list[str]:
    """Every name in the headers that a macro may have and that the source does not use itself."""
    folder = Simulator.installed().include
    text = "\n".join(path.read_text() for path in folder.rglob("*.h") if "mluops_ext" not in path.parts)
    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", " ", text, flags=re.DOTALL)
    defined = set(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.MULTILINE))
    asked = set(re.findall(r"\w+", "\n".join(re.findall(r"^\s*#\s*(?:el)?if\w*(.*)", code, re.MULTILINE))))
    header = str(folder / "mluops_module.h")
    macros = run_tool([*find_compiler().command, "-std=c++17", f"-I{folder}", "-dM", "-E", "-x", "c++", header])
    defined |= set(re.findall(r"^#define (\w+)", macros, re.MULTILINE))  # by system headers
    words = set(re.findall(r"\b[A-Za-z]\w*", code)) - defined - asked
    used = set(re.findall(r"\w+", SOURCE))
    return sorted(word for word in words - used if not RESERVED.match(word) and not KEYWORDS.fullmatch(word))


def test_names_of_the_headers_are_free_for_macros() -> None:
    """For parameters, templates, variables and types of ours alike: nothing sees the macros but the source."""
    words = words_of_headers()
    assert len(words) > 500
    assert {"T", "dim", "type", "queue", "Type", "bytes", "Parameters", "n"} <= set(words)
    module = bang.compile(SOURCE, defines=dict.fromkeys(words, "?"))
    x = np.arange(64, dtype=np.float32)
    module.kernel("double_")[1](x)
    assert list(x[:3]) == [11, 256, 4]
    module.kernel("scale_<float>")[1](x)
    assert x[0] == 22
    on_device = pymluops.DeviceArray.from_host(x)
    module.function("inner_::launch_")(on_device)
    assert list(on_device.to_host()[:3]) == [110, 256, 8]


@pytest.mark.parametrize("suffix", [".mlu", ".cpp"])
def test_macros_of_the_command_line_are_those_of_the_source(suffix: str, tmp_path: Path) -> None:
    """Also in headers that options include, and for the preprocessor."""
    (tmp_path / "more.h").write_text("inline T twice(T x) { return 2 * x; }\n")
    lines = ["#include <cn_api.h>", "#ifndef dim", "#error", "#endif", "int main() {", "  T x = dim;"]
    lines += ["  return twice(x) == add(N) && queue == 1 ? 0 : 1;", "}"]
    (tmp_path / f"a{suffix}").write_text("\n".join(lines))
    options = ["-DT=float", "-D", "dim=4", "-DN=3", "-Dadd(x)=x+5", "-Dqueue", "-Dptr=?", "-Uptr"]
    options += ["-include", str(tmp_path / "more.h")]
    assert main([*options, str(tmp_path / f"a{suffix}"), "-o", str(tmp_path / "a")]) == 0


def test_macros_for_system_headers_come_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = ["#define _GNU_SOURCE", "#include <sched.h>", "#include <cnrt.h>", "int main(void) {", "  cpu_set_t set;"]
    lines += ["  CPU_ZERO(&set);", "  return CPU_COUNT(&set) + queue - 1;", "}"]
    (tmp_path / "a.c").write_text("\n".join(lines))
    assert main(["-Wall", "-std=c11", "-Dqueue=1", str(tmp_path / "a.c"), "-o", str(tmp_path / "a")]) == 0
    assert capfd.readouterr().err == ""


# ---- Macros that stand for words of BANG C -------------------------------------------------------

WORDS = """
#ifdef __BANG__
#define NRAM __nram__
#else
#define NRAM
#endif
#define ON_CHIP static NRAM
#define KERNEL __mlu_global__ void
#define INNER static __mlu_func__
#define BUFFER(name) NRAM float name[64]
NRAM float a[64];
ON_CHIP float b[2] = {1, 2};
BUFFER(c);
INNER void add(float *x, SHARED float *y) { *x += *y; }
KERNEL plain(float *x) {
  SHARED float s[2];
  NRAM int n = 3;
  WEIGHTS float w[64];
  __memcpy(a, x, 256, GDRAM2NRAM);
  c[0] = sizeof w;
  s[1] = 100;
  add(&a[0], s + 1);
  x[0] = a[0] + b[1] + c[0] + n;
}
"""


def test_macros_stand_for_words() -> None:
    module = bang.compile(WORDS, defines={"SHARED": "__mlu_shared__", "WEIGHTS": "__wram__"})
    x = np.ones(64, np.float32)
    module.kernel("plain")[1](x)
    assert x[0] == 1 + 100 + 2 + 256 + 3


# ---- Macros that declare variables, or launch ----------------------------------------------------

TWICE = """
#define ARRAY(name, n) \\
  __nram__ float name[n]  // both
#define PAIR(name) ARRAY(name##_a, 4); ARRAY(name##_b, 8)
#define BLOCK(x) { ARRAY(inside, 16); x[4] = sizeof inside; }
#define LAUNCH(kernel) kernel<<<dim, cnrtFuncTypeBlock, queue>>>
ARRAY(outer, 64);
PAIR(of_file);
namespace inner {
ARRAY(outer, 32);
}
__mlu_entry__ void f(float *x) {
  ARRAY(local, 2);
  PAIR(local);
  BLOCK(x)
  x[0] = sizeof(outer) + sizeof(of_file_b);
  x[1] = sizeof(local) + sizeof(local_a) + sizeof(inner::outer);
  x[2] = __LINE__;
}
#undef ARRAY
#define ARRAY(name, n) float name[n]
__mlu_entry__ void g(float *x) {
  ARRAY(local, 3);
  decltype(outer) *p = &outer, copy;
  __nram__ decltype(local) other;
  (*p)[0] = 7;
  x[0] = outer[0] + sizeof(copy) + sizeof(other);
  x[1] = __LINE__;
}
void run(cnrtDim3_t dim, cnrtQueue_t queue, float *x) {
  LAUNCH(g)(x);
  f<<<dim,
#ifdef UNION
      cnrtFuncTypeUnion1,
#else
      cnrtFuncTypeBlock,
#endif
      queue>>>(x + 8);
  cnrtQueueSync(queue);
}
int here() { return __LINE__; }
"""


@pytest.mark.parametrize("defines", [{}, {"UNION": 1}])
def test_a_macro_declares_at_file_scope_and_in_functions(defines: dict[str, int]) -> None:
    lines = TWICE.splitlines()
    module = bang.compile(TWICE, defines=defines)
    x = np.zeros(16, np.float32)
    module.kernel("f")[1](x)
    line = lines.index("  x[2] = __LINE__;") + 1
    assert list(x[:5]) == [64 * 4 + 32, 8 + 16 + 128, line, 0, 64]
    module.kernel("g")[1](x)
    assert list(x[:2]) == [7 + 256 + 12, lines.index("  x[1] = __LINE__;") + 1]
    assert module.function("here")() == len(lines)
    assert str(module.functions["run"]).startswith("run(")


def test_an_error_in_such_a_macro_has_its_line() -> None:
    text = "#define ARRAY(name) __nram__ float name[64]\nARRAY(a);\n__mlu_entry__ void f(float *x) {\n  ARRAY(b);\n"
    with pytest.raises(bang.CompileError, match=r":5:") as error:
        bang.compile(text + "  ARRAY(c) nothing;\n}\n")
    assert "mlusim_own" not in str(error.value)


def test_a_macro_names_an_array() -> None:
    """And macros of a source may have the names that the translation uses for itself."""
    lines = [
        "#define ended other",
        "#undef ended",
        "__nram__ float ended[2];",
        "#define array arr",
        "#define launch go",
        "#define unit 3",
        "#define deep deeper",
        "#define deeper deepest",
    ]
    lines += ["__nram__ float deep[4] = {1, 2};", "static int launch() { return unit; }"]
    lines += ["__mlu_entry__ void f(float *x) {", "  __nram__ float array[4];", "  decltype(array) *p = &array;"]
    lines += ["  array[0] = launch();", "  x[0] = (*p)[0] + arr[0] + deepest[1] + sizeof ended;", "}"]
    out = np.zeros(1, np.float32)
    bang.compile("\n".join(lines) + "\n").kernel("f")[1](out)
    assert out[0] == 8 + 8
