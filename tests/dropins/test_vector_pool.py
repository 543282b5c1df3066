"""The vector pool of PV-RCNN++ and its neighbours, against loops over centres and points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pymluops.dropins.extensions import _neighbours, _vector_pool  # noqa: E402

BALL, BOX = 1, 0


def clouds(seed: int, points: list[int], centres: list[int], grid: bool = False) -> tuple[Any, ...]:
    """Points and centres of some batches, on a grid of quarters if asked for, and their numbers."""
    rng = np.random.default_rng(seed)

    def draw(count: int) -> np.ndarray:
        values = rng.uniform(-3, 3, (count, 3))
        return (np.round(values * 4) / 4 if grid else values).astype(np.float32)

    arrays = draw(sum(points)), np.array(points, np.int32), draw(sum(centres)), np.array(centres, np.int32)
    return tuple(torch.from_numpy(array) for array in arrays)


def near_by_loop(cloud: tuple[Any, ...], distance: float, kind: int) -> list[list[int]]:
    """The rows of the points near each centre."""
    points, counts, centres, numbers = (part.numpy() for part in cloud)
    batches = np.repeat(np.arange(len(numbers)), numbers)
    owners = np.repeat(np.arange(len(counts)), counts)
    limit = np.float32(distance)
    found = []
    with np.errstate(all="ignore"):
        for centre, batch in zip(centres, batches, strict=True):
            gap = points - centre
            x, y, z = (gap**2).T
            near = (x + y) + z <= limit * limit if kind == BALL else (np.abs(gap) <= limit).all(1)
            found.append(np.flatnonzero(near & (owners == batch)).tolist())
    return found


CLOUDS = [
    ([40], [30], False), ([30, 0, 25], [8, 3, 9], True), ([5, 4], [0, 6], False), ([0], [3], False), ([7], [0], False),
]  # fmt: skip


@pytest.mark.parametrize("kind", [BALL, BOX])
@pytest.mark.parametrize(("points", "centres", "grid"), CLOUDS)
def test_lists_of_neighbours(points: list[int], centres: list[int], grid: bool, kind: int) -> None:
    cloud = clouds(1, points, centres, grid)
    total = sum(centres)
    for distance in (0.0, 0.75, 2.5, 100.0):
        wanted = near_by_loop(cloud, distance, kind)
        for nsample, average in ((0, 100), (3, 100), (-1, 1)):
            lists = [own[:nsample] if nsample > 0 else own for own in wanted]
            together = [row for own in lists for row in own]
            idx = torch.zeros(average * total, dtype=torch.int32)
            start_len, cumsum = torch.zeros(total, 2, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
            call = _vector_pool.query_stacked_local_neighbor_idxs_wrapper_stack
            assert call(*cloud, idx, start_len, cumsum, average, distance, nsample, kind) == 0
            assert int(cumsum) == len(together)
            room = average * total
            assert idx[: len(together)].tolist() == together[:room]
            assert start_len[:, 1].tolist() == [len(own) for own in lists]
            assert start_len[:, 0].tolist() == np.cumsum([0, *map(len, lists)])[:-1].tolist()


def test_at_most_a_thousand_neighbours_are_listed() -> None:
    cloud = clouds(2, [1500], [2])
    idx, start_len = torch.zeros(4000, dtype=torch.int32), torch.zeros(2, 2, dtype=torch.int32)
    cumsum = torch.zeros(1, dtype=torch.int32)
    _vector_pool.query_stacked_local_neighbor_idxs_wrapper_stack(*cloud, idx, start_len, cumsum, 2000, 50.0, 0, BALL)
    assert start_len.tolist() == [[0, 1000], [1000, 1000]]
    assert idx[:2000].tolist() == [*range(1000)] * 2


def test_points_far_apart_and_not_finite() -> None:
    places = [[0, 0, 0], [1e30, 0, 0], [np.nan, 0, 0], [0, np.inf, 0], [-1e30, 1e-3, 0], [1e-3, 0, 0]]
    points = torch.tensor(places, dtype=torch.float32)
    centres = torch.tensor([[0, 0, 0], [1e30, 0, 0], [np.inf, np.inf, np.inf], [np.nan, 0, 0]], dtype=torch.float32)
    counts = torch.tensor([6], dtype=torch.int32), torch.tensor([4], dtype=torch.int32)
    for ball in (True, False):
        pairs = _neighbours.neighbours(points, counts[0], centres, counts[1], 0.01, ball)
        assert list(zip(pairs.centre.tolist(), pairs.point.tolist(), strict=True)) == [(0, 0), (0, 5), (1, 1)]


def test_pairs_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = clouds(3, [200, 150], [40, 60])
    points, counts, centres, numbers = cloud
    whole = _neighbours.neighbours(points, counts, centres, numbers, 1.0, True)
    monkeypatch.setattr(_neighbours, "_BLOCK", 50)
    parts = _neighbours.neighbours(points, counts, centres, numbers, 1.0, True)
    assert torch.equal(whole.centre, parts.centre)
    assert torch.equal(whole.point, parts.point)


def test_the_three_nearest_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_neighbours, "_BLOCK", 64)
    rng = np.random.default_rng(4)
    points = torch.from_numpy((rng.integers(0, 6, (30, 3)) / 2).astype(np.float32))
    grid = torch.from_numpy((rng.integers(0, 6, (12, 5, 3)) / 2).astype(np.float32))
    lengths = rng.integers(0, 8, 12)
    start = np.cumsum(lengths) - lengths
    listed = torch.from_numpy(np.concatenate([np.sort(rng.permutation(30)[:n]) for n in lengths]).astype(np.int32))
    start_len = torch.from_numpy(np.stack([start, lengths], 1).astype(np.int32))
    idx, squared = torch.full((12, 5, 3), -1, dtype=torch.int32), torch.zeros(12, 5, 3)
    call = _vector_pool.query_three_nn_by_stacked_local_idxs_wrapper_stack
    assert call(points, points[:12], grid, idx, squared, listed, start_len, 12, 5) == 0
    for centre, cell in np.ndindex(12, 5):
        own = listed[start[centre] : start[centre] + lengths[centre]].tolist()
        gaps = [float(((points[row] - grid[centre, cell]) ** 2).sum()) for row in own]
        best = sorted(range(len(own)), key=lambda i, gaps=gaps: gaps[i])[:3]
        best = best + best[:1] * (3 - len(best))
        assert idx[centre, cell].tolist() == ([own[i] for i in best] if own else [-1] * 3)
        assert squared[centre, cell].tolist() == ([gaps[i] for i in best] if own else [np.inf] * 3)
    with pytest.raises(RuntimeError, match="start_len: expected lists within"):
        call(points, points[:12], grid, idx, squared, listed[:3], start_len, 12, 5)


def pooled_by_loop(
    cloud: tuple[Any, ...], features: np.ndarray, channels: int, grid: tuple[int, int, int], distance: float,
    nsample: int, kind: int, pooling: int,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Features, differences, numbers of points and rows of groups."""
    points, _, centres, _ = (part.numpy() for part in cloud)
    cells = grid[0] * grid[1] * grid[2]
    pooled = np.zeros((len(centres), cells, channels), np.float32)
    locals_ = np.zeros((len(centres), cells, 3), np.float32)
    counts = np.zeros((len(centres), cells), np.int32)
    rows = []
    step = np.float32(2 * distance) / np.array(grid, np.float32)
    for centre, own in enumerate(near_by_loop(cloud, distance, kind)):
        stored = 0
        for point in own:
            local = points[point] - centres[centre]
            x, y, z = np.floor((local + np.float32(distance)) / step).astype(int)
            cell = min(max((x * grid[1] + y) * grid[2] + z, 0), cells - 1)
            if pooling == 1 and counts[centre, cell]:
                continue
            counts[centre, cell] += 1
            for i, value in enumerate(features[point]):
                pooled[centre, cell, i % channels] = value + (pooled[centre, cell, i % channels] if pooling == 0 else 0)
            locals_[centre, cell] += local
            rows.append([point, centre, cell])
            stored += 1
            if stored == nsample:
                break
    flat = [array.reshape(len(centres), cells * array.shape[2]) for array in (pooled, locals_)]
    return *flat, counts, np.array(rows).reshape(-1, 3)


