"""voxel_pooling: sums of the features of points in the columns of a grid, in the order of the points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("voxel_pooling_forward",)


def forward(geom: np.ndarray, features: np.ndarray, voxel_num: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(output_features [B, Y, X, C], pos_memo [B, P, 3]), added up in the type of the features."""
    width, height, depth = voxel_num
    output = np.zeros((len(geom), height, width, features.shape[2]), features.dtype)
    memo = np.full(geom.shape, -1, np.int32)
    for b, p in np.ndindex(geom.shape[:2]):
        x, y, z = (int(number) for number in geom[b, p])
        if 0 <= x < width and 0 <= y < height and 0 <= z < depth:
            memo[b, p] = b, y, x
            with np.errstate(all="ignore"):
                output[b, y, x] += features[b, p]
    return output, memo


def backward(grad: np.ndarray, memo: np.ndarray) -> np.ndarray:
    """The gradient of the pixel that each point was added to, 0 if there is none."""
    found = np.zeros((*memo.shape[:2], grad.shape[3]), grad.dtype)
    for b, p in np.ndindex(memo.shape[:2]):
        batch, y, x = (int(number) for number in memo[b, p])
        if 0 <= batch < grad.shape[0] and 0 <= y < grad.shape[1] and 0 <= x < grad.shape[2]:
            found[b, p] = grad[batch, y, x]
    return found


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let most points lie in the grid."""
    if "geom_xyz" in arguments:
        geom = arguments["geom_xyz"]
        geom[...] = np.floor(rng.uniform(-0.2, 1.2, geom.shape) * arguments["voxel_num"])
        return
    memo, grad = arguments["pos_memo"], arguments["grad_output"]
    memo[...] = np.floor(rng.uniform(-0.1, 1.1, memo.shape) * grad.shape[:3])


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "voxel_pooling_backward":
        return backward(*given)
    geom, features, _, _, _, *voxel_num = given
    return forward(geom, features, tuple(voxel_num))


def ways(size: int) -> Iterator[Way]:
    """Maps that are cut into bands, and the gradient of their points."""
    grid = {"num_voxel_x": 20, "num_voxel_y": 30, "num_voxel_z": 2}
    sizes = {"batch_size": 2, "num_points": 30 * size, "num_channels": 7, **grid}
    yield Way("voxel_pooling_forward", "bands", sizes)
    yield Way("voxel_pooling_backward", "points", {"B": 2, "P": 40 * size, "C": 9, "Y": 20, "X": 30})


REFUSALS = {
    "mluOpVoxelPoolingForward": Refusals(
        order="handle objects types ranks shapes scalars packed indexable data overlap"
    ),
}
