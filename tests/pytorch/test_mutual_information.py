"""mutual_information_recursion with the gradients that it returns, as the losses of k2 ask for."""

from __future__ import annotations

import pytest
import torch

import pymluops.torch as ours

LOW = (torch.bfloat16, torch.float16)


def steps(one: torch.dtype, other: torch.dtype, needs: bool) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(3)
    px, py = torch.randn(2, 3, 5, generator=random), torch.randn(2, 4, 4, generator=random)
    return px.to(one).requires_grad_(needs), py.to(other).requires_grad_(needs)


@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *LOW], ids=str)
@pytest.mark.parametrize("boundary", [None, torch.tensor([[0, 1, 3, 4], [1, 0, 2, 2]])])
def test_returned_gradients_are_those_of_autograd(
    boundary: torch.Tensor | None, dtype: torch.dtype, needs: bool
) -> None:
    px, py = steps(dtype, dtype, True)
    ours.mutual_information_recursion(px, py, boundary).sum().backward()
    ans, found = ours.mutual_information_recursion(*steps(dtype, dtype, needs), boundary, return_grad=True)
    assert ans.dtype == dtype and ans.requires_grad == needs
    for one, other in zip(found, (px.grad, py.grad), strict=True):
        assert one.dtype == dtype and not one.requires_grad
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize("dtypes", [(one, other) for one in (*LOW, torch.float32) for other in (*LOW, torch.float32)])
def test_gradients_under_autocast(dtypes: tuple[torch.dtype, torch.dtype], needs: bool) -> None:
    """The results are of float32 then, and each gradient of the type of its argument."""
    wanted, (px_grad, py_grad) = ours.mutual_information_recursion(
        *(one.float() for one in steps(*dtypes, needs)), return_grad=True
    )
    with torch.autocast("cpu", torch.bfloat16):
        ans, found = ours.mutual_information_recursion(*steps(*dtypes, needs), return_grad=True)
    torch.testing.assert_close(ans, wanted)
    for one, other, dtype in zip(found, (px_grad, py_grad), dtypes, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one, other.to(dtype))
