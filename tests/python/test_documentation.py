"""What README.md, the other documents and the examples show works as it is written there.

A ``python`` block runs in a process of its own, and a ``text`` block behind it is what it prints.
Commands of ``sh`` blocks are looked at with the parsers and files that they would meet. A block of
a kind that has no test fails.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.command import benchmark_parser
from pymluops.bang._options import read_options
from pymluops.cli import CommandError, build_parser
from support.processes import python_output, run_python

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "tests/**/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block, and the text of the next one if that is what it prints."""

    kind: str
    text: str
    place: str
    output: str | None


def blocks_of(document: str, name: str) -> list[Block]:
    found = []
    matches = list(FENCE.finditer(document))
    for i, match in enumerate(matches):
        following = matches[i + 1] if i + 1 < len(matches) else None
        prints = following is not None and following[2] == "text"
        line = document.count("\n", 0, match.start()) + 1
        found.append(Block(match[2], match[3], f"{name}:{line}", following[3] if following and prints else None))
    return found


#: A tool writes its blocks from what tests/bang/test_intrinsic_reference.py runs.
WRITTEN = "simulator-prototypes.md"
BLOCKS = [
    block
    for path in DOCUMENTS
    if path.name != WRITTEN
    for block in blocks_of(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
]


def without_addresses(text: str) -> str:
    """The text without what differs from run to run, or with every change of a kernel: addresses and lines."""
    return re.sub(r"\.mlu:\d+", ".mlu:LINE", re.sub(r"0x[0-9a-f]+", "ADDRESS", text)).strip()


#: Packages that examples use and that ``[test]`` does not install.
OPTIONAL = ("mmcv", "mmdet3d", "torch")


def check_python(block: Block) -> None:
    for package in OPTIONAL:
        used = re.search(rf"^(import|from) {package}\b", block.text, re.MULTILINE)
        used = used or (package == "torch" and "pymluops.install(" in block.text)
        if used and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    done = run_python(block.text, PYMLUOPS_BACKEND="")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    if block.output is not None:
        assert without_addresses(done.stdout) == without_addresses(block.output)


def check_ipython(block: Block) -> None:
    """The cell compiles."""
    head, _, cell = block.text.partition("\n")
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell; shell = InteractiveShell()\n"
        "shell.run_line_magic('load_ext', 'pymluops.bang.notebook')\n"
        "print(list(shell.run_cell_magic('bang', *sys.argv[1:]).kernels))"
    )
    assert head.startswith("%%bang ")
    assert python_output(code, head.removeprefix("%%bang "), cell) == "['scale']"


def check_toml(block: Block) -> None:
    """Every table describes a device of the simulator, or names a plugin of coverage.py."""
    tool = tomllib.loads(block.text).get("tool")
    if tool:
        (plugin,) = tool["coverage"]["run"]["plugins"]
        assert callable(importlib.import_module(plugin).coverage_init)
        return
    code = (
        "import pathlib, sys, tempfile, pymluops; folder = tempfile.TemporaryDirectory()\n"
        "path = pathlib.Path(folder.name, 'device.toml'); path.write_text(sys.argv[1]); pymluops.use('sim')\n"
        "pymluops.sim.set_device(path); print(pymluops.sim.device().name)"
    )
    assert python_output(code, block.text, PYMLUOPS_SIM_DEVICE="") == tomllib.loads(block.text)["name"]


def check_sh(block: Block) -> None:
    for line in block.text.replace("\\\n", "").splitlines():
        for command in line.partition("  #")[0].split("&&"):
            check_command(shlex.split(command))


def check_command(words: list[str]) -> None:
    """Fail if the command could not be understood by the program that it calls."""
    if words and re.match(r"folder=\$\(", words[0]):  # tests/packaging/test_installed_package.py runs this block
        return
    while words and re.match(r"\w+=", words[0]):  # variables of the environment
        words = words[1:]
    redirected = next((i for i, word in enumerate(words) if word in (">", "2>")), len(words))
    words = [word.removeprefix("$SOURCES/") for word in words[:redirected]]
    match words:
        case [] | [".", ".venv/bin/activate"] | ["python3", "-m", "venv", ".venv"]:
            pass
        case ["pymluops", *arguments]:
            check_arguments(arguments)
        case ["bangcc", *arguments]:
            read_options(arguments)
        case ["python3", "-m", "benchmarks", *arguments]:
            benchmark_parser().parse_args(arguments)
        case ["python3", "-m", module, *_] if module.startswith("benchmarks."):
            assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()
        case ["python3", "-m", "pip", "install", *what]:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            extras = project["optional-dependencies"]
            assert {name for word in what for name in re.findall(r"^\.\[(\w+)\]$", word)} <= set(extras)
        case ["python3", "-m", "pytest", *arguments]:
            assert all((ROOT / word).exists() for word in arguments if "/" in word)
        case ["python3", script, *_] if script.endswith(".py"):
            assert (ROOT / script).is_file()
        case ["cc", source, *_]:
            assert (ROOT / source).is_file()
        case ["export", *_]:
            pass
        case [program] if program.startswith(("./", "/your/programs/bin/")):  # what a command before it has made
            assert any((ROOT / "examples").rglob(f"{Path(program).name}.*"))
        case ["python3", "-m", "sphinx", *_]:
            assert (ROOT / "docs" / "conf.py").is_file()
        case ["sed", _, file]:
            assert (ROOT / file).is_file()
        case ["python", "tests/fuzz", *options]:
            known = (ROOT / "tests" / "fuzz" / "__main__.py").read_text(encoding="utf-8")
            assert all(f'"{word}"' in known for word in options if word.startswith("--"))
        case ["cmake" | "ctest", *options]:
            sources = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")]
            text = "".join(path.read_text(encoding="utf-8") for path in sources)
            for name in re.findall(r"-D(MLUOPS_\w+)", " ".join(options)):
                assert re.search(rf"(option|set)\({name} ", text), name
        case _:
            pytest.fail(f"no test for the command {shlex.join(words)}")


