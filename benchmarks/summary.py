"""What many times say: medians, quartiles and ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np


class Spread(TypedDict):
    """Median, quartiles and least of some numbers."""

    median: float
    low_quartile: float
    high_quartile: float
    least: float
    count: int


class Ratio(TypedDict):
    """How the times of one contender compare with another's.

    `median` and the quartiles are of the ratios within a round; `of_medians` and `of_least` divide
    medians and least times.
    """

    median: float
    low_quartile: float
    high_quartile: float
    of_medians: float
    of_least: float


def spread(values: Sequence[float]) -> Spread:
    """Summarise numbers."""
    low, middle, high = (float(value) for value in np.percentile(values, (25, 50, 75)))
    return Spread(median=middle, low_quartile=low, high_quartile=high, least=min(values), count=len(values))


def ratio(times: Mapping[int, float], base: Mapping[int, float]) -> Ratio:
    """Compare two contenders by the rounds that both took part in."""
    both = sorted(times.keys() & base.keys())
    if not both:
        raise ValueError("the two took part in no round together")
    within = spread([times[number] / base[number] for number in both])
    ours, theirs = spread(list(times.values())), spread(list(base.values()))
    return Ratio(
        median=within["median"],
        low_quartile=within["low_quartile"],
        high_quartile=within["high_quartile"],
        of_medians=ours["median"] / theirs["median"],
        of_least=ours["least"] / theirs["least"],
    )
