"""Arguments of ``pymluops kernel``: whatever is written is read, or refused in one sentence with exit code 2."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pymluops import bang
from pymluops.bang import Parameter
from pymluops.bang._runs import bytes_at
from pymluops.bang.command import values
from pymluops.cli import CommandError, main
from support.selection import examples

SOURCE = "__mlu_entry__ void add(float *x, int n) { if (taskId == 0) for (int i = 0; i < n; ++i) x[i] += 1; }\n"
NINES = "9" * 5000
ONES = ",".join(["1"] * 70)
CONTENTS = "expected zeros, ones, range, random, random:SEED or a number behind the array's =, got "
VALUE = "expected @FILE.npy, an array such as f32[4,5], a number or null, got "


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sources") / "add.mlu"
    file.write_text(SOURCE, encoding="utf-8")
    return file


@pytest.fixture
def nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something is compiled")

    monkeypatch.setattr(bang, "compile", never)


def is_one_sentence(text: str) -> bool:
    return text.isprintable() and 0 < len(text) < 500


# ---- Values --------------------------------------------------------------------------------------

REFUSED = [
    (f"x=f32[{NINES}]", "x: expected at most 32 dims, each of at most 18 digits, got f32[999"),
    (f"x=f32[0,{NINES}]=random", "x: expected at most 32 dims, each of at most 18 digits, got f32[0,999"),
    ("x=f64[0,999999999999999999,9]=range", "x: expected a smaller array, got f64[0,999999999999999999,9]"),
    (f"x=f32[{ONES}]", "x: expected at most 32 dims, each of at most 18 digits, got f32[1,1,"),
    ("x=f32[4611686018427387904]", "x: expected at most 32 dims, each of at most 18 digits"),
    ("x=f64[900000000000000000]", "x: expected at most "),
    ("x=f64[9000000000,9000000000]", "x: expected a smaller array, got f64[9000000000,9000000000]"),
    ("x=f32[\u0664]", f"x: {VALUE}f32[\u0664]"),
    ("x=f32[4]=random:\u00b2", f"x: {CONTENTS}random:\u00b2"),
    ("x=f32[4]=random:\u0664", f"x: {CONTENTS}random:\u0664"),
    ("x=f32[4]=random:", f"x: {CONTENTS}random:"),
    ("x=f32[4]=random:-1", f"x: {CONTENTS}random:-1"),
    (f"x=f32[4]=random:{NINES}", f"x: {CONTENTS}random:999"),
    (f"x=f32[4]={NINES}", f"x: {CONTENTS}999"),
    ("x=f32[4]=range:3", f"x: {CONTENTS}range:3"),
    ("x=f32[4]=1e39", "x: expected numbers in the range of float32, got 1e39"),
    ("x=f16[4]=70000", "x: expected numbers in the range of float16, got 70000"),
    ("x=f16[70000]=range", "x: expected numbers in the range of float16, got the numbers up to 69999"),
    ("x=i8[4]=128", "x: expected integers from -128 to 127, got 128"),
    ("x=i8[200]=range", "x: expected integers from -128 to 127, got the numbers up to 199"),
    ("x=u8[4]=-1", "x: expected integers from 0 to 255, got -1"),
    ("x=i32[4]=nan", "x: expected integers from -2147483648 to 2147483647, got nan"),
    ("x=i32[4]=1.5", "x: expected integers from -2147483648 to 2147483647, got 1.5"),
    ("x=u64[4]=inf", "x: expected integers from 0 to 18446744073709551615, got inf"),
    ("x=bool[4]=2", "x: expected integers from 0 to 1, got 2"),
    ("x=f128[4]", "x: expected a type such as f32, f16, i32 or u8, got f128"),
    ("x=f" + NINES + "[4]", "x: expected a type such as f32, f16, i32 or u8, got f999"),
    ("x=object[4]", "x: expected a type such as f32, f16, i32 or u8, got object"),
    ("x=M8[4]", "x: expected a type such as f32, f16, i32 or u8, got M8"),
    ("n=0x" + NINES, f"n: {VALUE}0x999"),
    ("n=" + NINES, f"n: {VALUE}999"),
    ("n=1e400", f"n: {VALUE}1e400"),
    ("n=-1e400", f"n: {VALUE}-1e400"),
    ("n=", f"n: {VALUE}"),
    ("n=1 2", f"n: {VALUE}1 2"),
    ("n=a\nb", f"n: {VALUE}a\\nb"),
    ("x=@", "x: expected the name of a .npy file behind @, got nothing"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_malformed_value_is_told(text: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        values.read(text)
    assert str(caught.value).startswith(f"--arg {message}")
    assert is_one_sentence(str(caught.value))


def test_a_malformed_value_is_told_before_anything_is_compiled_or_asked_for(
    source: Path, capfd: pytest.CaptureFixture[str], nothing_compiles: None
) -> None:
    for command in ("run", "check", "profile", "debug"):
        for text in ("n=abc", "1=f32[4]=what", "f32[4]=random:²", "x=@"):
            assert main(["kernel", command, str(source), "--arg", text]) == 2
            out, err = capfd.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert err.startswith(f"pymluops kernel {command}: --arg{' n' if text[0] == 'n' else ''}")
            assert "nothing is given" not in err


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("f32[3]=range", np.arange(3, dtype=np.float32)),
        ("i8[2,2]=-128", np.full((2, 2), -128, np.int8)),
        ("u64[1]=18446744073709551615", np.full(1, 2**64 - 1, np.uint64)),
        ("i64[1]=9007199254740993", np.full(1, 2**53 + 1, np.int64)),
        ("bool[2]=true", np.ones(2, bool)),
        ("f16[2]=inf", np.full(2, np.inf, np.float16)),
        ("f32[0,5]=random", np.zeros((0, 5), np.float32)),
        ("f32[]=2", np.full((), 2, np.float32)),
        ("f64[1]=1_000", np.full(1, 1000.0)),
    ],
)
def test_arrays_have_their_values(text: str, made: np.ndarray) -> None:
    got = values.value_of("x", text)
    assert (got.dtype, got.shape, got.tolist()) == (made.dtype, made.shape, made.tolist())


_PIECES = st.sampled_from(
    [
        "x",
        "n",
        "0",
        "7",
        "=",
        "@",
        "[",
        "]",
        ",",
        ":",
        "-",
        ".",
        "e",
        "0x",
        "f32",
        "i8",
        "u64",
        "bool",
        "half",
        "f16",
        "zeros",
        "ones",
        "range",
        "random",
        "inf",
        "nan",
        "null",
        "true",
        " ",
        "\n",
        "\x00",
        "²",
        "٤",
        "�",
        "9" * 5000,
        "999999999999999999",
        "4",
    ]
)
_TEXTS = st.one_of(st.text(max_size=12), st.lists(_PIECES, max_size=9).map("".join))
_ARRAYS = st.builds(
    "{}={}[{}]={}".format,
    st.sampled_from(["x", "0"]),
    st.sampled_from(["f32", "f16", "f64", "i8", "i32", "u8", "u64", "bool", "float", "double", "longdouble", "c8"]),
    st.lists(st.sampled_from(["0", "1", "2", "30", "", "10000000000", "²"]), max_size=5).map(",".join),
    st.one_of(_TEXTS, st.floats().map(str), st.integers().map(str), st.sampled_from(["range", "random", "random:7"])),
)


@examples(2000)
@given(st.one_of(_TEXTS, _ARRAYS))
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    parameters = [Parameter("x", "float *"), Parameter("n", "int")]
    try:
        written = values.read(text)
        if written.nbytes < 1 << 20:
            values.arrange([written, values.read("n=1" if written.name in ("x", "0") else "x=null")], parameters)
    except CommandError as error:
        assert is_one_sentence(str(error))


# ---- Files ---------------------------------------------------------------------------------------


def npy(header: str, content: bytes = b"", version: int = 1) -> bytes:
    encoded = header.encode("latin-1")
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + struct.pack("<H" if version == 1 else "<I", len(encoded))
        + encoded
        + content
    )


def header(shape: str, descr: str = "'<f4'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"


FILES = {
    "empty": b"",
    "an archive": b"PK\x03\x04garbage",
    "too short": npy(header("(3,)"), bytes(11)),
    "an impossible size": npy(header("(1000000000000,)")),
    "a negative size": npy(header("(-1,)")),
    "a size beyond 64 bits": npy(header("(100000000000000000000,)")),
    "many dims": npy(header(f"({ONES},)"), bytes(4)),
    "objects": npy(header("(1,)", "'|O'"), b"cos\nsystem\n(S'id'\ntR."),
    "texts": npy(header("(1,)", "'<U99'"), bytes(396)),
    "complex numbers": npy(header("(1,)", "'<c8'"), bytes(8)),
    "another order of bytes": npy(header("(1,)", "'>f4'"), bytes(4)),
    "a structure": npy(header("(1,)", "[('a', '<f4')]"), bytes(4)),
    "a NUL": npy(header("(1,)", "'<f4\0'"), bytes(4)),
    "brackets": npy("{'descr': " + "(" * 3000 + ")" * 3000 + "}\n"),
    "half a header": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), \xff\n", bytes(4)),
    "a header of 4 GiB": b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
    "a cut length": b"\x93NUMPY\x03\x00\x10",
    "a version to come": npy(header("(1,)"), bytes(4), version=9),
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_malformed_file_is_told(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    file.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        values.value_of("x", f"@{file}")
    assert str(caught.value).startswith("--arg x: ")
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/stdin", ".", "gone", "a\nb", "a\0b", "\udcff", "x" * 5000, "~"])
def test_what_is_no_file_is_told(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError) as caught:
        values.value_of("x", f"@{file}")
    assert is_one_sentence(str(caught.value))


@examples(300)
@given(st.integers(0, 200), st.binary(min_size=1, max_size=4), st.integers(0, 160))
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, other: bytes, length: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.npy"
    np.save(file, np.arange(6, dtype=np.int16).reshape(2, 3))
    content = bytearray(file.read_bytes())
    content[at : at + len(other)] = other
    file.write_bytes(content[: max(length, at + 1)])
    try:
        assert isinstance(values.value_of("x", f"@{file}"), np.ndarray)
    except CommandError as error:
        assert is_one_sentence(str(error))


# ---- Memory --------------------------------------------------------------------------------------


def test_arrays_beyond_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(values, "_free_bytes", lambda: 4 << 30)
    limit = "expected at most 1.0 GiB, a quarter of the free memory, for"
    with pytest.raises(CommandError, match=rf"^--arg x: {limit} f32\[268435457\], got 1\.0 GiB$"):
        values.read("x=f32[268435457]")
    parameters = [Parameter("x", "float *"), Parameter("y", "float *")]
    halves = [values.read(f"{name}=f32[200000000]") for name in "xy"]
    with pytest.raises(CommandError, match=rf"^--arg: {limit} all arrays, got 1\.5 GiB$"):
        values.arrange(halves, parameters)
    with (tmp_path / "a.npy").open("wb") as file:
        file.write(npy(header("(300000000,)")))
        file.truncate(file.tell() + 1_200_000_000)  # takes no room
    with pytest.raises(CommandError, match=rf"^--arg x: .*a\.npy: {limit} the array, got 1\.1 GiB$"):
        values.value_of("x", f"@{tmp_path / 'a.npy'}")


def test_the_limit_of_a_container_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "limit").write_text("123456\n", encoding="ascii")
    (tmp_path / "none").write_text("max\n", encoding="ascii")
    without = values._free_bytes()
    monkeypatch.setattr(values, "_OF_CONTAINERS", (tmp_path / "none", tmp_path / "gone", tmp_path / "limit"))
    assert without > values._free_bytes() == 123456


@pytest.mark.thorough
def test_memory_of_more_than_2_gib_is_copied() -> None:
    count = (1 << 31) + 5
    with mmap.mmap(-1, count) as memory:
        memory[-1] = 7
        array = np.frombuffer(memory, np.uint8)
        assert bytes_at(array.ctypes.data, count)[-2:] == b"\0\7"
        del array
    assert bytes_at(0, 0) == b""


# ---- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--dim", NINES, "expected one to three numbers from 1 to 4294967295, such as 4,8,1, got 999"),
        ("--dim", "0", "expected one to three numbers"),
        ("--dim", "1,2,3,4", "expected one to three numbers"),
        ("--dim", "²", "expected one to three numbers"),
        ("--dim", "4294967296", "expected one to three numbers"),
        ("--type", "union3", "expected one of block, union1, "),
        ("--seed", NINES, "expected an integer from 0 to 18446744073709551615, got 999"),
        ("--seed", "-1", "expected an integer from 0 to 18446744073709551615, got -1"),
        ("--seed", "1.5", "expected an integer from 0 to 18446744073709551615, got 1.5"),
        ("--time-limit", "nan", "expected a number from 0, got nan"),
        ("--save", "x", "--save: expected NAME=FILE.npy, got x"),
        ("--save", "x=/no/folder/a.npy", "--save x: /no/folder/a.npy: No such file or directory"),
        ("--save", "x=/", "--save x: /: Is a directory"),
        ("--save", "x=/dev/null/a.npy", "--save x: /dev/null/a.npy: Not a directory"),
        ("--check", "x", "set_checks: checks: expected names out of "),
        ("--rules", "x=y", "set_rules: rules: expected rules such as "),
        ("--schedule", "copies=never", "expected"),
        ("--" + NINES, "", "unrecognized arguments: --999"),
    ],
)
def test_a_bad_option_is_told_before_anything_is_compiled(
    option: str, value: str, message: str, source: Path, capfd: pytest.CaptureFixture[str], nothing_compiles: None
) -> None:
    assert (
        main(["kernel", "run", str(source), "--arg", "x=f32[4]", "--arg", "n=4", option, *([value] * bool(value))]) == 2
    )
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert is_one_sentence(err.removesuffix("\n"))


_OPTIONS = st.sampled_from(
    [
        "--arg",
        "--dim",
        "--type",
        "--seed",
        "--save",
        "--check",
        "--rules",
        "--schedule",
        "--entry",
        "--arch",
        "-D",
        "-I",
        "--format",
        "--option",
        "--time-limit",
    ]
)
_WORDS = st.one_of(_TEXTS, _ARRAYS, st.sampled_from(["4", "x=f32[4]", "n=4", "all", "none", "add", "MLU590", "json"]))


def test_any_options_give_a_result_or_one_sentence(
    source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(values, "_free_bytes", lambda: 64 << 20)

    @examples(300)
    @given(st.lists(st.tuples(_OPTIONS, _WORDS), max_size=3), st.booleans())
    def check(given_options: list[tuple[str, Any]], complete: bool) -> None:
        words = [f"{option}={word}" if option.startswith("--") else option + word for option, word in given_options]
        words += ["--arg=x=f32[4]", "--arg=n=4", "--time-limit=5"] if complete else []
        code = main(["kernel", "run", str(source), *words])
        out, err = capfd.readouterr()
        assert code in (0, 1, 2), (words, err)
        assert "Traceback" not in err
        if code == 2:
            assert out == ""
            assert is_one_sentence(err.splitlines()[-1]), (words, err)

    check()