def check_arguments(arguments: list[str]) -> None:
    try:
        build_parser().parse_args(arguments)
    except SystemExit as request:
        assert request.code == 0


def check_console(block: Block) -> None:
    """The session with gdb, which tests/kernels/test_gdb.py runs, names a line that there is."""
    assert block.text.startswith("$ gdb ")
    (place,) = re.findall(r"\(gdb\) break (\S+):(\d+)", block.text)
    assert int(place[1]) <= len((ROOT / place[0]).read_text(encoding="utf-8").splitlines())


def check_cpp(block: Block) -> None:
    """tests/bang/test_tutorial.py compares it with its file."""
    assert block.place.startswith("docs/tutorial.md:")


def check_text(block: Block) -> None:
    """It has been compared with what the block before it prints; of commands, by tests of their page."""
    if block.place.startswith(("docs/tutorial.md:", "docs/cases.md:")):
        assert any(other.output == block.text and other.kind != "text" for other in BLOCKS), "follows no command"
        return
    assert any(other.output == block.text and other.kind == "python" for other in BLOCKS), "follows no python block"


CHECKS: dict[str, Callable[[Block], None]] = {
    "python": check_python,
    "text": check_text,
    "sh": check_sh,
    "toml": check_toml,
    "console": check_console,
    "cpp": check_cpp,
    "ipython": check_ipython,
}


def check(block: Block) -> None:
    assert block.kind in CHECKS, f"{block.place}: no test for a block of the kind {block.kind!r}"
    CHECKS[block.kind](block)


def _case(block: Block) -> Any:
    return pytest.param(block, id=block.place, marks=pytest.mark.compiler if _compiles(block) else ())


def _compiles(block: Block) -> bool:
    return block.kind == "ipython" or any(word in block.text for word in ("bang.compile(", "bang.judg"))


@pytest.mark.parametrize("block", [_case(block) for block in BLOCKS])
def test_a_block_works_as_it_is_written(block: Block) -> None:
    check(block)


def test_every_fence_belongs_to_a_block() -> None:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        fences = len(re.findall(r"^ *```", text, re.MULTILINE))
        assert fences == 2 * len(blocks_of(text, path.name)), path
    assert {"README.md:6", "docs/simulator.md:10"} <= {block.place for block in BLOCKS}


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_a_page_begins_with_whom_it_is_for(path: Path) -> None:
    heading, _, first = path.read_text(encoding="utf-8").partition("\n\n")
    assert heading.startswith("# ")
    paragraph = " ".join(first.partition("\n\n")[0].split())
    assert re.match(r"For (people|those|authors|everybody)\b", paragraph), paragraph


def test_commands_within_sentences_are_understood() -> None:
    commands = [
        command
        for path in DOCUMENTS
        for command in re.findall(r"`pymluops ((?:demo|info)[^`]*)`", path.read_text(encoding="utf-8"))
    ]
    assert "demo --scan FILE --image FILE --plot DIR" in commands
    for command in commands:
        check_arguments(shlex.split(command))
    for path in DOCUMENTS:
        for arguments in re.findall(r"`python3 -m benchmarks( [^`]*)?`", path.read_text(encoding="utf-8")):
            benchmark_parser().parse_args(shlex.split(arguments))


@pytest.mark.parametrize(
    "document",
    [
        "```python\nx\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```\nx\n```\n",
        "```rust\nx\n```\n",
        "```sh\npymluops demo --scna FILE\n```\n",
        "```sh\ncurl x\n```\n",
        "```text\nnever printed\n```\n",
        '```toml\nbase = "MLU9"\nname = "x"\n```\n',
    ],
)
def test_what_does_not_work_is_found(document: str) -> None:
    block = blocks_of(document, "made up")[0]
    with pytest.raises((AssertionError, pytest.fail.Exception, CommandError)):
        check(block)
