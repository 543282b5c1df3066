"""Points near centres in stacked batches, with PyTorch: by cells of a grid, so that time grows with what is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["Pairs", "blocks_of", "neighbours", "ranks"]

#: Pairs of centres and points that are looked at together.
_BLOCK = 1 << 21
#: Cells along each axis: three of them fit into an integer of 64 bits.
_CELLS = 1 << 20
#: Cells are larger than the distance, since a rounded difference may be a little smaller than the
#: true one.
_MARGIN = 1 + 1e-5


class Pairs(NamedTuple):
    """Centres and points near them, both as rows: by centre, and by point for each centre."""

    centre: Tensor
    point: Tensor


def _cells(points: Tensor, low: Tensor, size: Tensor) -> Any:
    """Return the cell of each point, counted from 1; 0 and below are free for neighbours."""
    torch = load_torch()
    return ((points.double() - low) / size).floor().clamp(-1, _CELLS).to(torch.int64) + 2


def _key(cells: Tensor) -> Tensor:
    side = _CELLS + 4
    return (cells[..., 0] * side + cells[..., 1]) * side + cells[..., 2]


def _expanded(begin: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """Return for ranges the number of the range and the place of each of their elements."""
    torch = load_torch()
    owner = torch.repeat_interleave(torch.arange(len(count)), count)
    first = count.cumsum(0) - count
    return owner, begin[owner] + torch.arange(len(owner)) - first[owner]


def _near(gap: Tensor, distance: float, ball: bool) -> Tensor:
    """Tell which differences are near enough, in the type that they have."""
    torch = load_torch()
    limit = torch.tensor(distance, dtype=gap.dtype)
    if not ball:
        return (gap.abs() <= limit).all(-1)
    square = gap.square()
    return (square[..., 0] + square[..., 1]) + square[..., 2] <= limit * limit


def _in_batch(points: Tensor, centres: Tensor, distance: float, ball: bool) -> Iterator[Pairs]:
    """Yield the pairs of one batch, some centres at a time."""
    torch = load_torch()
    known = torch.isfinite(points).all(1).nonzero()[:, 0]
    whole = torch.isfinite(centres).all(1).nonzero()[:, 0]
    if not len(known) or not len(whole):
        return
    places = points[known]
    low, high = (places.double().amin(0), places.double().amax(0))
    size = torch.clamp((high - low) / (_CELLS - 2), min=max(distance * _MARGIN, 1e-30))
    keys, order = _key(_cells(places, low, size)).sort(stable=True)
    steps = torch.cartesian_prod(*[torch.tensor([-1, 0, 1])] * 2)
    steps = torch.cat([steps, torch.zeros(len(steps), 1, dtype=torch.int64)], 1)
    middle = _cells(centres[whole], low, size)[:, None] + steps  # [centres, 9, 3]: three cells side by side each
    begin = torch.searchsorted(keys, _key(middle) - 1)
    count = torch.searchsorted(keys, _key(middle) + 1, right=True) - begin
    for block in blocks_of(count.sum(1)):
        owner, place = _expanded(begin[block].flatten(), count[block].flatten())
        centre, point = whole[block][owner // 9], known[order[place]]
        near = _near(points[point] - centres[centre], distance, ball)
        centre, point = centre[near], point[near]
        order_of_pairs = torch.argsort(centre * len(points) + point)
        yield Pairs(centre[order_of_pairs], point[order_of_pairs])


def blocks_of(sizes: Tensor) -> Iterator[slice]:
    """Yield slices of rows whose sizes add up to about a block."""
    torch = load_torch()
    total = sizes.cumsum(0)
    begin, count = 0, len(sizes)
    while begin < count:
        before = int(total[begin - 1]) if begin else 0
        end = int(torch.searchsorted(total, torch.tensor([before + _BLOCK]), right=True))
        end = min(max(end, begin + 1), count)
        yield slice(begin, end)
        begin = end


def neighbours(
    points: Tensor, point_counts: Tensor, centres: Tensor, centre_counts: Tensor, distance: float, ball: bool
) -> Pairs:
    """Find all pairs of a centre and a point of the same batch that are near each other.

    Parameters
    ----------
    points : Tensor, shape [N, 3]
        The points of all batches.
    point_counts, centre_counts : Tensor, shape [B]
        How many each batch has.
    centres : Tensor, shape [M, 3], like `points`
        The centres of all batches.
    distance : float
        How near: the squared distance is at most its square, or no coordinate differs by more.
    ball : bool
        Which of the two.
    """
    torch = load_torch()
    parts: list[Pairs] = []
    first_point = first_centre = 0
    for held, asked in zip(point_counts.tolist(), centre_counts.tolist(), strict=True):
        own, about = points[first_point : first_point + held], centres[first_centre : first_centre + asked]
        for pairs in _in_batch(own, about, distance, ball):
            parts.append(Pairs(pairs.centre + first_centre, pairs.point + first_point))
        first_point, first_centre = first_point + held, first_centre + asked
    if not parts:
        return Pairs(*(torch.zeros(0, dtype=torch.int64) for _ in range(2)))
    return Pairs(torch.cat([one.centre for one in parts]), torch.cat([one.point for one in parts]))


def ranks(groups: Tensor) -> Tensor:
    """Return for ascending groups the number of each element within its group."""
    torch = load_torch()
    places = torch.arange(len(groups))
    first = torch.ones(len(groups), dtype=torch.bool)
    first[1:] = groups[1:] != groups[:-1]
    return places - torch.where(first, places, 0).cummax(0).values if len(groups) else places
