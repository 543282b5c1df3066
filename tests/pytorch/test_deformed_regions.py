"""deform_roi_pool for PyTorch without an offset."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

import pymluops.torch as ours  # noqa: E402

ROIS = [[0.0, 1, 1, 9, 7], [1, 0, 2, 6, 9], [1, -4, 3, 14, 8]]


def _arguments() -> tuple[Any, Any]:
    torch.manual_seed(4)
    return torch.randn(2, 3, 5, 6, dtype=torch.float64, requires_grad=True), torch.tensor(ROIS, dtype=torch.float64)


def test_no_offset_is_one_of_zeros() -> None:
    maps, rois = _arguments()
    zeros = torch.zeros(3, 2, 2, 4, dtype=torch.float64)
    found = [ours.deform_roi_pool(maps, rois, offset, (2, 4), 0.5, 2, 0.25) for offset in (None, zeros)]
    assert torch.equal(*found)
    gradients = [torch.autograd.grad(one.square().sum(), maps)[0] for one in found]
    assert torch.equal(*gradients)
    assert gradients[0].any()


def test_no_offset_is_roi_align() -> None:
    maps, rois = _arguments()
    found = ours.deform_roi_pool(maps, rois, None, 3, 0.5, 2)
    torch.testing.assert_close(found, ours.roi_align(maps, rois, 3, 0.5, 2))


def test_no_offset_in_a_compiled_program() -> None:
    maps, rois = _arguments()

    def pool(maps: Any, rois: Any) -> Any:
        return ours.deform_roi_pool(maps, rois, None, (2, 4), 0.5, 2)

    compiled = torch.compile(pool, backend="aot_eager", fullgraph=True)
    found, wanted = compiled(maps, rois), pool(maps, rois)
    assert torch.equal(found, wanted)
    assert torch.equal(*(torch.autograd.grad(one.sum(), maps)[0] for one in (found, wanted)))


def test_regions_that_are_no_tensor_are_refused() -> None:
    maps, rois = _arguments()
    with pytest.raises(TypeError, match="deform_roi_pool: rois: expected a tensor of PyTorch, got list"):
        ours.deform_roi_pool(maps, ROIS, None, 2)
    with pytest.raises(ValueError, match="deform_roi_pool_forward: rois: expected shape"):
        ours.deform_roi_pool(maps, rois.sum(), None, 2)
