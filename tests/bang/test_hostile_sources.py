"""Sources, their names and options that are meant to do harm: each is compiled or refused in one sentence, and soon."""

from __future__ import annotations

import gc
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import bang
from pymluops.bang import _build, driver
from pymluops.bang._definitions import with_entries
from pymluops.bang._headers import Expander
from pymluops.sim.translator import TranslationError, translate

SOURCE = "__mlu_entry__ void set(float *x) { if (taskId == 0) x[0] = 3; }\n"
BRACES = "__mlu_entry__ void k(float *x) {"


def never(*_: object, **__: object) -> str:
    raise AssertionError("a compiler runs")


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_build, "warnings_of", never)


def run_set(module: bang.Module) -> float:
    x = np.zeros(1, np.float32)
    module.kernel("set")[1](x)
    return float(x[0])


# ---- Options and texts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": ["-DA=\0"]}, "options: expected a text in Unicode, got the character U+0000"),
        ({"options": ["-DA=\ud800"]}, "options: expected a text in Unicode, got the character U+D800"),
        ({"options": ["-DA=1\n2"]}, "options: expected a text in Unicode, got the character U+000A"),
        ({"options": ["-D", "A\0"]}, "options: expected a text in Unicode, got the character U+0000"),
        ({"defines": {"A": "\0"}}, "defines: A: expected a text in Unicode, got the character U+0000"),
        ({"defines": {"A": "\udfff"}}, "defines: A: expected a text in Unicode, got the character U+DFFF"),
        ({"defines": {"A": "1\n#error"}}, "defines: A: expected a text in Unicode, got the character U+000A"),
        ({"defines": {"A\n": "1"}}, "defines: expected names of macros, got 'A\\n'"),
        ({"defines": {"A": 10**5000}}, "defines: A: expected a text, got "),
        ({"include_dirs": ["\0"]}, "include_dirs: expected folders, got "),
        ({"arch": "mtp_\u0665\u0669\u0662"}, "arch: expected one of "),
        ({"options": ["-include"]}, "options: -include: expected a value, got nothing"),
        ({"options": ["-l"]}, "options: -l: expected a value, got nothing"),
        ({"options": ["-I", 3]}, "options: -I: expected a value, got 3"),
    ],
)
def test_what_no_compiler_can_be_given_is_refused(arguments: Any, message: str, no_compiler: None) -> None:
    with pytest.raises(pymluops.BadParamError) as caught:
        bang.compile(SOURCE, **arguments)
    assert str(caught.value).startswith(f"compile: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "option",
    [
        "--help",
        "--help=optimizers",
        "--version",
        "-dumpversion",
        "-print-search-dirs",
        "-###",
        "-E",
        "-S",
        "-c",
        "-M",
        "-MD",
        "-o",
        "-o/dev/full",
        "--output=a",
        "-x",
        "-fsyntax-only",
        "-save-temps",
        "-hnothing",
        "-",
        "",
        "a.cpp",
        "@file",
        "-wrapper",
        "-aux-info",
        "--print-file-name=a",
        "-dumpbase",
    ],
)
def test_options_that_do_something_else_are_refused(option: str, no_compiler: None) -> None:
    with pytest.raises(pymluops.BadParamError, match="compile: options: expected options for compiling a source, got"):
        bang.compile(SOURCE, options=["-O1", option])


def test_an_option_that_writes_no_object_is_told() -> None:
    with pytest.raises(
        bang.CompileError, match="<source>: the compiler wrote nothing: an option makes it do something"
    ):
        bang.compile(SOURCE + "// 1", options=["-Wa,--help"])


@pytest.mark.parametrize("character", ["\ud800"])
def test_a_text_that_has_no_bytes_is_refused(character: str, no_compiler: None) -> None:
    with pytest.raises(pymluops.BadParamError) as caught:
        bang.compile(f"{SOURCE}// {character}")
    message = f"expected a text in Unicode, got the character U+{ord(character):04X} in line 2"
    assert str(caught.value) == f"compile: source_or_paths: {message}"


def test_bytes_of_a_file_that_are_no_text_stay(tmp_path: Path) -> None:
    source = tmp_path / "latin.mlu"
    source.write_bytes(
        b'// caf\xe9\n#define TEXT "\xff"\n' + SOURCE.encode() + b"static_assert(TEXT[0] == char(255));\n"
    )
    assert run_set(bang.compile(source)) == 3


# ---- Names ---------------------------------------------------------------------------------------

