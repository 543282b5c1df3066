"""The installed distribution: what it holds, what it asks for and what importing it brings in."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.resources
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

import pymluops

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = importlib.resources.files("pymluops")
DISTRIBUTION = importlib.metadata.distribution("pymluops")
COMPILED = ("_core.abi3.so", "libmluops_cpu.so", "libmluops_sim.so", "libmlusim.so", "libmlusim_cnnl.so")


@pytest.fixture(scope="module")
def project() -> Any:
    """The [project] table of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


@pytest.fixture(params=COMPILED)
def dynamic(request: pytest.FixtureRequest) -> Any:
    """The dynamic section of each compiled file."""
    with (INSTALLED / request.param).open("rb") as file:
        yield ELFFile(file).get_section_by_name(".dynamic")


def run(code: str, folder: Path) -> str:
    """Run Python code in a process of its own, away from the source tree."""
    result = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return result.stdout


def test_tests_see_the_installed_package() -> None:
    """The package under test has its compiled modules, whatever folder the tests were started from."""
    assert pymluops._core.__file__ is not None
    assert Path(pymluops._core.__file__).name == "_core.abi3.so"


def said_by_the_document(section: str, folder: Path) -> str:
    """What the commands of a section of docs/c.md print."""
    text = (ROOT / "docs" / "c.md").read_text(encoding="utf-8")
    script = re.search(r"```sh\n(.*?)```", text.partition(f"## {section}\n")[2], re.DOTALL)
    assert script is not None
    (folder / "examples").symlink_to(ROOT / "examples")
    code = script[1].replace("python3", sys.executable)
    return subprocess.run(["sh", "-ec", code], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.compiler
def test_the_document_links_a_program_in_c_with_the_installed_library(tmp_path: Path) -> None:
    said = said_by_the_document("From a Python installation", tmp_path)
    assert "channel 1, shift -2\n  in   10  20  30  40  50\n  out  30  40  50   0   0\n" in said


@pytest.mark.compiler
def test_the_document_links_a_program_that_uses_the_memory_of_a_device(tmp_path: Path) -> None:
    assert said_by_the_document("Device memory", tmp_path) == "0 30\n1 40\n2 50\n3 0\n4 0\n"


#: A program as the vendor's samples are: it includes mlu_op.h alone and calls CNRT.
SAMPLE = """
#include <mlu_op.h>
int main(void) {
  cnrtQueue_t queue;
  mluOpHandle_t handle;
  CNresult result = CN_SUCCESS;
  return cnrtQueueCreate(&queue) != cnrtSuccess || mluOpCreate(&handle) != MLUOP_STATUS_SUCCESS || result != CN_SUCCESS;
}
"""


@pytest.mark.compiler
@pytest.mark.parametrize(
    "language", [["c", "-std=c99"], ["c", "-std=c17"], ["c++", "-std=c++11"], ["c++", "-std=c++20"]]
)
def test_the_header_includes_those_of_the_toolkit_where_they_are(language: list[str]) -> None:
    kind, standard = language
    include = INSTALLED / "_sim" / "include"
    command = ["cc", "-x", kind, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    subprocess.run([*command, "-I", str(include), "-"], input=SAMPLE, text=True, check=True)
    lone = [*command, "-I", str(ROOT / "native" / "include"), "-"]
    subprocess.run(lone, input="#include <mlu_op.h>\ncnrtQueue_t queue;\n", text=True, check=True)


def test_no_installed_file_names_the_folders_of_the_build() -> None:
    """Neither the clone nor the home of who built it, nor, in line tables, the folder where the compiler ran."""
    elffile = pytest.importorskip("elftools.elf.elffile")
    hidden = {str(folder).encode() for folder in (ROOT, Path.home()) if len(folder.parts) > 2}
    endings = (".so", ".a", ".cmake", ".pc", ".h", ".json", ".toml")
    names = [name for name in installed_files() if name.endswith(endings)]
    paths = [path for path in (Path(DISTRIBUTION.locate_file(name)) for name in names) if path.is_file()]
    assert len(paths) > 20
    for path in paths:
        content = path.read_bytes()
        assert [folder for folder in hidden if folder in content] == [], path
        if path.suffix == ".so":
            file = elffile.ELFFile(path.open("rb"))
            folders = compile_folders(file) if file.has_dwarf_info() else []
            assert [folder for folder in folders if folder.startswith("/")] == [], path
            file.stream.close()


def compile_folders(file: Any) -> list[str]:
    """Where the compiler ran, and the names of the sources."""
    found = []
    for unit in file.get_dwarf_info().iter_CUs():
        attributes = unit.get_top_DIE().attributes
        found += [attributes[key].value.decode() for key in ("DW_AT_comp_dir", "DW_AT_name") if key in attributes]
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "import pymluops; print(pymluops._core.__file__)"),
        ("-m", "pymluops", "info", "--json"),
        ("-m", "pytest", "--version", "--version"),
    ],
)
def test_python_in_the_root_of_a_clone_uses_the_compiled_package(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if arguments[0] == "-c":
        assert Path(done.stdout.strip()) == Path(pymluops._core.__file__ or "")


def test_a_clone_with_nothing_installed_tells_how_to_build() -> None:
    """Without site-packages there is no compiled package."""
    command = [sys.executable, "-S", "-c", "import pymluops"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: pymluops is not built: run 'python3 -m pip install .' in the root of the clone"
    )


def test_version_is_the_same_everywhere(project: Any) -> None:
    cpu = pymluops.load("cpu")
    library_version = cpu.ffi.string(cpu.lib.mluopsExtGetLibraryVersion()).decode()
    assert project["version"] == DISTRIBUTION.version == library_version
    assert f"\nversion: {project['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{project['version']}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_one_wheel_for_every_python() -> None:
    tags = re.findall(r"^Tag: (\S+)", DISTRIBUTION.read_text("WHEEL") or "", re.MULTILINE)
    assert tags
    assert {tag.rsplit("-", 1)[0] for tag in tags} == {"cp311-abi3"}


def installed_files() -> set[str]:
    """The files of the package; of an editable installation, those that it takes from the clone too."""
    files = {str(file) for file in DISTRIBUTION.files or () if str(file).startswith("pymluops/")}
    if json.loads(DISTRIBUTION.read_text("direct_url.json") or "{}").get("dir_info", {}).get("editable"):
        taken = (path for path in (ROOT / "pymluops").rglob("*") if path.is_file())
        names = {path.relative_to(ROOT).as_posix() for path in taken if "__pycache__" not in path.parts}
        files |= {name for name in names if not name.startswith("pymluops/_core/")}
    return files


def test_what_is_installed() -> None:
    files = installed_files()
    assert {name for name in files if ".so" in name} == {f"pymluops/{name}" for name in COMPILED}
    assert "pymluops/_abi.py" in files
    kept = ("pymluops/_sim/include/",)  # what kernels for the simulator are compiled with
    sources = [name for name in files if name.endswith((".pyx", ".pxi", ".c", ".h", ".map"))]
    assert [name for name in sources if not name.startswith(kept)] == []
    assert {
        f"pymluops/_sim/include/{name}"
        for name in (
            "bang.h",
            "mlu.h",
            "cn_api.h",
            "cnnl.h",
            "cnnl_operators.h",
            "cnrt.h",
            "mlusim.h",
            "mlusim_profile.h",
            "mlu_op.h",
            "mluops_ext.h",
            "mluops_ext/library.h",
            "mluops_module.h",
        )
    } <= files
    assert {
        f"pymluops/sim/{name}" for name in ("toolchain.py", "cards.toml", "intrinsics.json", "translator/__main__.py")
    } <= files
    assert "pymluops/bang/cmake/FindBANG.cmake" in files
    for name in ("py.typed", "_core.pyi", "__main__.py"):
        assert (INSTALLED / name).is_file(), name


def test_the_examples_come_with_the_package(tmp_path: Path) -> None:
    """The tutorial, its kernels, the puzzles, the gallery, and each page that a text of the package names."""
    command = [sys.executable, "-m", "pymluops", "examples"]
    copied = subprocess.run([*command, "copy", "here"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "begin with here/docs/tutorial.md" in copied.stdout
    there = {
        path.relative_to(tmp_path / "here").as_posix() for path in (tmp_path / "here").rglob("*") if path.is_file()
    }
    listed = subprocess.run([*command, "list"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(listed.stdout.split()) == there
    for folder in ("kernels", "programs", "puzzles", "tutorial"):
        here = {f"examples/{folder}/{path.name}" for path in (ROOT / "examples" / folder).glob("*.mlu")}
        assert here
        assert here <= there
    named = {
        name
        for path in (ROOT / "pymluops").rglob("*.py")
        for name in re.findall(r"docs/[\w-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert {"docs/tutorial.md", "docs/workbench.md", "examples/puzzles/test_puzzles.py", *named} <= there
    assert "docs/index.md" not in there
    for page in (tmp_path / "here").rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s:]+)[)#]", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    pages = (tmp_path / "here" / "docs", ROOT / "docs")
    names = [path.name for path in pages[0].glob("*.md")]
    links, links_here = (sum((folder / name).read_text().count("](") for name in names) for folder in pages)
    assert links > 0.9 * links_here, "links between the pages stay"
    size = sum(path.stat().st_size for path in (tmp_path / "here").rglob("*") if path.is_file())
    assert size < 2**20, "the wheel stays small"
    again = subprocess.run([*command, "copy", "here"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_nothing_lies_beside_the_package() -> None:
    """No headers, tests or CMake files in site-packages: only the package, its metadata and the program."""
    tops = {Path(str(file)).parts[0] for file in DISTRIBUTION.files or ()} - {".."}
    assert [top for top in tops if "pymluops" not in top and top != "__pycache__"] == []


def test_requirements(project: Any) -> None:
    required = {re.split(r"[^\w-]", text)[0] for text in project["dependencies"]}
    assert required == {"numpy", "cffi"}
    listed = [text for text in DISTRIBUTION.requires or () if "extra ==" not in text]
    assert {re.split(r"[^\w-]", text)[0] for text in listed} == required


def test_compiled_files_say_where_nothing_else_is(dynamic: Any) -> None:
    """No libpython and no link from the extension to the library, which is opened by its path.

    The libraries of the simulator find each other in the folder of the package.
    """
    assert list(dynamic.iter_tags("DT_RPATH")) == []
    assert {tag.runpath for tag in dynamic.iter_tags("DT_RUNPATH")} <= {"$ORIGIN"}
    needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
    assert [name for name in needed if "python" in name or "mluops" in name] == []


def test_library_stays_mapped() -> None:
    """Threads of the pool may outlive dlclose; the symbols are bound when the library is loaded."""
    with (INSTALLED / "libmluops_cpu.so").open("rb") as file:
        dynamic = ELFFile(file).get_section_by_name(".dynamic")
        (flags,) = dynamic.iter_tags("DT_FLAGS_1")
        nodelete, now = 0x8, 0x1
        assert flags["d_val"] & (nodelete | now) == nodelete | now


def test_import_brings_in_only_what_is_required(tmp_path: Path) -> None:
    code = (
        "import json, sys; old = set(sys.modules); import pymluops; print(json.dumps(sorted(set(sys.modules) - old)))"
    )
    imported = {name.split(".")[0] for name in json.loads(run(code, tmp_path))}
    unwanted = {"torch", "matplotlib", "PIL", "ml_dtypes", "setuptools", "distutils", "pycparser", "Cython", "mmcv"}
    assert imported & unwanted == set()
    assert run("import pymluops, sys; print('pymluops.demo' in sys.modules)", tmp_path).strip() == "False"


def test_program_and_module_are_the_same(tmp_path: Path) -> None:
    (entry,) = DISTRIBUTION.entry_points.select(group="console_scripts", name="pymluops")
    assert entry.value == "pymluops.cli:main"
    command = [sys.executable, "-m", "pymluops", "info", "--json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert isinstance(json.loads(result.stdout), dict)


def test_extension_is_loaded_through_the_stable_abi() -> None:
    assert ".abi3.so" in importlib.machinery.EXTENSION_SUFFIXES
    assert not list(Path(str(INSTALLED)).glob("_core.cpython-*"))
