"""Compiled extensions of points in boxes: which points a box holds, and pooling in boxes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]
C = 3


def draw(*shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32))


def boxes(count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    columns = [rng.uniform(-1, 1, (count, 3)), rng.uniform(0.5, 2, (count, 3)), rng.uniform(-4, 4, (count, 1))]
    return torch.from_numpy(np.concatenate(columns, 1).astype(np.float32))


def inside(box: Any, points: Any, margin: float) -> Any:
    """Which points lie in a box whose height is that of its centre."""
    x, y, z = (points - box[:3]).unbind(1)
    cosine, sine = torch.cos(-box[6]), torch.sin(-box[6])
    along, across = x * cosine - y * sine, x * sine + y * cosine
    near = (along.abs() < box[3] / 2 + margin) & (across.abs() < box[4] / 2 + margin)
    return near & (z.abs() <= box[5] / 2)


def test_points_in_boxes(load: Load) -> None:
    extension = load("pcdet.ops.roiaware_pool3d.roiaware_pool3d_cuda")
    given = torch.stack([boxes(5, 0), boxes(5, 1)])
    points = draw(2, 60, 3) * 1.5
    out = torch.full((2, 60), -1, dtype=torch.int32)
    assert extension.points_in_boxes_gpu(given, points, out) == 1
    for b in range(2):
        holds = torch.stack([inside(box, points[b], 1e-5) for box in given[b]])
        first = torch.where(holds.any(0), holds.int().argmax(0), -1)
        assert torch.equal(out[b], first.int())
        assert holds.any()
        every = torch.zeros(5, 60, dtype=torch.int32)
        assert extension.points_in_boxes_cpu(given[b], points[b], every) == 1
        assert torch.equal(every, torch.stack([inside(box, points[b], 1e-2) for box in given[b]]).int())


def test_pooling_in_the_cells_of_boxes(load: Load) -> None:
    extension = load("pcdet.ops.roiaware_pool3d.roiaware_pool3d_cuda")
    given, points, features = boxes(4, 2), draw(80, 3), draw(80, C, seed=3)
    shape, most = (2, 3, 2), 6
    for method in (0, 1):
        argmax = torch.zeros(4, *shape, C, dtype=torch.int32)
        listed = torch.zeros(4, *shape, most, dtype=torch.int32)
        pooled = torch.zeros(4, *shape, C)
        assert extension.forward(given, points, features, argmax, listed, pooled, method) == 1
        wanted, total = torch.zeros(4, *shape, C), 0
        for number, box in enumerate(given):
            x, y, z = (points - box[:3]).unbind(1)
            cosine, sine = torch.cos(-box[6]), torch.sin(-box[6])
            local = torch.stack([x * cosine - y * sine, x * sine + y * cosine, z], 1) + box[3:6] / 2
            cell = (local / (box[3:6] / torch.tensor(shape))).long()
            cell = torch.minimum(cell.clamp(min=0), torch.tensor(shape) - 1)
            held = inside(box, points, 0)
            for place in np.ndindex(*shape):
                rows = (held & (cell == torch.tensor(place)).all(1)).nonzero()[: most - 1, 0]
                assert listed[(number, *place)][0] == len(rows)
                assert listed[(number, *place)][1 : 1 + len(rows)].tolist() == rows.tolist()
                if len(rows):
                    own = features[rows]
                    wanted[(number, *place)] = own.amax(0) if method == 0 else own.mean(0)
                    total += len(rows)
        assert total > 20
        torch.testing.assert_close(pooled, wanted)
        grad, spread = draw(4, *shape, C, seed=4), torch.zeros(80, C)
        assert extension.backward(listed, argmax, grad, spread, method) == 1
        assert spread.abs().sum() > 0
        expected = torch.zeros(80, C)
        for place in np.ndindex(4, *shape):
            rows = listed[place][1 : 1 + int(listed[place][0])].long()
            for row in rows.tolist():
                share = (argmax[place] == row).float() if method == 0 else 1 / len(rows)
                expected[row] += grad[place] * share
        torch.testing.assert_close(spread, expected)


def test_the_points_of_boxes(load: Load) -> None:
    extension = load("pcdet.ops.roipoint_pool3d.roipoint_pool3d_cuda")
    given = torch.stack([boxes(5, 4), boxes(5, 5)])
    given[0, 0, :3] = 50.0
    points, features = draw(2, 60, 3) * 1.5, draw(2, 60, C, seed=6)
    pooled, empty = torch.zeros(2, 5, 4, 3 + C), torch.zeros(2, 5, dtype=torch.int32)
    assert extension.forward(points, given, features, pooled, empty) == 1
    for b, number in np.ndindex(2, 5):
        rows = inside(given[b, number], points[b], 0).nonzero()[:4, 0]
        assert int(empty[b, number]) == (len(rows) == 0)
        if len(rows):
            rows = rows[torch.arange(4) % len(rows)]
            assert torch.equal(pooled[b, number], torch.cat([points[b, rows], features[b, rows]], 1))
        else:
            assert not pooled[b, number].any()
    assert empty[0, 0] == 1
    with pytest.raises(RuntimeError, match="pooled_features: expected 6 columns, got 5"):
        extension.forward(points, given, features, pooled[..., :5].clone(), empty)
