"""What bang.h declares: for which architecture, that the library has it, that it is described and that it is tested."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from kernels.intrinsics import (
    test_atomic,
    test_convert,
    test_elementwise,
    test_layout,
    test_math,
    test_matrix,
    test_pool_back,
    test_pool_index,
    test_reduce,
)
from pymluops.sim.toolchain import CompileError, Toolchain

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[2] / "docs" / "simulator-intrinsics.md"
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


@pytest.mark.sampled("without", "having")
@pytest.mark.parametrize(
    ("call", "without", "having"),
    [
        ("__sync()", 270, 372),
        ("__bang_lt_scalar(a, a, 1.0f, n)", 290, 372),
        ("__bang_atomic_reduce_add(a, a, n)", 270, 592),
        ("__memcpy(a, a, n, GDRAM2NRAM, 0, 0, 0, 0, 0, 0, 0, 0)", 270, 372),
        ("__bang_add(i, i, i, n)", 270, 372),
        ("__bang_div(a, a, a, n)", 372, 592),
        ("__bang_sum(a, n)", 372, 592),
        ("__bang_add(b, b, b, n)", 372, 592),
        ("__bang_float2half_rn(h, a, n)", 270, 372),
    ],
)
def test_what_an_architecture_lacks_is_a_compile_error(
    call: str, without: int, having: int, toolchain: Toolchain
) -> None:
    parameters = "float *a, half *h, int *i, bfloat16_t *b, int n"
    source = f'#include "bang.h"\n__mlu_entry__ void kernel({parameters}) {{\n  {call};\n}}\n'
    toolchain.compile(source, having, name="has.mlu")
    with pytest.raises(CompileError, match=r"lacks\.mlu:3.*error"):
        toolchain.compile(source, without, name="lacks.mlu")


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


# ---- The document ----------------------------------------------------------------------------------------------------


def expanded(pattern: str) -> Iterator[str]:
    """``__bang_{add,sub}`` is two names."""
    parts = re.split(r"\{([^}]*)\}", pattern)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return ("".join(chosen) for chosen in product(*choices))


def described() -> list[str]:
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    found = []
    for row in rows:
        intrinsics, what, known = (cell.strip() for cell in row.strip("|").split(" | "))
        assert what
        assert known in ("documented", "inferred")
        found += [name for pattern in re.findall(r"`([^`]+)`", intrinsics) for name in expanded(pattern)]
    return found


def test_every_intrinsic_is_described_once(toolchain: Toolchain) -> None:
    found = described()
    assert sorted(found) == sorted(set(found))
    assert set(found) == names(toolchain)


# ---- The tests -------------------------------------------------------------------------------------------------------


def test_every_intrinsic_is_called_by_a_test(toolchain: Toolchain) -> None:
    modules = (
        test_atomic,
        test_convert,
        test_elementwise,
        test_layout,
        test_math,
        test_matrix,
        test_pool_back,
        test_pool_index,
        test_reduce,
    )
    called = {call for module in modules for arch in (270, 372, 592) for call in module.statements(arch)}
    text = "\n".join([*called, *(path.read_text(encoding="utf-8") for path in HERE.glob("*.mlu"))])
    # assert() is the call of the other one.
    words = set(re.findall(r"\b__\w+", text)) | {"__assert_fail"}
    assert names(toolchain) - words == set()
