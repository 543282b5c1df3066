"""Overlaps of rotated boxes with gradients."""

from __future__ import annotations

import math

import pytest
import torch

import pymluops.torch as ours


def boxes(count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Boxes in space [2, count, 7] that overlap in all ways, float64."""
    numbers = torch.Generator().manual_seed(seed)

    def one() -> torch.Tensor:
        rows = torch.rand(2, count, 7, generator=numbers, dtype=torch.float64)
        return torch.cat([rows[..., :3] * 2, rows[..., 3:6] * 3 + 0.5, rows[..., 6:] * 7 - 3], -1)

    return one(), one()


def flat(rows: torch.Tensor) -> torch.Tensor:
    """Without heights."""
    return rows[..., [0, 1, 3, 4, 6]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_overlaps_are_those_of_the_functions_without_gradients(dtype: torch.dtype) -> None:
    one, other = (rows.to(dtype) for rows in boxes(200))
    tolerance = 1e-9 if dtype == torch.float64 else 1e-4
    found = ours.diff_iou_rotated_2d(flat(one), flat(other))
    wanted = [ours.box_iou_rotated(flat(a), flat(b), aligned=True) for a, b in zip(one, other, strict=True)]
    torch.testing.assert_close(found, torch.stack(wanted), rtol=0, atol=tolerance)
    assert found.dtype == dtype and (found > 0.05).float().mean() > 0.5
    height = (one[..., 2:3] + one[..., 5:6] / 2).minimum(other[..., 2:3] + other[..., 5:6] / 2)
    height -= (one[..., 2:3] - one[..., 5:6] / 2).maximum(other[..., 2:3] - other[..., 5:6] / 2)
    areas = [rows[..., 3] * rows[..., 4] for rows in (one, other)]
    common = found * (areas[0] + areas[1]) / (1 + found) * height[..., 0].clamp(min=0)
    volumes = [area * rows[..., 5] for area, rows in zip(areas, (one, other), strict=True)]
    wanted = common / (volumes[0] + volumes[1] - common)
    torch.testing.assert_close(ours.diff_iou_rotated_3d(one, other), wanted, rtol=0, atol=tolerance)


def test_gradients_are_those_of_differences() -> None:
    one, other = (rows.requires_grad_() for rows in boxes(8))
    assert torch.autograd.gradcheck(ours.diff_iou_rotated_3d, (one, other), eps=1e-7, atol=1e-5)
    one, other = (flat(rows).detach().requires_grad_() for rows in (one, other))
    assert torch.autograd.gradcheck(ours.diff_iou_rotated_2d, (one, other), eps=1e-7, atol=1e-5)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ((0, 0, 4, 2, 0), (0, 0, 4, 2, 0), 1.0),
        ((3, 1, 4, 2, 0.7), (3, 1, 4, 2, 0.7), 1.0),
        ((0, 0, 4, 2, 0), (0, 0, 2, 4, math.pi / 2), 1.0),
        ((0, 0, 4, 2, 0), (2, 0, 4, 2, 0), 1 / 3),
        ((0, 0, 4, 4, 0), (0, 0, 2, 2, 0), 0.25),
        ((0, 0, 4, 4, 0), (9, 0, 2, 2, 0), 0.0),
        ((0, 0, 0, 0, 0), (9, 0, 0, 0, 0), 0.0),
    ],
)
def test_known_boxes(one: tuple[float, ...], other: tuple[float, ...], wanted: float) -> None:
    rows = [torch.tensor([[box]], dtype=torch.float32, requires_grad=True) for box in (one, other)]
    found = ours.diff_iou_rotated_2d(*rows)
    assert found.item() == pytest.approx(wanted, abs=1e-4)
    found.backward()
    assert rows[0].grad is not None
    if one[2]:
        assert rows[0].grad.isfinite().all()


def test_programs() -> None:
    one, other = (rows.requires_grad_() for rows in boxes(5))
    torch._dynamo.reset()
    compiled = torch.compile(ours.diff_iou_rotated_3d, backend="aot_eager", fullgraph=True)
    wanted = ours.diff_iou_rotated_3d(one, other)
    torch.testing.assert_close(compiled(one, other), wanted)
    (gradient,) = torch.autograd.grad(wanted.sum(), one)
    torch.testing.assert_close(torch.autograd.grad(compiled(one, other).sum(), one)[0], gradient)


def test_shapes() -> None:
    assert ours.diff_iou_rotated_2d(torch.rand(2, 0, 5), torch.rand(2, 0, 5)).shape == (2, 0)
    for one, other in (((2, 3, 5), (2, 4, 5)), ((3, 5), (3, 5)), ((2, 3, 4), (2, 3, 4))):
        with pytest.raises(ValueError, match="diff_iou_rotated_2d: expected two shapes"):
            ours.diff_iou_rotated_2d(torch.rand(one), torch.rand(other))
