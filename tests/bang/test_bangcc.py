"""`bangcc`: options, programs and libraries, headers, dependencies, and the folder that stands for the toolkit."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import pymluops
from pymluops import bang, sim
from pymluops.bang._options import Options, read_options
from pymluops.bang.driver import main

FOREIGN = Path(__file__).resolve().parent / "foreign"

HEADER = """#pragma once
__nram__ float buffer[64];
__mlu_func__ void twice(float *x) {
  __memcpy(buffer, x, 256, GDRAM2NRAM);
  __bang_add(buffer, buffer, buffer, 64);
  __memcpy(x, buffer, 256, NRAM2GDRAM);
}
void launch_twice(cnrtDim3_t dim, cnrtQueue_t queue, float *x);
"""
KERNEL = """#include "twice.mluh"
__mlu_entry__ void kernel(float *x) { twice(x + taskId * 64); }
void launch_twice(cnrtDim3_t dim, cnrtQueue_t queue, float *x) {
  kernel<<<dim, cnrtFuncTypeBlock, queue>>>(x);
}
"""
PROGRAM = """#include <cstdio>
#include <cnrt.h>
#include "twice.mluh"
int main() {
  float host[256];
  for (int i = 0; i < 256; ++i) host[i] = i;
  float *device = nullptr;
  cnrtMalloc((void **)&device, sizeof host);
  cnrtMemcpy(device, host, sizeof host, cnrtMemcpyHostToDev);
  cnrtQueue_t queue;
  cnrtQueueCreate(&queue);
  launch_twice({4, 1, 1}, queue, device);
  const int status = cnrtQueueSync(queue);
  cnrtMemcpy(host, device, sizeof host, cnrtMemcpyDevToHost);
  std::printf("%d %g %g\\n", status, host[1], host[255]);
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a header, a kernel and a program, which is the working directory."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "twice.mluh").write_text(HEADER)
    (tmp_path / "kernel.mlu").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(program: str | Path, **environment: str) -> str:
    env = {**os.environ, "PYMLUOPS_SIM_DEVICE": "", **environment}
    done = subprocess.run([str(program)], env=env, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


# ---- Options -------------------------------------------------------------------------------------


def test_options_of_foreign_build_files() -> None:
    line = (
        "-c a.mlu -o a.o -std=c++11 -O3 -DNDEBUG -D A=1 -I inc -Iother -fPIC -pthread -Wall -Werror --neuware-path=/x "
        "--no-neuware-version-check -Xbang-cnas -O1 -mllvm -x=y -fbang-instrument-kernels --bang-device-only "
        "--bang-stack-on-ldram -g3 --bang-mlu-arch=mtp_372 -lstdc++"
    )
    options = read_options(line.split())
    assert (options.step, options.output, options.arch) == ("-c", "a.o", 372)
    assert options.inputs == [("a.mlu", "device")]
    assert options.preprocessor == ["-D", "NDEBUG", "-D", "A=1"]
    assert options.include_dirs == ["inc", "other"]
    assert options.compiler == ["-O3", "-fPIC", "-pthread", "-Wall", "-Werror", "-g3"]
    assert options.linker == ["a.mlu", "-pthread", "-lstdc++"]


@pytest.mark.parametrize(
    ("words", "arch"),
    [
        ([], 592),
        (["--bang-mlu-arch=MLU270"], 270),
        (["--bang-mlu-arch=mtp_372", "--bang-mlu-arch=mtp_592", "--bang-mlu-arch=mtp_613"], 592),
        (["--bang-arch=compute_50"], 592),
        (["--bang-arch=compute_37"], 372),
        (["--bang-mlu-arch", "mtp_290"], 290),
    ],
)
def test_architectures(words: list[str], arch: int) -> None:
    assert read_options(["a.o", *words]).arch == arch


def test_several_architectures() -> None:
    words = ["--bang-mlu-arch=mtp_592", "--bang-mlu-arch=mtp_613", "--bang-arch=mtp_372", "--bang-mlu-arch=MLU590"]
    assert read_options(["a.o", *words]).all_archs == [372, 592]


def test_functions_choose_their_architecture_when_they_are_called(project: Path) -> None:
    """By the device of the moment: launches, kernels whose address is taken, inline functions and variables."""
    (project / "arch.mlu").write_text(
        "__nram__ int seen[1];\nstatic int calls = 0;\n"
        "template <int n> inline int of_template() { return n * 1000 + __BANG_ARCH__; }\n"
        'extern "C" __mlu_entry__ void plain(int *x) { seen[0] = __BANG_ARCH__; x[taskId] = seen[0]; }\n'
        "int run(int *x) {\n  plain<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x);\n  ++calls;\n"
        "  return of_template<2>() + calls * 10000;\n}\n"
    )
    (project / "main.cpp").write_text(
        "#include <mlusim.h>\n#include <cstdio>\n#include <initializer_list>\n"
        'int run(int *x);\nextern "C" void plain(int *x);\n'
        "int main() {\n"
        '  for (const char *card : {"MLU370-X8", "MLU590", "MLU290", "MLU370-X8"}) {\n'
        "    mlusimSetDeviceByName(card);\n    int *x, seen[2];\n    cnrtMalloc((void **)&x, 8);\n"
        "    cnrtMemset(x, 0, 8);\n"
        "    const int value = run(x);\n    int *second = x + 1;\n    void *arguments[] = {&second};\n"
        "    cnrtInvokeKernel((const void *)&plain, {1, 1, 1}, cnrtFuncTypeBlock, arguments, 0, nullptr);\n"
        "    cnrtMemcpy(seen, x, 8, cnrtMemcpyDevToHost);\n    cnrtFree(x);\n"
        '    std::printf("%d %d %d\\n", value, seen[0], seen[1]);\n  }\n}\n'
    )
    archs = ["--bang-mlu-arch=mtp_372", "--bang-mlu-arch=mtp_592"]
    assert main(["-c", "arch.mlu", *archs]) == 0
    assert main(["arch.o", "main.cpp", "-o", "program"]) == 0
    lines = run(project / "program", PYMLUOPS_SIM_CHECK="all").splitlines()
    # A device that there is no code for launches nothing. Variables are those of an architecture.
    assert lines == ["12372 372 372", "12592 592 592", "22592 0 0", "22372 372 372"]


def test_files_keep_their_places_among_libraries() -> None:
    options: Options = read_options(["a.o", "-lx", "b.cpp", "-L", "d", "-Wl,--no-as-needed", "-ly"])
    assert options.linker == ["a.o", "-lx", "b.cpp", "-Ld", "-Wl,--no-as-needed", "-ly"]
    assert options.inputs == [("a.o", ""), ("b.cpp", "host")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected files to compile or link, got none"),
        (["-o"], "-o: expected a value, got nothing"),
        (["a.mlu", "--strange"], "--strange: is no option of this compiler"),
        (["-c", "a.mlu", "b.mlu", "-o", "x"], "-o: expected one source with -c, got 2"),
        (["a.mlu", "--bang-mlu-arch=mtp_613"], "--bang-mlu-arch: expected one of mtp_270, .*, got mtp_613"),
        (["-x", "f77", "a.mlu"], "-x: expected bang, "),
        (["missing.mlu"], "missing.mlu: No such file"),
    ],
)
def test_wrong_command_lines_are_told_in_a_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) in (1, 2)
    err = capsys.readouterr().err
    assert re.match(f"bangcc: {said}", err)
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["a.mlu", "a.cpp"])
def test_messages_name_what_the_user_wrote(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And neither temporary files nor the assembler."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("int f() { return 1; }\n")
    for words in (["-c", "-o", "none/a.o"], ["-E", "-o", "none/a.i"], ["-MD", "-MF", "none/a.d", "-c", "-o", "a.o"]):
        assert main([*words, name]) == 1
        file = next(word for word in words if word.startswith("none/"))
        assert capfd.readouterr().err == f"bangcc: {file}: there is no such folder\n"
    assert main(["-c", name, "-o", str(tmp_path)]) == 1
    assert capfd.readouterr().err == f"bangcc: {tmp_path}: Is a directory\n"
    assert main(["-c", name, "-o", "a.o", "-fno-such-thing"]) == 1
    assert capfd.readouterr().err.startswith("bangcc: -fno-such-thing: is no option of this compiler, nor of ")
    assert main(["-c", name, "-o", "a.o", "-std=c++99"]) == 2
    assert capfd.readouterr().err.startswith("bangcc: -std: expected a standard of C or C++, such as c++17, got c++99")
    assert main(["-c", name, "-o", "a.o", "-flto"]) == 0
    assert capfd.readouterr().err == ""


def test_the_version_can_be_read_by_build_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.match(r"\w+ v4\.\d+\.\d+\n", capsys.readouterr().out)


# ---- Programs and libraries ----------------------------------------------------------------------


def test_a_program_of_objects(project: Path) -> None:
    common = ["-I", "include", "-std=c++11", "-O2", "-Wall", "-Werror"]
    assert main(["-c", "kernel.mlu", "-o", "kernel.o", "-MMD", "-MP", *common]) == 0
    assert (project / "kernel.d").read_text() == ("kernel.o: kernel.mlu include/twice.mluh\ninclude/twice.mluh:\n")
    assert main(["kernel.o", "main.cpp", "-o", "program", "-lcnrt", "-lcndrv", *common]) == 0
    assert run(project / "program") == "0 2 510\n"


@pytest.mark.thorough
def test_a_program_takes_the_card_of_its_architecture(project: Path) -> None:
    (project / "card.mlu").write_text(
        "#include <cstdio>\nint main() {\n  int clusters = 0;\n"
        "  cnrtDeviceGetAttribute(&clusters, cnrtAttrClusterCount, 0);\n"
        '  std::printf("%d\\n", clusters);\n}\n'
    )
    assert main(["card.mlu", "-o", "card"]) == 0
    assert run(project / "card") == "12\n"
    assert run(project / "card", PYMLUOPS_SIM_DEVICE="MLU290") == "16\n"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(project / "card", PYMLUOPS_SIM_DEVICE="other")
    assert "PYMLUOPS_SIM_DEVICE: mlusimSetDeviceByName: " in caught.value.stderr


def test_a_program_tells_what_was_found_on_the_line_of_the_header(project: Path) -> None:
    header = project / "include" / "twice.mluh"
    header.write_text(HEADER.replace("__memcpy(buffer, x, 256", "__memcpy(buffer, x + 1, 256"))
    assert main(["-Iinclude", "kernel.mlu", "main.cpp", "-o", "program"]) == 0
    env = {**os.environ, "PYMLUOPS_SIM_DEVICE": "", "PYMLUOPS_SIM_CHECK": "memory"}
    done = subprocess.run(["./program"], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("100132 ")
    (line,) = done.stderr.splitlines()
    assert line.startswith("include/twice.mluh:4: memory/out-of-bounds: __memcpy reads")
    assert line.endswith("(kernel, task 3)")


def test_an_error_names_what_the_architecture_lacks(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "rem.mlu").write_text("__mlu_entry__ void f(int *x, int n) {\n  __bang_rem(x, x, x, n);\n}\n")
    assert main(["-c", "rem.mlu", "--bang-mlu-arch=mtp_372"]) == 1
    wanted = r"(?m)^rem\.mlu:2:\d+: error: .*`__bang_rem` needs architecture 592 or newer; this is compiled for 372$"
    assert re.search(wanted, capfd.readouterr().err)


def test_an_error_names_the_line_of_the_header(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "include" / "twice.mluh").write_text(HEADER.replace("buffer, 64);", "nowhere, 64);"))
    assert main(["-Iinclude", "-c", "kernel.mlu"]) == 1
    assert re.search(r"(?m)^include/twice\.mluh:5:\d+: error: ", capfd.readouterr().err)
    assert not (project / "kernel.o").exists()


def test_warnings_are_told_each_time(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "warn.mlu").write_text("__mlu_entry__ void f() { int unused; }\n")
    for _ in range(2):
        assert main(["-c", "warn.mlu", "-Wunused-variable"]) == 0
        assert "warn.mlu:1:" in capfd.readouterr().err


def test_a_foreign_library_of_operators_is_a_backend(project: Path) -> None:
    """Its own functions are called, also where the simulator's library has one of the same name."""
    (project / "operators.mlu").write_text(
        "#include <cstdlib>\n"
        '__mlu_entry__ void set(int *x) { x[taskId] = 7; }\nextern "C" {\n'
        "int mluOpCreate(void **handle) { *handle = std::malloc(1); return 0; }\n"
        "int mluOpDestroy(void *handle) { std::free(handle); return 0; }\n"
        "void mluOpGetLibVersion(int *a, int *b, int *c) { *a = 1; *b = 11; *c = 1; }\n"
        "int set_all(int *x) {\n"
        "  cnrtDim3_t dim = {4, 1, 1};\n  set<<<dim, cnrtFuncTypeBlock, nullptr>>>(x);\n"
        "  return cnrtQueueSync(nullptr);\n"
        "}\n}\n"
    )
    assert main(["-shared", "-fPIC", "operators.mlu", "-o", "libforeign.so", "-lcnrt"]) == 0
    backend = pymluops.load(project / "libforeign.so")
    assert (backend.kind, backend.version, backend.name) == ("sim", "1.11.1", "libforeign.so")
    assert backend.exports("mluOpCreate")
    array = pymluops.DeviceArray((4,), "int32", backend)
    library = ctypes.CDLL(str(project / "libforeign.so"))
    assert library.set_all(ctypes.c_void_p(array.address)) == 0
    assert array.to_host().tolist() == [7, 7, 7, 7]


def test_sources_in_the_style_of_operator_libraries(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Compiled with warnings as errors, for two architectures, with options of the vendor's compiler."""
    common = ["-O3", "-DNDEBUG", "-Wall", "-Werror", "-fPIC", "-pthread", "--no-neuware-version-check"]
    archs = ["--bang-mlu-arch=mtp_372", "--bang-mlu-arch=mtp_592"]
    for name, standard in (("kernels.mlu", "c++11"), ("main.cc", "c++17")):
        output = str(tmp_path / f"{name}.o")
        assert main(["-c", str(FOREIGN / name), "-o", output, f"-std={standard}", *common, *archs]) == 0
    objects = [str(path) for path in tmp_path.glob("*.o")]
    assert main([*objects, "-o", str(tmp_path / "program"), "-lcnrt", "-lcndrv", "-ldl", "-lstdc++"]) == 0
    assert capfd.readouterr().err == ""
    assert run(tmp_path / "program", PYMLUOPS_SIM_CHECK="all") == "0 -2 4 4\n"


def test_dependencies_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-M", "-Iinclude", "kernel.mlu"]) == 0
    assert capsys.readouterr().out == "kernel.o: kernel.mlu include/twice.mluh\n"
    assert main(["-MM", "-Iinclude", "kernel.mlu", "-MT", "x", "-MF", "deps"]) == 0
    assert (project / "deps").read_text() == "x: kernel.mlu include/twice.mluh\n"
    assert not (project / "kernel.o").exists()


# ---- The vendor's names --------------------------------------------------------------------------


def test_the_folder_of_the_toolkit(project: Path) -> None:
    root = sim.neuware()
    assert root == sim.neuware()
    version = subprocess.run([root / "bin" / "cncc", "--version"], capture_output=True, text=True, check=True).stdout
    assert re.match(r"\w+ v4\.", version)
    assert (root / "include" / "bang.h").is_file()
    assert not (root / "include" / "mlu_op.h").exists()  # a foreign library brings its own
    library = ctypes.CDLL(str(root / "lib64" / "libcnrt.so"))
    assert library.cnrtGetLastError() >= 0


@pytest.mark.parametrize(
    ("name", "known", "others"),
    [
        (
            "libcnrt.so",
            {"cnrtMalloc", "cnDeviceGetAttribute", "__bangRegisterFunction"},
            ("mluOp", "mluopsExt", "cnnl"),
        ),
        ("libcndrv.so", {"cnGetLibVersion"}, ("mluOp", "mluopsExt", "cnnl")),
        ("libcnnl.so", {"cnnlCreate", "cnnlScatterNd_v2"}, ("mluOp", "mluopsExt", "cnrt", "_Z")),
    ],
)
def test_libraries_of_the_toolkit_export_no_operators(name: str, known: set[str], others: tuple[str, ...]) -> None:
    with (sim.neuware() / "lib64" / name).open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        exported = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}
    assert known <= exported
    assert [symbol for symbol in exported if symbol.startswith(others)] == []


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_a_foreign_cmake_script(project: Path) -> None:
    root = sim.neuware()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(foreign CXX)\n"
        'list(APPEND CMAKE_MODULE_PATH "$ENV{NEUWARE_HOME}/cmake/modules")\nfind_package(BANG REQUIRED)\n'
        'set(BANG_CNCC_FLAGS "-O2 -std=c++11 --bang-mlu-arch=mtp_592 --no-neuware-version-check")\n'
        "include_directories(include)\n"
        "bang_add_library(twice SHARED kernel.mlu)\n"
        "bang_add_executable(program main_kernel.mlu)\ntarget_link_libraries(program twice)\n"
    )
    shutil.copy(project / "main.cpp", project / "main_kernel.mlu")
    env = {**os.environ, "NEUWARE_HOME": str(root)}
    for command in (["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]):
        subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=300)
    assert run(project / "build" / "program") == "0 2 510\n"
    (project / "include" / "twice.mluh").write_text(HEADER.replace("__bang_add", "__bang_mul"))
    subprocess.run(["cmake", "--build", "build"], env=env, check=True, capture_output=True, timeout=300)
    assert run(project / "build" / "program") == "0 1 65025\n"


@pytest.mark.thorough
def test_the_compiler_of_ziglang(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setenv("PYMLUOPS_CXX", f"{sys.executable} -m ziglang c++")
    assert main(["-Iinclude", "kernel.mlu", "main.cpp", "-o", "program"]) == 0
    assert run(project / "program") == "0 2 510\n"


def test_the_program_is_installed() -> None:
    program = Path(sys.executable).with_name("bangcc")
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "usage: bangcc [option]... file...")


def test_a_library_does_not_count_behind_a_newer_one() -> None:
    kernel = "__mlu_entry__ void k(int *x) { x[0] = __BANG_ARCH__ + ADDED; }"
    for number, arch in enumerate((592, 372, 592, 290)):
        found = np.zeros(1, np.int32)
        module = bang.compile(kernel, arch=arch, defines={"ADDED": number})
        assert sim.device().arch == arch
        module.kernel("k")[1](found)
        assert found[0] == arch + number
    sim.set_device(None)
    assert sim.device().arch == 592


def test_a_library_runs_on_a_card_of_its_architecture(project: Path) -> None:
    """Also in a process without the package; another card that the environment names is told on stderr."""
    (project / "arch.mlu").write_text(
        "template <typename T> __mlu_entry__ void kernel(T *x) { x[0] = __BANG_ARCH__; }\n"
        'extern "C" int run(int *seen) {\n  int *x = nullptr;\n  cnrtMalloc((void **)&x, 4);\n  cnrtMemset(x, 0, 4);\n'
        "  kernel<int><<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x);\n"
        "  cnrtMemcpy(seen, x, 4, cnrtMemcpyDevToHost);\n  cnrtFree(x);\n  return cnrtGetLastError();\n}\n"
    )
    loader = "import ctypes, sys\nx = ctypes.c_int()\nprint(ctypes.CDLL(sys.argv[1]).run(ctypes.byref(x)), x.value)"
    both = ["--bang-mlu-arch=mtp_372", "--bang-mlu-arch=mtp_592"]
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for name, archs in {"old": both[:1], "new": both[1:], "both": both}.items():
        assert main(["arch.mlu", "-shared", *archs, "-o", f"{name}.so"]) == 0
        for card in ("", "MLU370-X8", "MLU290"):
            done = subprocess.run(
                [sys.executable, "-c", loader, str(project / f"{name}.so")], capture_output=True, text=True, check=True,
                env={**os.environ, "PYMLUOPS_SIM_DEVICE": card},
            )  # fmt: skip
            found[name, card] = done.stdout.strip(), done.stderr
    refused = {key for key, (_, told) in found.items() if told}
    assert refused == {("old", "MLU290"), ("new", "MLU290"), ("both", "MLU290"), ("new", "MLU370-X8")}
    assert all("was compiled for architecture" in found[key][1] for key in refused)
    assert all(found[key][0].endswith(" 0") and found[key][0] != "0 0" for key in refused)
    right = {key: value for key, (value, told) in found.items() if not told}
    assert right == {("old", ""): "0 372", ("old", "MLU370-X8"): "0 372", ("new", ""): "0 592", ("both", ""): "0 592",
                     ("both", "MLU370-X8"): "0 372"}  # fmt: skip


@pytest.mark.parametrize("archs", [["mtp_592"], ["mtp_372", "mtp_592"]], ids=len)
def test_a_kernel_has_its_name_in_c(archs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is the only one of that name, and the C library has none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.mlu").write_text(
        "__mlu_entry__ void scale(float *x) { x[taskId] *= 2; }\n__mlu_entry__ void exp(float *x) { x[0] = 3; }\n"
        "__mlu_entry__ void both(float *x) {}\n__mlu_entry__ void both(int *x) {}\n"
        'extern "C" __mlu_entry__ void plain(float *x) { x[0] += 1; }\n'
    )
    (tmp_path / "main.cpp").write_text(
        "#include <cnrt.h>\n#include <cmath>\n#include <cstdio>\n#include <initializer_list>\n"
        'extern "C" {\nvoid scale(float *);\nvoid plain(float *);\n'
        "void both(float *) {}\n}\nint main() {\n  float *x, h[4] = {1, 2, 3, 4};\n  cnrtMalloc((void **)&x, 16);\n"
        "  cnrtMemcpy(x, h, 16, cnrtMemcpyHostToDev);\n  void *args[] = {&x};\n"
        "  for (auto *kernel : std::initializer_list<void (*)(float *)>{scale, plain})\n"
        "    cnrtInvokeKernel((const void *)kernel, {4, 1, 1}, cnrtFuncTypeBlock, args, 0, nullptr);\n"
        "  volatile double y = 0;\n  cnrtMemcpy(h, x, 16, cnrtMemcpyDevToHost);\n"
        '  std::printf("%g %g %g\\n", h[0] > 2 ? 1 : 0.0, h[3], exp(y));\n}\n'
    )
    options = [f"--bang-mlu-arch={arch}" for arch in archs]
    assert main(["-c", "kernels.mlu", *options]) == 0
    assert main(["kernels.o", "main.cpp", "-o", "program"]) == 0
    assert run(tmp_path / "program") == "1 8 1\n"