NAMES = {
    "an end of a line": 'a\n#error injected\n#line 1 "b.mlu',
    "quotes": 'a" "b.mlu',
    "a backslash": "a\\",
    "a trigraph": "a??(b.mlu",
    "a carriage return": "a\rb.mlu",
    "a tab and a bell": "a\t\ab.mlu",
    "bytes that are no text": os.fsdecode(b"\xff\xfe.mlu"),
    "braces": "{a}.mlu",
    "a dash": "-a.mlu",
    "a percent sign": "%s%n.mlu",
    "an equals sign": "a=b=c.mlu",
    "a dollar": "$(touch injected) a.mlu",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.sampled
def test_any_name_of_a_file_works(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(SOURCE, encoding="utf-8")
    assert run_set(bang.compile(Path(name))) == 3
    assert os.listdir() == [name]
    assert not any("injected" in path.name for path in tmp_path.iterdir() if path.name != name)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_an_error_names_the_file_in_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(SOURCE + "\n__nram__ void f();\n", encoding="utf-8")
    with pytest.raises(bang.CompileError) as caught:
        bang.compile([name])
    first = str(caught.value).splitlines()[0]
    assert ":3: " in first
    assert "injected" not in first.partition(":3: ")[2]


@pytest.mark.parametrize("name", ['h\n#error injected\n".h', "h\\.h", "h\r.h"])
def test_any_name_of_a_header_works(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "inner.h").write_text(
        "#define NUMBER 3\n__mlu_func__ float number() { return NUMBER; }\n", encoding="utf-8"
    )
    (folder / "plain.h").write_text("#define NUMBER 3\n", encoding="utf-8")
    source = '#include "inner.h"\n#include "plain.h"\n' + SOURCE.replace("= 3", "= number()")
    assert run_set(bang.compile(source, include_dirs=[folder])) == 3


def test_the_name_of_an_instance_is_no_source(no_compiler: None, tmp_path: Path) -> None:
    source = "template <typename T> __mlu_global__ void fill(T *x) { x[0] = 1; }\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.undo()
        patch.setattr(_build, "warnings_of", _warnings_of)
        module = bang.compile(source)
    for name in ("fill<float\n>", "fill<\ud800>", "fill<\0>"):
        with pytest.raises((pymluops.BadParamError, bang.CompileError)) as caught:
            module.kernel(name)
        assert "\n" not in str(caught.value)


_warnings_of = _build.warnings_of


# ---- Files that are none -------------------------------------------------------------------------


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe.mlu")
    return tmp_path / "pipe.mlu"


@pytest.mark.parametrize(
    "path", ["/dev/zero", "/dev/null", "/dev/stdin", "/dev/tty", "/proc/self/mem", "/proc/self/fd"]
)
def test_devices_are_refused(path: str, no_compiler: None) -> None:
    with pytest.raises(pymluops.BadParamError, match=f"^compile: source_or_paths: {path}: ") as caught:
        bang.compile(path)
    assert "\n" not in str(caught.value)


def test_pipes_folders_and_names_that_are_none_are_refused(pipe: Path, no_compiler: None) -> None:
    for path, reason in (
        (pipe, "is no regular file"),
        (pipe.parent, "Is a directory"),
        (Path("a\0"), "is no name of a"),
    ):
        with pytest.raises(pymluops.BadParamError, match=f"^compile: source_or_paths: .*: {reason}"):
            bang.compile(path)


@pytest.mark.parametrize("target", ["/dev/zero", "pipe.mlu", "."])
def test_a_header_that_is_no_file_is_passed_over(target: str, pipe: Path, no_compiler: None) -> None:
    # The compiler is asked for it, since `os.path.isfile` says no: here nothing may wait for the
    # pipe.
    (pipe.parent / "odd.h").symlink_to(target)
    source = Expander([pipe.parent], []).expand('#include "odd.h"\n', "a.mlu", pipe.parent)
    assert source.files == []


def test_a_file_is_read_as_far_as_the_limit(tmp_path: Path, no_compiler: None) -> None:
    huge = tmp_path / "huge.mlu"
    with huge.open("wb") as file:
        file.truncate(1 << 40)  # takes no room
    with pytest.raises(
        pymluops.BadParamError, match=r"huge\.mlu: is longer than 4 MiB, the limit of a source with its"
    ):
        bang.compile(huge)
    (tmp_path / "a.mlu").write_text('#include "huge.mlu"\n', encoding="utf-8")
    with pytest.raises(bang.CompileError, match=r"huge\.mlu: is longer than 4 MiB"):
        bang.compile(tmp_path / "a.mlu")


def test_bangcc_refuses_them_too(pipe: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in (pipe, "/dev/zero"):
        assert driver.main(["-x", "bang", "-c", str(path), "-o", str(tmp_path / "a.o")]) == 1
        out, err = capfd.readouterr()
        assert (out, err) == ("", f"bangcc: {path}: is no regular file\n")
    assert not (tmp_path / "a.o").exists()


# ---- Sources that take long ----------------------------------------------------------------------


def test_a_long_text_is_refused_at_once(no_compiler: None) -> None:
    begin = time.process_time()
    with pytest.raises(pymluops.BadParamError, match="the text is longer than 4 MiB, the limit of a source with its"):
        bang.compile("{" * 10_000_000)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("bracket", ["{", "(", "[", "a[](){", "#if 1\n", "namespace a {"])
def test_brackets_in_each_other_are_refused_at_once(bracket: str, no_compiler: None) -> None:
    begin = time.process_time()
    with pytest.raises(
        bang.CompileError, match=r"^<source>:\d+: (brackets|conditions) stand in each other more than 256"
    ):
        bang.compile(BRACES + "\n" + bracket * 100_000)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("count", [200, 300])
def test_the_depth_counts_branches_once(count: int) -> None:
    text = "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n" * count  # 2 * count braces, but one at a time
    assert translate(text, "a.mlu").count("void g()") == count


#: What a source may consist of many times. Where a number stands for `%d`, each time another one.
UNITS = [
    *("}", "(]", "{)", "[", ";", ",", ":", "::", "a::", "<", ">", "a<", "a>", "a<b;", "a<(", "a<)", ">)", "a ? ", "x="),
    *(
        "f<<<",
        "f<<<1,2>>>(",
        "f<<<1,2>>>();",
        'f<__nram__ a>("',
        "operator<",
        "a->",
        "[](){}",
        "while (a) ",
        "case 1: ",
    ),
    *('"', "'", 'R"(', 'u8"', "/*", "//", "\\", "\\\n", "\\ ", "\r", "\0", "$", "é", "1", "a "),
    *(
        "#",
        "#\n",
        "#else\n",
        "#endif\n",
        "#if 0\n#endif\n",
        "#if 0\n#else\n#endif\n",
        '#include "x"\n',
        '#line 1 "a"\n',
    ),
    *(
        "#define a b\n",
        "#define a%d a%d\n",
        "#define a b##",
        "a##",
        "a: ",
        "struct ",
        "struct a {};",
        "namespace a {} ",
    ),
    *(
        "__nram__ ",
        "__nram__ (",
        "__nram__ a<",
        "__nram__ int a; ",
        "__nram__ int *",
        "__nram__ int a[",
        "__nram__ int a=",
    ),
    *(
        "__nram__ int a,",
        "M(__nram__ int a",
        "M(__nram__ int a, b) ",
        "__nram__ float y1[4]; ",
        "y1(",
        "__nram__ int a%d;",
    ),
    *("__nram__ __attribute__((", "alignas(", "decltype(", "__mlu_const__ int a%d = {1};\n", "using namespace std; "),
    *(
        "__mlu_entry__ ",
        "__mlu_entry__ void k(int a) {} ",
        "__mlu_entry__ void k%d(int a) {}\n",
        "int data[",
        "template <",
    ),
    *(
        "template <typename T> ",
        "template <typename T> void f(T a) {} ",
        "inline ",
        "__mlu_func__ ",
        "inline __mlu_func__ ",
    ),
    *("__mlu_func__ S f(int a) { return f(1); } ", "__mlu_func__ S f%d(int a) { return f%d(1); }\n", 'extern "C" {} '),
    *('asm("', 'asm volatile("sync.inst();" : : "r"(a)); ', '__asm__ volatile("add.gpr.u32 %%0, %%1;" ', 'asm("x a,'),
    *("// mlusim: allow(race)\n", "/* mlusim: allow(race) */ ", "a // mlusim: allow(race)\n", "__attribute__((a)) "),
]


def repeated(unit: str, length: int) -> str:
    count = length // len(unit) + 1
    if "%d" not in unit:
        return unit.replace("%%", "%") * count
    return "".join(unit % tuple(range(i, i + unit.count("%d"))) for i in range(count))


def seconds(text: str) -> float:
    """The time that everything before the compiler takes, whatever it says."""
    gc.disable()
    try:
        begin = time.process_time()
        for step in (
            lambda: Expander([], []).expand(text, "a.mlu", Path("/")),
            lambda: with_entries(text, "a.mlu"),
            lambda: translate(text, "a.mlu"),
        ):
            with suppress(TranslationError, bang.CompileError):
                step()
        return time.process_time() - begin
    finally:
        gc.enable()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.sampled
def test_time_grows_with_the_length_of_a_source(unit: str) -> None:
    short = min(seconds(repeated(unit, 8_000)) for _ in range(2))
    # The square would be 64 times.
    assert seconds(repeated(unit, 64_000)) < 24 * max(short, 0.004)


@pytest.mark.thorough
@pytest.mark.parametrize("unit", ["f<<<1,2>>>();", ";"])
def test_a_source_of_a_million_characters_takes_seconds(unit: str) -> None:
    assert seconds(repeated(unit, 1_000_000)) < 40


def test_headers_that_include_each_other_end(tmp_path: Path, no_compiler: None) -> None:
    for i in range(30):
        twice = f'#include "h{i + 1}.h"\n' * 2
        (tmp_path / f"h{i}.h").write_text(f"__mlu_func__ void f();\n{twice}", encoding="utf-8")
    (tmp_path / "h30.h").write_text("__mlu_func__ void f();\n" * 100, encoding="utf-8")
    with pytest.raises(bang.CompileError, match=r"(more than 20000 times|is longer than 4 MiB)"):
        bang.compile('#include "h0.h"\n', include_dirs=[tmp_path])
    for i in range(300):
        (tmp_path / f"g{i}.h").write_text(f'__mlu_func__ void f();\n#include "g{i + 1}.h"\n', encoding="utf-8")
    (tmp_path / "g300.h").touch()
    (tmp_path / "g300.h").write_text("__mlu_func__ void f();\n", encoding="utf-8")
    with pytest.raises(bang.CompileError, match="headers include each other more than 200 deep"):
        bang.compile('#include "g0.h"\n', include_dirs=[tmp_path])
