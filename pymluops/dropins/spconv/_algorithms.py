"""Enumerations of spconv that choose a way of computing on a GPU; a CPU has one."""

from __future__ import annotations

from enum import Enum
from typing import Any

__all__ = ["Activation", "AlgoHint", "ConvAlgo", "activated"]


class ConvAlgo(Enum):
    """The ways of a convolution. Here all compute the same; maxima of a pool begin at 0 with `Native`."""

    Native = 0
    MaskImplicitGemm = 1
    MaskSplitImplicitGemm = 2


class AlgoHint(Enum):
    """For which direction a way is chosen, spelt as in spconv. Without meaning on a CPU."""

    NoHint = 0b000
    Fowrard = 0b001
    BackwardInput = 0b010
    BackwardWeight = 0b100


class Activation(Enum):
    """The function after a convolution; layers apply it in inference alone, as spconv's do."""

    None_ = 0
    ReLU = 1
    Sigmoid = 2
    LeakyReLU = 3


def activated(features: Any, kind: Any, alpha: float) -> Any:
    """Return the values of an activation, which may be one of spconv's own enumeration."""
    name = getattr(kind, "name", "None_")
    if name == "ReLU":
        return features.relu()
    if name == "Sigmoid":
        return features.sigmoid()
    if name == "LeakyReLU":
        return features.where(features > 0, features * alpha)
    if name != "None_":
        raise ValueError(f"SparseConvolution: act_type: expected one of {[one.name for one in Activation]}, got {kind}")
    return features
