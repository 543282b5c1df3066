"""A family is named in its own files alone, and in those that are written, those for readers, and few others.

So an operator is added, changed and removed in a handful of files. A name counts in any spelling:
new_pool, NewPool, mluOpNewPoolForward, NEW_POOL. What needs some operator takes it from `families`
by a property, or from `support.example`.
"""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Folders that may lie beside the files of the project, where there is no git.
_OUTSIDE = ("build*", "dist", "*.egg-info", "__pycache__", ".*_cache", ".git", ".venv", "venv", ".hypothesis")
#: For readers.
_DOCUMENTS = ("*.md", "docs/*", "examples/*")

#: Files that tools write.
_WRITTEN = (
    "native/core/checked_names.h",
    "native/include/mluops_ext.h",
    "native/include/mluops_ext/double.h",
    "pymluops/enums.py",
    "pymluops/functions/__init__.pyi",
    "pymluops/functions/_signatures.py",
    "pymluops/ops/__init__.py",
    "pymluops/ops/_types.pyi",
    "pymluops/torch/__init__.py",
    "benchmarks/results/*.json",
)

#: Other files that name families, and why.
EXCEPTIONS = {
    "native/include/mlu_op.h": "the ABI of the vendor",
    "native/abi/roles.py": "what the vendor's header does not say about its functions",
    "native/cnnl/*": "whole operators by the names of the vendor's tensor library",
    "native/sim/include/cnnl_operators.h": "whole operators by the names of the vendor's tensor library",
    "tests/sim/test_whole_operators.py": "whole operators by the names of the vendor's tensor library",
    "native/cases/fields.cpp": "the fields of all descriptors, by their names in dumped cases",
    "tests/gencase/*": "cases of many operators",
    "pymluops/gencase/*": "the vendor's table of dumped operators, and their settings",
    "pymluops/mmcv/_names.py": "all the names that mmcv loads",
    "tests/data/abi.json": "numbers and sizes of the vendor's header",
    "tests/data/acceptance_shapes.json": "the shapes of the acceptance standard, for all operators at once",
    "tests/data/vendor_cases.txt": "the shapes of the cases of the vendor, for all operators at once",
    "tests/packaging/test_families_stand_alone.py": "this list of the exceptions",
    "tests/website/test_figures.py": "figures of the documents, which name operators",
    "tests/website/test_pages.py": "pages of operators, some of which differ from others",
    "tests/support/example.py": "the place that names operators for tests which need some",
    # Composites: several operators together.
    "pymluops/demo/*": "the demonstration runs several operators one after another",
    "tests/cli/naive.py": "references for the demonstration",
    "tests/cli/test_demo*.py": "tests of the demonstration",
    "benchmarks/torch_compositions.py": "operators of the example networks, written with PyTorch alone",
    "benchmarks/sparse_step.py": "a step of a sparse layer: pairs and products together",
    "benchmarks/whole_process.py": "a program that measures the first call of one operator",
    "pymluops/ops/_sparse_extension.py": "functions for sparse convolutions that the vendor's library lacks",
    "pymluops/torch/sparse/*": "layers that are made of pairs and products",
    "pymluops/torch/*_layers.py": "modules with mmcv's names, some of which are made of several operators",
    "pymluops/torch/class_nms.py": "suppression within classes, by any way to suppress",
    "pymluops/dropins/*": "packages and extensions of others, each over several operators",
    "tests/dropins/*": "tests of packages and extensions of others, each over several operators",
    "tests/pytorch/test_sparse_*.py": "tests of the sparse layers",
    "tests/mmcv_ext/test_sparse.py": "pairs and products together, as mmcv calls them",
    "tests/models/*": "networks of mmdetection3d, each over several operators",
    "tests/ops/test_indice_extensions.py": "functions for sparse convolutions that the vendor's library lacks",
    "tests/pytorch/test_recording.py": "cases of sparse layers, which are made of pairs and products",
    "tests/packaging/test_pyinstaller.py": "a program that is packed",
    "tests/pytorch/test_voxels.py": "networks with both ways to make voxels, whose numbers depend on values",
    "tests/pytorch/test_boxes_of_points.py": "functions of the same boxes and points, side by side",
    "tests/mmcv_ext/test_point_modules.py": "mmcv's own modules for voxels, points and boxes",
    "tests/pytorch/test_programs.py": "a network of several operators, as it is compiled and exported",
    # One row for each function that a user calls, side by side.
    "tests/pytorch/test_edges.py": "gradients at the edges of each function",
    "tests/pytorch/test_functions.py": "values next to the oracles, and what mmcv's functions refuse",
    "tests/pytorch/test_meta.py": "refusals of meta tensors, and the modules",
    "tests/pytorch/test_number_arguments.py": "numbers of other types for each argument that is one",
    "tests/support/torch_calls_with_integers.py": "a call of each function with integers or bools",
    "tests/pytorch/test_numbers.py": "numbers of other types for each argument that is one",
    "tests/pytorch/test_onnx.py": "values at the edges of the formulas for ONNX",
    "tests/pytorch/test_small_calls.py": "large tensors in the layouts of mmcv",
    "tests/pytorch/test_tracing.py": "the modules, traced and scripted",
    "tests/mmcv_ext/test_arguments.py": "numbers of other types for each argument that is one",
    "tests/mmcv_ext/flat_calls.py": "a call of each binding, and which of its tensors tell sizes",
    "tests/mmcv_ext/test_flat_arguments.py": "tensors of other shapes for each binding",
    "tests/mmcv_ext/calls_of_names.py": "a call of every name of mmcv.ops",
    "tests/mmcv_ext/test_every_operator.py": "every name of mmcv.ops",
    "tests/mmcv_ext/test_layers.py": "mmcv's own modules next to those of the same names",
    "tests/kernels/intrinsics/*_2xx.*": "a kernel in the style of that series that relies on its zeros",
    "tests/ops/test_counts_of_rows.py": "wrong counts of rows in each function that takes counts",
    "tests/pytorch/test_counts_of_rows.py": "wrong counts of rows in each function that takes counts",
    "tests/ops/test_overlap_accuracy.py": "overlaps, suppression and points by one exact reference",
    "tests/pytorch/test_rectangles.py": "the formulas that stand in for kernels of overlaps",
    "tests/ops/test_regions_not_finite.py": "corners that are not finite in each sampler of regions",
    "tests/pytorch/test_nan.py": "NaN in each function",
    "tests/python/test_messages.py": "messages of some operators",
    "tests/pytorch/test_layers.py": "the modules with mmcv's names, some of which are made of several operators",
    "tests/pytorch/test_mmcv_names.py": "the table of the names of mmcv.ops",
    "tests/python/test_field_names.py": "names of functions in the words of the field",
    "tests/mmcv_ext/test_functions.py": "empty tensors and refusals of each binding",
    "tests/mmcv_ext/test_mmcv.py": "mmcv's own code in front of the functions",
    "tests/mmcv_ext/test_signatures.py": "the arguments of mmcv's bindings",
    "tests/mmcv_ext/test_usage.py": "mmcv's own code in front of the functions",
    "tests/website/*": "pages and figures of some families",
    "tests/python/test_quick_selection.py": "made-up changes of a family that exists",
    "tests/python/test_growth.py": "the costs of a family that exists, as the program prints them",
    # Helpers and libraries of tests.
    "tests/pytorch/test_diff_iou_rotated_sort_vertices.py": "overlaps with gradients next to those without",
    "tests/support/attention.py": "calls of one family for its tests",
    "tests/support/pairs.py": "calls of one family for its tests",
    "tests/support/rulebooks.py": "calls of one family for its tests",
    "tests/support/c_calls.py": "calls of a function with a workspace and settings",
    "tests/support/schemas.py": "descriptions for the library in tests/python",
    "tests/functions/other.cpp": "a library that implements functions in its own way",
    "tests/functions/test_other_library.py": "the tests with that library",
    "tests/python/schema_library.cpp": "a library that implements functions in its own way",
    "tests/python/test_schema*.py": "the tests with that library",
    "tests/fuzz/broken/*.cpp": "operators that are broken on purpose, for the fuzz targets to find",
    "native/tests/core_test.cpp": "C++ that needs some operator to call",
    "native/tests/stress_test.cpp": "C++ that needs some operator to call",
}

