"""Finding and loading libraries, and which one is the default."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from support import workload
from support.arrays import canary, is_canary
from support.data_files import TESTS
from support.described import PARAMETERS
from support.example import GATHERING, MOVING, MOVING_BACK, PAIRING
from support.processes import python_output, run_python

SOURCE = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)
SHIFTS = np.array([[1, -1]], np.int32)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The CPU library under another name."""
    return Path(shutil.copy(pymluops.load("cpu").path, tmp_path / "libcopied.so"))


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """The CPU library without a function: its name in the symbol table is spoilt, no lookup finds it."""
    content = Path(pymluops.load("cpu").path).read_bytes()
    name = MOVING.function.encode()
    assert content.count(b"\0" + name + b"\0") >= 1
    path = tmp_path / "liblacking.so"
    path.write_bytes(content.replace(b"\0" + name + b"\0", b"\0" + name[:-1] + b"X\0"))
    return path


@pytest.fixture(autouse=True)
def default_as_before() -> Iterator[None]:
    with pymluops.use("cpu"):
        yield


# ---- backends() ----------------------------------------------------------------------------------


def test_backends_lists_three_names() -> None:
    found = pymluops.backends()
    assert list(found) == ["cpu", "sim", "mlu"]
    for name, info in found.items():
        assert isinstance(info, pymluops.BackendInfo)
        assert info._fields[:5] == ("name", "available", "path", "version", "reason")
        assert info.name == name


def test_the_cpu_library_is_there() -> None:
    info = pymluops.backends()["cpu"]
    assert info.available
    assert not info.reason
    assert info.path
    assert Path(info.path).is_file()
    assert info.version == "1.11.1"


def test_the_simulator_says_that_it_is_not_in_this_installation() -> None:
    info = pymluops.backends()["sim"]
    if not info.available:
        assert "libmluops_sim.so is not in this installation" in (info.reason or "")


def _mlu(**environment: str) -> list[str]:
    code = "import pymluops; i = pymluops.backends()['mlu']; print(i.available); print(i.path); print(i.reason)"
    clean = dict.fromkeys(("PYMLUOPS_MLU_LIBRARY", "NEUWARE_HOME", "LD_LIBRARY_PATH"), "")
    return python_output(code, **{**clean, **environment}).splitlines()


def test_the_vendor_library_says_in_a_sentence_why_it_is_missing(tmp_path: Path) -> None:
    # Whether this machine has the vendor's library does not matter: a variable that leads nowhere
    # has to be told.
    available, _, reason = _mlu(PYMLUOPS_MLU_LIBRARY=str(tmp_path / "none.so"))
    assert available == "False"
    assert "none.so" in reason
    assert "PYMLUOPS_MLU_LIBRARY" in reason


def test_the_vendor_library_is_looked_for_where_the_variables_say(tmp_path: Path) -> None:
    library = tmp_path / "lib64" / "libmluops.so"
    library.parent.mkdir()
    shutil.copy(pymluops.load("cpu").path, library)
    assert _mlu(NEUWARE_HOME=str(tmp_path))[:2] == ["True", str(library)]
    other = tmp_path / "mine.so"
    shutil.copy(library, other)
    assert _mlu(NEUWARE_HOME=str(tmp_path), PYMLUOPS_MLU_LIBRARY=str(other))[:2] == ["True", str(other)]
    assert _mlu(LD_LIBRARY_PATH=str(library.parent))[:2] == ["True", str(library)]


def test_a_vendor_library_that_cannot_be_loaded_is_told_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "libmluops.so"
    broken.write_bytes(b"this is no library")
    lines = _mlu(PYMLUOPS_MLU_LIBRARY=str(broken))
    assert len(lines) == 3
    assert lines[0] == "False"
    assert "libmluops.so" in lines[2]


# ---- load() --------------------------------------------------------------------------------------


def test_load_by_name_and_path_gives_the_same_library() -> None:
    backend = pymluops.load("cpu")
    assert isinstance(backend, pymluops.Backend)
    assert backend.name == "cpu"
    assert backend.kind == "cpu"
    assert backend.version == "1.11.1"
    assert pymluops.load("cpu") is backend
    assert pymluops.load(backend.path).path == backend.path
    assert pymluops.load(Path(backend.path)).path == backend.path
    assert "cpu" in repr(backend)


def test_raw_library_has_every_declared_function() -> None:
    backend = pymluops.load("cpu")
    major, minor, patch = (backend.ffi.new("int *") for _ in range(3))
    backend.lib.mluOpGetLibVersion(major, minor, patch)
    assert (major[0], minor[0], patch[0]) == (1, 11, 1)
    for function in ("mluOpCreate", PAIRING.function, "mluOpSetSeqDataDescriptor_v2", "mluopsExtGetLastReason"):
        assert callable(getattr(backend.lib, function))
    assert backend.ffi.string(backend.lib.mluopsExtGetLibraryKind()) == b"cpu"


