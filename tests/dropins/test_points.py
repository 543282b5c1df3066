"""Compiled extensions of points: PointNet++ on batches of one size and of any, and pooling in boxes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]
B, C, N, M, S = 2, 3, 20, 6, 4


def draw(*shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32))


def numbers(*shape: int, end: int, seed: int = 1) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, end, shape).astype(np.int32))


def nearest(unknown: Any, known: Any) -> tuple[Any, Any]:
    """The three nearest of one batch: squared distances and numbers."""
    squared = (known[None] - unknown[:, None]).square()
    order = ((squared[..., 0] + squared[..., 1]) + squared[..., 2]).sort(dim=1, stable=True)
    return order.values[:, :3], order.indices[:, :3].int()


def ball(centres: Any, points: Any, radius: float, count: int, missing: int = 0) -> list[list[int]]:
    """The first points within a radius of each centre of one batch; without one `missing` and zeros."""
    near = (points[None] - centres[:, None]).square().sum(-1) < radius**2
    rows = [row.nonzero()[:count, 0].tolist() for row in near]
    return [row + row[:1] * (count - len(row)) if row else [missing] + [0] * (count - 1) for row in rows]


def furthest(points: Any, count: int, near: float = -1.0) -> list[int]:
    """Numbers of the points of one batch that are picked."""
    least, picked = torch.full((len(points),), 1e10), [0]
    candidate = points.square().sum(-1) > near
    for _ in range(count - 1):
        least = torch.minimum(least, (points - points[picked[-1]]).square().sum(-1))
        picked.append(int(torch.where(candidate, least, -1).argmax()) if bool(candidate.any()) else 0)
    return picked


BATCH = ["pcdet.ops.pointnet2.pointnet2_batch.pointnet2_batch_cuda", "pointnet2_cuda"]


@pytest.mark.parametrize("name", BATCH)
def test_batches_of_one_size(load: Load, name: str) -> None:
    extension, points, centres = load(name), draw(B, N, 3), draw(B, M, 3, seed=2)
    idx = torch.zeros(B, M, S, dtype=torch.int32)
    assert extension.ball_query_wrapper(B, N, M, 0.8, S, centres, points, idx) == 1
    assert idx.tolist() == [ball(centres[b], points[b], 0.8, S) for b in range(B)]
    for sample in (extension.farthest_point_sampling_wrapper, extension.furthest_point_sampling_wrapper):
        for count in (M, N + 5):  # more than there are
            picked, least = torch.empty(B, count, dtype=torch.int32), torch.full((B, N), 1e10)
            assert sample(B, N, count, points, least, picked) == 1
            assert picked.tolist() == [furthest(points[b], count) for b in range(B)]
    features = draw(B, C, N, seed=3)
    chosen, groups = numbers(B, M, end=N), numbers(B, M, S, end=N)
    out = torch.empty(B, C, M)
    assert extension.gather_points_wrapper(B, C, N, M, features, chosen, out) == 1
    assert torch.equal(out, features.gather(2, chosen.long()[:, None].expand(-1, C, -1)))
    grad = torch.zeros(B, C, N)
    assert extension.gather_points_grad_wrapper(B, C, N, M, out, chosen, grad) == 1
    wanted = torch.zeros(B, C, N).scatter_add(2, chosen.long()[:, None].expand(-1, C, -1), out)
    torch.testing.assert_close(grad, wanted)
    out = torch.empty(B, C, M, S)
    assert extension.group_points_wrapper(B, C, N, M, S, features, groups, out) == 1
    flat = groups.long().view(B, 1, M * S).expand(-1, C, -1)
    assert torch.equal(out.view(B, C, M * S), features.gather(2, flat))
    assert extension.group_points_grad_wrapper(B, C, N, M, S, out, groups, grad) == 1
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, flat, out.view(B, C, M * S)))
    squared, three = torch.empty(B, M, 3), torch.empty(B, M, 3, dtype=torch.int32)
    assert extension.three_nn_wrapper(B, M, N, centres, points, squared, three) is None
    for b in range(B):
        values, rows = nearest(centres[b], points[b])
        assert torch.equal(three[b], rows)
        torch.testing.assert_close(squared[b], values, rtol=0, atol=0)
    weight, out = draw(B, M, 3, seed=4), torch.empty(B, C, M)
    assert extension.three_interpolate_wrapper(B, C, N, M, features, three, weight, out) is None
    flat = three.long().view(B, 1, M * 3).expand(-1, C, -1)
    terms = features.gather(2, flat).view(B, C, M, 3) * weight[:, None]
    torch.testing.assert_close(out, terms.sum(-1))
    assert extension.three_interpolate_grad_wrapper(B, C, M, N, out, three, weight, grad) is None
    parts = (out[..., None] * weight[:, None]).view(B, C, M * 3)
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, flat, parts))
    with pytest.raises(RuntimeError, match=f"idx: expected values from 0 to {N - 1}"):
        extension.group_points_wrapper(B, C, N, M, S, features, groups + N, torch.empty(B, C, M, S))


@pytest.mark.parametrize("name", ["pointnet2_ops._ext", "pointnet2._ext"])
def test_functions_that_return_new_tensors(load: Load, name: str) -> None:
    extension, points, centres = load(name), draw(B, N, 3), draw(B, M, 3, seed=2)
    points[:, 3:6] = torch.tensor([[0.03, 0.01, 0], [0, 0, 0], [0.02, 0.02, 0.01]])  # too near to the origin
    for count in (M, N + 3):
        picked = extension.furthest_point_sampling(points, count)
        assert picked.dtype == torch.int32
        assert picked.tolist() == [furthest(points[b], count, 1e-3) for b in range(B)]
    assert not extension.furthest_point_sampling(points * 1e-3, 4).any()
    features, chosen, groups = draw(B, C, N, seed=3), numbers(B, M, end=N), numbers(B, M, S, end=N)
    places = chosen.long()[:, None].expand(-1, C, -1)
    out = extension.gather_points(features, chosen)
    assert torch.equal(out, features.gather(2, places))
    grad = extension.gather_points_grad(out, chosen, N)
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, places, out))
    flat = groups.long().view(B, 1, M * S).expand(-1, C, -1)
    out = extension.group_points(features, groups)
    assert torch.equal(out.view(B, C, M * S), features.gather(2, flat))
    grad = extension.group_points_grad(out, groups, N)
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, flat, out.view(B, C, M * S)))
    idx = extension.ball_query(centres, points, 0.8, S)
    assert idx.tolist() == [ball(centres[b], points[b], 0.8, S) for b in range(B)]
    squared, three = extension.three_nn(centres, points)
    assert torch.equal(three, torch.stack([nearest(centres[b], points[b])[1] for b in range(B)]))
    weight = draw(B, M, 3, seed=4)
    out = extension.three_interpolate(features, three, weight)
    flat = three.long().view(B, 1, M * 3).expand(-1, C, -1)
    torch.testing.assert_close(out, (features.gather(2, flat).view(B, C, M, 3) * weight[:, None]).sum(-1))
    grad = extension.three_interpolate_grad(out, three, weight, N)
    parts = (out[..., None] * weight[:, None]).view(B, C, M * 3)
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, flat, parts))
    assert squared.dtype == torch.float32
    for made in (
        extension.furthest_point_sampling(points, 0), extension.gather_points(features, chosen[:, :0]),
        extension.group_points(features, groups[:, :0]), extension.ball_query(centres[:, :0], points, 1.0, S),
        extension.gather_points_grad(torch.zeros(B, C, 0), chosen[:, :0], N),
        extension.three_nn(centres[:, :0], points)[1],
        extension.three_interpolate(features, three[:, :0], weight[:, :0]),
    ):  # fmt: skip
        assert not made.any()
    with pytest.raises(RuntimeError, match="gather_points: idx: expected values from 0 to"):
        extension.gather_points(features, chosen - N)
    with pytest.raises(RuntimeError, match="three_nn: known: expected shape"):
        extension.three_nn(centres, points[:1])
    double = extension.group_points(features.double(), groups)
    assert double.dtype == torch.float64


def test_batches_of_any_size(load: Load) -> None:
    extension = load("pcdet.ops.pointnet2.pointnet2_stack.pointnet2_stack_cuda")
    held, asked = [9, 0, 11], [4, 1, 3]
    points, centres = draw(20, 3), draw(8, 3, seed=2)
    counts, wanted_counts = (torch.tensor(one, dtype=torch.int32) for one in (held, asked))
    parts = list(zip(points.split(held), centres.split(asked), strict=True))
    idx = torch.zeros(8, S, dtype=torch.int32)
    assert extension.ball_query_wrapper(3, 8, 0.8, S, centres, wanted_counts, points, counts, idx) == 1
    assert idx.tolist() == [row for own, about in parts for row in ball(about, own, 0.8, S, -1)]
    groups = torch.where(idx < 0, 0, idx)
    features, out = draw(20, C, seed=3), torch.empty(8, C, S)
    assert extension.group_points_wrapper(3, 8, C, S, features, counts, groups, wanted_counts, out) == 1
    first = torch.tensor([0, 9, 9]).repeat_interleave(torch.tensor(asked))
    rows = groups.long() + first[:, None]
    taken = features[rows].transpose(1, 2) * (torch.tensor(held)[[0] * 4 + [1] + [2] * 3] > 0)[:, None, None]
    assert torch.equal(out, taken)
    grad, spread = draw(8, C, S, seed=4), torch.zeros(20, C)
    grad[4] = 0
    assert extension.group_points_grad_wrapper(3, 8, C, 20, S, grad, groups, wanted_counts, counts, spread) == 1
    torch.testing.assert_close(
        spread, torch.zeros(20, C).index_add(0, rows.flatten(), grad.transpose(1, 2).reshape(8 * S, C))
    )
    squared, three = torch.zeros(8, 3), torch.zeros(8, 3, dtype=torch.int32)
    assert extension.three_nn_wrapper(centres, wanted_counts, points, counts, squared, three) is None
    for begin, offset, (own, about) in zip((0, 4, 5), (0, 9, 9), parts, strict=True):
        if len(own):
            values, order = nearest(about, own)
            assert torch.equal(three[begin : begin + len(about)], order + offset)
            torch.testing.assert_close(squared[begin : begin + len(about)], values, rtol=0, atol=0)
    assert torch.isinf(squared[4]).all()
    weight, out = draw(8, 3, seed=5), torch.zeros(8, C)
    assert extension.three_interpolate_wrapper(features, three, weight, out) is None
    torch.testing.assert_close(out, (features[three.long()] * weight[..., None]).sum(1))
    spread = torch.zeros(20, C)
    assert extension.three_interpolate_grad_wrapper(out, three, weight, spread) is None
    parts_of = (out[:, None] * weight[..., None]).reshape(24, C)
    torch.testing.assert_close(spread, torch.zeros(20, C).index_add(0, three.long().flatten(), parts_of))
    samples = torch.tensor([3, 0, 14], dtype=torch.int32)
    picked, least = torch.zeros(17, dtype=torch.int32), torch.full((20,), 1e10)
    assert extension.stack_farthest_point_sampling_wrapper(points, least, counts, picked, samples) == 1
    assert picked.tolist() == furthest(points[:9], 3) + [9 + i for i in furthest(points[9:], 14)]
    picked, least = torch.empty(1, 5, dtype=torch.int32), torch.full((1, 20), 1e10)
    assert extension.farthest_point_sampling_wrapper(1, 20, 5, points[None], least, picked) == 1
    assert picked[0].tolist() == furthest(points, 5)


def test_counts_of_more_rows_than_there_are(load: Load) -> None:
    extension = load("pcdet.ops.pointnet2.pointnet2_stack.pointnet2_stack_cuda")
    points, features, places = draw(5, 3), draw(5, 2, seed=3), torch.zeros(5, 3, dtype=torch.int32)
    taken, spread, squared, least = torch.zeros(5, 2, 3), torch.zeros(5, 2), torch.zeros(5, 3), torch.zeros(5)
    picks = torch.zeros(5, dtype=torch.int32)
    calls = {
        "ball_query_wrapper": lambda a, b: (2, 5, 0.8, 3, points, a, points, b, places),
        "three_nn_wrapper": lambda a, b: (points, a, points, b, squared, places),
        "group_points_wrapper": lambda a, b: (2, 5, 2, 3, features, a, places, b, taken),
        "group_points_grad_wrapper": lambda a, b: (2, 5, 2, 5, 3, taken, places, a, b, spread),
        "stack_farthest_point_sampling_wrapper": lambda a, b: (points, least, a, picks, b),
    }
    right = torch.tensor([2, 3], dtype=torch.int32)
    for name, given in calls.items():
        getattr(extension, name)(*given(right, right))
        for counts in ([2, 4], [-1, 6], [6, 0]):
            wrong = torch.tensor(counts, dtype=torch.int32)
            for pair in ((wrong, right), (right, wrong)):
                with pytest.raises(
                    RuntimeError, match=rf"^{name}: \w+: expected numbers of 5 rows, got \[{counts[0]}, "
                ):
                    getattr(extension, name)(*given(*pair))


def test_voxel_query(load: Load) -> None:
    extension, rng = load("pcdet.ops.pointnet2.pointnet2_stack.pointnet2_stack_cuda"), np.random.default_rng(6)
    cells = torch.from_numpy(rng.integers(-1, 20, (2, 3, 4, 5)).astype(np.int32))
    coords = torch.from_numpy(np.stack([rng.integers(0, size, 8) for size in cells.shape], 1).astype(np.int32))
    points, centres = draw(20, 3), draw(8, 3, seed=2)
    idx = torch.zeros(8, S, dtype=torch.int32)
    ranges = (1, 2, 1)
    call = (8, 3, 4, 5, S, 0.9, *ranges, centres, points, coords, cells, idx)
    assert extension.voxel_query_wrapper(*call) == 1
    assert torch.equal(idx, pymluops.voxel_query(centres, points, coords, cells, 0.9, ranges, S))
    assert (idx[:, 0] >= 0).any()