#: Families whose own files name another one: they take its results, or an argument has its name.
KIN = {
    "indice_convolution": ("get_indice_pairs",),
    "general_indice_pairs": ("get_indice_pairs",),
    "roi_point_pool3d": ("boxes3d",),  # the vendor's name of an argument
    "assign_score_withk": ("knn",),
    "quadri_boxes": ("point_sets",),  # its oracle takes the hull of points
    "box_nms": ("boxes3d",),  # the vendor's function takes boxes in space too
}


def families() -> list[str]:
    """The families that exist: folders of native/ops and modules of pymluops/ops."""
    native = {path.name for path in (ROOT / "native/ops").iterdir() if path.is_dir()}
    return sorted(native | {path.stem for path in (ROOT / "pymluops/ops").glob("[a-z]*.py")})


def spelling(family: str) -> re.Pattern[str]:
    """Match the name with or without underscores and capitals."""
    return re.compile("_?".join(family.replace("_", "")), re.IGNORECASE)


def files() -> list[str]:
    """The files of the project that are no documents and not written: those that git knows or would add, else all."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists() and shutil.which("git"):
        done = subprocess.run(listing, capture_output=True, text=True, check=True)
        names = sorted(name for name in set(done.stdout.split("\0")) if (ROOT / name).is_file())
    else:
        names = list(_walk(ROOT))
    return [name for name in names if not any(fnmatch.fnmatchcase(name, one) for one in (*_DOCUMENTS, *_WRITTEN))]


def _walk(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if not path.is_symlink() and not any(fnmatch.fnmatchcase(path.name, pattern) for pattern in _OUTSIDE):
                yield from _walk(path)
        else:
            yield path.relative_to(ROOT).as_posix()


def named(name: str, text: str, known: list[str]) -> list[str]:
    """The families that a file names without being one of their own; examples in docstrings are for readers."""
    text = re.sub(r"^ *(?:>>>|\.\.\.) .*$", "", text, flags=re.MULTILINE)
    own = {family for family in known if spelling(family).search(name)}
    own |= {other for family in own for other in KIN.get(family, ())}
    return [family for family in known if family not in own and spelling(family).search(text)]


def strangers() -> dict[str, list[str]]:
    """The files that name families of others."""
    known, found = families(), {}
    for name in files():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if others := named(name, text, known):
            found[name] = others
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return strangers()


def excepted(name: str) -> list[str]:
    return [pattern for pattern in EXCEPTIONS if fnmatch.fnmatchcase(name, pattern)]


def test_families_are_named_in_their_own_files(found: dict[str, list[str]]) -> None:
    wrong = {name: others for name, others in found.items() if not excepted(name)}
    assert not wrong, "\n".join(f"{name}: names {', '.join(others)}" for name, others in wrong.items())


def test_every_exception_is_needed(found: dict[str, list[str]]) -> None:
    needed = {pattern for name in found for pattern in excepted(name)}
    assert set(EXCEPTIONS) == needed


def test_every_exception_has_a_reason() -> None:
    assert all(len(reason.split()) >= 3 for reason in EXCEPTIONS.values())


def test_families_are_found() -> None:
    assert len(families()) >= 10
    assert all((ROOT / "native/ops" / family).is_dir() for family in families())


@pytest.mark.parametrize(
    "text", ["new_pool", "NewPool", "mluOpNewPoolForward", "NEW_POOL", "newpool", "get_new_pool_x"]
)
def test_every_spelling_is_seen(text: str) -> None:
    assert named("tests/python/test_handle.py", f"x = {text}\n", ["new_pool", "other"]) == ["new_pool"]


@pytest.mark.parametrize("name", ["native/ops/new_pool/cpu.cpp", "tests/ops/test_new_pool.py", "a/NewPool.json"])
def test_own_files_may_name_their_family(name: str) -> None:
    assert named(name, "new_pool and other", ["new_pool", "other"]) == ["other"]
