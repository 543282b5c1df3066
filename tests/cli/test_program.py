"""The program around its commands: bad arguments, missing packages, interruption, closed pipes, progress."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import pymluops
from cli.scan_files import small_scan, write_bin
from pymluops import _progress as progress
from pymluops._shown import counted
from pymluops._whole_file import whole_file
from support.example import CHOOSING, CHOOSING_BACK, MOVING, PAIRING

VERSION = metadata.version("pymluops")


@pytest.fixture
def scan_file(tmp_path: Path) -> Path:
    return write_bin(tmp_path / "scan.bin", small_scan())


# ---- Arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ([], "pymluops: the following arguments are required: COMMAND"),
        (["fly"], "pymluops: argument COMMAND: invalid choice: 'fly'"),
        (["--fly"], "pymluops: "),
        (["demo", "--fly"], "pymluops demo: unrecognized arguments: --fly (see pymluops demo --help)"),
        (["demo", "file"], "pymluops demo: unrecognized arguments: file (see"),
        (["demo", "--scan"], "pymluops demo: argument --scan: expected one argument"),
        (["demo", "--sca", "x.bin"], "pymluops demo: unrecognized arguments: --sca x.bin; did you mean --scan? (see"),
        (
            ["demo", "--columns", "four"],
            "pymluops demo: argument --columns: expected a number from 3 to 64, got 'four'",
        ),
        (["demo", "--columns", "2"], "pymluops demo: argument --columns: expected a number from 3 to 64, got '2'"),
        (["demo", "--columns", "-4"], "pymluops demo: argument --columns: expected "),
        (["demo", "--columns", "9" * 400], "pymluops demo: argument --columns: expected a number from 3 to 64"),
        (["demo", "--columns", "5"], "pymluops demo: --columns needs --scan"),
        (["demo", "--threads", "0"], "pymluops demo: argument --threads: expected a number from 1 to 1024, got '0'"),
        (["demo", "--backend", "gpu"], "pymluops demo: --backend gpu: "),
        (["demo", "--backend", "/no/such.so"], "pymluops demo: --backend /no/such.so: "),
        (["demo", "--fov", "0"], "pymluops demo: argument --fov: expected a number from 1 to 360, got '0'"),
        (["demo", "--fov", "nan"], "pymluops demo: argument --fov: expected a number from 1 to 360, got 'nan'"),
        (["demo", "--heading", "north"], "pymluops demo: argument --heading: expected a number from -360 to 360"),
        (["demo", "--eye", "0", "1"], "pymluops demo: argument --eye: expected 3 arguments"),
        (["demo", "--eye", "0", "1", "1e9"], "pymluops demo: argument --eye: expected a number from -1e+08 to 1e+08"),
        (["demo", "--elevation", "5", "-5"], "pymluops demo: --elevation: expected -90 <= LOW < HIGH <= 90, got 5 -5"),
        (["demo", "--elevation", "-95", "5"], "pymluops demo: --elevation: expected -90 <= LOW"),
        (["demo", "--fov", "9", "--image", "x"], "pymluops demo: --fov is for the scan as a picture, which --image"),
        (["demo", "--view", "back", "--plot", "x"], "pymluops demo: argument --view: invalid choice: 'back'"),
        (["demo", "--view", "top"], "pymluops demo: --view needs --plot"),
        (["demo", "--heading", "180", "--fov", "1", "--elevation", "80", "90"], "pymluops demo: --heading, --fov, "),
        (["demo", "two\nlines"], "pymluops demo: unrecognized arguments: two\\nlines"),
        (["info", "--scan", "x"], "pymluops info: unrecognized arguments: --scan x"),
        (["info", "--functions", "gpu"], "pymluops info: --functions gpu: "),
        (["info", "--json", "--functions", "cpu", "/no/such.so"], "pymluops info: --functions /no/such.so: "),
    ],
)
def test_bad_arguments_are_one_line(program, arguments: list[str], start: str) -> None:
    answer = program(*arguments)
    answer.refused()
    assert answer.err.startswith(start)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["kernal"], "kernel"),
        (["inof"], "info"),
        (["demo", "--scna=x"], "--scan"),
        (["kernel", "chekc"], "check"),
        (["kernel", "check", "x.mlu", "--fromat", "json"], "--format"),
        (["case", "minimise", "x"], "minimize"),
        (["cache", "info", "--jsno"], "--json"),
        (["demo", "--view", "tpo"], "top"),
        (["--verson", "info"], "--version"),
    ],
)
def test_misspelt_words_are_asked_about(program, arguments: list[str], meant: str) -> None:
    program(*arguments).refused(f"; did you mean {meant}? (see pymluops")


def test_other_words_are_not_asked_about(program) -> None:
    for arguments in (["fly"], ["demo", "--fly"], ["info", "file"]):
        assert "did you mean" not in program(*arguments).err


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(count, "column") for count in (0, 1, 2)] == ["0 columns", "1 column", "2 columns"]
    assert counted(2, "process", "processes") == "2 processes"
    assert counted(1234, "point", form=",") == "1,234 points"


def test_bad_files_are_one_line(program, tmp_path: Path, scan_file: Path) -> None:
    odd = tmp_path / "odd.bin"
    odd.write_bytes(bytes(17))
    program("demo", "--scan", odd).refused(
        f"pymluops demo: {odd}: 17 bytes is not a whole number of 4-column float32 rows"
    )
    program("demo", "--scan", tmp_path).refused(f"pymluops demo: {tmp_path}: is a directory, not a file")
    program("demo", "--scan", tmp_path / "gone.bin").refused("gone.bin: No such file or directory")
    program("demo", "--scan", tmp_path / "new\nline.bin").refused("new\\nline.bin: No such file or directory")
    program("demo", "--scan", scan_file, "--image", odd).refused("odd.bin: is not a picture")
    program("demo", "--scan", scan_file, "--image", tmp_path / "gone.png").refused("gone.png: No such file")
    np.save(tmp_path / "nan.npy", np.full((3, 3), np.nan))
    program("demo", "--scan", tmp_path / "nan.npy").refused("nan.npy: has NaN or infinite values in every")


def test_a_plot_folder_that_cannot_be(program, tmp_path: Path, scan_file: Path) -> None:
    program("demo", "--scan", scan_file, "--plot", scan_file).refused("scan.bin: cannot be made a folder: File exists")
    program("demo", "--scan", scan_file, "--plot", scan_file / "in").refused("Not a directory")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / f"{PAIRING.name}.png").mkdir()
    program("demo", "--scan", scan_file, "--plot", tmp_path / "full").refused("full: cannot write pictures: Is a dir")


def test_missing_packages_are_named(program, tmp_path: Path, scan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install = 'which is not installed: pip install "pymluops[demo]"'
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    program("demo", "--scan", scan_file, "--plot", tmp_path / "p").refused("--plot needs matplotlib, " + install)
    monkeypatch.setitem(sys.modules, "PIL", None)
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(b"\xff\xd8\xff")
    program("demo", "--scan", scan_file, "--image", photo).refused("photo.jpg: reading JPG pictures needs Pillow, ")
    answer = program("demo", "--scan", scan_file, "--json")  # nor is there a photograph to read now
    assert answer.code == 0
    assert json.loads(answer.out)["image"]["from_scan"] is True


def test_an_unusable_default_backend(process, scan_file: Path) -> None:
    environment = {**os.environ, "PYMLUOPS_BACKEND": "mlu", "PYMLUOPS_MLU_LIBRARY": "/none.so"}
    process("demo", "--scan", scan_file, env=environment).refused(
        "pymluops demo: PYMLUOPS_BACKEND is mlu: PYMLUOPS_MLU_LIBRARY is /none.so"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["info", "--help"], ["--version"]])
def test_help_and_version(process, arguments: list[str]) -> None:
    answer = process(*arguments)
    assert (answer.code, answer.err) == (0, "")
    assert "pymluops" in answer.out


# ---- info ----------------------------------------------------------------------------------------


def test_info(program) -> None:
    answer = program("info")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"pymluops  {VERSION} (Python 3.")
    for word in (
        "CPU",
        "threads",
        "default   cpu",
        "cpu       available: ABI 1.11.1, library ",
        "non-temporal stores from ",
        "sim       available: ABI 1.11.1, library ",
        "mlu       ",
    ):
        assert word in answer.out


def test_info_as_json(program) -> None:
    document = json.loads(program("info", "--json").out)
    assert set(document) == {
        "version", "python", "numpy", "platform", "cpu", "threads", "environment_problem", "default_backend",
        "default_backend_problem", "backends",
    }  # fmt: skip
    assert document["numpy"] == np.__version__
    assert document["threads"] == pymluops.get_num_threads()
    assert document["default_backend"] == "cpu"
    assert document["default_backend_problem"] is None
    assert document["cpu"]["usable"] == len(os.sched_getaffinity(0))
    assert isinstance(document["cpu"]["features"], list)
    for name, info in pymluops.backends().items():
        told = document["backends"][name]
        assert set(told) == {
            "available", "reason", "name", "kind", "path", "abi_version", "library_version", "instruction_level",
            "threads", "streaming_bytes",
        }  # fmt: skip
        assert (told["available"], told["path"], told["reason"]) == (info.available, info.path, info.reason)
    streaming = int(pymluops.load("cpu").lib.mluopsExtGetStreamingBytes())
    assert document["backends"]["cpu"]["streaming_bytes"] == streaming
    assert document["backends"]["sim"]["streaming_bytes"] is None
    assert document["backends"]["cpu"]["instruction_level"] == pymluops.load("cpu").instruction_level


def test_info_lists_the_functions_of_all_libraries(program) -> None:
    answer = program("info", "--functions")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert [MOVING.function, "yes", "yes"] in lines
    document = json.loads(program("info", "--functions", "--json").out)
    assert list(document["libraries"].items()) == [(name, pymluops.load(name).path) for name in ("cpu", "sim")]
    functions = document["functions"]
    assert len(functions) == 189
    for name, told in functions.items():
        assert told == {kind: pymluops.load(kind).implements(name) for kind in ("cpu", "sim")}
        assert [name, *("yes" if told[kind] else "-" for kind in ("cpu", "sim"))] in lines
    assert [
        "189",
        "functions",
        *(str(sum(told[kind] for told in functions.values())) for kind in ("cpu", "sim")),
    ] in lines


def test_info_lists_the_functions_of_a_library_opened_by_path(program, tmp_path: Path) -> None:
    """The name of one function is spoilt in the symbol table of a copy."""
    path = tmp_path / "liblacking.so"
    content = Path(pymluops.load("cpu").path).read_bytes()
    name = CHOOSING.function.encode()
    path.write_bytes(content.replace(b"\0" + name + b"\0", b"\0" + name[:-1] + b"X\0"))
    answer = program("info", "--functions", str(path), "cpu", "cpu")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["liblacking.so", "cpu"] in lines
    assert [CHOOSING.function, "-", "yes"] in lines
    assert [CHOOSING_BACK.function, "yes", "yes"] in lines


def test_info_lists_functions_that_a_library_exports_and_does_not_implement(program, bare_library: Path) -> None:
    answer = program("info", "--functions", str(bare_library), "cpu")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["libbare.so", "cpu"] in lines
    assert [CHOOSING.function, "-", "yes"] in lines
    assert ["mluOpCreate", "yes", "yes"] in lines


def test_info_about_functions_without_any_library(process) -> None:
    answer = process("info", "--functions", env={**os.environ, "PYMLUOPS_NUM_THREADS": "many"})
    answer.refused("pymluops info: no library can be used: PYMLUOPS_NUM_THREADS: expected an integer")


def test_info_with_an_unusable_default(process) -> None:
    answer = process("info", env={**os.environ, "PYMLUOPS_BACKEND": "/no/such.so"})
    assert answer.code == 0
    assert "default   PYMLUOPS_BACKEND is /no/such.so: " in answer.out


def test_info_tells_a_problem_of_the_environment_in_one_line(process) -> None:
    answer = process("info", env={**os.environ, "PYMLUOPS_STREAM_MIB": "9" * 5000})
    assert (answer.code, answer.err) == (0, "")
    told = [line for line in answer.out.splitlines() if "PYMLUOPS_STREAM_MIB" in line]
    assert len(told) == 1
    assert told[0].startswith("problem   PYMLUOPS_STREAM_MIB: expected an integer from 0 to 1099511627776, got '9999")
    assert len(told[0]) < 200
    assert "cpu       not available: see the problem" in answer.out


@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--threads", "1"], ["demo", "--backend", "sim"]])
def test_a_problem_of_the_environment_is_one_line(process, arguments: list[str]) -> None:
    answer = process(*arguments, env={**os.environ, "PYMLUOPS_NUM_THREADS": "many"})
    answer.refused("PYMLUOPS_NUM_THREADS: expected an integer from 1 to 1024, got 'many'")


# ---- Behaviour as a process ----------------------------------------------------------------------

# Starts the demo with one step replaced; the real step is of no matter here.
STUB = """
import os, signal, sys, time
from pymluops.demo import pipeline
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have it ignored, as nohup does
def stub(scan, image, progress):
    {body}
