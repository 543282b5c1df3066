"""Modules of PointNet++ and its descendants: groups of points, and samples of them, with mmcv's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pymluops.torch._modes import TracedModule
from pymluops.torch.ball_query import ball_query
from pymluops.torch.furthest_point_sampling import furthest_point_sample, furthest_point_sample_with_dist
from pymluops.torch.group_points import grouping_operation
from pymluops.torch.knn import knn

__all__ = ["GroupAll", "PointsSampler", "QueryAndGroup"]


class QueryAndGroup(TracedModule):
    """Positions and features of the points around each centre, like `mmcv.ops.QueryAndGroup`.

    Parameters
    ----------
    max_radius : float or None
        Radius of the ball around a centre; None for the nearest points.
    sample_num : int
        Number of points of each group.
    min_radius : float
        Points that are nearer do not count.
    use_xyz : bool
        Whether the result has the positions, relative to the centre, before the features.
    return_grouped_xyz, return_unique_cnt, return_grouped_idx : bool
        Whether positions, numbers of different points and numbers of points are returned too.
    normalize_xyz : bool
        Whether relative positions are divided by `max_radius`.
    uniform_sample : bool
        Whether places of a group for which there is no further point are filled with random ones of
        its points, not with the first.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> group = pymluops.torch.QueryAndGroup(0.5, 16)
    >>> group(torch.rand(2, 99, 3), torch.rand(2, 5, 3), torch.rand(2, 4, 99)).shape
    torch.Size([2, 7, 5, 16])
    """

    def __init__(
        self,
        max_radius: float | None,
        sample_num: int,
        min_radius: float = 0.0,
        use_xyz: bool = True,
        return_grouped_xyz: bool = False,
        normalize_xyz: bool = False,
        uniform_sample: bool = False,
        return_unique_cnt: bool = False,
        return_grouped_idx: bool = False,
    ) -> None:
        super().__init__()
        self.max_radius, self.min_radius, self.sample_num = max_radius, min_radius, sample_num
        self.use_xyz, self.normalize_xyz, self.uniform_sample = use_xyz, normalize_xyz, uniform_sample
        self.return_grouped_xyz, self.return_unique_cnt = return_grouped_xyz, return_unique_cnt
        self.return_grouped_idx = return_grouped_idx
        if return_unique_cnt and not uniform_sample:
            raise ValueError("QueryAndGroup: return_unique_cnt: expected uniform_sample with it")
        if max_radius is None and normalize_xyz:
            raise ValueError("QueryAndGroup: normalize_xyz: expected a max_radius with it")

    def forward(self, points_xyz: Tensor, center_xyz: Tensor, features: Tensor | None = None) -> Any:
        """Return the groups.

        Parameters
        ----------
        points_xyz : Tensor, shape [B, N, 3]
            The points; any floating type.
        center_xyz : Tensor, shape [B, M, 3], like `points_xyz`
            The centres.
        features : Tensor, shape [B, C, N], like `points_xyz`, optional
            Features of the points.

        Returns
        -------
        Tensor, shape [B, 3 + C, M, sample_num], or a tuple that begins with it
            Relative positions, then features; one of them alone if there is no other. Then those
            that were asked for: positions [B, 3, M, sample_num], numbers of different points
            [B, M], numbers of points [B, M, sample_num].

        Raises
        ------
        ValueError
            If there is neither `use_xyz` nor features.
        """
        if features is None and not self.use_xyz:
            raise ValueError("QueryAndGroup: features: expected a tensor without use_xyz, got None")
        if self.max_radius is None:
            indices = knn(self.sample_num, points_xyz, center_xyz).transpose(1, 2).contiguous()
        else:
            indices = ball_query(self.min_radius, self.max_radius, self.sample_num, points_xyz, center_xyz)
        counts = self._fill(indices) if self.uniform_sample else None
        positions = grouping_operation(points_xyz.transpose(1, 2).contiguous(), indices)
        relative = positions - center_xyz.transpose(1, 2).unsqueeze(-1)
        if self.normalize_xyz and self.max_radius is not None:
            relative = relative / self.max_radius
        found = relative
        if features is not None:
            grouped = grouping_operation(features, indices)
            found = torch.cat([relative, grouped], 1) if self.use_xyz else grouped
        asked = (
            (self.return_grouped_xyz, positions),
            (self.return_unique_cnt, counts),
            (self.return_grouped_idx, indices),
        )
        more = [one for wanted, one in asked if wanted]
        return (found, *more) if more else found

    def _fill(self, indices: Tensor) -> Tensor:
        """Fill groups with random ones of their points, in place; return the numbers of different points."""
        counts = torch.zeros(indices.shape[:2])
        for batch, groups in enumerate(indices):
            for number, group in enumerate(groups):
                unique = torch.unique(group)
                counts[batch, number] = len(unique)
                chosen = torch.randint(0, len(unique), (self.sample_num - len(unique),), dtype=torch.long)
                indices[batch, number] = torch.cat([unique, unique[chosen]])
        return counts


class GroupAll(TracedModule):
    """All points as one group, like `mmcv.ops.GroupAll`.

    Parameters
    ----------
    use_xyz : bool
        Whether the result has the positions before the features.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.GroupAll()(torch.rand(2, 9, 3), None, torch.rand(2, 4, 9)).shape
    torch.Size([2, 7, 1, 9])
    """

    def __init__(self, use_xyz: bool = True) -> None:
        super().__init__()
        self.use_xyz = use_xyz

    def forward(self, xyz: Tensor, new_xyz: Tensor | None, features: Tensor | None = None) -> Tensor:
        """Return the group, [B, 3 + C, 1, N], of points [B, N, 3] and features [B, C, N]; `new_xyz` has no effect."""
        positions = xyz.transpose(1, 2).unsqueeze(2)
        if features is None:
            return positions
        grouped = features.unsqueeze(2)
        return torch.cat([positions, grouped], 1) if self.use_xyz else grouped


class DFPSSampler(nn.Module):
    """Samples points that are far from each other."""

    def forward(self, points: Tensor, features: Tensor | None, npoint: int) -> Tensor:
        """Return the numbers of the points, [B, npoint]."""
        return furthest_point_sample(points.contiguous(), npoint)


class FFPSSampler(nn.Module):
    """Samples points whose positions and features differ."""

    def forward(self, points: Tensor, features: Tensor | None, npoint: int) -> Tensor:
        """Return the numbers of the points, [B, npoint]."""
        if features is None:
            raise ValueError("PointsSampler: features: expected a tensor for F-FPS and FS, got None")
        both = torch.cat([points, features.transpose(1, 2)], 2)
        return furthest_point_sample_with_dist(torch.cdist(both, both).square(), npoint)


class FSSampler(nn.Module):
    """Samples half of the points in either way."""

    def forward(self, points: Tensor, features: Tensor | None, npoint: int) -> Tensor:
        """Return the numbers of the points, [B, 2 * npoint]."""
        ways = FFPSSampler(), DFPSSampler()
        return torch.cat([way(points, features, npoint) for way in ways], 1)


_SAMPLERS: dict[str, type[nn.Module]] = {"D-FPS": DFPSSampler, "F-FPS": FFPSSampler, "FS": FSSampler}


class PointsSampler(TracedModule):
    """Furthest points by distances of positions, of features, or both, like `mmcv.ops.PointsSampler`.

    Parameters
    ----------
    num_point : sequence of int
        How many points are sampled in each range.
    fps_mod_list : sequence of {"D-FPS", "F-FPS", "FS"}
        How: by positions, by positions and features, or as many again in both ways.
    fps_sample_range_list : sequence of int
        Where the ranges end, which lie one behind the other; -1 for the end of the points.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> sample = pymluops.torch.PointsSampler([4, 2], ["D-FPS", "F-FPS"], [16, -1])
    >>> sample(torch.rand(2, 20, 3), torch.rand(2, 5, 20)).shape
    torch.Size([2, 6])
    """

    def __init__(
        self,
        num_point: Sequence[int],
        fps_mod_list: Sequence[str] = ("D-FPS",),
        fps_sample_range_list: Sequence[int] = (-1,),
    ) -> None:
        super().__init__()
        if not len(num_point) == len(fps_mod_list) == len(fps_sample_range_list):
            raise ValueError("PointsSampler: expected num_point, fps_mod_list and fps_sample_range_list of one length")
        for way in fps_mod_list:
            if way not in _SAMPLERS:
                raise ValueError(f"PointsSampler: fps_mod_list: expected some of {[*_SAMPLERS]}, got {way!r}")
        self.num_point, self.fps_sample_range_list = num_point, fps_sample_range_list
        self.samplers = nn.ModuleList(_SAMPLERS[way]() for way in fps_mod_list)
        self.fp16_enabled = False

    def forward(self, points_xyz: Tensor, features: Tensor | None) -> Tensor:
        """Return the numbers of sampled points, int32, of points [B, N, 3] with features [B, C, N].

        Raises
        ------
        ValueError
            If a range ends behind the points, or features are missing.
        """
        points_xyz = points_xyz.float() if points_xyz.dtype == torch.half else points_xyz
        features = features.float() if features is not None and features.dtype == torch.half else features
        found, begin = [], 0
        for end, sampler, number in zip(self.fps_sample_range_list, self.samplers, self.num_point, strict=True):
            if end >= points_xyz.shape[1]:
                raise ValueError(
                    f"PointsSampler: fps_sample_range_list: expected less than {points_xyz.shape[1]}, got {end}"
                )
            part = slice(begin, None if end == -1 else end)
            own = None if features is None else features[:, :, part]
            found.append(sampler(points_xyz[:, part].contiguous(), own, number) + begin)
            begin = end
        return torch.cat(found, 1)
