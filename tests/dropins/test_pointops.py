"""``pointops._C`` of Pointcept and ``pointops_cuda`` of Point Transformer, each function against its formula."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]
#: Three clouds, one of two points.
ENDS, NEW_ENDS = [9, 11, 30], [4, 5, 13]
S = 4


def draw(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype))


def rows(*shape: int, end: int, seed: int = 1) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, end, shape).astype(np.int32))


def ints(values: list[int]) -> Any:
    return torch.tensor(values, dtype=torch.int32)


@pytest.fixture(params=["pointops._C", "pointops_cuda"])
def extension(load: Load, request: pytest.FixtureRequest) -> Any:
    return load(request.param)


@pytest.fixture
def clouds() -> tuple[Any, ...]:
    return draw(30, 3), draw(13, 3, seed=2), ints(ENDS), ints(NEW_ENDS)


def each(points: Any, centres: Any) -> Any:
    """For each centre: the number of its first point, and the squared distances of the points of its cloud."""
    for row, centre in enumerate(centres):
        cloud = next(i for i, end in enumerate(NEW_ENDS) if row < end)
        first = [0, *ENDS][cloud]
        x, y, z = (points[first : ENDS[cloud]] - centre).unbind(1)
        yield row, first, (x * x + y * y) + z * z


@pytest.mark.parametrize(("function", "missing"), [("knn_query_cuda", -1), ("knnquery_cuda", None)])
def test_nearest_points_of_the_same_cloud(extension: Any, clouds: Any, function: str, missing: int | None) -> None:
    points, centres, ends, new_ends = clouds
    idx, dist2 = torch.zeros(13, S, dtype=torch.int32), torch.zeros(13, S)
    getattr(extension, function)(13, S, points, centres, ends, new_ends, idx, dist2)
    for row, first, squared in each(points, centres):
        order = squared.sort(stable=True)
        lack = max(0, S - len(squared))
        fill = first if missing is None else missing
        assert idx[row].tolist() == (order.indices[:S] + first).tolist() + [fill] * lack
        torch.testing.assert_close(dist2[row], torch.cat([order.values[:S], torch.full((lack,), 1e10)]))
    wide = [tensor.double() for tensor in (points, centres)]
    getattr(extension, function)(13, S, *wide, ends, new_ends, idx, dist2)
    for wrong, text in (
        ((13, S, points, centres, ints([9, 8, 30]), new_ends, idx, dist2), "offset: expected ascending ends"),
        ((13, S, points, centres, ends, ints([5, 13]), idx, dist2), "new_offset: expected 3 ends"),
        ((13, S, points, centres, ints([9, 11, 29]), new_ends, idx, dist2), "offset: expected .* the last 30"),
        ((13, S, points, centres, ends, new_ends, idx[:, :2], dist2), r"idx: expected shape \[13, 4\]"),
    ):
        with pytest.raises(RuntimeError, match=f"^{function}: {text}"):
            getattr(extension, function)(*wrong)


def test_nearest_points_with_batches_as_pointweb_calls_it(extension: Any) -> None:
    points, centres = draw(2, 9, 3), draw(2, 5, 3, seed=2)
    idx, dist2 = torch.zeros(2, 5, S, dtype=torch.int32), torch.zeros(2, 5, S)
    extension.knnquery_cuda(2, 9, 5, S, points, centres, idx, dist2)
    wanted = (centres[:, :, None] - points[:, None]).square().sum(-1).topk(S, largest=False)
    assert torch.equal(idx, wanted.indices.int())
    torch.testing.assert_close(dist2, wanted.values)
    with pytest.raises(TypeError, match="expected 8 arguments, got 3"):
        extension.knnquery_cuda(1, 2, 3)


def test_points_in_balls(extension: Any, clouds: Any) -> None:
    points, centres, ends, new_ends = clouds
    centres[0] = points[3]  # at distance 0, which counts below the lower radius too
    idx, dist2, low, high = torch.zeros(13, S, dtype=torch.int32), torch.zeros(13, S), 0.3, 1.4
    extension.ball_query_cuda(13, S, low, high, points, centres, ends, new_ends, idx, dist2)
    lengths = set()
    for row, first, squared in each(points, centres):
        inside = ((squared == 0) | ((squared >= low**2) & (squared < high**2))).nonzero()[:, 0]
        inside = inside[squared[inside].sort(stable=True).indices]
        lengths.add(min(len(inside), S + 1))
        if len(inside) > S:
            inside = inside[[int(np.float32(len(inside)) / np.float32(S) * i) for i in range(S)]]
        lack = S - len(inside)
        assert idx[row].tolist() == (inside + first).tolist() + [-1] * lack
        torch.testing.assert_close(dist2[row], torch.cat([squared[inside], torch.full((lack,), 1e10)]))
    assert idx[0, 0] == 3
    assert {0, S + 1} <= lengths or len(lengths) > 2
    order = torch.cat([torch.randperm(e - b) + b for b, e in zip([0, *ENDS[:-1]], ENDS, strict=True)]).int()
    extension.random_ball_query_cuda(13, S, low, high, order, points, centres, ends, new_ends, idx, dist2)
    for row, first, squared in each(points, centres):
        inside = (squared == 0) | ((squared >= low**2) & (squared < high**2))
        own = [int(i) for i in order if first <= i < first + len(squared) and inside[i - first]][:S]
        assert idx[row].tolist() == own + [-1] * (S - len(own))
    with pytest.raises(RuntimeError, match=r"^random_ball_query_cuda: order: expected the rows of each cloud"):
        extension.random_ball_query_cuda(
            13, S, low, high, order.flip(0), points, centres, ends, new_ends, idx, dist2
        )  # fmt: skip
    with pytest.raises(RuntimeError, match=r"^ball_query_cuda: min_radius and max_radius"):
        extension.ball_query_cuda(13, S, 2.0, 1.0, points, centres, ends, new_ends, idx, dist2)


@pytest.mark.parametrize("function", ["farthest_point_sampling_cuda", "furthestsampling_cuda"])
def test_points_far_from_each_other(extension: Any, clouds: Any, function: str) -> None:
    points, _, ends, new_ends = clouds
    new_ends = ints([4, 6, 13])
    tmp, idx = torch.full((30,), 1e10), torch.zeros(13, dtype=torch.int32)
    getattr(extension, function)(3, 19, points, ends, new_ends, tmp, idx)
    wanted = []
    for begin, end, count in ((0, 9, 4), (9, 11, 2), (11, 30, 7)):
        least, picked = torch.full((end - begin,), 1e10), [0]
        while len(picked) < count:
            least = torch.minimum(least, (points[begin:end] - points[begin + picked[-1]]).square().sum(-1))
            picked.append(int(least.argmax()))
        wanted += [begin + one for one in picked]
    assert idx.tolist() == wanted
    with pytest.raises(RuntimeError, match=f"^{function}: new_offset: expected samples of clouds that have points"):
        getattr(extension, function)(3, 19, points, ints([9, 9, 30]), ints([4, 6, 13]), tmp, idx)


def compare(found: list[Any], formula: Callable[..., Any], leaves: list[Any], grad: Any) -> None:
    """Compare the gradients that an extension wrote with those of PyTorch."""
    own = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    (formula(*own) * grad).sum().backward()
    for one, leaf in zip(found, own, strict=True):
        torch.testing.assert_close(one, leaf.grad)


def test_grouped_rows(extension: Any) -> None:
    features, idx = draw(9, 5, dtype=np.float64), rows(6, S, end=9)
    out, grad = torch.full((6, S, 5), 7.0, dtype=torch.float64), draw(6, S, 5, seed=3, dtype=np.float64)
    extension.grouping_forward_cuda(6, S, 5, features, idx, out)
    assert torch.equal(out, features[idx.long()])
    made = torch.full_like(features, 7)
    extension.grouping_backward_cuda(6, S, 5, grad, idx, made)
    compare([made], lambda f: f[idx.long()], [features], grad)
    with pytest.raises(RuntimeError, match=r"^grouping_forward_cuda: idx: expected .*0 to 8"):
        extension.grouping_forward_cuda(6, S, 5, features, idx - 1 - idx.max(), out)


def test_interpolated_rows(extension: Any) -> None:
    features, idx, weight = draw(9, 5, dtype=np.float64), rows(6, 3, end=9), draw(6, 3, seed=2, dtype=np.float64)
    out, grad, made = features.new_zeros(6, 5), draw(6, 5, seed=3, dtype=np.float64), torch.zeros_like(features)
    extension.interpolation_forward_cuda(6, 5, 3, features, idx, weight, out)

    def formula(given: Any) -> Any:
        return (given[idx.long()] * weight[..., None]).sum(1)

    torch.testing.assert_close(out, formula(features))
    extension.interpolation_backward_cuda(6, 5, 3, grad, idx, weight, made)
    compare([made], formula, [features], grad)
    with pytest.raises(RuntimeError, match=r"^interpolation_forward_cuda: weight: expected shape \[6, 3\]"):
        extension.interpolation_forward_cuda(6, 5, 3, features, idx, weight[:, :2], out)


def test_differences_of_rows(extension: Any) -> None:
    one, other = draw(6, 5, dtype=np.float64), draw(6, 5, seed=2, dtype=np.float64)
    idx, out, grad = rows(6, S, end=6), one.new_zeros(6, S, 5), draw(6, S, 5, seed=3, dtype=np.float64)
    extension.subtraction_forward_cuda(6, S, 5, one, other, idx, out)

    def formula(a: Any, b: Any) -> Any:
        return a[:, None] - b[idx.long()]

    torch.testing.assert_close(out, formula(one, other))
    made = [torch.full_like(one, 7), torch.full_like(one, 7)]
    extension.subtraction_backward_cuda(6, S, 5, idx, grad, *made)
    compare(made, formula, [one, other], grad)


def test_weighted_sums_over_neighbours(extension: Any) -> None:
    features, position = draw(6, 5, dtype=np.float64), draw(6, S, 5, seed=2, dtype=np.float64)
    weight, idx, out = draw(6, S, 2, seed=3, dtype=np.float64), rows(6, S, end=6), features.new_zeros(6, 5)
    extension.aggregation_forward_cuda(6, S, 5, 2, features, position, weight, idx, out)

    def formula(f: Any, p: Any, w: Any) -> Any:
        return ((f[idx.long()] + p) * w[..., [0, 1, 0, 1, 0]]).sum(1)

    torch.testing.assert_close(out, formula(features, position, weight))
    grad, leaves = draw(6, 5, seed=4, dtype=np.float64), [features, position, weight]
    made = [torch.full_like(leaf, 7) for leaf in leaves]
    extension.aggregation_backward_cuda(6, S, 5, 2, *leaves, idx, grad, *made)
    compare(made, formula, leaves, grad)
    with pytest.raises(RuntimeError, match=r"^aggregation_forward_cuda: position: expected shape"):
        extension.aggregation_forward_cuda(6, S, 5, 2, features, weight, weight, idx, out)


def test_attention_of_pairs(extension: Any) -> None:
    query, key, weight = draw(6, 2, 5, dtype=np.float64), draw(6, 2, 5, seed=2, dtype=np.float64), draw(5, seed=3)
    weight, target, refer = weight.double(), rows(11, end=6), rows(11, end=6, seed=5)
    out, grad = query.new_zeros(11, 2), draw(11, 2, seed=4, dtype=np.float64)
    extension.attention_relation_step_forward_cuda(11, 2, 5, query, key, weight, target, refer, out)

    def relation(q: Any, k: Any, w: Any) -> Any:
        return (q[target.long()] * k[refer.long()] * w).sum(-1)

    torch.testing.assert_close(out, relation(query, key, weight))
    leaves = [query, key, weight]
    made = [torch.full_like(leaf, 7) for leaf in leaves]
    pairs = [one for both in zip(leaves, made, strict=True) for one in both]
    extension.attention_relation_step_backward_cuda(11, 2, 5, *pairs, target, refer, grad)
    compare(made, relation, leaves, grad)

    attention, value, fused = draw(11, 2, seed=6, dtype=np.float64), draw(6, 2, 5, seed=7, dtype=np.float64), key * 7
    extension.attention_fusion_step_forward_cuda(11, 2, 5, attention, value, target, refer, fused)

    def fusion(w: Any, v: Any) -> Any:
        return torch.zeros_like(value).index_add(0, target.long(), w[..., None] * v[refer.long()])

    torch.testing.assert_close(fused, fusion(attention, value))
    made, grad = [torch.full_like(attention, 7), torch.full_like(value, 7)], draw(6, 2, 5, seed=8, dtype=np.float64)
    extension.attention_fusion_step_backward_cuda(
        11, 2, 5, attention, made[0], value, made[1], target, refer, grad
    )  # fmt: skip
    compare(made, fusion, [attention, value], grad)
    with pytest.raises(RuntimeError, match=r"^attention_fusion_step_forward_cuda: index_refer: expected"):
        extension.attention_fusion_step_forward_cuda(11, 2, 5, attention, value, target, refer + 6, fused)
