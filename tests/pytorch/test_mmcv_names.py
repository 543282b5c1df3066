"""The table of docs/torch.md of the names of mmcv.ops: complete, and true of `pymluops.torch`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import pymluops
import pymluops.torch
from support.processes import python_output

_DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "torch.md").read_text(encoding="utf-8")
_SECTION = _DOCUMENT.partition("## Names of mmcv.ops")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")] for line in _SECTION.splitlines() if line.startswith("| `")
]
HERE, NOT_HERE = (
    [name.strip("`") for names, there, _ in ROWS if there == kind for name in names.split(", ")]
    for kind in ("yes", "no")
)
#: Names that the amended contract lists, and what mmcv.ops has besides that the operators compute.
ASKED = {
    *("DeformConv2d", "ModulatedDeformConv2d", "RoIAlignRotated", "DeformRoIPool", "PrRoIPool", "QueryAndGroup"),
    *("batched_nms", "DeformConv2dPack", "ModulatedDeformConv2dPack", "DeformRoIPoolPack", "BezierAlign"),
    *("ModulatedDeformRoIPoolPack", "CARAFEPack", "CARAFENaive", "carafe_naive", "RiRoIAlignRotated", "GroupAll"),
    *("PointsSampler", "nms_bev", "nms_normal_bev"),
}


def test_the_table_is_true() -> None:
    assert len(HERE) + len(NOT_HERE) == len({*HERE, *NOT_HERE}) == 124
    assert [name for name in HERE if name not in pymluops.torch.__all__] == []
    assert [name for name in NOT_HERE if hasattr(pymluops.torch, name)] == []
    assert {*HERE} >= ASKED
    assert callable(pymluops.contour_expand) and callable(pymluops.pixel_group)  # which the table names


@pytest.mark.parametrize("name", HERE)
def test_every_name_has_types_and_a_page(name: str) -> None:
    found: Any = getattr(pymluops.torch, name)
    assert found.__doc__ and name in pymluops.torch.__all__
    if inspect.isclass(found) and "__init__" not in vars(found):
        return  # that of its base, which is a module of its own or of PyTorch
    signature = inspect.signature(found.__init__ if inspect.isclass(found) else found)
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    assert all(one.annotation is not one.empty for one in parameters), name


@pytest.mark.thorough
def test_the_names_and_arguments_are_those_of_mmcv() -> None:
    pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)
    code = """
import inspect, warnings
warnings.simplefilter("ignore")
import torch, pymluops.mmcv, pymluops.torch
assert pymluops.mmcv.install(force=True)
import mmcv.ops
def arguments(found):
    if inspect.isclass(found):
        found = found.__init__
    of = getattr(found, "__self__", None)
    if isinstance(of, type) and issubclass(of, torch.autograd.Function):
        found = of.forward
    return [name for name in inspect.signature(inspect.unwrap(found)).parameters if name not in ("self", "ctx")]
def differs(name):
    theirs, ours = arguments(getattr(mmcv.ops, name)), arguments(getattr(pymluops.torch, name))
    return "args" not in (theirs + ours) and ours[: len(theirs)] != theirs
print(sorted({*mmcv.ops.__all__} ^ {*HERE, *NOT_HERE}))
print([name for name in SAME if differs(name)])
"""
    same = ROWS[0][0].replace("`", "").split(", ")
    given = f"HERE, NOT_HERE, SAME = {HERE!r}, {NOT_HERE!r}, {same!r}\n"
    assert python_output(given + code).splitlines() == ["[]", "[]"]