pipeline.run_demo = stub
from pymluops.cli import main
sys.exit(main(["demo"]))
"""


def run_stub(body: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", STUB.format(body=body)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload]


def test_interruption(tmp_path: Path) -> None:
    done = run_stub("os.kill(os.getpid(), signal.SIGINT); time.sleep(30)", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


RUN = """
import signal, sys
from pymluops.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have it ignored, as nohup does
print("go", flush=True)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (["demo"], 0.1),
        (["demo", "--plot", "plots"], 0.7),
        (["demo", "--backend", "sim"], 1.5),
    ],
)
def test_a_signal_interrupts_without_a_trace(tmp_path: Path, arguments: list[str], seconds: float) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "go\n"
    time.sleep(seconds)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, "", "interrupted\n")
    for path in tmp_path.rglob("*.*"):
        assert not path.name.startswith(".")
        if path.suffix == ".json":
            json.loads(path.read_text())


def _write_and_fail(path: Path) -> None:
    with whole_file(path) as file:
        file.write_text("half of")
        path.parent.read_text()


def test_files_are_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    link.symlink_to(path)
    for name in (path, link):
        with whole_file(name) as file:
            file.write_text(f"by {name.name}")
            assert file != path
    assert (path.read_text(), link.is_symlink()) == ("by link.txt", True)
    with pytest.raises(IsADirectoryError):
        _write_and_fail(path)
    assert path.read_text() == "by link.txt"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.txt", "out.txt"]
    with whole_file(Path("/dev/null")) as file:
        file.write_text("nothing")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["--help"]])