def test_raw_layer_knows_the_runtime_of_a_device() -> None:
    backend = pymluops.load("cpu")
    assert not backend.on_device
    assert backend.exports("mluOpCreate")
    for function in ("cnrtMalloc", "cnrtQueueSync", "mlusimGetFinding", "mluOpNone"):
        assert not backend.exports(function)
        with pytest.raises((AttributeError, backend.ffi.error), match=function):
            getattr(backend.lib, function)
    codes = backend.ffi.typeof("cnrtRet_t").relements
    assert (codes["cnrtSuccess"], codes["cnrtErrorNoMem"], codes["cnrtErrorBusy"]) == (0, 100100, 632014)
    assert backend.lib.cnrtMemcpyDevToHost == 2
    assert backend.ffi.sizeof("cnrtDim3_t") == 12
    assert backend.ffi.typeof("cnrtHostFn_t").kind == "function"


def test_a_copy_serves_side_by_side(copied: Path) -> None:
    backend, cpu = pymluops.load(str(copied)), pymluops.load("cpu")
    assert backend.path == str(copied)
    assert backend.lib is not cpu.lib
    with pymluops.Handle(backend) as here, pymluops.Handle(cpu) as there:
        assert workload.digests(here) == workload.digests(there)
        # Two libraries, two thread-local reasons: what one refuses the other knows nothing of.
        assert backend.lib.mluOpSetQueue(backend.ffi.NULL, backend.ffi.NULL) == 3
        assert b"mluOpSetQueue" in backend.ffi.string(backend.lib.mluopsExtGetLastReason())


def test_a_handle_of_another_library_is_not_taken_for_ones_own(copied: Path) -> None:
    backend, cpu = pymluops.load(str(copied)), pymluops.load("cpu")
    with pymluops.Handle(backend) as handle:
        desc = pymluops.TensorDescriptor((1,), "float32").bind(cpu)
        assert cpu.lib.mluOpGetTensorElementNum(desc) == 1
        assert MOVING.run(SOURCE, SHIFTS, handle=handle).shape == SOURCE.shape


def test_a_library_that_lacks_a_function_says_so_when_it_is_called(lacking: Path) -> None:
    backend = pymluops.load(str(lacking))
    with pymluops.Handle(backend) as handle:
        out = canary(SOURCE.shape, "float32")
        with pytest.raises(pymluops.NotSupportedError, match=MOVING.function) as caught:
            MOVING.run(SOURCE, SHIFTS, out=out, handle=handle)
        assert "liblacking.so" in str(caught.value)
        assert caught.value.function == MOVING.function
        assert is_canary(out)
        moved = MOVING_BACK.run(SOURCE, SHIFTS, handle=handle)
        np.testing.assert_array_equal(moved, MOVING.run(SOURCE, SHIFTS))
        with pytest.raises((AttributeError, backend.ffi.error), match=MOVING.function):
            _ = MOVING.of(backend.lib)
        assert callable(MOVING_BACK.of(backend.lib))


def test_implements_says_what_a_library_computes(lacking: Path) -> None:
    cpu, sim, copy = pymluops.load("cpu"), pymluops.load("sim"), pymluops.load(str(lacking))
    for backend in (cpu, sim):
        for function in ("mluOpCreate", MOVING.function, "mluOpSetCarafeDescriptor", "mluOpGetErrorString"):
            assert backend.implements(function), function
    assert not copy.implements(MOVING.function)
    assert copy.implements(MOVING_BACK.function)
    for function in (MOVING.double, GATHERING.double):
        assert (cpu.implements(function), sim.implements(function)) == (True, False)
    # Functions that are not of the ABI: whether they are there.
    assert cpu.implements("mluopsExtImplements")
    assert (cpu.implements("cnrtMalloc"), sim.implements("cnrtMalloc")) == (False, True)


def test_a_library_exports_functions_that_it_does_not_implement(bare_library: Path) -> None:
    bare = pymluops.load(str(bare_library))
    names = [name for name in pymluops.functions if name not in ("mluOpCreate", "mluOpDestroy")]
    for name in names:
        assert bare.exports(name), name
        assert bare.implements(name) == (PARAMETERS[name][1] != "mluOpStatus_t"), name
    assert not bare.implements(MOVING.double)
    assert bare.implements("mluOpCreate")


@pytest.mark.parametrize("name", ["", "mluOpNone", "mluOpCreate ", "MLUOP_STATUS_SUCCESS", "x" * 10_000, "\0"])
def test_implements_refuses_names_that_no_header_has(name: str) -> None:
    with pytest.raises(
        pymluops.BadParamError, match=r"Backend\.implements: function: expected the name of a C function"
    ):
        pymluops.load("cpu").implements(name)


