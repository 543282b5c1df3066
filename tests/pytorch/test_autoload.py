"""Programs saved by torch.export, and loaded by one that imports nothing but PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import pymluops.torch as ours
from support.example import MOVING
from support.processes import python_output, run_python
from support.torch_samples import tensors

FOLDER = "import os, sys; os.chdir(sys.argv[1]);"
NO_IMPORT = f"{FOLDER} import torch; assert 'pymluops' not in sys.modules;"
CHECK = (
    "clip, shifts, wanted = torch.load('values.pt'); assert torch.equal(program(clip, shifts), wanted); print('right')"
)
OFF = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


class Shift(nn.Module):
    def forward(self, clip: torch.Tensor, shifts: torch.Tensor) -> torch.Tensor:
        return MOVING.in_torch(ours)(clip, shifts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> str:
    where: Path = tmp_path_factory.mktemp("programs")
    made = tensors(MOVING.family)
    torch.export.save(torch.export.export(Shift(), made), where / "exported.pt2")
    torch.jit.save(torch.jit.trace(Shift(), made), where / "traced.pt")
    torch.save((*made, MOVING.in_torch(ours)(*made)), where / "values.pt")
    return str(where)


def test_an_exported_program_imports_the_operators(folder: str) -> None:
    code = f"{NO_IMPORT} program = torch.export.load('exported.pt2').module(); {CHECK}"
    assert python_output(code, folder) == "right"


@pytest.mark.thorough
def test_so_does_whoever_looks_an_operator_up(folder: str) -> None:
    code = f"""
import inspect
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
namespace = torch.ops.pymluops
assert not hasattr(namespace, "__wrapped__") and "pymluops" not in sys.modules
assert "pymluops" in list(torch.ops) and not list(namespace)
inspect.unwrap(namespace)
start = Barrier(4)
def look(_):
    start.wait()
    return torch.ops.pymluops.{MOVING.name}
with ThreadPoolExecutor(4) as pool:
    program, *others = pool.map(look, range(4))
assert all(str(other) == "pymluops.{MOVING.name}" for other in others)
assert "pymluops.torch" in sys.modules and not hasattr(namespace, "no_operator") and namespace is torch.ops.pymluops
"""
    assert python_output(NO_IMPORT + code + CHECK, folder) == "right"


@pytest.mark.thorough
@pytest.mark.parametrize("first", ["import pymluops.torch", "import pymluops, torch", "import torch, pymluops.torch"])
def test_imports_in_any_order(folder: str, first: str) -> None:
    code = f"{FOLDER}\n{first}\nimport torch; program = torch.ops.pymluops.{MOVING.name}; {CHECK}"
    assert python_output(code, folder) == "right"


@pytest.mark.thorough
def test_without_it_the_operators_are_imported_by_hand(folder: str) -> None:
    load = "program = torch.export.load('exported.pt2').module();"
    found = run_python(f"{NO_IMPORT} {load}", folder, **OFF)
    assert found.returncode == 1 and f"pymluops.{MOVING.name}" in found.stderr
    assert python_output(f"{FOLDER} import torch, pymluops.torch; {load} {CHECK}", folder, **OFF) == "right"


@pytest.mark.thorough
def test_a_program_of_torchscript_needs_the_import(folder: str) -> None:
    """C++ looks its operators up, and its message names the package."""
    load = "program = torch.jit.load('traced.pt');"
    found = run_python(f"{NO_IMPORT} {load}", folder)
    assert found.returncode == 1 and f"Unknown builtin op: pymluops::{MOVING.name}" in found.stderr
    assert python_output(f"{FOLDER} import torch, pymluops.torch; {load} {CHECK}", folder) == "right"


@pytest.mark.thorough
def test_another_pytorch_is_left_alone() -> None:
    """Whatever is not as expected, importing PyTorch goes on."""
    code = "import torch, pymluops_autoload as a; o = torch.ops; a.register(); del torch._ops._OpNamespace; "
    code += "vars(o).pop('pymluops'); a.register(); del torch.ops; a.register(); "
    code += "import sys; del sys.modules['torch']; a.register(); print('right')"
    assert python_output(code) == "right"
