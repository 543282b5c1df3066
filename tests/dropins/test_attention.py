"""Deformable attention of other packages by the kernel, with stand-ins for their modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes import python_output

pytest.importorskip("torch")

#: Functions in PyTorch, in the forms that the packages have; each notes that it was called.
MODULE = '''
import torch

calls = []


def sampled(value, shapes, places, weights, points):
    """Bilinear samples of maps, one after another, added up with their weights."""
    batch, _, heads, channels = value.shape
    maps = value.split([int(h * w) for h, w in shapes], 1)
    total = 0
    parts = zip(maps, shapes, places.split(points, 3), weights.split(points, 3))
    for one, (height, width), place, weight in parts:
        image = one.permute(0, 2, 3, 1).reshape(batch * heads, channels, int(height), int(width))
        grid = 2 * place.transpose(1, 2).flatten(0, 1) - 1
        found = torch.nn.functional.grid_sample(image, grid, align_corners=False)
        found = found.reshape(batch, heads, channels, *found.shape[2:])
        total = total + (found * weight.transpose(1, 2)[:, :, None]).sum(-1)
    return total.permute(0, 3, 1, 2).flatten(2)


def multi_scale_deformable_attention(value, value_spatial_shapes, sampling_locations, attention_weights):
    calls.append("shapes")
    points = [sampling_locations.shape[4]] * sampling_locations.shape[3]
    places, weights = sampling_locations.flatten(3, 4), attention_weights.flatten(3, 4)
    return sampled(value, value_spatial_shapes, places, weights, points)


def multi_scale_deformable_attention_v2(
    value, value_spatial_shapes, sampling_locations, attention_weights, num_points_list, method="default"
):
    calls.append(method)
    return sampled(value, value_spatial_shapes, sampling_locations, attention_weights, list(num_points_list))


def multi_scale_deformable_attn_pytorch(value, value_spatial_shapes, sampling_locations):
    calls.append("another form")


class MultiScaleDeformableAttention(torch.nn.Module):
    def forward(
        self, value, value_spatial_shapes, value_spatial_shapes_list, level_start_index, sampling_locations,
        attention_weights, im2col_step,
    ):
        calls.append("module")
        points = [sampling_locations.shape[4]] * sampling_locations.shape[3]
        places, weights = sampling_locations.flatten(3, 4), attention_weights.flatten(3, 4)
        return sampled(value, value_spatial_shapes_list, places, weights, points)
'''
CODE = """
import importlib, sys
import torch
sys.path.insert(0, FOLDER)
import pymluops

NAME = "transformers.models.toy.modeling_toy"
torch.manual_seed(0)
SHAPES = torch.tensor([[5, 7], [3, 4], [1, 2]])
STARTS = torch.tensor([0, 35, 47])

def tensors(points, kind=torch.float64, flat=False):
    places = torch.rand(2, 6, 3, 3, points, 2, dtype=kind) * 1.4 - 0.2
    weights = torch.rand(2, 6, 3, 3, points, dtype=kind)
    if flat:
        places, weights = places.flatten(3, 4), weights.flatten(3, 4)
    return [t.requires_grad_() for t in (torch.rand(2, 49, 3, 4, dtype=kind), places, weights)]

def results(call, given):
    found = call(*given)
    return [found, *torch.autograd.grad((found * torch.arange(found.numel()).reshape(found.shape)).sum(), given)]

def agree(ours, theirs):
    return all(torch.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(ours, theirs, strict=True))
"""


def output(folder: Path, code: str) -> list[str]:
    """What `code` prints after CODE, by line, with the stand-in below `folder`."""
    toy = folder / "transformers" / "models" / "toy"
    toy.mkdir(parents=True)
    for package in (toy, toy.parent, toy.parent.parent):
        (package / "__init__.py").write_text("")
    (toy / "modeling_toy.py").write_text(MODULE)
    (toy / "modeling_user.py").write_text("from .modeling_toy import multi_scale_deformable_attention\n")
    return python_output(f"FOLDER = {str(folder)!r}\n{CODE}{code}").splitlines()


@pytest.mark.parametrize("before", [True, False])
def test_values_and_gradients_are_those_of_the_package(tmp_path: Path, before: bool) -> None:
    code = f"""