@pytest.mark.parametrize("name", [None, 3, b"mluOpCreate"])
def test_implements_takes_text_only(name: Any) -> None:
    with pytest.raises(TypeError):
        pymluops.load("cpu").implements(name)


def test_a_function_that_is_not_implemented_says_so_when_it_is_called(bare_library: Path) -> None:
    backend = pymluops.load(str(bare_library))
    with pymluops.Handle(backend) as handle:
        out = canary(SOURCE.shape, "float32")
        with pytest.raises(pymluops.NotSupportedError, match="not implemented by the bare library"):
            MOVING.run(SOURCE, SHIFTS, out=out, handle=handle)
        assert is_canary(out)


@pytest.mark.parametrize("name", [MOVING.function, MOVING_BACK.function, MOVING.double])
def test_placeholders_say_which_function_is_not_implemented(bare_library: Path, name: str) -> None:
    backend = pymluops.load(str(bare_library))
    ffi = backend.ffi
    assert getattr(backend.lib, name)(*[ffi.NULL] * 7) == pymluops.Status.NOT_SUPPORTED
    reason = ffi.string(backend.lib.mluopsExtGetLastReason()).decode()
    assert reason == f"{name}: not implemented by the bare library"


def test_libraries_of_something_else_and_other_files_are_refused(tmp_path: Path) -> None:
    import _cffi_backend  # a shared library that every installation has

    with pytest.raises(pymluops.MluOpError, match="mluOpCreate"):
        pymluops.Handle(pymluops.load(_cffi_backend.__file__))
    text = tmp_path / "text.so"
    text.write_text("no library")
    for path in (text, tmp_path, tmp_path / "none.so"):
        with pytest.raises((pymluops.MluOpError, OSError), match=path.name):
            pymluops.load(str(path))


@pytest.mark.parametrize("name", ["", "gpu", "CPU", None, 3, b"cpu"], ids=repr)
def test_names_that_mean_nothing_are_refused(name: Any) -> None:
    with pytest.raises((pymluops.MluOpError, TypeError, OSError)):
        pymluops.load(name)


# ---- the default ---------------------------------------------------------------------------------


def _default_path() -> str:
    return pymluops.Handle().backend.path


def test_use_selects_and_a_with_block_takes_back(copied: Path) -> None:
    cpu = pymluops.load("cpu").path
    with pymluops.use(str(copied)):
        assert _default_path() == str(copied)
        with pymluops.use("cpu"):
            assert _default_path() == cpu
        assert _default_path() == str(copied)
        np.testing.assert_array_equal(MOVING.run(SOURCE, 0 * SHIFTS), SOURCE)
    assert _default_path() == cpu
    pymluops.use(str(copied))
    assert _default_path() == str(copied)


def test_use_takes_back_after_an_error_too(copied: Path) -> None:
    with pytest.raises(KeyError), pymluops.use(str(copied)):
        raise KeyError
    assert _default_path() == pymluops.load("cpu").path


def test_use_of_what_is_not_there_changes_nothing() -> None:
    with pytest.raises((pymluops.MluOpError, OSError)):
        pymluops.use("/none/at/all.so")
    assert _default_path() == pymluops.load("cpu").path


def test_operators_take_the_default(lacking: Path) -> None:
    with pymluops.use(str(lacking)), pytest.raises(pymluops.NotSupportedError):
        MOVING.run(SOURCE, SHIFTS)
    MOVING.run(SOURCE, SHIFTS)


PRINT_DEFAULT = "import pymluops; print(pymluops.Handle().backend.path)"


def test_the_environment_sets_the_first_default(copied: Path) -> None:
    assert python_output(PRINT_DEFAULT, PYMLUOPS_BACKEND=str(copied)) == str(copied)
    assert python_output(PRINT_DEFAULT, PYMLUOPS_BACKEND="cpu") == pymluops.load("cpu").path
    assert python_output(PRINT_DEFAULT, PYMLUOPS_BACKEND="") == pymluops.load("cpu").path
    chosen = "import pymluops; pymluops.use('cpu'); print(pymluops.Handle().backend.path)"
    assert python_output(chosen, PYMLUOPS_BACKEND=str(copied)) == pymluops.load("cpu").path


def test_an_environment_that_names_nothing_is_told_when_it_matters() -> None:
    assert python_output("import pymluops; print('imported')", PYMLUOPS_BACKEND="gpu") == "imported"
    done = run_python(PRINT_DEFAULT, PYMLUOPS_BACKEND="gpu")
    assert done.returncode != 0
    assert "gpu" in done.stderr.splitlines()[-1]


def test_importing_is_quiet_and_brings_nothing_heavy() -> None:
    heavy = ("torch", "jax", "ml_dtypes", "PIL", "matplotlib")
    code = f"import sys, pymluops; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""
