"""Files, options, environment variables, modules and links that pages name exist."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import pymluops

ROOT = Path(__file__).resolve().parents[2]
#: Tools write these from files that other tests look at.
WRITTEN = {"simulator-intrinsics.md", "simulator-prototypes.md"}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    if path.name != "CHANGELOG.md" and path.name not in WRITTEN
)
FOLDERS = (
    ".ci",
    "benchmarks",
    "cmake",
    "docs",
    "examples",
    "native",
    "pymluops",
    "pymluops_autoload",
    "tests",
    "tools",
)
SUFFIXES = {".c", ".cmake", ".cpp", ".h", ".ini", ".mlu", ".pxi", ".py", ".pyi", ".pyx", ".toml", ".txt", ""}
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
ENDING = re.compile(r"\.(?:c|cmake|cpp|css|h|html|ipynb|js|json|md|mlu|pyi?|rst|toml|txt)$")
#: Of the environment, of CMake and of the preprocessor.
VARIABLE = re.compile(r"\b(?:PYMLUOPS|MLUOPS?|SPCONV|NEUWARE)_[A-Z0-9_]*[A-Z0-9]\b")
#: Options of programs of others.
OF_OTHERS = {"--index-url", "--junitxml", "--no-build-isolation", "--no-deps", "--pdb"}
#: Paths on the reader's machine, in a build, or in what is made.
ELSEWHERE = re.compile(
    r"unused/\.\.\.|/.*|\.\w+|\*\..*|docs/generated|bin/cncc|cmake/modules/\w+\.cmake"
    r"|_sim/include|lib/x86_64-linux-gnu|(?:bang|cpu)[/_](?:\w*\*|x)\.(?:cpp|h)"
    r"|add.*\.mlu|add/candidate\.mlu|tasks\.py|data_preprocessor\.py"
)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def prose(name: str) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page(name), flags=re.MULTILINE | re.DOTALL)


@functools.cache
def files() -> list[Path]:
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)
    return [path for path in [*found, *ROOT.glob("*")] if "generated" not in path.parts]


@functools.cache
def sources() -> str:
    """The text of all sources but this file, which names what it looks for."""
    chosen = [path for path in files() if path.suffix in SUFFIXES and path.is_file() and path != Path(__file__)]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in chosen)


@functools.cache
def options() -> frozenset[str]:
    return frozenset(OPTION.findall(sources()))


@functools.cache
def variables() -> frozenset[str]:
    return frozenset(VARIABLE.findall(sources()))


@functools.cache
def places() -> frozenset[str]:
    """Every file and folder, by each end of its path."""
    parts = [path.relative_to(ROOT).parts for path in files()]
    return frozenset("/".join(part[begin:]) for part in parts for begin in range(len(part)))


def missing_options(text: str) -> set[str]:
    return set(OPTION.findall(text)) - options() - OF_OTHERS


def missing_variables(text: str) -> set[str]:
    return set(VARIABLE.findall(text)) - variables()


def missing_paths(text: str) -> set[str]:
    """Paths in code that lead nowhere; names of rules of the simulator look like paths."""
    rules = {rule.name for rule in pymluops.sim.rules()}
    found = set()
    for name in re.findall(r"`([\w.*/-]+?)/?`", text):
        is_path = "/" in name or ENDING.search(name)
        known = name in rules or name in places() or ELSEWHERE.fullmatch(name)
        if is_path and not known:
            found.add(name)
    return {name for name in found if not name.startswith(".ci") or (ROOT / ".ci").is_dir()}  # the sdist lacks it


def missing_modules(text: str) -> set[str]:
    names = set(re.findall(r"(?<![\w./-])(pymluops(?:\.\w+)+)", text))
    endings = (".py", ".pyi", ".md", ".toml")
    return {name for name in names if not name.endswith(endings) and not has_name(name)}


def has_name(dotted: str) -> bool:
    """Whether a module, or a name of one, exists."""
    parts = dotted.split(".")
    if parts[1] == "torch":  # it imports PyTorch
        texts = (path.read_text(encoding="utf-8") for path in (ROOT / "pymluops" / "torch").rglob("*.py"))
        return set(parts) <= {"pymluops", "torch", "sparse", *re.findall(r"\w+", " ".join(texts))}
    found: object = pymluops
    for end, part in enumerate(parts[1:], 2):
        name = ".".join(parts[:end])
        if not hasattr(found, part) and importlib.util.find_spec(name) is None:
            return False
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(name)
    return True


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def wrong_links(name: str, text: str) -> set[str]:
    found = set()
    for link in re.findall(r"\]\(([\w./#:-]*\w)\)", text):
        file, _, place = link.partition("#")
        if "://" in file or "generated/" in file:
            continue
        target = (ROOT / name).parent / file if file else ROOT / name
        headings = re.findall(r"^#+ (.*)", target.read_text(encoding="utf-8"), re.MULTILINE) if place else []
        if not target.exists() or (place and place not in map(anchor, headings)):
            found.add(link)
    for file, heading in re.findall(r"\]\((\w[\w-]*\.md)\), \"([^\"]+)\"", text):
        if not re.search(rf"^#+ {re.escape(heading)}$", page(f"docs/{file}"), re.MULTILINE):
            found.add(f"{file}, {heading}")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_options_on_a_page_are_in_the_sources(name: str) -> None:
    assert missing_options(page(name)) == set()


@pytest.mark.parametrize("name", PAGES)
def test_variables_on_a_page_are_in_the_sources(name: str) -> None:
    assert missing_variables(page(name)) == set()


@pytest.mark.parametrize("name", PAGES)
def test_paths_on_a_page_exist(name: str) -> None:
    assert missing_paths(prose(name)) == set()


@pytest.mark.parametrize("name", PAGES)
def test_modules_and_their_names_on_a_page_exist(name: str) -> None:
    assert missing_modules(page(name)) == set()


@pytest.mark.parametrize("name", PAGES)
def test_links_on_a_page_lead_to_files_and_headings(name: str) -> None:
    assert wrong_links(name, prose(name)) == set()


def test_what_does_not_exist_is_found() -> None:
    assert missing_options("`--no-such-option` and --thorough") == {"--no-such-option"}
    assert missing_variables("`PYMLUOPS_NO_SUCH`, MLUOPS_TARGETS") == {"PYMLUOPS_NO_" + "SUCH"}
    assert missing_paths("`tools/gone.py`, `gone.md`, `tests/data/`, `init/copy`") == {"tools/gone.py", "gone.md"}
    assert missing_modules("pymluops.sim.gone, pymluops.bang.compile") == {"pymluops.sim.gone"}
    assert wrong_links("docs/index.md", "[a](gone.md) [b](judge.md#gone) [c](judge.md#verdicts)") == {
        "gone.md",
        "judge.md#gone",
    }


def test_formulas_name_parameters_of_their_operators() -> None:
    formulas = [path for path in sorted((ROOT / "docs" / "formulas").glob("*.rst")) if not path.name.startswith("_")]
    assert formulas
    for path in formulas:
        family = (ROOT / "pymluops" / "ops" / path.name).with_suffix(".py").read_text(encoding="utf-8")
        code = " ".join(re.findall(r"``([^`]+)``", path.read_text(encoding="utf-8")))
        assert [word for word in re.findall(r"[A-Za-z_]\w+", code) if word not in family] == [], path.name
