"""mmdetection3d's networks on a CPU: found by the name of a packaged config, trained for a step, asked for boxes.

Needs mmdet 3.3 and mmdet3d 1.4 with mmcv-lite 2.1; docs/models.md says how to install them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openmmlab

from pymluops.cli import CommandError

openmmlab.install()

import mmdet3d.models  # noqa: E402 - registers the networks
import torch  # noqa: E402
from mmdet3d.registry import MODELS  # noqa: E402
from mmdet3d.structures import (  # noqa: E402
    Box3DMode,
    DepthInstance3DBoxes,
    Det3DDataSample,
    LiDARInstance3DBoxes,
    PointData,
)
from mmengine.config import Config  # noqa: E402
from mmengine.structures import InstanceData  # noqa: E402
from scenes import Array, Scene, make_room, make_street  # noqa: E402

CONFIGS = Path(mmdet3d.__file__).parent / ".mim" / "configs"

#: Networks of docs/models.md and their configs.
NETWORKS = {
    "SECOND": "second_hv_secfpn_8xb6-80e_kitti-3d-3class",
    "PointPillars": "pointpillars_hv_secfpn_8xb6-160e_kitti-3d-3class",
    "CenterPoint": "centerpoint_voxel01_second_secfpn_8xb4-cyclic-20e_nus-3d",
    "PointNet++": "pointnet2_ssg_2xb16-cosine-200e_scannet-seg",
    "VoteNet": "votenet_8xb8_scannet-3d",
    "3DSSD": "3dssd_4xb4_kitti-3d-car",
    "Part-A2": "parta2_hv_secfpn_8xb2-cyclic-80e_kitti-3d-3class",
    "PV-RCNN": "pv_rcnn_8xb2-80e_kitti-3d-3class",
    "PointRCNN": "point-rcnn_8xb2_kitti-3d-3class",
    "Cylinder3D": "cylinder3d_4xb4-3x_semantickitti",
}


@dataclass(frozen=True)
class Network:
    """A network with what its config says of its input.

    Attributes
    ----------
    indoor : bool
        Whether z is measured from the floor, and boxes are those of depth cameras.
    columns : int
        Values of a point.
    points : int or None
        How many points a scan must have; None if any number will do.
    segments : bool
        Whether it labels points, rather than finding boxes.
    """

    model: torch.nn.Module
    config: Config
    indoor: bool
    columns: int
    points: int | None
    segments: bool

    @property
    def scale(self) -> float:
        """Return the largest intensity, or value of a colour, that the network is for."""
        return 255.0 if self.config.get("dataset_type") == "NuScenesDataset" else 1.0

    @property
    def class_names(self) -> tuple[str, ...]:
        """Return the names of the classes."""
        return tuple(self.config.get("class_names", ()))


def build(name: str, seed: int = 0) -> Network:
    """Build a network from its packaged config with weights of this seed."""
    config = Config.fromfile(openmmlab.find_config(CONFIGS, name, NETWORKS))
    loaded = [step for step in config.get("train_pipeline", ()) if step["type"] == "LoadPointsFromFile"]
    if not loaded:
        raise CommandError(f"{name}: takes pictures; this script has points only")
    model = openmmlab.build("mmdet3d", MODELS, config, seed)
    segments = hasattr(model, "decode_head")
    return Network(model, config, loaded[0]["coord_type"] == "DEPTH", _columns(config, loaded[0], segments),
                   _fixed_points(config), segments)  # fmt: skip


def _columns(config: Config, loaded: Any, segments: bool) -> int:
    backbone = config.model.get("backbone", {})
    if segments and "in_channels" in backbone and loaded["coord_type"] == "DEPTH":
        return int(backbone["in_channels"])
    used = loaded["use_dim"]
    return (used if isinstance(used, int) else len(used)) + bool(loaded.get("shift_height"))


def _fixed_points(config: Config) -> int | None:
    for step in config.train_pipeline:
        if step["type"] in ("PointSample", "IndoorPatchPointSample"):
            return int(step["num_points"])
    return None


def make_scene(network: Network, rng: np.random.Generator) -> Scene:
    """Return a scene of the kind that the network is for."""
    return make_room(rng) if network.indoor else make_street(rng)


def batch(network: Network, scenes: list[Scene], rng: np.random.Generator) -> dict[str, Any]:
    """Return scenes as the data of `train_step` and `predict`.

    Intensities and colours of a scene that has none are made up; other columns, such as the time
    since the last sweep, are zero.
    """
    items = [_item(network, scene, rng) for scene in scenes]
    return {"inputs": {"points": [points for points, _ in items]}, "data_samples": [sample for _, sample in items]}


def _item(network: Network, scene: Scene, rng: np.random.Generator) -> tuple[torch.Tensor, Det3DDataSample]:
    chosen: Array = np.arange(len(scene.xyz))
    if network.points is not None:
        chosen = rng.choice(len(scene.xyz), network.points, replace=len(scene.xyz) < network.points)
    rows = np.zeros((len(chosen), network.columns), np.float32)
    rows[:, :3] = scene.xyz[chosen]
    if network.indoor and not network.segments:
        rows[:, 3:] = rows[:, 2:3] - np.quantile(scene.xyz[:, 2], 0.01)  # height above the floor
    else:
        known = min(3 if network.indoor else 1, network.columns - 3)
        extras = scene.extras[chosen, :known] if scene.extras.size else rng.uniform(0, 1, (len(chosen), known))
        rows[:, 3 : 3 + extras.shape[1]] = extras * network.scale
    return torch.from_numpy(rows), _truth(network, scene, scene.objects[chosen])


def _truth(network: Network, scene: Scene, objects: Array) -> Det3DDataSample:
    names = [name.lower() for name in network.class_names]
    label = names.index("car") if "car" in names else 0
    boxes = torch.from_numpy(scene.boxes)
    velocities = network.config.get("dataset_type") == "NuScenesDataset"
    aligned = network.config.get("dataset_type") == "ScanNetDataset"
    if velocities:
        boxes = torch.cat([boxes, boxes.new_zeros(len(boxes), 2)], dim=1)
    if aligned:
        boxes = boxes[:, :6]
    kind = DepthInstance3DBoxes if network.indoor else LiDARInstance3DBoxes
    sample = Det3DDataSample()
    sample.set_metainfo({"box_type_3d": kind, "box_mode_3d": Box3DMode.DEPTH if network.indoor else Box3DMode.LIDAR})
    sample.gt_instances_3d = InstanceData(
        bboxes_3d=kind(boxes, box_dim=boxes.shape[1], with_yaw=not aligned),
        labels_3d=torch.full((len(boxes),), label, dtype=torch.long),
    )
    known = torch.from_numpy(objects)
    background = (label + 1) % max(len(names), 2)
    sample.gt_pts_seg = PointData(
        pts_semantic_mask=torch.where(known >= 0, label, background if network.segments else len(names)),
        pts_instance_mask=torch.where(known >= 0, known, len(boxes)),
    )
    return sample
