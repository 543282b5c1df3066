"""Extensions of one subject: deformable convolutions, Chamfer distances, overlaps of quadrilaterals."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

import pymluops
from pymluops.oracle import quadri_boxes

torch = pytest.importorskip("torch")

from .deformable import convolved, draw, tensors  # noqa: E402

Load = Callable[[str], ModuleType]


@pytest.fixture
def placed() -> Iterator[Callable[[str], ModuleType]]:
    """Install an extension as a module of its own and import it."""
    names: list[str] = []

    def install(name: str) -> ModuleType:
        names.append(name)
        assert pymluops.install(name, at=f"somewhere{name}") == (name,)
        return importlib.import_module(f"somewhere{name}")

    yield install
    pymluops.uninstall(*names)


def test_modulated_convolution_of_dcn_v2(placed: Callable[[str], ModuleType]) -> None:
    extension, (input, offset, mask, weight, bias) = placed("_ext"), tensors()
    numbers = (3, 3, 2, 2, 1, 1, 1, 1, 1)
    out = extension.dcn_v2_forward(input, weight, bias, offset, mask, *numbers)
    leaves = [tensor.clone().requires_grad_() for tensor in (input, offset, mask, weight, bias)]
    wanted = convolved(*leaves)
    torch.testing.assert_close(out, wanted.detach())
    grad = draw(*out.shape, seed=5)
    (wanted * grad).sum().backward()
    found = extension.dcn_v2_backward(input, weight, bias, offset, mask, grad, *numbers)
    torch.testing.assert_close(found, [leaf.grad for leaf in leaves])
    with pytest.raises(RuntimeError, match=r"^dcn_v2_forward: weight: expected shape \[any, any, 5, 3\]"):
        extension.dcn_v2_forward(input, weight, bias, offset, mask, 5, *numbers[1:])
    with pytest.raises(RuntimeError, match=r"^dcn_v2_forward: mask: expected shape \[2, 9, 3, 3\]"):
        extension.dcn_v2_forward(input, weight, bias, offset, mask[:, :8], *numbers)


@pytest.mark.parametrize("name", ["det3d.ops.dcn.deform_conv_cuda", "mmdet.ops.dcn.deform_conv_ext", "detectron2._C"])
def test_deformable_convolutions(load: Load, name: str) -> None:
    extension, (input, offset, mask, weight, bias) = load(name), tensors()
    end = "_cuda" if name.endswith("_cuda") else ""
    filters = "filter" if "detectron2" in name else "parameters"
    modulated = (f"modulated_deform_conv{end}_forward", f"modulated_deform_conv{end}_backward")
    none, ones = input.new_empty(0), torch.ones_like(mask)
    numbers = (3, 3, 2, 2, 1, 1, 1, 1, 1, 1)
    leaves = [tensor.clone().requires_grad_() for tensor in (input, offset, weight)]
    wanted = convolved(leaves[0], leaves[1], ones, leaves[2], torch.zeros_like(bias))
    out, grad = torch.zeros_like(wanted), draw(*wanted.shape, seed=5)
    (wanted * grad).sum().backward()
    assert getattr(extension, f"deform_conv_forward{end}")(input, weight, offset, out, none, none, *numbers, 2) == 1
    torch.testing.assert_close(out, wanted.detach())
    made = [torch.zeros_like(leaf) for leaf in leaves]
    getattr(extension, f"deform_conv_backward_input{end}")(
        input, offset, grad, made[0], made[1], weight, none, *numbers, 2
    )  # fmt: skip
    getattr(extension, f"deform_conv_backward_{filters}{end}")(
        input, offset, grad, made[2], none, none, *numbers, 1, 2
    )  # fmt: skip
    torch.testing.assert_close(made, [leaf.grad for leaf in leaves])
    leaves = [tensor.clone().requires_grad_() for tensor in tensors()]
    wanted = convolved(*leaves)
    (wanted * grad).sum().backward()
    getattr(extension, modulated[0])(input, weight, bias, none, offset, mask, out, none, *numbers, True)
    torch.testing.assert_close(out, wanted.detach())
    made = [torch.zeros_like(tensor) for tensor in (input, weight, bias, offset, mask)]
    getattr(extension, modulated[1])(
        input, weight, bias, none, offset, mask, none, *made, grad, *numbers, True
    )  # fmt: skip
    torch.testing.assert_close(made, [leaves[i].grad for i in (0, 3, 4, 1, 2)])
    with pytest.raises(RuntimeError, match=f"^deform_conv_backward_{filters}{end}: gradOutput: expected shape"):
        getattr(extension, f"deform_conv_backward_{filters}{end}")(
            input, offset, grad[:1], weight, none, none, *numbers, 1, 2
        )  # fmt: skip


def test_chamfer_distances_in_space(load: Load) -> None:
    extension, one, other = load("chamfer_3D"), draw(2, 7, 3), draw(2, 9, 3, seed=1)
    dist = [torch.zeros(2, 7, dtype=torch.float64), torch.zeros(2, 9, dtype=torch.float64)]
    idx = [torch.zeros(2, 7, dtype=torch.int32), torch.zeros(2, 9, dtype=torch.int32)]
    assert extension.forward(one, other, *dist, *idx) == 1
    leaves = [one.clone().requires_grad_(), other.clone().requires_grad_()]
    squared = (leaves[0][:, :, None] - leaves[1][:, None]).square().sum(-1)
    wanted = squared.min(2), squared.min(1)
    for i in range(2):
        torch.testing.assert_close(dist[i], wanted[i].values.detach())
        assert torch.equal(idx[i], wanted[i].indices.int())
    grads = [draw(2, 7, seed=2), draw(2, 9, seed=3)]
    sum((wanted[i].values * grads[i]).sum() for i in range(2)).backward()
    made = [torch.full_like(one, 7), torch.full_like(other, 7)]
    extension.backward(one, other, *made, *grads, *idx)
    torch.testing.assert_close(made, [leaf.grad for leaf in leaves])
    with pytest.raises(RuntimeError, match=r"^forward: xyz1 and xyz2: expected points in both clouds"):
        extension.forward(one[:, :0], other, dist[0][:, :0], dist[1], idx[0][:, :0], idx[1])
    with pytest.raises(RuntimeError, match=r"^backward: idx1: expected .*0 to 8"):
        extension.backward(one, other, *made, *grads, idx[0] + 9, idx[1])


def test_overlaps_of_quadrilaterals(placed: Callable[[str], ModuleType]) -> None:
    polyiou, rng = placed("polyiou"), np.random.default_rng(6)
    square, shifted = [0, 0, 2, 0, 2, 2, 0, 2], [1, 0, 3, 0, 3, 2, 1, 2]
    assert polyiou.iou_poly(polyiou.VectorDouble(square), polyiou.VectorDouble(square)) == 1
    assert polyiou.iou_poly(polyiou.VectorDouble(square), np.array(shifted)) == pytest.approx(1 / 3)
    found = []
    for _ in range(20):
        centre, turn = rng.uniform(-1, 1, (2, 1, 2)), np.sort(rng.uniform(0, 2 * np.pi, (2, 4)), 1)
        one, other = (centre + 2 * np.stack([np.cos(turn), np.sin(turn)], 2)).reshape(2, 8)
        found.append(polyiou.iou_poly(polyiou.VectorDouble(one), polyiou.VectorDouble(other)))
        assert found[-1] == pytest.approx(quadri_boxes.overlap(one, other), abs=1e-9)
        assert polyiou.iou_poly(one, other.reshape(4, 2)[::-1].ravel()) == pytest.approx(found[-1])
    assert 0.1 < max(found) < 1
    notched = [0, 0, 4, 0, 1, 1, 0, 4]  # concave: the far corner of the square is outside of it
    assert polyiou.iou_poly(notched, square) == pytest.approx((8 / 3) / (4 + 4 - 8 / 3))
    assert polyiou.iou_poly([0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 2, 3, 3]) == 0
    with pytest.raises(RuntimeError, match=r"^iou_poly: q: expected 8 finite numbers, got"):
        polyiou.iou_poly(square, [1, 2, 3])
