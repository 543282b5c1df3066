"""Compiled extensions of mmdetection3d below 1.0 and of BEVFusion, each against its formula."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import assign_score_withk as score_oracle
from pymluops.oracle import boxes3d as box_oracle
from pymluops.oracle import furthest_point_sampling as sampling_oracle
from pymluops.oracle import knn as knn_oracle
from pymluops.oracle import points_in_boxes as inside_oracle

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]
B, C, N, M, S = 2, 3, 20, 6, 4


def draw(*shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32))


def numbers(*shape: int, end: int, seed: int = 1) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, end, shape).astype(np.int32))


def integers(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.int32)


def test_balls_with_two_radii(load: Load) -> None:
    extension = load("mmdet3d.ops.ball_query.ball_query_ext")
    points, centres, idx = draw(B, N, 3), draw(B, M, 3, seed=2), integers(B, M, S)
    extension.ball_query_wrapper(B, N, M, 0.4, 1.1, S, centres, points, idx)
    for b in range(B):
        squared = (points[b][None] - centres[b][:, None]).square().sum(-1)
        for row, own in zip(idx[b].tolist(), (squared >= 0.4**2) & (squared < 1.1**2), strict=True):
            found = own.nonzero()[:S, 0].tolist()
            assert row == (found + found[:1] * (S - len(found)) if found else [0] * S)
    with pytest.raises(RuntimeError, match=r"^ball_query_wrapper: new_xyz: expected shape \[2, 6, 3\]"):
        extension.ball_query_wrapper(B, N, M, 0.4, 1.1, S, points, points, idx)


def test_points_far_from_each_other(load: Load) -> None:
    extension = load("mmdet3d.ops.furthest_point_sample.furthest_point_sample_ext")
    points, temp, idx = draw(B, N, 3), torch.full((B, N), 1e10), integers(B, M)
    extension.furthest_point_sampling_wrapper(B, N, M, points, temp, idx)
    wanted = [sampling_oracle.sample(one.numpy(), M, 1e10)[1] for one in points]
    np.testing.assert_array_equal(idx.numpy(), wanted)
    distances = torch.cdist(points, points)
    extension.furthest_point_sampling_with_dist_wrapper(B, N, M, distances, temp, idx)
    wanted = [sampling_oracle.sample_by_matrix(one.numpy(), M, 1e10)[1] for one in distances]
    np.testing.assert_array_equal(idx.numpy(), wanted)
    with pytest.raises(RuntimeError, match=r"^furthest_point_sampling_wrapper: xyz: expected shape"):
        extension.furthest_point_sampling_wrapper(B, N + 1, M, points, temp, idx)


def test_columns_by_number(load: Load) -> None:
    gather = load("mmdet3d.ops.gather_points.gather_points_ext")
    group = load("mmdet3d.ops.group_points.group_points_ext")
    features, idx, out = draw(B, C, N), numbers(B, M, end=N), torch.empty(B, C, M)
    gather.gather_points_wrapper(B, C, N, M, features, idx, out)
    rows = idx.long()[:, None].expand(-1, C, -1)
    torch.testing.assert_close(out, features.gather(2, rows), rtol=0, atol=0)
    grad = torch.zeros(B, C, N)
    gather.gather_points_grad_wrapper(B, C, N, M, out, idx, grad)
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, rows, out))
    groups, grouped = numbers(B, M, S, end=N), torch.empty(B, C, M, S)
    group.forward(B, C, N, M, S, features, groups, grouped)
    rows = groups.long().flatten(1)[:, None].expand(-1, C, -1)
    torch.testing.assert_close(grouped.flatten(2), features.gather(2, rows), rtol=0, atol=0)
    group.backward(B, C, N, M, S, grouped, groups, grad)
    torch.testing.assert_close(grad, torch.zeros(B, C, N).scatter_add(2, rows, grouped.flatten(2)))
    with pytest.raises(RuntimeError, match=r"^forward: idx: expected .*0 to 19"):
        group.forward(B, C, N, M, S, features, groups + N, grouped)


def test_nearest_points_and_interpolation(load: Load) -> None:
    extension = load("mmdet3d.ops.interpolate.interpolate_ext")
    target, source, dist2, idx = draw(B, N, 3), draw(B, M, 3, seed=3), torch.empty(B, N, 3), integers(B, N, 3)
    extension.three_nn_wrapper(B, N, M, target, source, dist2, idx)
    wanted = (target[:, :, None] - source[:, None]).square().sum(-1).topk(3, largest=False)
    torch.testing.assert_close(dist2, wanted.values)
    assert torch.equal(idx, wanted.indices.int())
    features, weights, out = draw(B, C, M), draw(B, N, 3, seed=4), torch.empty(B, C, N)
    extension.three_interpolate_wrapper(B, C, M, N, features, idx, weights, out)
    taken = features.gather(2, idx.long().flatten(1)[:, None].expand(-1, C, -1)).view(B, C, N, 3)
    torch.testing.assert_close(out, (taken * weights[:, None]).sum(-1))
    grad = torch.zeros(B, C, M)
    extension.three_interpolate_grad_wrapper(B, C, N, M, out, idx, weights, grad)
    leaf = features.double().requires_grad_()
    taken = leaf.gather(2, idx.long().flatten(1)[:, None].expand(-1, C, -1)).view(B, C, N, 3)
    ((taken * weights[:, None].double()).sum(-1) * out.double()).sum().backward()
    torch.testing.assert_close(grad.double(), leaf.grad, rtol=1e-5, atol=1e-5)


def test_neighbours(load: Load) -> None:
    extension = load("mmdet3d.ops.knn.knn_ext")
    points, centres, idx, dist2 = draw(B, N, 3), draw(B, M, 3, seed=2), integers(B, M, S), torch.zeros(B, M, S)
    extension.knn_wrapper(B, N, M, S, points, centres, idx, dist2)
    distances, rows = knn_oracle.nearest(points.numpy(), centres.numpy(), S)
    np.testing.assert_array_equal(idx.numpy(), rows)
    np.testing.assert_array_equal(dist2.numpy(), distances)
    with pytest.raises(RuntimeError, match=r"^knn_wrapper: xyz_tensor: expected shape"):
        extension.knn_wrapper(B, N, M, S, centres, points, idx, dist2)


def test_weighted_features(load: Load) -> None:
    extension = load("mmdet3d.ops.paconv.assign_score_withk_ext")
    points, centres, scores = draw(B, N, 2, C), draw(B, N, 2, C, seed=5), draw(B, M, S, 2, seed=6)
    idx, out, sizes = numbers(B, M, S, end=N).long(), torch.zeros(B, C, M, S), (B, N, M, 2, S, C, 0)
    extension.assign_score_withk_forward_wrapper(*sizes, points, centres, scores, idx, out)
    arrays = [tensor.numpy() for tensor in (points, centres, scores)]
    wanted = score_oracle.forward(*arrays, idx.int().numpy())
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-5, atol=1e-6)
    grads = [torch.zeros_like(tensor) for tensor in (points, centres, scores)]
    extension.assign_score_withk_backward_wrapper(*sizes, out, points, centres, scores, idx, *grads)
    wanted = score_oracle.backward(out.numpy(), *arrays, idx.int().numpy())
    for found, right in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-4, atol=1e-5)


def corners_and_centres(count: int, seed: int) -> tuple[Any, np.ndarray]:
    """The same boxes as x1, y1, x2, y2 with a clockwise angle, and with a centre and the other angle."""
    rng = np.random.default_rng(seed)
    centre, size, angle = rng.uniform(-3, 3, (count, 2)), rng.uniform(1, 4, (count, 2)), rng.uniform(-3, 3, count)
    low, high = centre - size / 2, centre + size / 2
    flat = np.zeros((count, 1)), np.ones((count, 1))
    boxes = np.concatenate([centre, flat[0], size, flat[1], -angle[:, None]], 1)
    return torch.from_numpy(np.concatenate([low, high, angle[:, None]], 1)), boxes


@pytest.mark.parametrize("name", ["mmdet3d.ops.iou3d.iou3d_cuda", "iou3d_cuda"])
def test_boxes_of_corners(load: Load, name: str) -> None:
    extension = load(name)
    (a, centred_a), (b, centred_b) = corners_and_centres(7, 1), corners_and_centres(9, 2)
    for function, oracle in (("boxes_iou_bev_gpu", "iou_bev"), ("boxes_overlap_bev_gpu", "overlap_bev")):
        wanted = np.array([[getattr(box_oracle, oracle)(p, q) for q in centred_b] for p in centred_a])
        out = torch.zeros(7, 9)
        assert getattr(extension, function)(a.float(), b.float(), out) == 1
        np.testing.assert_allclose(out.numpy(), wanted, rtol=2e-5, atol=2e-5)
        assert (wanted > 0).sum() > 10
        with pytest.raises(RuntimeError, match=f"^{function}: ans: expected shape"):
            getattr(extension, function)(a, b, torch.zeros(9, 7, dtype=torch.float64))
    for function, turned in (("nms_gpu", True), ("nms_normal_gpu", False)):
        boxes = centred_b.copy()
        boxes[:, 6] *= turned
        kept: list[int] = []
        for i in range(9):
            if all(box_oracle.iou_bev(boxes[j], boxes[i]) <= 0.2 for j in kept):
                kept.append(i)
        keep = torch.zeros(9, dtype=torch.int64)
        found = getattr(extension, function)(b.float(), keep, 0.2, None)
        assert keep[:found].tolist() == kept
        assert 1 < found < 9
        assert getattr(extension, function)(b.float()[:0], keep[:0], 0.2) == 0


def test_points_in_boxes_with_angles_of_either_direction(load: Load) -> None:
    extension = load("mmdet3d.ops.roiaware_pool3d.roiaware_pool3d_ext")
    boxes, points = draw(B, 3, 7), draw(B, 40, 3, seed=8)
    boxes[..., 3:6] = boxes[..., 3:6].abs() + 0.5
    boxes[..., 2] -= 0.6
    turned = boxes.clone()
    turned[..., 6] *= -1
    for own, part, every in (
        (turned, "points_in_boxes_gpu", "points_in_boxes_batch"),
        (boxes, "points_in_boxes_part", "points_in_boxes_all"),
    ):
        first, inside = torch.full((B, 40), -1, dtype=torch.int32), integers(B, 40, 3)
        assert getattr(extension, part)(boxes, points, first) == 1
        getattr(extension, every)(boxes, points, inside)
        np.testing.assert_array_equal(first.numpy(), inside_oracle.first(own.numpy(), points.numpy()))
        wanted = inside_oracle.every(own.numpy(), points.numpy())
        np.testing.assert_array_equal(inside.numpy(), wanted)
        assert 0 < wanted.sum() < wanted.size
    one = integers(3, 40)
    extension.points_in_boxes_cpu(boxes[0], points[0], one)  # a package without a version is below 1.0
    np.testing.assert_array_equal(one.numpy().T, inside_oracle.every(turned.numpy(), points.numpy())[0])
    with pytest.raises(NotImplementedError, match=r"^forward of mmdet3d"):
        extension.forward()


def test_sparse_convolution_equals_a_dense_one(load: Load) -> None:
    extension, rng = load("mmdet3d.ops.spconv.sparse_conv_ext"), np.random.default_rng(9)
    places = np.argwhere(rng.random((2, 5, 6, 4)) < 0.2).astype(np.int32)
    indices, features = torch.from_numpy(places), draw(len(places), C)
    filters = draw(3, 3, 3, C, 2, seed=4)
    out_shape = [3, 3, 2]
    arguments = (indices, 2, out_shape, [5, 6, 4], [3] * 3, [2] * 3, [1] * 3, [1] * 3, [0] * 3, 0, 0)
    outputs, pairs, counts = extension.get_indice_pairs_3d(*arguments)
    again = extension.get_indice_pairs_grid_3d(indices, torch.zeros(1), *arguments[1:])
    assert all(torch.equal(one, other) for one, other in zip((outputs, pairs, counts), again, strict=True))
    space = torch.zeros(2, 5, 6, 4, C)
    space[tuple(indices.long().T)] = features
    space.requires_grad_()
    weight = filters.permute(4, 3, 0, 1, 2).detach().requires_grad_()
    dense = torch.nn.functional.conv3d(space.permute(0, 4, 1, 2, 3), weight, stride=2, padding=1)
    wanted = dense.permute(0, 2, 3, 4, 1)[tuple(outputs.long().T)]
    out = extension.indice_conv_fp32(features, filters, pairs, counts, len(outputs), 0, 0)
    torch.testing.assert_close(out, wanted.detach())
    half = extension.indice_conv_half(features.half(), filters.half(), pairs, counts, len(outputs), 0, 0)
    torch.testing.assert_close(half.float(), out, rtol=1e-2, atol=1e-2)
    bias = torch.tensor([1.0, -2.0])
    fused = extension.fused_indice_conv_fp32(features, filters, bias, pairs, counts, len(outputs), 0, 0)
    torch.testing.assert_close(fused, out + bias)
    grads = torch.autograd.grad((wanted * out).sum(), (space, weight))
    found = extension.indice_conv_backward_fp32(features, filters, out, pairs, counts, 0, 0)
    torch.testing.assert_close(found[0], grads[0][tuple(indices.long().T)], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[1], grads[1].permute(2, 3, 4, 1, 0), rtol=1e-4, atol=1e-5)
    largest = extension.indice_maxpool_fp32(features, pairs, counts, len(outputs))
    pooled = torch.nn.functional.max_pool3d(
        space.detach().permute(0, 4, 1, 2, 3), 3, 2, 1
    )  # at least 0 where a place is empty, which the pool of the extension always is
    torch.testing.assert_close(largest, pooled.clamp(min=0).permute(0, 2, 3, 4, 1)[tuple(outputs.long().T)])
    back = extension.indice_maxpool_backward_fp32(features, largest, torch.ones_like(largest), pairs, counts)
    assert back.shape == features.shape
    assert (back[features <= 0] == 0).all()
    with pytest.raises(RuntimeError, match=r"^get_indice_pairs_3d: stride"):
        extension.get_indice_pairs_3d(*arguments[:5], [2, 2], *arguments[6:])


def test_bev_pool_of_depth_and_features(load: Load) -> None:
    extension, rng = load("mmdet3d.ops.bev_pool_v2.bev_pool_v2_ext"), np.random.default_rng(10)
    depth, feat = draw(1, 2, 3, 2, 2).double(), draw(1, 2, 2, 2, C, seed=2).double()
    depths, cells = np.arange(24), np.sort(rng.integers(0, 9, 24))
    rows = (depths // 12) * 4 + depths % 4
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    ranks = [torch.from_numpy(array.astype(np.int32)) for array in (depths, rows, cells)]
    spans = [torch.from_numpy(a.astype(np.int32)) for a in (np.diff(starts, append=24), starts)]
    leaves = [tensor.clone().requires_grad_() for tensor in (depth, feat)]
    products = leaves[0].flatten()[depths, None] * leaves[1].view(-1, C)[rows]
    wanted = torch.zeros(9, C, dtype=torch.float64).index_add(0, torch.from_numpy(cells), products)
    out = torch.full((1, 1, 3, 3, C), 7.0, dtype=torch.float64)
    extension.bev_pool_v2_forward(depth, feat, out, *ranks, *spans)
    torch.testing.assert_close(out.view(9, C), wanted.detach())
    grad = draw(1, 1, 3, 3, C, seed=5).double()
    (wanted * grad.view(9, C)).sum().backward()
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    ranks = [tensor[torch.from_numpy(order)] for tensor in ranks]
    spans = [torch.from_numpy(a.astype(np.int32)) for a in (np.diff(starts, append=24), starts)]
    made = [torch.zeros_like(depth), torch.zeros_like(feat)]
    extension.bev_pool_v2_backward(grad, *made, depth, feat, *ranks, *spans)
    torch.testing.assert_close(made, [leaf.grad for leaf in leaves])
    with pytest.raises(RuntimeError, match=r"^bev_pool_v2_forward: ranks_bev: expected"):
        extension.bev_pool_v2_forward(depth, feat, out, *ranks[:2], ranks[2] + 9, *spans)
