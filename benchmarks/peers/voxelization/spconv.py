"""voxelization with spconv's voxeliser for the CPU."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return its generator, made once; it has no cells of single points."""
    if problem.case.operator == "dynamic_voxelize":
        return {}
    tensorview: Any = importlib.import_module("cumm.tensorview")
    utils: Any = importlib.import_module("spconv.utils")
    facts = problem.case.parameters
    points = tensorview.from_numpy(problem.inputs["points"])
    generator = utils.Point2VoxelCPU3d(
        vsize_xyz=facts["size"], coors_range_xyz=facts["range"], num_point_features=facts["features"],
        max_num_points_per_voxel=facts["max_points"], max_num_voxels=facts["max_voxels"],
    )  # fmt: skip

    def call() -> Arrays:
        voxels, coors, counts = (found.numpy_view() for found in generator.point_to_voxel(points))
        for name, found in (("voxels", voxels), ("coors", coors), ("num_points_per_voxel", counts)):
            outputs[name][: len(found)] = found
            outputs[name][len(found) :] = 0
        outputs["voxel_num"][0] = len(coors)
        return outputs

    return {"Point2VoxelCPU3d": call}