toy = importlib.import_module(NAME) if {before} else None
print(pymluops.install("transformers"))
toy = importlib.import_module(NAME)
layer = toy.MultiScaleDeformableAttention()
calls = {{
    "shapes": (lambda v, p, w: toy.multi_scale_deformable_attention(v, SHAPES, p, w), tensors(4)),
    "list": (lambda v, p, w: toy.multi_scale_deformable_attention(v, SHAPES.tolist(), p, w), tensors(1)),
    "module": (lambda v, p, w: layer(v, SHAPES, SHAPES.tolist(), STARTS, p, w, 64), tensors(2)),
    "any step": (lambda v, p, w: layer(v, SHAPES, SHAPES.tolist(), STARTS, p, w, 3), tensors(2)),
    "equal": (
        lambda v, p, w: toy.multi_scale_deformable_attention_v2(v, SHAPES.tolist(), p, w, [3, 3, 3]),
        tensors(3, flat=True),
    ),
    "unequal": (
        lambda v, p, w: toy.multi_scale_deformable_attention_v2(v, SHAPES.tolist(), p, w, [4, 1, 1], method="default"),
        tensors(2, flat=True),
    ),
}}
ours = {{name: results(*call) for name, call in calls.items()}}
print(toy.calls)
pymluops.uninstall("deformable_attention")
theirs = {{name: results(*call) for name, call in calls.items()}}
print(len(toy.calls), [agree(ours[name], theirs[name]) for name in calls])
"""
    assert output(tmp_path, code) == ["('transformers',)", "[]", "6 [True, True, True, True, True, True]"]


def test_without_names_the_package_computes(tmp_path: Path) -> None:
    code = """
pymluops.install()
toy = importlib.import_module(NAME)
value, places, weights = tensors(2)
toy.multi_scale_deformable_attention(value, SHAPES, places, weights)
print(toy.calls, hasattr(toy.multi_scale_deformable_attention, "__wrapped__"))
"""
    assert output(tmp_path, code) == ["['shapes'] False"]


def test_a_module_that_is_run_again_uses_the_kernel(tmp_path: Path) -> None:
    code = """
pymluops.install("transformers")
toy = importlib.reload(importlib.import_module(NAME))
value, places, weights = tensors(2)
toy.multi_scale_deformable_attention(value, SHAPES, places, weights)
print(toy.calls)
pymluops.uninstall()
toy.multi_scale_deformable_attention(value, SHAPES, places, weights)
print(toy.calls, hasattr(toy.multi_scale_deformable_attention, "__wrapped__"))
"""
    assert output(tmp_path, code) == ["[]", "['shapes'] False"]


def test_what_the_kernel_has_no_form_for_stays_with_the_package(tmp_path: Path) -> None:
    code = """
print(pymluops.install("deformable_attention"))
toy = importlib.import_module(NAME)
flat = tensors(2, flat=True)
toy.multi_scale_deformable_attention_v2(flat[0], SHAPES.tolist(), *flat[1:], [2, 2, 2], "discrete")
value, places, weights = (t.to("meta") for t in tensors(2))
toy.multi_scale_deformable_attention(value, SHAPES.tolist(), places, weights)
toy.multi_scale_deformable_attn_pytorch(None, None, None)
value, places, weights = tensors(2)
try:
    toy.multi_scale_deformable_attention(value.float(), SHAPES, places, weights)
except RuntimeError:
    print("refused by PyTorch")
print(toy.calls)
"""
    expected = ["('deformable_attention',)", "refused by PyTorch", "['discrete', 'shapes', 'another form', 'shapes']"]
    assert output(tmp_path, code) == expected


def test_a_module_that_took_the_function_uses_the_kernel(tmp_path: Path) -> None:
    code = """
user = importlib.import_module("transformers.models.toy.modeling_user")
toy = importlib.import_module(NAME)
own = user.multi_scale_deformable_attention
pymluops.install("deformable_attention")
pymluops.install("deformable_attention")
print(user.multi_scale_deformable_attention is toy.multi_scale_deformable_attention is not own)
print(user.multi_scale_deformable_attention.__wrapped__ is own)
pymluops.uninstall()
print(user.multi_scale_deformable_attention is toy.multi_scale_deformable_attention is own)
sys.modules.pop(NAME)
print(hasattr(importlib.import_module(NAME).multi_scale_deformable_attention, "__wrapped__"))
"""
    assert output(tmp_path, code) == ["True", "True", "True", "False"]


def test_compiled_and_traced_functions_take_the_kernel(tmp_path: Path) -> None:
    code = """
pymluops.install("deformable_attention")
toy = importlib.import_module(NAME)
value, places, weights = [t.detach() for t in tensors(2)]
layer = toy.MultiScaleDeformableAttention()
expected = layer(value, SHAPES, SHAPES.tolist(), STARTS, places, weights, 64)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = layer

    def forward(self, value, places, weights):
        return self.layer(value, SHAPES, [(5, 7), (3, 4), (1, 2)], STARTS, places, weights, 64)

compiled = torch.compile(Net(), backend="aot_eager", fullgraph=True)
print(torch.equal(compiled(value, places, weights), expected))
print(torch.equal(torch.jit.trace(Net(), (value, places, weights))(value, places, weights), expected))
exported = torch.export.export(Net(), (value, places, weights)).module()
print(torch.equal(exported(value, places, weights), expected))
print(toy.calls)
"""
    assert output(tmp_path, code) == ["True", "True", "True", "[]"]
