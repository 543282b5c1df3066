"""mmdet's detectors on a CPU: found by the name of a packaged config, given made pictures.

Needs mmdet 3.3 with mmcv-lite 2.1; docs/models.md says how to install them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openmmlab

openmmlab.install()

import mmdet.models  # noqa: E402 - registers the networks
import torch  # noqa: E402
from mmdet.registry import MODELS  # noqa: E402
from mmdet.structures import DetDataSample  # noqa: E402
from mmdet.structures.mask import BitmapMasks  # noqa: E402
from mmengine.config import Config  # noqa: E402
from mmengine.structures import InstanceData  # noqa: E402

CONFIGS = Path(mmdet.__file__).parent / ".mim" / "configs"

#: Detectors of docs/models.md and their configs.
NETWORKS = {
    "RetinaNet": "retinanet_r50_fpn_1x_coco",
    "Faster R-CNN": "faster-rcnn_r50_fpn_1x_coco",
    "Mask R-CNN": "mask-rcnn_r50_fpn_1x_coco",
    "Mask R-CNN with DCNv2": "mask-rcnn_r50-mdconv-c3-c5_fpn_1x_coco",
    "CARAFE": "mask-rcnn_r50_fpn-carafe_1x_coco",
    "Deformable DETR": "deformable-detr_r50_16xb2-50e_coco",
    "DINO": "dino-4scale_r50_8xb2-12e_coco",
    "SOLOv2": "solov2_r50_fpn_1x_coco",
    "RTMDet": "rtmdet_tiny_8xb32-300e_coco",
    "RTMDet with masks": "rtmdet-ins_tiny_8xb32-300e_coco",
}


@dataclass(frozen=True)
class Detector:
    """A detector with its config."""

    model: torch.nn.Module
    config: Config


def build(name: str, seed: int = 0) -> Detector:
    """Build a detector from its packaged config with weights of this seed."""
    config = Config.fromfile(openmmlab.find_config(CONFIGS, name, NETWORKS))
    return Detector(openmmlab.build("mmdet", MODELS, config, seed), config)


def batch(detector: Detector, rng: np.random.Generator, height: int, width: int, count: int = 1) -> dict[str, Any]:
    """Return made pictures with boxes, and masks for a detector of masks, as the data of `train_step` and `predict`."""
    masks = any(step["type"] == "LoadAnnotations" and step.get("with_mask") for step in detector.config.train_pipeline)
    pictures = [_picture(rng, height, width, masks) for _ in range(count)]
    return {"inputs": [image for image, _ in pictures], "data_samples": [sample for _, sample in pictures]}


def _picture(
    rng: np.random.Generator, height: int, width: int, with_masks: bool, objects: int = 4
) -> tuple[torch.Tensor, DetDataSample]:
    """Draw ellipses of one colour each on noise: every ellipse is an object."""
    image = rng.integers(0, 60, (3, height, width)).astype(np.uint8)
    y, x = np.mgrid[:height, :width]
    boxes, masks = [], []
    for _ in range(objects):
        half_height, half_width = rng.uniform(0.1, 0.25, 2) * (height, width)
        top, left = rng.uniform(0, 1, 2) * (height - 2 * half_height, width - 2 * half_width)
        mask = ((y - top - half_height) / half_height) ** 2 + ((x - left - half_width) / half_width) ** 2 < 1
        image[:, mask] = rng.integers(60, 256, (3, 1))
        boxes.append((left, top, left + 2 * half_width, top + 2 * half_height))
        masks.append(mask)
    sample = DetDataSample()
    sample.set_metainfo({
        "img_shape": (height, width), "ori_shape": (height, width), "pad_shape": (height, width),
        "batch_input_shape": (height, width), "scale_factor": (1.0, 1.0), "flip": False, "img_id": 0,
    })  # fmt: skip
    sample.gt_instances = InstanceData(
        bboxes=torch.tensor(boxes, dtype=torch.float32),
        labels=torch.from_numpy(rng.integers(0, 80, objects)),
    )
    if with_masks:
        sample.gt_instances.masks = BitmapMasks(np.array(masks, np.uint8), height, width)
    return torch.from_numpy(image), sample
