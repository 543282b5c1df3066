"""What the descriptions of operators share that pool regions of maps."""

from __future__ import annotations

from typing import Any

from pymluops._core import Operator, integers
from pymluops.enums import DataType, Layout
from pymluops.ops._schema import FLOATS, Scalar, Tensor

__all__ = [
    "BINS",
    "MAP",
    "MAP_SIZES",
    "POOLED",
    "SAMPLING_RATIO",
    "SIZES",
    "SPATIAL_SCALE",
    "bins",
    "given_map",
    "given_pooled",
    "like",
    "map_size",
    "region_rows",
]

MAP, POOLED = "B H W C", "R pooled_height pooled_width C"
#: The symbols of pooled values.
BINS = "R pooled_height pooled_width C"
#: The number of bins, in the forward direction.
SIZES = (Scalar("output_size", symbol="pooled_height"), Scalar("output_size", symbol="pooled_width"))
#: The size of the maps, in the backward direction.
MAP_SIZES = (
    Scalar("batch", symbol="B"),
    Scalar("feature_size", symbol="H"),
    Scalar("feature_size", symbol="W"),
)
SPATIAL_SCALE = Scalar("spatial_scale", minimum=0, above=True)
SAMPLING_RATIO = Scalar("sampling_ratio", minimum=0, maximum=256)


def given_map(name: str = "input", types: tuple[DataType, ...] = FLOATS, **options: Any) -> Tensor:
    """Describe maps that decide about the types of the others."""
    return Tensor(name, types, MAP, layout=Layout.NHWC, positive="B H W C", **options)


def given_pooled(name: str = "grad_output", types: tuple[DataType, ...] = FLOATS, **options: Any) -> Tensor:
    """Describe pooled values that decide about the types of the others."""
    return Tensor(name, types, POOLED, layout=Layout.NHWC, positive=BINS, **options)


def like(first: str, name: str, shape: str, **options: Any) -> Tensor:
    """Describe maps or pooled values of the type of the `first` argument."""
    return Tensor(name, first, shape, layout=Layout.NHWC, **options)


def region_rows(first: str, columns: int = 5) -> Tensor:
    """Describe regions of the type of the `first` argument."""
    return Tensor("rois", first, f"R {columns}", positive="R")


def bins(operator: Operator, output_size: Any) -> tuple[int, ...]:
    """Return the number of bins along y and x."""
    return integers(operator, "output_size", output_size, 2, 1)


def map_size(operator: Operator, feature_size: Any) -> tuple[int, ...]:
    """Return height and width of the maps."""
    return integers(operator, "feature_size", feature_size, 2, 1, repeat=False)
