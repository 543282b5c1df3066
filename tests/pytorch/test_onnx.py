"""Export to ONNX, in whose programs the functions are formulas of PyTorch's own operators."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch import nn

import pymluops.torch as ours
from pymluops.torch import _formulas, _modes
from torch_samples import FUNCTIONS, all_equal, tensors

FORMULAS: dict[str, Any] = {
    "tin_shift": _formulas.tin_shift,
    "tin_shift_as_mmcv": _formulas.tin_shift,
    "collect": lambda masks: _formulas.psa_mask(masks, False, 3, 2),
    "distribute": lambda masks: _formulas.psa_mask(masks, True, 3, 2),
    "border_align": lambda features, boxes: _formulas.border_align(features, boxes, 3),
    "three_interpolate": _formulas.three_interpolate,
    "three_nn": _formulas.three_nn,
    "ball_query": lambda points, centres: _formulas.ball_query(0.2, 1.5, 4, points, centres),
    "ms_deform_attn": _formulas.ms_deform_attn,
}


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
        all_equal(FORMULAS[name](*made), FUNCTIONS[name](*made), rtol=tolerance, atol=tolerance)


def test_formulas_at_edges() -> None:
    clip = torch.rand(1, 3, 2, 1)
    for shift in (3, -3, 2**31 - 1, -(2**31)):
        all_equal(_formulas.tin_shift(clip, torch.full((1, 2), shift, dtype=torch.int32)), torch.zeros_like(clip))
    # Boxes on, at and far beyond the edges of a map.
    boxes = torch.tensor([[[0, 0, 4, 3], [-1, -1, 5, 4], [-9, -2, 9, 8], [4, 3, 0, 0], [2.5, 1, 2.5, 1]]])
    maps = torch.rand(1, 8, 4, 5)
    all_equal(_formulas.border_align(maps, boxes, 4), ours.border_align(maps, boxes, 4), rtol=1e-5, atol=1e-6)
    # Samples on and beyond the edges.
    places = torch.linspace(-0.6, 1.6, 24).reshape(1, 4, 1, 1, 3, 2)
    made = torch.rand(1, 6, 1, 2), torch.tensor([[2, 3]]), torch.tensor([0]), places, torch.rand(1, 4, 1, 1, 3)
    all_equal(_formulas.ms_deform_attn(*made), ours.ms_deform_attn(*made), rtol=1e-5, atol=1e-6)
    # Fewer points than neighbours, and centres without a point.
    target, source = torch.rand(1, 4, 3), torch.rand(1, 2, 3)
    all_equal(_formulas.three_nn(target, source), ours.three_nn(target, source), rtol=1e-6, atol=1e-6)
    for high in (1e-3, 0.5, 9.0):
        found = _formulas.ball_query(0.0, high, 5, source, target)
        all_equal(found, ours.ball_query(0.0, high, 5, source, target))


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
