"""Numbers, versions and tables on the pages of the repository, each compared with what it is about."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pymluops import _pool, bang, sim
from pymluops._cache import store
from pymluops.bang import _limited
from pymluops.bang._module import KINDS
from pymluops.bang.judging import Kind, Limits, tolerance
from pymluops.dropins._catalogue import DROP_INS
from pymluops.dropins.spconv._names import VERSION
from pymluops.mmcv._names import MODULE_OF
from pymluops.sim.profiler import _figures
from support import quick_selection, selection

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = {6: "six", 12: "twelve"}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def page(name: str) -> str:
    """The text of a page, with single spaces."""
    return " ".join(text(name).split())


def rows(name: str, heading: str = "") -> dict[str, list[str]]:
    """The cells of the tables behind a heading, up to the next one, by the first cell."""
    part = text(name)
    if heading:
        part = re.split(rf"^#+ {re.escape(heading)}$", part, maxsplit=1, flags=re.MULTILINE)[1]
        part = re.split(r"^#+ ", part, maxsplit=1, flags=re.MULTILINE)[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
    return {first: others for first, *others in cells if not re.fullmatch(r"-*", first)}


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def project() -> dict[str, Any]:
    return tomllib.loads(text("pyproject.toml"))["project"]


# ---- The simulator and its workbench -------------------------------------------------------------


def test_the_figures_of_the_campaign_add_up() -> None:
    table = {name: [int(cell) for cell in cells[:6]] for name, cells in rows("docs/campaign.md", "Figures").items()
             if cells[0].isdigit()}  # fmt: skip
    every = table.pop("all")
    assert every == [sum(column) for column in zip(*table.values(), strict=True)]
    mutants, *classes = every
    assert mutants == sum(classes)
    reported, missed = classes[3:]
    kernels = len(list((ROOT / "examples" / "kernels").glob("*.mlu")))
    share = f"{100 * reported / (reported + missed):.1f} %"
    said = f"there are {mutants} mutants of {kernels} kernels. {reported + missed} of them compute something else, and "
    assert f"{said}{reported} of these are reported: {share}" in page("docs/campaign.md")
    assert f"The {kernels} kernels alone" in page("docs/campaign.md")
    judged = rows("docs/judge.md", f"A run over {kernels + mutants:,} kernels")
    assert [int(cell) for cell in judged["kernels"]] == [kernels, kernels, 0, 0, 0, 0]
    number, right, found, wrong, fault, refused = (int(cell) for cell in judged["mutants"])
    assert number == mutants == right + found + wrong + fault + refused
    more = wrong + fault - reported - missed
    assert f"{reported + missed} mutants compute other results" in page("docs/judge.md")
    assert f"also the {missed} that no checker and no schedule shows" in page("docs/judge.md")
    assert f"{more} are faults although all results are right" in page("docs/judge.md")
    assert f"missing sync, {right + found} are right" in page("docs/judge.md")
    assert f"calls all {reported + missed} wrong or faulty" in page("docs/campaign.md")


def test_the_exercises_are_counted() -> None:
    exercises = len(list((ROOT / "examples" / "puzzles").glob("*.mlu")))
    assert f"`examples/puzzles` has {NUMBERS[exercises]} small exercises" in page("docs/tutorial.md")


def test_the_figures_of_the_time_model_are_those_of_the_cards() -> None:
    table = rows("docs/profile.md", "The time model")
    cards = table.pop("figure")[:-1]
    assert cards == [model.name for model in sim.devices()]
    shown = {code(name)[0]: [float(cell) for cell in cells[:-1]] for name, cells in table.items()}
    figures = [_figures.figures_of(model) for model in sim.devices()]
    assert list(shown) and {name: [getattr(each, name) for each, _ in figures] for name in shown} == shown
    assert set(shown) == set(_figures.NAMES)
    guesses = {card: list(source.values()).count("guess") for card, (_, source) in zip(cards, figures, strict=True)}
    said = f"Of the {len(shown)} figures of the model {guesses['MLU370-X8']} are guesses for MLU370-X8, and "
    assert f"{said}{guesses['MLU590']} for MLU590." in page("docs/profile.md")


def test_schedules_and_launches() -> None:
    usual = sim.Schedule()
    for name, word in (("copies", usual.copies), ("cores", usual.cores), ("memory", usual.memory)):
        assert f"| `{name}` | `{word}` (usual) |" in page("docs/schedules.md")
    assert inspect.signature(bang.check).parameters["random_runs"].default == 4
    assert "`random_runs` random ones, four unless you give another number" in page("docs/schedules.md")
    assert [*KINDS][:3] + [*KINDS][-1:] == ["block", "union1", "union2", "union16"]
    assert '`kind` is `"block"`, which is the default, or `"union1"`, `"union2"`, ... `"union16"`' in page(
        "docs/workbench.md"
    )


def test_limits_and_tolerances_of_the_judge() -> None:
    limits = Limits()
    names = ("seconds", "compile_seconds", "memory_mib", "output_kib", "threads")
    given = ", ".join(f"{name}={getattr(limits, name):g}" for name in names)
    assert f"`Limits({given})`" in page("docs/judge.md")
    assert (tolerance._USUAL[4], tolerance._USUAL[2]) == (1e-4, 1e-2)
    assert "floats may be off by 1e-4, halves by 1e-2, of themselves" in page("docs/judge.md")
    kinds = {kind for name in rows("docs/judge.md", "Verdicts") for kind in code(name)} - {"verdict.kind"}
    assert kinds == {str(kind.value) for kind in Kind}


def test_defaults_of_environment_variables() -> None:
    table = {code(name)[0]: cells[-1] for name, cells in rows("docs/environment.md").items() if code(name)}
    assert table["PYMLUOPS_POOL_MIB"] == str(_pool._DEFAULT_MIB)
    assert table["PYMLUOPS_CACHE_MIB"] == str(store.MOST_MIB)
    assert (table["PYMLUOPS_COMPILE_SECONDS"], table["PYMLUOPS_COMPILE_MIB"]) == (
        str(_limited._SECONDS),
        str(_limited._MIB),
    )
    assert "takes more than ten minutes, or more than 8 GiB of memory" in page("docs/workbench.md")
    assert (_limited._SECONDS, _limited._MIB) == (10 * 60, 8 * 1024)
    assert f"of {_pool.LEAST_BYTES >> 20} to {_pool.MOST_BYTES >> 20} MiB" in page("docs/performance.md")
    assert f"at most {_pool._DEFAULT_MIB} MiB of idle memory" in page("docs/performance.md")


#: Sentences, and lines of the sources that they are about.
CONSTANTS = [
    ("docs/workbench.md", "has at most 4 MiB;", "pymluops/bang/_headers.py", "MOST_CHARACTERS = 4 << 20"),
    ("docs/workbench.md", "nested at most 256 deep", "pymluops/sim/translator/tokens.py", "MOST_OPEN = 256"),
    ("docs/workbench.md", "GCC 12, Clang 16, or newer", "pymluops/bang/_compilers.py", "(12 or newer) or clang++ (16"),
    ("docs/simulator.md", "600 seconds of processor time", "native/sim/machine/launch.cpp", "kUsualTimeLimit = 600.0"),
    ("docs/simulator.md", "There are eight devices", "native/sim/machine/model.cpp", "kUsual = 8;"),
    ("docs/simulator.md", "about every 50 ms", "native/sim/runtime/waits.cpp", "milliseconds(50)"),
    ("docs/simulator.md", "latest 256 launches", "native/sim/check/queues.cpp", "kMostKept = 256;"),
    ("docs/simulator.md", "more than 4096 pieces", "native/sim/check/queues.cpp", "kMostSpans = 4096;"),
    ("docs/simulator.md", "up to 1 MiB each", "native/sim/check/race.cpp", "kMostBytes = 1 << 20;"),
    ("docs/simulator.md", "and of one more", "native/sim/machine/memory.cpp", "memories = device_count() + 1;"),
    (
        "docs/schedules.md",
        "first 256 MiB of an allocation",
        "native/sim/machine/schedule.cpp",
        "std::size_t{256} << 20",
    ),
    ("docs/judge.md", "measured every 20 ms", "pymluops/bang/judging/watch.py", "_TICK = 20"),
    ("docs/performance.md", "into leaves of 32", "native/cpu/point_tree.h", "kLeaf = 32;"),
    ("docs/performance.md", "groups of 8 boxes", "native/cpu/point_tree.h", "kWidth = 8;"),
    ("docs/performance.md", "up to 8 KiB of scratch memory", "native/cpu/kernel.h", "kInlineBytes = 8192;"),
    ("docs/performance.md", "spins for 0.2 ms", "native/cpu/pool.cpp", "kRoundsForWork = 200,"),
    ("docs/torch.md", "Up to 8192 elements are copied", "pymluops/_core/tensor_call.pxi", "MOST_COPIED = 1 << 13"),
]


@pytest.mark.parametrize(("name", "sentence", "file", "line"), CONSTANTS)
def test_a_sentence_has_the_constant_of_the_sources(name: str, sentence: str, file: str, line: str) -> None:
    assert sentence in page(name)
    assert line in text(file)


def test_the_memory_of_a_tree_of_points() -> None:
    """16 bytes a point, and boxes in groups on each level."""
    header = text("native/cpu/point_tree.h")
    leaf, width, box = (int(re.findall(rf"{name} = (\d+);", header)[0]) for name in ("kLeaf", "kWidth", "kBoxRows"))
    points = 1_000_000
    nodes, tree, state = -(-points // leaf), 16 * points, 4 * points  # and distances for picking the furthest
    while True:
        nodes = -(-nodes // width)
        tree, state = tree + 4 * nodes * width * box, state + 8 * nodes * width
        if nodes == 1:
            break
    assert f"The tree takes {tree / points:.0f} bytes a point" in page("docs/performance.md")
    assert f"furthest point sampling takes {(tree + state) / points:.0f} bytes a point" in page("docs/performance.md")


# ---- Packages of others --------------------------------------------------------------------------


def test_versions_of_pytorch_are_those_of_the_extras() -> None:
    extras = project()["optional-dependencies"]
    least = {name: next(each for each in extras[name] if each.startswith("torch>=")) for name in ("torch", "mmcv")}
    assert f"It needs PyTorch {least['torch'].removeprefix('torch>=')} or newer" in page("docs/torch.md")
    assert f"and PyTorch {least['mmcv'].removeprefix('torch>=')} or newer" in page("docs/mmcv.md")


def test_the_table_of_drop_ins_is_the_catalogue() -> None:
    table = {code(name)[0]: cells[-1] for name, cells in rows("docs/dropins.md", "Compiled extensions").items()
             if code(name)}  # fmt: skip
    extensions = {name: drop_in for name, drop_in in DROP_INS.items() if name != "spconv" and not drop_in.place}
    for name, drop_in in extensions.items():
        last = {module.rpartition(".")[2] for module, is_package in drop_in.modules.items() if not is_package}
        named = {module.rpartition(".")[2] for module in code(table.pop(name)) if not module.startswith("torch.ops")}
        assert named - {"ops"} == last, name
    assert set(table) - {"install"} == {"mmcv"}  # install stands in the head of the table
    by_name = {name for name, drop_in in extensions.items() if not drop_in.always}
    assert by_name == {"chamfer"} and not DROP_INS["spconv"].always
    assert "Three are only installed by name: `spconv`, a whole package, and `transformers`" in page("docs/dropins.md")


def test_the_page_names_all_modules_of_spconv() -> None:
    section = text("docs/dropins.md").split("## spconv 2.x")[1].split("\n\n")[1]
    assert f"The package `spconv` {VERSION} with" in section
    modules = {name for name in DROP_INS["spconv"].modules if not name.startswith("cumm")}
    named = set(code(section))
    assert {f"spconv.pytorch.{name}" for name in named} | named >= modules
    assert modules >= {name for name in named if name.startswith("spconv.")}


def test_the_functions_of_mmcv_are_counted() -> None:
    assert f"These are all {len(MODULE_OF)} functions that mmcv 2.2 loads." in page("docs/mmcv.md")


def assigned(file: str, name: str) -> Any:
    """The literal that a module of the examples assigns, without running it."""
    (value,) = [
        node.value
        for node in ast.parse(text(file)).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name
    ]
    return ast.literal_eval(value)


def test_the_networks_of_others_have_the_configs_of_the_example() -> None:
    table = {name: code(cells[0])[0] for name, cells in rows("docs/models.md", "What runs").items() if code(cells[0])}
    shown = list(table.items())
    networks = assigned("examples/mmdet3d/networks.py", "NETWORKS")
    detectors = assigned("examples/mmdet3d/detectors.py", "NETWORKS")
    assert shown == [*networks.items(), *detectors.items()]
    measured = rows("docs/models.md", "Seconds")
    assert {*networks, *detectors} <= set(measured)


def test_the_networks_of_the_examples_are_in_the_table() -> None:
    folder = ROOT / "examples" / "networks"
    scripts = {path.name for path in folder.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    assert f"`examples/networks` has {NUMBERS[len(scripts)]} scripts" in page("docs/networks.md")
    assert {code(name)[0] for name in rows("docs/networks.md") if name.endswith(".py`")} == scripts


# ---- How the project is built and tested ---------------------------------------------------------


def test_the_options_of_cmake_are_in_the_table() -> None:
    sources = "".join(text(name) for name in ("CMakeLists.txt", "cmake/MluopsCompile.cmake"))
    table = {code(name)[0]: cells[0] for name, cells in rows("CONTRIBUTING.md", "Build and test").items() if code(name)}
    options = dict(re.findall(r'^option\((\w+) "[^"]*" (\S+)\)', sources, re.MULTILINE))
    options |= dict(re.findall(r'^set\((MLUOPS_\w+) "?(\w+)"? CACHE STRING', sources, re.MULTILINE))
    assert set(table) == set(options)
    for name, default in options.items():
        assert table[name].strip("`") == default or default.startswith("${"), name


def test_the_table_of_dependencies_has_those_of_the_extras() -> None:
    table = {}
    for names, cells in rows("CONTRIBUTING.md", "Why each dependency").items():
        table |= {re.sub(r" \(.*\)", "", name).strip(): cells[0] for name in names.split(",")}
    for extra, requirements in project()["optional-dependencies"].items():
        for name in {re.split(r"[\[<>=]", each)[0] for each in requirements} - {"pymluops"}:
            assert name in table, name
            shown = {word for cell in code(table[name]) for word in re.findall(r"^\[(\w+)\]$", cell)}
            assert not shown or extra in shown or any(name in " ".join(project()["optional-dependencies"][each])
                                                      for each in shown), (name, extra)  # fmt: skip
    for name in (re.split(r"[<>=]", each)[0] for each in project()["dependencies"]):
        assert table[name].startswith("use"), name


def test_the_table_of_folders_is_complete() -> None:
    table = text("CONTRIBUTING.md").split("## Where things are")[1].split("## Errors")[0]
    firsts = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed: set[str] = set()
    for cell in firsts:
        names = code(cell)
        listed |= {name.rstrip("/") for name in names}
        parent = names[0].split("/")[0]
        listed |= {f"{parent}/{name.rstrip('/')}" for name in names[1:]}
    lacking = []
    for parent in ("examples", "native", "pymluops", "tests"):
        for path in sorted((ROOT / parent).iterdir()):
            if path.is_dir() and any(path.glob("*.*")) and path.name not in ("__pycache__", "_sim", "_share"):
                own = f"{parent}/{path.name}"
                if not any(name == own or name.startswith(f"{own}/") for name in listed):
                    lacking.append(own)
    assert lacking == []


def test_how_tests_are_chosen() -> None:
    share = selection.QUICK_EXAMPLES / selection.THOROUGH_EXAMPLES
    assert share == 0.1 and "(a tenth of them run otherwise)" in page("CONTRIBUTING.md")
    assert quick_selection.WHOLE == 2 and "at most two families that changed run whole" in page("CONTRIBUTING.md")
    assert quick_selection.COMPILING == 6
    assert "and a sixth of the others if the code that they test has changed" in page("CONTRIBUTING.md")


def test_what_ci_does() -> None:
    """The source distribution has no folder .ci."""
    for file, line, sentence in (
        ("build.ninja", "minutes = 40\n", "A step has 40 minutes"),
        ("run", "--quiet -j2 ", "Two steps run at a time, except for `source`"),
        ("common.sh", "${MLUOPS_CI_SHARE:-5/16}", "the fifth sixteenth unless `MLUOPS_CI_SHARE` names another"),
        ("steps/fuzz", "--seconds 30 ", "half a minute of fuzzing"),
    ):
        assert sentence in page("CONTRIBUTING.md")
        if (ROOT / ".ci").is_dir():
            assert line in text(f".ci/{file}")
    if (ROOT / ".ci").is_dir():
        pinned = re.findall(r"([\w-]+==[\d.]+)", text(".ci/steps/models"))
        shown = re.findall(r"([\w-]+==[\d.]+)", text("docs/models.md"))
        assert shown and set(shown) <= set(pinned)


def test_hot_kernels_and_kernels_for_a_device_are_counted() -> None:
    families = sorted((ROOT / "native" / "ops").iterdir())
    described = [path for path in families if (ROOT / "pymluops" / "ops" / path.name).with_suffix(".py").exists()]
    hot = [
        path.name
        for path in described
        if any(
            re.search(r"^MLUOPS_DEFINE_LAUNCH\(", each.read_text("utf-8"), re.MULTILINE)
            for each in path.glob("cpu*.cpp")
        )
    ]
    device = [path.name.replace("_", "") for path in families if (path / "bang.mlu").exists()]
    assert f"With {len(described)} families, {len(hot)} of them with hot kernels and five" in page("CONTRIBUTING.md")
    sentence = re.search(r'`pymluops\.use\("sim"\)` runs (.*?) as BANG C kernels', page("docs/operators.md"))
    assert sentence is not None
    assert sorted(re.split(", | and ", sentence[1].lower())) == sorted(device)
    assert len(device) == 5