@pytest.mark.parametrize("pooling", [0, 1])
@pytest.mark.parametrize("kind", [BALL, BOX])
@pytest.mark.parametrize(("points", "centres", "grid"), CLOUDS)
def test_vector_pool(points: list[int], centres: list[int], grid: bool, kind: int, pooling: int) -> None:
    cloud = clouds(5, points, centres, grid)
    total, rng = sum(centres), np.random.default_rng(6)
    for channels, inputs, sizes, nsample in ((4, 4, (2, 2, 2), 0), (3, 8, (1, 3, 2), 4), (5, 2, (3, 3, 3), -1)):
        features = rng.normal(size=(sum(points), inputs)).astype(np.float32)
        wanted = pooled_by_loop(cloud, features, channels, sizes, 1.5, nsample, kind, pooling)
        cells = sizes[0] * sizes[1] * sizes[2]
        for room in (len(wanted[3]) - 1, len(wanted[3]) + 9):
            if room < 0:
                continue
            out = (
                torch.zeros(total, cells * channels), torch.zeros(total, 3 * cells),
                torch.zeros(total, cells, dtype=torch.int32), torch.zeros(room, 3, dtype=torch.int32),
            )  # fmt: skip
            found = _vector_pool.vector_pool_wrapper(
                *cloud[:2], torch.from_numpy(features), *cloud[2:], *out, *sizes, 1.5, 1, room, nsample, kind, pooling
            )
            assert found == len(wanted[3])
            if room < found:
                continue  # their code asks again
            for got, want in zip(out, wanted, strict=True):
                np.testing.assert_allclose(got[: len(want)].numpy(), want, rtol=1e-5, atol=1e-5)
        grad = rng.normal(size=(total, cells * channels)).astype(np.float32)
        spread = torch.zeros(sum(points), inputs)
        _vector_pool.vector_pool_grad_wrapper(torch.from_numpy(grad), out[2], out[3][: len(wanted[3])], spread)
        expected = np.zeros_like(features)
        for point, centre, cell in wanted[3]:
            for i in range(inputs):
                expected[point, i] += grad[centre, cell * channels + i % channels] / max(1, wanted[2][centre, cell])
        np.testing.assert_allclose(spread.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_refusals() -> None:
    points, counts, centres, numbers = clouds(7, [4], [2])
    idx, start_len = torch.zeros(4, dtype=torch.int32), torch.zeros(2, 2, dtype=torch.int32)
    cumsum = torch.zeros(1, dtype=torch.int32)
    call = _vector_pool.query_stacked_local_neighbor_idxs_wrapper_stack
    rest = (idx, start_len, cumsum, 2, 1.0, 0, BALL)
    with pytest.raises(RuntimeError, match="xyz_batch_cnt: expected numbers of 4 rows, got"):
        call(points, counts + 1, centres, numbers, *rest)
    with pytest.raises(RuntimeError, match="start_len: expected shape"):
        call(points, counts, centres, numbers, idx, start_len[:1], *rest[2:])
    grouped = torch.tensor([[4, 0, 0]], dtype=torch.int32)
    with pytest.raises(RuntimeError, match="grouped_idxs: expected points from 0 to 3"):
        _vector_pool.vector_pool_grad_wrapper(torch.ones(2, 2), torch.ones(2, 1, dtype=torch.int32), grouped, points)