def test_a_closed_pipe(tmp_path: Path, arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pymluops", *arguments],
            stdout=write, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=60,
        )  # fmt: skip
    finally:
        os.close(write)
    assert done.stderr == ""
    # argparse reports no error when the pipe that takes its help is closed.
    assert done.returncode in ((0, 128 + signal.SIGPIPE) if arguments == ["--help"] else (128 + signal.SIGPIPE,))


def test_a_full_disk(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pymluops", "info"],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "pymluops: No space left on device\n")


def test_commands_import_only_what_they_need(tmp_path: Path) -> None:
    script = (
        "import sys, pymluops; early = set(sys.modules); from pymluops.cli import main; code = main(['info'])\n"
        "print(*sorted(m for m in early if m.startswith(('pymluops.demo', 'pymluops.cli', 'argparse'))))\n"
        "print(*sorted(m for m in sys.modules if m in ('matplotlib', 'PIL', 'pymluops.demo.pipeline')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n\n\n")


def test_the_installed_program(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("pymluops")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout == f"pymluops {VERSION}\n"


# ---- Progress ------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def wait_for(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_progress_appears_on_a_terminal_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(progress, "DELAY", 0.01)
    with progress.Progress(3, "demo") as shown:
        shown.step("one")
        wait_for(terminal.getvalue)  # in the middle of a step
        assert terminal.getvalue() == "\rdemo [1/3] one"
        shown.step("a longer name")
        shown.step("end")
    lines = terminal.getvalue().split("\r")
    assert lines[2] == "demo [2/3] a longer name"
    assert lines[3] == "demo [3/3] end".ljust(len(lines[2]))
    assert lines[4].isspace()
    assert lines[5] == ""


def test_progress_keeps_quiet_in_the_first_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress.Progress(2, "demo") as shown:
        shown.step("one")
        shown.step("two")
    assert terminal.getvalue() == ""


def test_progress_keeps_quiet_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress(2, "demo") as shown:
        shown.step("one")
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_progress_of_the_program_on_a_terminal(tmp_path: Path) -> None:
    parent, child = pty.openpty()
    body = "progress.step('slow'); time.sleep(1.6); raise KeyboardInterrupt"
    done = subprocess.run(
        [sys.executable, "-c", STUB.format(body=body)], stdout=subprocess.PIPE, stderr=child, cwd=tmp_path, timeout=60
    )
    os.close(child)
    text = b""
    while True:
        try:
            part = os.read(parent, 4096)
        except OSError:  # Linux reports a closed terminal so
            break
        if not part:
            break
        text += part
    os.close(parent)
    assert done.returncode == 130
    assert b"demo [3/24] slow" in text
    assert text.endswith(b"\rinterrupted\r\n")
