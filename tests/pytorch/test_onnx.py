"""Export to ONNX, in whose programs the functions are formulas of PyTorch's own operators."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch import nn

import pymluops.torch as ours
from pymluops.torch import _function, _modes
from support.torch_samples import FUNCTIONS, all_equal, tensors


def as_formula(function: Any, *made: torch.Tensor) -> Any:
    """What a function gives while a program is exported, as a formula of PyTorch's own operators."""
    asking = (one.detach().requires_grad_(one.is_floating_point()) for one in made)  # so it goes through torch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_function, "exporting_to_onnx", lambda: True)
        found = function(*asking)
    return tuple(one.detach() for one in found) if isinstance(found, tuple) else found.detach()


class Program(nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, *made: torch.Tensor) -> Any:
        return FUNCTIONS[self.name](*made)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_formulas(name: str, dtype: torch.dtype) -> None:
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    for seed in range(6):
        made = tensors(name, dtype, batch=3, seed=seed)
        all_equal(as_formula(FUNCTIONS[name], *made), FUNCTIONS[name](*made), rtol=tolerance, atol=tolerance)


def test_formulas_at_edges() -> None:
    clip = torch.rand(1, 3, 2, 1)
    for shift in (3, -3, 2**31 - 1, -(2**31)):
        shifts = torch.full((1, 2), shift, dtype=torch.int32)
        all_equal(as_formula(ours.tin_shift, clip, shifts), torch.zeros_like(clip))
    # Boxes on, at and far beyond the edges of a map; samples on and beyond the edges.
    boxes = torch.tensor([[[0, 0, 4, 3], [-1, -1, 5, 4], [-9, -2, 9, 8], [4, 3, 0, 0], [2.5, 1, 2.5, 1]]])
    places = torch.linspace(-0.6, 1.6, 24).reshape(1, 4, 1, 1, 3, 2)
    attended = torch.rand(1, 6, 1, 2), torch.tensor([[2, 3]]), torch.tensor([0]), places, torch.rand(1, 4, 1, 1, 3)
    for function, made in (
        (lambda maps, boxes: ours.border_align(maps, boxes, 4), (torch.rand(1, 8, 4, 5), boxes)),
        (ours.ms_deform_attn, attended),
    ):
        all_equal(as_formula(function, *made), function(*made), rtol=1e-5, atol=1e-6)
    # Fewer points than neighbours, and centres without a point.
    target, source = torch.rand(1, 4, 3), torch.rand(1, 2, 3)
    all_equal(as_formula(ours.three_nn, target, source), ours.three_nn(target, source), rtol=1e-6, atol=1e-6)
    for high in (1e-3, 0.5, 9.0):

        def query(points: torch.Tensor, centres: torch.Tensor, high: float = high) -> torch.Tensor:
            return ours.ball_query(0.0, high, 5, points, centres)

        all_equal(as_formula(query, source, target), query(source, target))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_exporter_of_traces(name: str) -> None:
    pytest.importorskip("onnx", reason="an optional package: PyTorch's exporter needs onnx")
    saved = io.BytesIO()
    torch.onnx.export(Program(name), tensors(name), saved, dynamo=False, opset_version=18)
    assert b"pymluops" not in saved.getvalue().replace(b"pymluops/", b"")  # but in paths of sources


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_exporter_of_exported_programs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks torch.export for the program, in which our operators are formulas then and only then."""
    made = tensors(name, batch=3)
    monkeypatch.setattr(torch.onnx, "is_in_onnx_export", lambda: True)
    assert not _modes.exporting_to_onnx()
    program = torch.export.export(Program(name), made)
    called = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert called and not any("pymluops" in target for target in called)
    all_equal(program.module()(*made), FUNCTIONS[name](*made), rtol=1e-5, atol=1e-5)
    monkeypatch.undo()
    program = torch.export.export(Program(name), made)
    assert any("pymluops" in str(node.target) for node in program.graph.nodes)
