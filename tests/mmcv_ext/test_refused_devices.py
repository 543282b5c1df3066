"""Functions of mmcv's Python code that ask a tensor for a GPU that it is not on, as releases and its source tree do."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes import python_output

from .stand_in import make

pytest.importorskip("torch")

#: The forms that the two functions have there: what is asked of a tensor is known to no other
#: device.
CARAFE = """
import torch
from ..loader import load_ext
ext_module = load_ext("_ext", ["carafe_naive_forward", "carafe_naive_backward"])

class CARAFENaiveFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, features, masks, kernel_size, group_size, scale_factor):
        ctx.kernel_size, ctx.group_size, ctx.scale_factor = kernel_size, group_size, scale_factor
        n, c, h, w = features.size()
        output = features.new_zeros((n, c, h * scale_factor, w * scale_factor))
        numbers = dict(kernel_size=kernel_size, group_size=group_size, scale_factor=scale_factor)
        ext_module.carafe_naive_forward(features, masks, output, **numbers)
        ctx.save_for_backward(features, masks)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        assert ASKED
        raise RuntimeError("on a GPU")

carafe_naive = CARAFENaiveFunction.apply
"""
LEAKY = """
from ..loader import load_ext
ext_module = load_ext("_ext", ["fused_bias_leakyrelu"])

def fused_bias_leakyrelu(input, bias, negative_slope=0.2, scale=2**0.5):
    if (not input.is_cuda) and (not input.is_musa):
        return "mmcv's"
    raise RuntimeError("on a GPU")
"""

CODE = """
import sys
sys.path.insert(0, FOLDER)
import torch, pymluops.mmcv
pymluops.mmcv.install()
import mmcv.ops
"""


def output(folder: Path, asked: str, code: str) -> list[str]:
    make(folder)
    ops = folder / "mmcv" / "ops"
    (ops / "carafe.py").write_text(CARAFE.replace("ASKED", asked))
    (ops / "fused_bias_leakyrelu.py").write_text(LEAKY)
    with (ops / "__init__.py").open("a") as file:
        file.write("from .carafe import carafe_naive\nfrom .fused_bias_leakyrelu import fused_bias_leakyrelu\n")
    return python_output(f"FOLDER = {str(folder)!r}\n{CODE}{code}").splitlines()


@pytest.mark.parametrize("asked", ["grad_output.is_cuda", "grad_output.is_cuda or grad_output.is_musa"])
def test_carafe_naive_has_its_gradient(tmp_path: Path, asked: str) -> None:
    code = """
torch.manual_seed(0)
maps = torch.rand(2, 4, 3, 3, dtype=torch.float64, requires_grad=True)
masks = torch.rand(2, 18, 6, 6, dtype=torch.float64, requires_grad=True)
def call(maps, masks):
    return mmcv.ops.carafe_naive(maps, masks, 3, 2, 2)
print(torch.autograd.gradcheck(call, (maps, masks)))
held = mmcv.ops.carafe_naive
out = held(maps, masks, 3, 2, 2).sum()
pymluops.mmcv.uninstall()
try:
    out.backward()
except (AssertionError, AttributeError):
    print("mmcv's")
"""
    assert output(tmp_path, asked, code) == ["True", "mmcv's"]


def test_fused_bias_leakyrelu_computes(tmp_path: Path) -> None:
    code = """
torch.manual_seed(0)
values = torch.randn(2, 3, 4, 5, dtype=torch.float64, requires_grad=True)
bias = torch.randn(3, dtype=torch.float64, requires_grad=True)
found = mmcv.ops.fused_bias_leakyrelu(values, bias, 0.1, 3.0)
shifted = values + bias[None, :, None, None]
print(torch.equal(found, 3 * torch.where(shifted > 0, shifted, 0.1 * shifted)))
print(mmcv.ops.fused_bias_leakyrelu(torch.tensor([[-1.0, 2.0]]), torch.tensor([0.0, 1.0])).tolist())
print(torch.autograd.gradcheck(mmcv.ops.fused_bias_leakyrelu, (values, bias)))
print(torch.autograd.gradgradcheck(mmcv.ops.fused_bias_leakyrelu, (values, bias)))
held = mmcv.ops
pymluops.mmcv.uninstall()
try:
    held.fused_bias_leakyrelu(values, bias)
except AttributeError as error:
    print("is_musa" in str(error))
"""
    slope = -0.2 * 2**0.5
    lines = output(tmp_path, "grad_output.is_cuda", code)
    assert lines[0] == "True" and lines[2:] == ["True", "True", "True"]
    assert eval(lines[1])[0] == pytest.approx([slope, 3 * 2**0.5])
