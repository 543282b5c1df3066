"""tools/growth.py finds the family of what was compiled and tested, and sums up."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.data_files import TESTS

PROGRAM = TESTS.parent / "tools" / "growth.py"

FAMILIES = ["nms", "nms_rotated", "focal_loss"]


def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("growth", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("native/CMakeFiles/mluops_kernels_baseline.dir/ops/nms/cpu.cpp.o", "nms"),
        ("native/sim/CMakeFiles/mlusim_kernels_372.dir/kernels/nms_rotated.cpp.o", "nms_rotated"),
        ("test_fault[mluOpGetFocalLossForwardWorkspaceSize-handle]", "focal_loss"),
        ("mluopsExtNmsRotatedDouble", "nms_rotated"),
        ("native/CMakeFiles/mluops_objects.dir/core/columns.cpp.o", ""),
    ],
)
def test_the_owner_of_a_text(text: str, family: str) -> None:
    assert program().owner(FAMILIES)(text) == family


def test_the_table(tmp_path: Path) -> None:
    objects = tmp_path / "native" / "ops"
    objects.mkdir(parents=True)
    (objects / "psamask.o").write_bytes(bytes(4096))
    (tmp_path / "core.o").write_bytes(bytes(2048))
    rows = [
        "0\t1500\t0\tnative/ops/psamask.o\tx",
        "0\t9000\t0\tcore.o\tx",
        "9000\t11000\t0\tcore.o\tx",
        "0\t1\t0\tgone.o\tx",
    ]
    (tmp_path / ".ninja_log").write_text("\n".join(["# ninja log v6", *rows, ""]))
    cases = [
        ("tests.ops.test_psamask", "test_a", 0.5),
        ("tests.ops.test_x", "test_b[psamask_forward]", 1.5),
        ("tests.x", "test_c", 2),
    ]
    cases_text = "".join(
        f'<testcase classname="{module}" name="{name}" time="{time}"/>' for module, name, time in cases
    )
    (tmp_path / "tests.xml").write_text(f"<testsuites><testsuite>{cases_text}</testsuite></testsuites>")
    command = [sys.executable, PROGRAM, tmp_path, "--tests", tmp_path / "tests.xml"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "| psamask | 1.5 | 4.0 | 2.0 | 2.0 |" in printed
    assert "| all others | 2.0 | 2.0 | 1.0 | 2.0 |" in printed
    families = sum(1 for path in (TESTS.parent / "native" / "ops").iterdir() if path.is_dir())
    assert f"| {1.5 * 60 / families + 2:.0f} | {4 * 60 / families + 2:.0f} |" in printed
