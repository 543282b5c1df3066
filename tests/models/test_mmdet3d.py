"""Networks of mmdetection3d, built from the configs in its package: a step of training, and a prediction."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

#: Imports of mmdet and mmdet3d warn of their own code.
pytestmark = pytest.mark.filterwarnings("ignore")

FOLDER = Path(__file__).parents[2] / "examples" / "mmdet3d"

NAMES = (
    "SECOND",
    "PointPillars",
    "CenterPoint",
    "PointNet++",
    "VoteNet",
    "3DSSD",
    "Part-A2",
    "PV-RCNN",
    "PointRCNN",
    "Cylinder3D",
)


@pytest.fixture(scope="module")
def networks() -> Iterator[Any]:
    """The module of the example that builds networks."""
    pytest.importorskip("mmdet3d")
    sys.path.insert(0, str(FOLDER))
    try:
        import networks

        yield networks
    finally:
        sys.path.remove(str(FOLDER))


#: mmdet3d chooses its sparse convolutions when it is imported, so this is a program of its own.
WITH_SPCONV = f"""
import sys
import pymluops
assert pymluops.install("spconv", force=True) == ("spconv",)
sys.path.insert(0, {str(FOLDER)!r})
import networks
import openmmlab
import numpy as np
import spconv.pytorch
import torch
from mmdet3d.models.layers.spconv import IS_SPCONV2_AVAILABLE
assert IS_SPCONV2_AVAILABLE
network = networks.build("Part-A2")
assert any(isinstance(module, spconv.pytorch.SparseInverseConv3d) for module in network.model.modules())
rng = np.random.default_rng(1)
data = networks.batch(network, [networks.make_scene(network, rng)], rng)
openmmlab.loss(network, data).backward()
gradients = [value.grad for name, value in network.model.named_parameters() if "middle_encoder" in name]
assert len(gradients) > 50 and all(torch.isfinite(grad).all() and grad.any() for grad in gradients)
openmmlab.predict(network, data)
"""


@pytest.mark.turn(len(NAMES))
def test_the_sparse_convolutions_of_spconv_in_their_place() -> None:
    pytest.importorskip("mmdet3d")
    command = [sys.executable, "-W", "ignore", "-c", WITH_SPCONV]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_these_are_the_networks_of_the_example(networks: Any) -> None:
    assert tuple(networks.NETWORKS) == NAMES


# Each takes seconds, and a step of CI runs some of them by turns.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.turn(number)) for number, name in enumerate(NAMES)]
)
def test_a_step_of_training_and_a_prediction(networks: Any, name: str) -> None:
    import openmmlab
    import torch

    network = networks.build(name)
    if (head := getattr(network.model, "roi_head", None)) is not None:
        # Else the loss of a box reaches the second stage only once the first finds objects.
        head.bbox_sampler.add_gt_as_proposals = True
    rng = np.random.default_rng(1)
    # Two scenes where a layer normalises over them.
    scenes = [networks.make_scene(network, rng) for _ in range(1 + network.segments)]
    data = networks.batch(network, scenes, rng)
    total = openmmlab.loss(network, data)
    total.backward()
    assert torch.isfinite(total)
    gradients = {
        name: parameter.grad for name, parameter in network.model.named_parameters() if parameter.requires_grad
    }
    for parameter, gradient in gradients.items():
        assert gradient is not None, f"no loss reaches {parameter}"
        assert torch.isfinite(gradient).all(), parameter
    assert any(gradient is not None and gradient.any() for gradient in gradients.values())
    (sample, *_) = openmmlab.predict(network, data)
    if network.segments:
        labels = sample.pred_pts_seg.pts_semantic_mask
        assert labels.shape == (len(data["inputs"]["points"][0]),)
        assert 0 <= int(labels.min()) <= int(labels.max()) < len(network.class_names) + 1
    else:
        found = sample.pred_instances_3d
        assert len(found.bboxes_3d) == len(found.scores_3d) == len(found.labels_3d)
        assert torch.isfinite(found.bboxes_3d.tensor).all() and torch.isfinite(found.scores_3d).all()
