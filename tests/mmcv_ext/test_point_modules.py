"""mmcv-lite's own functions and modules for voxels, points and boxes give what those of this package give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)

# mmcv's code uses what newer releases of PyTorch warn of.
pytestmark = pytest.mark.filterwarnings("ignore")

SIZE, RANGE = [0.5, 0.3, 1.0], [-1.0, -1, 0, 1, 1, 3]


@pytest.fixture(scope="module")
def ops() -> Iterator[Any]:
    import pymluops.mmcv

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops

    yield mmcv.ops
    pymluops.mmcv.uninstall()


@pytest.fixture
def ours() -> Any:
    import pymluops.torch

    return pymluops.torch


def equal(torch: Any, found: Any, wanted: Any) -> None:
    pairs = zip(found, wanted, strict=True) if isinstance(found, (tuple, list)) else [(found, wanted)]
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def scene(torch: Any) -> tuple[Any, Any, Any]:
    """Boxes [2, 5, 7], points [2, 60, 3] and features [2, 60, 4]."""
    rng = np.random.default_rng(3)
    boxes = rng.integers(-4, 5, (2, 5, 7)) / 2
    boxes[..., 3:6] = rng.integers(2, 9, (2, 5, 3)) / 2
    arrays = boxes, rng.integers(-8, 9, (2, 60, 3)) / 4, rng.permutation(480).reshape(2, 60, 4)
    return tuple(torch.from_numpy(np.asarray(array, np.float32)) for array in arrays)  # type: ignore[return-value]


def test_voxels(torch: Any, ops: Any, ours: Any) -> None:
    points = torch.from_numpy(np.random.default_rng(1).uniform(-1.4, 3.4, (90, 4)).astype(np.float32))
    for most in ((3, 20), (3, 4), (-1, 20)):
        layers = [module.Voxelization(SIZE, RANGE, most[0], most[1]) for module in (ops, ours)]
        equal(torch, layers[0](points), layers[1](points))
        equal(torch, layers[0].grid_size, layers[1].grid_size)
        assert list(map(int, layers[0].pcd_shape)) == list(map(int, layers[1].pcd_shape))
    coors = layers[0](points).long()
    for average in (True, False):
        for places in (coors, torch.nn.functional.pad(coors, (1, 0))):
            results = []
            for module in (ops, ours):
                feats = points.clone().requires_grad_()
                found, where = module.DynamicScatter(SIZE, RANGE, average)(feats, places)
                results.append((found.detach(), where, *torch.autograd.grad(found.square().sum(), feats)))
            equal(torch, *results)


def test_boxes(torch: Any, ops: Any, ours: Any) -> None:
    boxes, points, features = scene(torch)
    for name in ("points_in_boxes_part", "points_in_boxes_all", "points_in_boxes_cpu"):
        found = getattr(ops, name)(points, boxes)
        equal(torch, found, getattr(ours, name)(points, boxes))
        assert found.dtype == torch.int32 and found.float().std() > 0
    with pytest.raises(AssertionError, match="as many batches"):
        ops.points_in_boxes_part(points, boxes[:1])
    with pytest.raises(AssertionError, match="boxes: expected 7 columns"):
        ops.points_in_boxes_all(points, boxes[..., :6])
    equal(torch, ops.RoIPointPool3d(9)(points, features, boxes), ours.RoIPointPool3d(9)(points, features, boxes))
    for mode in ("max", "avg"):
        results = []
        for module in (ops, ours):
            feats = features[0].clone().requires_grad_()
            found = module.RoIAwarePool3d(3, 8, mode)(boxes[0], points[0], feats)
            results.append((found.detach(), *torch.autograd.grad(found.square().sum(), feats)))
        equal(torch, *results)
        assert results[0][0].any() and results[0][1].any()
