"""Overlaps of rotated boxes with gradients."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

import pymluops.torch as ours
from pymluops.oracle import exact_overlaps as exact
from support.rotated_pairs import KINDS


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


def test_the_boxes_of_mmcv_s_own_example() -> None:
    one = torch.tensor([[[0.5, 0.5, 0.5, 1, 1, 1, 0]] * 5])
    changes = [[0, 0, 0, 1, 1, 1, math.pi], [0, 0, 0, 1, 1, 2, math.pi / 2], [0, 0, 0, 1, 1, 1, math.pi / 4]]
    changes += [[0.5, 0.5, 0.5, 1, 1, 1, 0], [-2, -2, -2, 2.5, 2.5, 2.5, 0]]
    other = torch.tensor([changes]) + torch.tensor([0.5, 0.5, 0.5, 0, 0, 0, 0])
    found = ours.diff_iou_rotated_3d(one, other)
    torch.testing.assert_close(found, torch.tensor([[1, 0.5, math.sqrt(0.5), 1 / 15, 0]]))
    found = ours.diff_iou_rotated_2d(flat(one), flat(other))
    torch.testing.assert_close(found, torch.tensor([[1, 1, math.sqrt(0.5), 1 / 7, 0]]))


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


# ---- values and gradients against exact arithmetic -----------------------------------------------


def pairs(kind: str, count: int, dtype: torch.dtype, seed: int = 0) -> list[torch.Tensor]:
    """Pairs of a kind, [2][1, count, 5]."""
    made = KINDS[kind](np.random.default_rng(seed), count)
    return [torch.from_numpy(one).to(dtype)[None] for one in made]


def standing(rows: torch.Tensor, low: torch.Tensor, height: torch.Tensor) -> torch.Tensor:
    """Boxes [..., 7] that stand upright on boxes [..., 5]."""
    return torch.cat([rows[..., :2], low[..., None], rows[..., 2:4], height[..., None], rows[..., 4:]], -1)


def exactly(overlap: Any, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    rows = zip(one[0].tolist(), other[0].tolist(), strict=True)
    return torch.tensor([[float(overlap(exact.exact(a), exact.exact(b))) for a, b in rows]], dtype=torch.float64)


def test_the_exact_overlaps_of_squares() -> None:
    """A turn by 45 degrees leaves an octagon; boxes side by side and above each other are simple."""
    square, turned = (exact.exact((3, 1, 2, 2, angle)) for angle in (0.25, 0.25 + math.pi / 4))
    assert float(exact.iou(square, turned)) == pytest.approx(math.sqrt(0.5), abs=1e-15)
    assert exact.iou(exact.exact((0, 0, 4, 2, 0)), exact.exact((1, 0.5, 4, 2, 0))) == Fraction(9, 23)
    one, other = exact.exact((0, 0, 0, 4, 2, 2, 0)), exact.exact((1, 0, 1, 4, 2, 2, 0))
    assert exact.iou_upright(one, other) == Fraction(6, 26)
    below, above = exact.slopes(
        exact.iou, exact.exact((0, 0, 4, 2, 0)), exact.exact((0, 0, 4, 2, 0)), 2, Fraction(1, 2**60)
    )
    assert (below, above) == pytest.approx((0.25, -0.25))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_exact_arithmetic(kind: str, dtype: torch.dtype) -> None:
    one, other = pairs(kind, 60, dtype)
    found = ours.diff_iou_rotated_2d(one, other)
    tolerance = 1e-7 if dtype == torch.float32 else 1e-13
    torch.testing.assert_close(found.double(), exactly(exact.iou, one, other), rtol=0, atol=tolerance)
    assert bool(((found >= 0) & (found <= 1)).all())
    assert torch.equal(found, ours.diff_iou_rotated_2d(other, one))
    low, height = torch.rand(2, 2, 1, 60, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).to(dtype)
    boxes = standing(one, low[0], height[0]), standing(other, low[1], height[1])
    found = ours.diff_iou_rotated_3d(*boxes)
    torch.testing.assert_close(found.double(), exactly(exact.iou_upright, *boxes), rtol=0, atol=tolerance)
    assert torch.equal(found, ours.diff_iou_rotated_3d(*reversed(boxes)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", ["same", "thin", "far", "sizes"])
def test_equal_boxes_have_an_overlap_of_one_and_no_gradient(kind: str, dtype: torch.dtype) -> None:
    one, _ = pairs(kind, 500, dtype, seed=2)
    one = one[(one[..., 2:4] > 0).all(-1) & one.isfinite().all(-1)][None].requires_grad_()
    for rows, overlap in (
        (one, ours.diff_iou_rotated_2d),
        (standing(one, one[..., 0], one[..., 2]), ours.diff_iou_rotated_3d),
    ):
        for other in (rows, rows.detach()):
            found = overlap(rows, other)
            assert found.dtype == dtype and found.numel() > 20 and bool((found == 1).all())
            (gradient,) = torch.autograd.grad(found.sum(), one, retain_graph=True)
            assert not gradient.any()


def test_boxes_that_are_apart_have_no_overlap_and_no_gradient() -> None:
    one, other = pairs("uniform", 2000, torch.float64)
    other[..., :2] += 20 * torch.randn(1, 2000, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    one.requires_grad_()
    found = ours.diff_iou_rotated_2d(one, other)
    reach = sum(rows[..., 2:4].norm(dim=-1) for rows in (one, other)) / 2
    apart = (one[..., :2] - other[..., :2]).norm(dim=-1) > reach
    (gradient,) = torch.autograd.grad(found.sum(), one)
    assert int(apart.sum()) > 200 and not found[apart].any() and not gradient[apart].any()
    wanted = exactly(exact.iou, one[:, :300], other[:, :300])
    assert torch.equal(found[:, :300] == 0, wanted == 0)


def limits(rows: torch.Tensor) -> torch.Tensor:
    """The largest derivatives [..., 5] or [..., 7] that the docstrings name."""
    sizes = rows[..., 2:4] if rows.shape[-1] == 5 else rows[..., 3:6]
    width, height = sizes[..., 0], sizes[..., 1]
    place = 2 / width + 2 / height
    along_z = [2 / sizes[..., 2]] if rows.shape[-1] == 7 else []
    turning = (width / height + height / width) / 2
    return torch.stack([place, place, *along_z, *(2 / sizes).unbind(-1), turning], -1)


def derivatives(overlap: Any, one: torch.Tensor, other: torch.Tensor) -> list[torch.Tensor]:
    rows = [one.detach().requires_grad_(), other.detach().requires_grad_()]
    return list(torch.autograd.grad(overlap(*rows).sum(), rows))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_bounded(kind: str, dtype: torch.dtype) -> None:
    one, other = pairs(kind, 4000, dtype, seed=4)
    height = torch.rand(2, 1, 4000, generator=torch.Generator().manual_seed(4)).to(dtype) + 1
    upright = standing(one, height[0], height[0]), standing(other, height[0].round(), height[1].round())
    for overlap, rows in ((ours.diff_iou_rotated_2d, (one, other)), (ours.diff_iou_rotated_3d, upright)):
        for gradient, given in zip(derivatives(overlap, *rows), rows, strict=True):
            assert bool((gradient.abs() <= limits(given.double()) * (1 + 1e-6)).all())


#: Edges of these kinds coincide exactly, or lie clearly apart.
CLEAR = ["uniform", "near", "one rounding", "same", "thin", "far", "sizes"]


@pytest.mark.parametrize("kind", CLEAR)
def test_gradients_are_the_mean_of_the_slopes_on_both_sides(kind: str) -> None:
    one, other = pairs(kind, 4, torch.float64, seed=5)
    found = derivatives(ours.diff_iou_rotated_2d, one, other)
    for gradient, a, b in ((found[0][0], one[0], other[0]), (found[1][0], other[0], one[0])):
        for row, first, second in zip(gradient.tolist(), a.tolist(), b.tolist(), strict=True):
            most = limits(torch.tensor(first, dtype=torch.float64)).tolist()
            for column in range(5):
                step = Fraction(1 if column == 4 else min(first[2:4])) / 2**80
                slopes = exact.slopes(exact.iou, exact.exact(first), exact.exact(second), column, step)
                assert row[column] == pytest.approx(sum(slopes) / 2, abs=1e-7 * most[column])


@pytest.mark.parametrize("kind", ["nested", "touching", "lattice", "turned"])
def test_gradients_at_common_edges_lie_between_the_slopes(kind: str) -> None:
    """Whether edges coincide in exact arithmetic, rounding decides; a step of 1e-8 sees both sides."""
    one, other = pairs(kind, 6, torch.float64, seed=6)
    gradient = derivatives(ours.diff_iou_rotated_2d, one, other)[0][0]
    for row, first, second in zip(gradient.tolist(), one[0].tolist(), other[0].tolist(), strict=True):
        for column in range(5):
            below, above = exact.slopes(exact.iou, exact.exact(first), exact.exact(second), column, Fraction(1, 10**8))
            assert min(below, above) - 1e-6 <= row[column] <= max(below, above) + 1e-6


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        ((0, 0, 4, 2, 0), (0, 0, 0, 0, 0)),  # the box itself: 1/4 and -1/4 by the width
        ((4, 0, 4, 2, 0), (1 / 16, 0, 1 / 32, 0, 0)),  # it touches: 0 and 1/8 by x
        ((4, 2, 4, 2, 0), (0, 0, 0, 0, 0)),  # a corner touches
        ((1, 0, 2, 2, 0), (3 / 16, 0, -1 / 32, -1 / 16, 0)),  # inside, with three edges on those of the box
        ((0, 0, 8, 4, 0), (0, 0, 1 / 16, 1 / 8, 0)),  # around the box
        ((0, 0, 2, 1, 0), (0, 0, -1 / 16, -1 / 8, 0)),  # inside
        ((9, 9, 1, 1, 0), (0, 0, 0, 0, 0)),  # apart
    ],
)
def test_known_gradients(other: tuple[float, ...], wanted: tuple[float, ...]) -> None:
    for turn in (0, 1):  # the arguments may be exchanged
        rows = [torch.tensor([[row]], dtype=torch.float64) for row in ((0, 0, 4, 2, 0), other)]
        if turn:
            rows.reverse()
        found = derivatives(ours.diff_iou_rotated_2d, *rows)[turn][0, 0]
        slopes = [
            exact.slopes(exact.iou, exact.exact((0, 0, 4, 2, 0)), exact.exact(other), i, Fraction(1, 2**60))
            for i in range(5)
        ]
        torch.testing.assert_close(found, torch.tensor(slopes, dtype=torch.float64).mean(-1), rtol=0, atol=1e-12)
        torch.testing.assert_close(found, torch.tensor(wanted, dtype=torch.float64), rtol=0, atol=1e-12)


def test_gradients_of_boxes_in_space() -> None:
    """The ends of the heights coincide, touch, are apart, or lie in each other."""
    one, other = pairs("near", 5, torch.float64, seed=7)
    low, height = torch.tensor([[0.0, 0, 0, 0, 0]]).double(), torch.tensor([[2.0, 2, 2, 2, 2]]).double()
    boxes = standing(one, low, height), standing(other, torch.tensor([[0, 2, 5, 0.5, -0.5]]).double(), height.clone())
    boxes[1][0, 3, 5] = 1
    found = derivatives(ours.diff_iou_rotated_3d, *boxes)[0][0]
    for row, first, second in zip(found.tolist(), boxes[0][0].tolist(), boxes[1][0].tolist(), strict=True):
        for column in range(7):
            slopes = exact.slopes(
                exact.iou_upright, exact.exact(first), exact.exact(second), column, Fraction(1, 2**80)
            )
            assert row[column] == pytest.approx(sum(slopes) / 2, abs=1e-6)


def test_boxes_without_area() -> None:
    """A box that begins to grow has the slope of growing; two without an area have no overlap and no gradient."""
    flat_box, box = torch.tensor([[[1.0, 0, 0, 3, 0.3]]]).double(), torch.tensor([[[0.0, 0, 4, 2, 0]]]).double()
    for first, second in ((flat_box, box), (box, flat_box)):
        assert ours.diff_iou_rotated_2d(first, second).item() == 0
    gradient = derivatives(ours.diff_iou_rotated_2d, flat_box, box)[0][0, 0].tolist()
    rows = [exact.exact(one[0, 0].tolist()) for one in (flat_box, box)]
    _, above = exact.slopes(exact.iou, rows[0], rows[1], 2, Fraction(1, 2**60))
    assert above > 0.1 and gradient == pytest.approx([0, 0, above, 0, 0], abs=1e-9)
    for sizes in ((0, 0), (0, 2), (-1, 2), (1, -2)):
        empty = torch.tensor([[[1.0, 0, *sizes, 0.3]]])
        assert ours.diff_iou_rotated_2d(empty, empty).item() == 0
        assert not any(one.any() for one in derivatives(ours.diff_iou_rotated_2d, empty, empty))
        upright = standing(empty, empty[..., 0], empty[..., 0])
        assert ours.diff_iou_rotated_3d(upright, upright).item() == 0
        assert not any(one.any() for one in derivatives(ours.diff_iou_rotated_3d, upright, upright))


def test_the_signs_of_two_sides_below_zero_do_not_count() -> None:
    """As in box_iou_rotated; the box is turned by half a turn."""
    one, other = (rows[..., [0, 1, 3, 4, 6]] for rows in boxes(30))
    signs = torch.tensor([1.0, 1, -1, -1, 1], dtype=torch.float64)
    found = derivatives(ours.diff_iou_rotated_2d, one * signs, other)
    wanted = derivatives(ours.diff_iou_rotated_2d, one, other)
    assert torch.equal(ours.diff_iou_rotated_2d(one * signs, other), ours.diff_iou_rotated_2d(one, other))
    assert torch.equal(found[0], wanted[0] * signs) and torch.equal(found[1], wanted[1])
    upright, low = (standing(rows, one[..., 0], one[..., 2]) for rows in (one, one * signs))
    assert bool((ours.diff_iou_rotated_3d(upright, low) == 1).all())


def test_nan_stays_nan() -> None:
    for column in range(5):
        for sizes in ((4, 2), (0, 0)):
            rows = torch.tensor([[[0.0, 0, *sizes, 0]]])
            broken = rows.clone()
            broken[..., column] = math.nan
            assert bool(ours.diff_iou_rotated_2d(rows, broken).isnan())
            assert bool(ours.diff_iou_rotated_2d(broken, rows).isnan())


def test_training_ends_at_the_targets() -> None:
    """1 - IoU pulls boxes onto their targets, and no step of it is larger than the bound."""
    targets = pairs("uniform", 40, torch.float32, seed=8)[0]
    noise = torch.randn(1, 40, 5, generator=torch.Generator().manual_seed(8))
    rows = (targets + noise * targets.new_tensor([0.2, 0.2, 0.1, 0.1, 0.1])).requires_grad_()
    optimizer = torch.optim.Adam([rows], lr=0.03)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 250, eta_min=1e-6)
    for _ in range(250):
        optimizer.zero_grad()
        overlaps = ours.diff_iou_rotated_2d(rows, targets)
        (1 - overlaps).sum().backward()
        assert rows.grad is not None
        assert bool((rows.grad.abs() <= limits(rows.detach().double()) * (1 + 1e-6)).all())
        optimizer.step()
        schedule.step()
    assert overlaps.detach().min() > 0.999


# ---- modes of PyTorch ----------------------------------------------------------------------------

BOTH = pytest.mark.parametrize(
    ("overlap", "columns"),
    [(ours.diff_iou_rotated_2d, [0, 1, 3, 4, 6]), (ours.diff_iou_rotated_3d, list(range(7)))],
    ids=["2d", "3d"],
)


@pytest.mark.thorough
@BOTH
def test_gradients_of_second_order_and_forward_mode(overlap: Any, columns: list[int]) -> None:
    one, other = (rows[:, :2, columns].detach().requires_grad_() for rows in boxes(4, seed=9))
    assert torch.autograd.gradcheck(overlap, (one, other), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(overlap, (one, other))


@BOTH
def test_transforms_and_types(overlap: Any, columns: list[int]) -> None:
    one, other = (rows[..., columns] for rows in boxes(5, seed=10))
    wanted = torch.stack([overlap(one, other), overlap(other, other)])
    torch.testing.assert_close(torch.func.vmap(overlap)(torch.stack([one, other]), torch.stack([other, other])), wanted)
    torch.testing.assert_close(torch.func.jacrev(overlap)(one, other), torch.func.jacfwd(overlap)(one, other))
    shape = overlap(one.to("meta"), other.half().to("meta"))
    assert shape.is_meta and shape.shape == (2, 5) and shape.dtype == torch.float64
    fake = FakeTensorMode()
    assert overlap(fake.from_tensor(one), fake.from_tensor(other)).shape == (2, 5)
    for dtype in (torch.float16, torch.bfloat16):
        found = overlap(one.to(dtype), other.to(dtype))
        assert found.dtype == dtype
        torch.testing.assert_close(found, overlap(one.to(dtype).double(), other.to(dtype).double()).to(dtype))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(overlap(one.to(dtype), other.to(dtype)), found)
            torch.testing.assert_close(overlap(one, other), wanted[0])


def test_other_types_are_refused() -> None:
    rows = torch.ones(1, 1, 5)
    with pytest.raises(ValueError, match="diff_iou_rotated_2d: box2: expected a floating type, got int64"):
        ours.diff_iou_rotated_2d(rows, rows.long())
    with pytest.raises(ValueError, match="diff_iou_rotated_3d: box3d1: expected a floating type, got bool"):
        ours.diff_iou_rotated_3d(torch.ones(1, 1, 7, dtype=torch.bool), torch.ones(1, 1, 7))
