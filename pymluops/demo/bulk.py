"""Where the bulk of a scan's points lies: one outlier is not to stretch a grid or a picture."""

from __future__ import annotations

import numpy as np

from pymluops.demo.arrays import Array

LEFT_OUT = 0.02
WIDER = 0.12


def bulk(xyz: Array) -> tuple[Array, Array]:
    """Return the lowest and highest x, y, z of the region that is looked at.

    Along each axis it reaches from the 2 % to the 98 % quantile, some wider, but not beyond the
    points.
    """
    low, high = np.quantile(xyz, [LEFT_OUT, 1 - LEFT_OUT], axis=0)
    wider = WIDER * (high - low)
    return np.maximum(low - wider, xyz.min(axis=0)), np.minimum(high + wider, xyz.max(axis=0))
