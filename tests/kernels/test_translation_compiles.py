"""Translated BANG C through host compilers: it runs, and what compilers say names the lines of the source."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pymluops.sim.translator import translate

HERE = Path(__file__).resolve().parent / "translated"
INCLUDE = HERE.parents[2] / "native" / "sim" / "include"
OLDEST_CLANG = 15  # the first with _Float16 on x86-64


def compilers() -> list[str]:
    """Return g++ or what CXX names, and the newest clang++ if it is new enough."""
    for name in (*(f"clang++-{number}" for number in range(25, OLDEST_CLANG - 1, -1)), "clang++"):
        if shutil.which(name):
            said = subprocess.run([name, "-dumpversion"], capture_output=True, text=True, check=True).stdout
            new = int(said.partition(".")[0]) >= OLDEST_CLANG
            return [os.environ.get("CXX", "g++"), *([name] if new else [])]
    return [os.environ.get("CXX", "g++")]


COMPILERS = compilers()

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
SIZES = ["-D__MLU_NRAM_SIZE__=768", "-D__MLU_WRAM_SIZE__=1024", "-D__MLU_SRAM_SIZE__=4096"]
OPTIONS = ["-std=c++17", "-D__BANG__=1", "-D__BANG_ARCH__=372", *SIZES, f"-I{INCLUDE}"]


def compiled(compiler: str, folder: Path, sources: dict[str, str], *options: str) -> tuple[Path, str]:
    """The program made of translated sources and the runtime, and what the compiler said."""
    files = [HERE / "runtime.cpp"]
    for name, text in sources.items():
        files.append(folder / f"translated-{name}.cpp")
        files[-1].write_text(translate(text, name), encoding="utf-8")
    program = folder / "program"
    command = [compiler, *OPTIONS, *options, *map(str, files), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode == 0) == program.exists()
    return program, done.stderr


def printed(compiler: str, folder: Path, sources: dict[str, str], *options: str) -> str:
    """What the program made of translated sources prints."""
    program, said = compiled(compiler, folder, sources, *WARNINGS, *options)
    assert said == ""
    return subprocess.run([program], capture_output=True, text=True, timeout=60, check=True).stdout


def complaint(compiler: str, folder: Path, source: str) -> str:
    """What the compiler says about a source that it refuses."""
    program, said = compiled(compiler, folder, {"some.mlu": source}, "-fsyntax-only")
    assert not program.exists()
    return said


EVERYTHING = """\
kernel<float> 4
kernel<int> 4
kernel 2
ns::plain 1
ns::plain 2
pointer 4
many[1] 4
(calls > 0 ? ns::other : nullptr) 4
::ns::plain 4
ns::plain 4
56 107 242 7 291 56 107 242 7 291 
2234 calls, k<<<1,2,3>>>(NULL) "__nram__"
everything.mlu:{line}
"""  # noqa: W291


@pytest.mark.sampled
@pytest.mark.parametrize("optimisation", ["-O0", "-O2", "-O2 -fPIC"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_everything(compiler: str, optimisation: str, tmp_path: Path) -> None:
    source = (HERE / "everything.mlu").read_text(encoding="utf-8")
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "__LINE__" in text)
    wanted = EVERYTHING.format(line=line)
    assert printed(compiler, tmp_path, {"everything.mlu": source}, *optimisation.split()) == wanted


@pytest.mark.parametrize("compiler", COMPILERS)
def test_instrumented(compiler: str, tmp_path: Path) -> None:
    source = (HERE / "everything.mlu").read_text(encoding="utf-8")
    translated = tmp_path / "everything.cpp"
    translated.write_text(translate(source, "everything.mlu"), encoding="utf-8")
    command = [compiler, *OPTIONS, *WARNINGS, "-O2", "-g1", "-fPIC", "-fsanitize=thread", "-c", str(translated)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


FILE = """
#include <bang.h>
#include <cstdio>
__nram__ int numbers[{size}];
__mlu_global__ void {name}_kernel(int *out) {{
  numbers[0] = {size};
  *out = sizeof(numbers) + numbers[0];
}}
void {name}() {{
  int out = 0;
  {name}_kernel<<<cnrtDim3_t{{1, 1, 1}}, cnrtFuncTypeBlock, nullptr>>>(&out);
  std::printf("%d\\n", out);
}}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_file_has_arrays_of_its_own(compiler: str, tmp_path: Path) -> None:
    sources = {
        "one.mlu": FILE.format(name="one", size=2),
        "two.mlu": FILE.format(name="two", size=3) + "void one();\nint main() { one(); two(); }\n",
    }
    assert printed(compiler, tmp_path, sources) == "one_kernel 1\n10\ntwo_kernel 1\n15\n"


KERNEL = "#include <bang.h>\n__mlu_global__ void kernel(int a, float *b) {}\n"
LAUNCH = "void f(cnrtQueue_t q) {{ cnrtDim3_t d = {{1, 1, 1}};\n{}\n}}\n"


@pytest.mark.sampled("compiler", "source")
@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("\n\nint x = undeclared;\n", 3, ["undeclared"]),
        ("#include <bang.h>\n__nram__ int x[2]\n  [3]; int y = undeclared;\n", 3, ["undeclared"]),
        (KERNEL + LAUNCH.format("kernel\n  <<<d, cnrtFuncTypeBlock,\n q>>>(1,\n undeclared);"), 7, ["undeclared"]),
        (KERNEL + LAUNCH.format("kernel<<<d, cnrtFuncTypeBlock, q>>>(1);"), 4, ["kernel"]),
        (KERNEL + LAUNCH.format("kernel<<<d, 7, q>>>(1, NULL);"), 4, ["cnrtFunctionType_t"]),
        ("#include <bang.h>\n\nvoid f(int n) {\n  __nram__ int x[2] = {n, 2};\n}\n", 4, ["constant expression"]),
        ("#include <bang.h>\nvoid f(int n) {\n  __nram__ int x[n];\n}\n", 3, ["variably modified"]),
        ("#include <bang.h>\n\nalignas(256) __nram__ int x[2];\n", 3, ["x asks for too wide an alignment"]),
    ],
)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_messages_name_lines_of_the_source(
    compiler: str, source: str, line: int, words: list[str], tmp_path: Path
) -> None:
    said = complaint(compiler, tmp_path, source)
    assert f"some.mlu:{line}:" in said
    for word in words:
        assert word in said


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_extern_array_that_is_nowhere(compiler: str, tmp_path: Path) -> None:
    source = "#include <bang.h>\nnamespace a { extern __nram__ int x[2]; }\nint main() { return a::x[0]; }\n"
    program, said = compiled(compiler, tmp_path, {"some.mlu": source})
    assert not program.exists()
    assert "mlusim_array.a.x" in said
