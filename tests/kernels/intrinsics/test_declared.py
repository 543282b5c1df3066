"""What bang.h declares: for which architecture, that the library has it, that it is described and that it is tested."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kernels.intrinsics.modules import MODULES
from pymluops.sim.toolchain import CompileError, Toolchain

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ARCHS = (270, 290, 372, 592)

#: A declaration of the C API or a template is none of an intrinsic.
DECLARATION = re.compile(
    r'(?:__attribute__\(\(visibility\("default"\)\)\)|inline)\s+([\w:\s]+?)\s(__\w+)\s*\(((?:[^()]|\([^()]*\))*)\)'
)


def declarations(toolchain: Toolchain, *options: str) -> list[tuple[str, str, str]]:
    """Type, name and parameters of the intrinsics that a source finds declared."""
    command = [
        toolchain.compiler,
        "-E",
        "-P",
        "-x",
        "c++",
        "-std=c++17",
        *options,
        f"-I{toolchain.simulator.include}",
        "-",
    ]
    done = subprocess.run(command, input='#include "bang.h"\n', capture_output=True, text=True, check=True)
    # Before it come the headers of the C++ library, which have functions of such names too.
    own = done.stdout[done.stdout.index("FUSION_FSA") :]
    found = DECLARATION.findall(own.replace("mlusim_assert", "__assert"))
    return [(kind.strip(), name, " ".join(parameters.split())) for kind, name, parameters in found]


def names(toolchain: Toolchain, *options: str) -> set[str]:
    return {name for _, name, _ in declarations(toolchain, *options)} | {"__bang_printf"}


def arch_option(arch: int) -> str:
    return f"-D__BANG_ARCH__={arch}"


@pytest.mark.parametrize("arch", ARCHS)
def test_the_library_has_all_overloads(arch: int, toolchain: Toolchain) -> None:
    lines = ['#include "bang.h"', '#include "host.h"', "__mlu_entry__ void kernel(void **out) {"]
    for number, (kind, name, parameters) in enumerate(declarations(toolchain, arch_option(arch))):
        types = re.sub(r" = \w+", "", parameters)
        lines.append(f"  {kind} (*call{number})({types}) = {name};")
        lines.append(f"  out[{number}] = reinterpret_cast<void *>(call{number});")
    assert len(lines) > 1000
    # Linked with nothing undefined.
    toolchain.compile("\n".join([*lines, "}"]), arch, name="overloads.mlu", options=["-O0"])


def test_newer_architectures_have_what_older_ones_have(toolchain: Toolchain) -> None:
    older, same, newer, newest = (names(toolchain, arch_option(arch)) for arch in ARCHS)
    assert older == same
    assert older < newer < newest


FORM, NAME = "this form of `{}` needs architecture ", "`{}` needs architecture "
LACKING = {
    270: {
        "__sync()": NAME + "372 or newer",
        "__bang_lt_scalar(a, a, 1.0f, n)": NAME + "372 or newer",
        "__bang_atomic_reduce_add(a, a, n)": NAME + "372 or newer",
        "__memcpy(a, a, n, GDRAM2NRAM, 0, 0, 0, 0, 0, 0, 0, 0)": FORM + "372 or newer",
        "__bang_add(i, i, i, n)": FORM + "372 or newer",
        "__bang_float2half_rn(h, a, n)": NAME + "372 or newer",
        "__bang_half2int4_rn(q, h, n, 0)": NAME + "372 or newer",
        "n = __bang_rem(i, i, i, n)": NAME + "592 or newer",
    },
    372: {
        "__bang_div(a, a, a, n)": FORM + "592 or newer",
        "n = __bang_sum(a, n)": NAME + "592 or newer",
        "__bang_rem(i, i, 3, n)": NAME + "592 or newer",
        "__bang_add(b, b, b, n)": FORM + "592 or newer",
        "__bang_float2half_sr(h, a, i, n)": NAME + "592 or newer",
    },
}
OPERANDS = "float *a, half *h, int *i, bfloat16_t *b, int4x2_t *q, int n"


@pytest.mark.parametrize("arch", LACKING)
def test_what_an_architecture_lacks_is_a_compile_error_that_says_so(arch: int, toolchain: Toolchain) -> None:
    """In generic code as well, on the line of the call."""
    lines = [f"__mlu_func__ void function{k}({OPERANDS}) {{\n  {call};\n}}" for k, call in enumerate(LACKING[arch])]
    lines.append("template <typename T> __mlu_func__ void generic(T *a, int n) {\n  __bang_rem(a, a, a, n);\n}")
    lines.append("__mlu_entry__ void kernel(int *i, int n) { generic(i, n); }")
    source = "\n".join(['#include "bang.h"', *lines, ""])
    with pytest.raises(CompileError) as caught:
        toolchain.compile(source, arch, name="lacks.mlu", options=["-fsyntax-only"])
    wanted = [*LACKING[arch].items(), ("__bang_rem(...)", NAME + "592 or newer")]
    for number, (call, text) in enumerate(wanted):
        (name,) = re.findall(r"__\w+", call)
        sentence = re.escape(text.format(name) + f"; this is compiled for {arch}")
        assert re.search(rf"lacks\.mlu:{3 * number + 3}:.*error: .*{sentence}", str(caught.value)), call
    newest = "\n".join(['#include "bang.h"', *lines[:-2], ""]).replace("n = __bang_rem", "__bang_rem")
    toolchain.compile(newest, 592, name="has.mlu", options=["-O0"])


def test_functions_of_a_source_go_before_what_is_lacking(toolchain: Toolchain) -> None:
    """Sources write themselves what the architecture lacks."""
    source = """#include "bang.h"
