"""furthest_point_sample and furthest_point_sample_with_dist of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row, binding, integers, result, values
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.mmcv._wrappers import Wrapper

__all__ = ["furthest_point_sampling_forward", "furthest_point_sampling_with_dist_forward"]

ROWS = (
    Row(
        "furthest_point_sample, furthest_point_sample_with_dist",
        ("furthest_point_sampling_forward", "furthest_point_sampling_with_dist_forward"),
        "forward",
        "mluopsExtFurthestPointSampling, FurthestPointSamplingWithDist (float16, float32)",
        "Of equal distances the first point is picked; a point with a NaN is not. Distances begin with 1e10, whatever "
        "temp_tensor holds.",
    ),
)

#: What mmcv fills distances with before the call.
_MOST = 1e10

furthest_point_sampling_forward = binding(
    "furthest_point_sampling_forward",
    "furthest_point_sampling",
    values("points_tensor", "b n 3", "xyz"),
    result("temp_tensor", "b n", "dist2"),
    result("idx_tensor", "b m", "idx", types=("int32",)),
    *integers("b n m"),
    scalars={
        "num_samples": lambda call: call.sizes["m"],
        "max_squared_distance": lambda _: _MOST,
        "min_squared_norm": lambda _: -1.0,
    },
    empty="keep",
)
furthest_point_sampling_with_dist_forward = binding(
    "furthest_point_sampling_with_dist_forward",
    "furthest_point_sampling_with_dist",
    values("points_tensor", "b n n", "dist"),
    result("temp_tensor", "b n", "min_dist"),
    result("idx_tensor", "b m", "idx", types=("int32",)),
    *integers("b n m"),
    scalars={"num_samples": lambda call: call.sizes["m"], "max_distance": lambda _: _MOST},
    empty="keep",
)


def _forward(ctx: Any, points_xyz: Tensor, num_points: int) -> Tensor:
    """Do what mmcv's function does, with results on the CPU."""
    torch = load_torch()
    batch, points = points_xyz.shape[:2]
    output = torch.zeros((batch, num_points), dtype=torch.int32)
    least = points_xyz.new_zeros((batch, points))
    furthest_point_sampling_forward(points_xyz, least, output, b=batch, n=points, m=num_points)
    ctx.mark_non_differentiable(output)
    return output


WRAPPERS = (Wrapper("furthest_point_sample", "FurthestPointSampling.forward", _forward),)
