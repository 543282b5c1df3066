"""Every builtin function of GCC that takes a pointer, in a kernel: the checkers see what it does, or it is refused."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import pytest

from pymluops.bang._compilers import find_compiler
from pymluops.bang._device_functions import Functions
from pymluops.bang._elf import Elf, Reference
from pymluops.bang._final_code import DUMP
from pymluops.bang._host_calls import read_unseen
from pymluops.sim.toolchain import Simulator, kernel_options

#: A name, whether it returns something, its parameters (pointer, number, float, other value), and
#: the number to use.
LIST = Path(__file__).parent.parent / "data" / "builtins_gcc.list"
#: Extensions of x86-64 that the functions need.
MACHINE = """
    avx512f avx512bw avx512vl avx512dq avx512cd avx512vbmi avx512vbmi2 avx512er avx512pf avx512ifma avx512fp16 avxvnni
    avx2 avx fma sse4a xop fma4 3dnow 3dnowa clflushopt clwb clzero mwaitx movdiri movdir64b enqcmd fsgsbase fxsr xsave
    xsaveopt xsavec xsaves pku rdrnd rdseed rtm shstk sgx waitpkg prfchw amx-tile amx-int8 amx-bf16 kl widekl cldemote
    ptwrite lwp uintr serialize aes pclmul sha gfni vaes vpclmulqdq cx16 movbe
"""
HEAD = """
struct P { char *p; template <class T> operator T *() const { return (T *)p; } };
struct Z { template <class T> operator T() const { return T{}; } };
extern "C" void sink(int, ...);
"""
FIRST = HEAD.count("\n") + 1
#: These access nothing behind the pointer: they compute with it, or ask about its object. The stack
#: that is set back at the end of a function is not set back at all.
HARMLESS = re.compile(
    r"__builtin_(?:(?:dynamic_)?object_size|assume_aligned|extract_return_addr|va_end|stack_restore)"
    r"|__atomic_(?:is|always)_lock_free"
)


def call_of(name: str, returns: str, parameters: str, number: str) -> str:
    pointers = iter("abcabcabc")
    values = {"n": number, "f": "v", "v": "Z{}"}
    call = f"{name}({', '.join((values.get(letter) or next(pointers)) for letter in parameters)})"
    return f"{{ auto r = {call}; sink(0, r); }}" if returns == "r" else f"{call};"


def is_accepted(option: str) -> bool:
    command = [*find_compiler().command, option, "-x", "c++", "-fsyntax-only", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compiled(folder: Path) -> tuple[dict[str, str], Path, Path]:
    """Compile a function for each builtin; return their names with those of the builtins, the object and the dump."""
    rows = [line.split() for line in LIST.read_text(encoding="ascii").splitlines()]
    machine = [f"-m{name}" for name in MACHINE.split() if is_accepted(f"-m{name}")]
    include = ("-isystem", str(Simulator.installed().include))
    words = [*kernel_options(592, "GNU"), "-O2", "-ffunction-sections", *include, "-w", "-fmax-errors=0", *machine]
    source, target, dump = folder / "builtins.cpp", folder / "builtins.o", folder / "dump"
    for _ in range(100):
        functions = {f"use_{row[0]}": row for row in rows}
        parameters = "(char *p, char *q, char *r, float v) { P a{p}, b{q}, c{r}; "
        lines = [f'extern "C" void {name}{parameters}{call_of(*row)} }}\n' for name, row in functions.items()]
        source.write_text(HEAD + "".join(lines))
        command = [*find_compiler().command, *words, "-c", str(source), "-o", str(target), f"{DUMP}{dump}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return {name: row[0] for name, row in functions.items()}, target, dump
        # Another version lacks some of them, or wants other numbers.
        said = rf"{re.escape(str(source))}:(\d+):(?:\d+:)? (?:sorry|error|fatal|internal|confused)"
        wrong = {int(number) - FIRST for number in re.findall(said, done.stderr)}
        assert wrong, done.stderr[:2000]
        rows = [row for at, row in enumerate(rows) if at not in wrong]
    raise AssertionError("the compiler takes none of the lists")


def is_refused(references: list[Reference], functions: Functions) -> bool:
    return any(functions.are_of_host(each.name) or each.name.startswith("__tsan_atomic128") for each in references)


@pytest.mark.thorough
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the list is that of x86-64")
def test_every_builtin_with_a_pointer_is_seen_or_refused(tmp_path: Path, gcc_on_x86: None) -> None:
    builtins, target, dump = compiled(tmp_path)
    data = target.read_bytes()
    elf, contents = Elf(data), read_unseen(data, dump, "GNU", lambda _: False)
    functions = Functions(Simulator.installed().library, find_compiler().command)
    roots = {each.name: each for each in elf.functions}
    missed: list[str] = []
    for name, builtin in builtins.items():
        reached, references = elf.reached([roots[name]])
        seen = any(re.match(r"__tsan_(?!init|func)|mlusim_", each.name) for each in references)
        # A name that no library has is an error of the linker.
        lost = any(not functions.are_allowed(each.name) and each.name != "sink" for each in references)
        refused = is_refused(references, functions) or any(contents.get(each) for each in reached) or lost
        if not (seen or refused or HARMLESS.fullmatch(builtin)):
            missed.append(builtin)
    assert missed == []
    assert len(builtins) >= 400, f"the compiler has {len(builtins)} of the list"