__mlu_func__ void __bang_rem(const int *, const int *, const int *, int) {}
__mlu_func__ void __bang_div(float *, const float *, const float *, int) {}
template <typename T> __mlu_func__ T __bang_sum(T *, int) { return T(0); }
__mlu_entry__ void kernel(int *i, float *a, int n) {
  __bang_rem(i, i, i, n);
  __bang_div(a, a, a, n);
  a[0] = __bang_sum(a, n);
}
"""
    toolchain.compile(source, 372, name="own.mlu")


def test_a_name_that_nobody_knows(toolchain: Toolchain) -> None:
    source = '#include "bang.h"\n__mlu_entry__ void kernel(float *a, int n) {\n  __bang_transpos(a, a, n, n);\n}\n'
    with pytest.raises(CompileError, match=r"typo\.mlu:3:.*__bang_transpos.*did you mean .__bang_transpose.\?"):
        toolchain.compile(source, 592, name="typo.mlu")


@pytest.mark.sampled
@pytest.mark.parametrize("arch", ARCHS)
def test_scalar_operands_of_half_may_be_other_numbers(arch: int, toolchain: Toolchain) -> None:
    source = """#include "bang.h"
template <typename T> __mlu_func__ void step(T *p, const T *q, int n) {
  __bang_add_scalar(p, q, (T)0.5f, n);
  __bang_mul_scalar(p, p, 2.0f, n);
  __bang_ge_scalar(p, p, 1, n);
  __bang_write_value(p, n, (T)0);
  T x = std::is_same<T, half>::value ? p[0] / p[1] : p[0];
  p[0] = n > 3 ? half(0) : -x;
}
__mlu_entry__ void kernel(half *h, float *f, int n) { step(h, h, n); step(f, f, n); }
"""
    toolchain.compile(source, arch, name="scalars.mlu")


# ---- What is known of BANG C ---------------------------------------------------------------------

#: By name, how many forms an architecture of the families 2xx, 3xx and 5xx is known to have.
KNOWN = json.loads((ROOT / "tests" / "data" / "intrinsics.json").read_text(encoding="utf-8"))
#: No copy between the memories of two clusters is asynchronous, so that form is not there; and a
#: macro.
FEWER = {"__memcpy_async", "__bang_printf"}


@pytest.mark.parametrize(("place", "arch"), enumerate((270, 372, 592)))
def test_what_is_known_is_declared(place: int, arch: int, toolchain: Toolchain) -> None:
    forms = Counter(name for _, name, _ in declarations(toolchain, arch_option(arch)))
    fewer = {name: (forms[name], counts[place]) for name, counts in KNOWN.items() if forms[name] < counts[place]}
    assert {name: found for name, found in fewer.items() if name not in FEWER} == {}


# ---- The tests -----------------------------------------------------------------------------------


def test_every_intrinsic_is_called_by_a_test(toolchain: Toolchain) -> None:
    called = {call for module in MODULES for arch in (270, 372, 592) for call in module.statements(arch)}
    text = "\n".join([*called, *(path.read_text(encoding="utf-8") for path in HERE.glob("*.mlu"))])
    # assert() is the call of the other one.
    words = set(re.findall(r"\b__\w+", text)) | {"__assert_fail"}
    assert names(toolchain) - words == set()
