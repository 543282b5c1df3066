"""chamfer_distance for tensors of PyTorch, with gradients of both clouds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pymluops
import pymluops.torch as ours
from pymluops.oracle import chamfer_distance as oracle
from support.torch_samples import all_equal


def clouds(first: int = 9, second: int = 6, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(first)
    xyz1, xyz2 = (torch.from_numpy(rng.normal(size=(2, count, 2))).to(dtype) for count in (first, second))
    return xyz1, xyz2


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16], ids=str)
def test_values_are_those_of_the_library(dtype: torch.dtype) -> None:
    xyz1, xyz2 = clouds(300, 200, dtype)
    found = ours.chamfer_distance(xyz1, xyz2)
    for one, wanted in zip(found, oracle.forward(xyz1.numpy(), xyz2.numpy()), strict=True):
        np.testing.assert_array_equal(one.numpy(), wanted)
    assert ours.chamfer_distance(xyz1.bfloat16(), xyz2.bfloat16())[0].dtype == torch.bfloat16


def test_gradients_of_any_order_and_mode() -> None:
    xyz1, xyz2 = (cloud.requires_grad_() for cloud in clouds())

    def distances(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return ours.chamfer_distance(one, other)[:2]

    assert torch.autograd.gradcheck(distances, (xyz1, xyz2), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(distances, (xyz1, xyz2))
    dist1, dist2, idx1, idx2 = ours.chamfer_distance(xyz1, xyz2)
    weights = torch.rand_like(dist1), torch.rand_like(dist2)
    found = torch.autograd.grad((dist1 * weights[0]).sum() + (dist2 * weights[1]).sum(), (xyz1, xyz2))
    arrays = [one.detach().numpy() for one in (xyz1, xyz2, idx1, idx2, *weights)]
    for one, wanted in zip(found, oracle.backward(*arrays), strict=True):
        np.testing.assert_allclose(one.numpy(), wanted, rtol=1e-12, atol=1e-13)


def test_programs() -> None:
    class Program(torch.nn.Module):
        def forward(self, one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return ours.chamfer_distance(one, other)

    arguments = clouds()
    torch._dynamo.reset()
    compiled = torch.compile(Program(), backend="aot_eager", fullgraph=True)
    exported = torch.export.export(Program(), arguments).module()
    asking = tuple(cloud.clone().requires_grad_() for cloud in arguments)
    all_equal(compiled(*asking), ours.chamfer_distance(*arguments))
    (gradient,) = torch.autograd.grad(compiled(*asking)[0].sum(), asking[0])
    all_equal(gradient, torch.autograd.grad(ours.chamfer_distance(*asking)[0].sum(), asking[0])[0])
    all_equal(exported(*arguments), ours.chamfer_distance(*arguments))
    mapped = torch.vmap(ours.chamfer_distance)(*(cloud[None] for cloud in arguments))
    all_equal(tuple(one[0] for one in mapped), ours.chamfer_distance(*arguments))


def test_clouds_without_points_and_refused_ones() -> None:
    dist1, dist2, idx1, _ = ours.chamfer_distance(torch.rand(2, 3, 2), torch.rand(2, 0, 2))
    assert not dist1.any() and not idx1.any() and dist2.shape == (2, 0)
    for shapes in (((2, 3, 3), (2, 3, 3)), ((2, 3, 2), (1, 3, 2))):
        with pytest.raises(pymluops.BadParamError, match="chamfer_distance_forward: "):
            ours.chamfer_distance(*map(torch.rand, shapes))
