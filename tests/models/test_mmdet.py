"""Detectors of mmdet, built from the configs in its package: a step of training, and a prediction."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

#: Imports of mmdet warn of its own code.
pytestmark = pytest.mark.filterwarnings("ignore")

FOLDER = Path(__file__).parents[2] / "examples" / "mmdet3d"

NAMES = (
    "RetinaNet",
    "Faster R-CNN",
    "Mask R-CNN",
    "Mask R-CNN with DCNv2",
    "CARAFE",
    "Deformable DETR",
    "DINO",
    "SOLOv2",
    "RTMDet",
    "RTMDet with masks",
)


@pytest.fixture(scope="module")
def detectors() -> Iterator[Any]:
    """The module of the example that builds detectors."""
    pytest.importorskip("mmdet")
    sys.path.insert(0, str(FOLDER))
    try:
        import detectors

        yield detectors
    finally:
        sys.path.remove(str(FOLDER))


def test_these_are_the_detectors_of_the_example(detectors: Any) -> None:
    assert tuple(detectors.NETWORKS) == NAMES


# Each takes seconds, and a step of CI runs some of them by turns.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.turn(number)) for number, name in enumerate(NAMES)]
)
def test_a_step_of_training_and_a_prediction(detectors: Any, name: str) -> None:
    import openmmlab
    import torch

    detector = detectors.build(name)
    # DINO takes its 900 queries from the places of the maps, of which a smaller picture has fewer.
    data = detectors.batch(detector, np.random.default_rng(1), 192, 256, 2)
    total = openmmlab.loss(detector, data)
    total.backward()
    assert torch.isfinite(total)
    for parameter, value in detector.model.named_parameters():
        if value.requires_grad:
            assert value.grad is not None, f"no loss reaches {parameter}"
            assert torch.isfinite(value.grad).all(), parameter
    (sample, _) = openmmlab.predict(detector, data)
    found = sample.pred_instances
    assert len(found.bboxes) == len(found.scores) == len(found.labels)
    assert torch.isfinite(found.bboxes).all() and torch.isfinite(found.scores).all()
