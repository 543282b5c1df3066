"""contour_expand and pixel_group of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_indices, check_shape, check_tensors, dense, extension_function_of, refuse
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["contour_expand", "pixel_group"]

ROWS = (
    Row(
        "contour_expand",
        ("contour_expand",),
        "forward",
        "mluopsExtContourExpand",
        "Labels grow in the first mask alone, as in mmcv. Labels above kernel_num are refused.",
    ),
    Row(
        "pixel_group",
        ("pixel_group",),
        "forward",
        "mluopsExtPixelGroup (float32)",
        "Labels that are not below kernel_region_num are refused.",
    ),
)


@extension_function_of(kernel_mask="K H W", internal_kernel_label="H W")
def contour_expand(
    kernel_mask: Tensor, internal_kernel_label: Tensor, min_kernel_area: int, kernel_num: int
) -> list[list[int]]:
    """Return the label of each pixel."""
    name, torch = "contour_expand", load_torch()
    check_tensors(name, ("uint8", "bool"), {"kernel_mask": kernel_mask})
    check_tensors(name, ("int32",), {"internal_kernel_label": internal_kernel_label})
    check_shape(name, "kernel_mask", kernel_mask, (None, None, None))
    check_shape(name, "internal_kernel_label", internal_kernel_label, tuple(kernel_mask.shape[1:]))
    if not len(kernel_mask):
        raise refuse(name, "kernel_mask", "at least one mask", "none")
    if kernel_num < 0:
        raise refuse(name, "kernel_num", "at least 0", kernel_num)
    check_indices(name, "internal_kernel_label", internal_kernel_label, kernel_num + 1)
    tensors = dense(kernel_mask, torch.bool), dense(internal_kernel_label), None
    found: list[list[int]] = run(described(name), tensors, (min_kernel_area, kernel_num + 1)).tolist()
    return found


@extension_function_of(score="H W", mask="H W", embedding="H W C", kernel_label="H W", kernel_contour="H W")
def pixel_group(
    score: Tensor,
    mask: Tensor,
    embedding: Tensor,
    kernel_label: Tensor,
    kernel_contour: Tensor,
    kernel_region_num: int,
    distance_threshold: float,
) -> list[list[float]]:
    """Return for each label its mean score, its number of pixels, and x and y of each."""
    name, torch = "pixel_group", load_torch()
    check_tensors(name, ("float32", "float64"), {"score": score, "embedding": embedding})
    check_tensors(name, ("bool", "uint8"), {"mask": mask})
    check_tensors(name, ("uint8", "bool"), {"kernel_contour": kernel_contour})
    check_tensors(name, ("int32",), {"kernel_label": kernel_label})
    check_shape(name, "score", score, (None, None))
    check_shape(name, "embedding", embedding, (*score.shape, None))
    for key, tensor in {"mask": mask, "kernel_label": kernel_label, "kernel_contour": kernel_contour}.items():
        check_shape(name, key, tensor, tuple(score.shape))
    if kernel_region_num < 1:
        raise refuse(name, "kernel_region_num", "at least 1", kernel_region_num)
    check_indices(name, "kernel_label", kernel_label, kernel_region_num)
    groups: list[list[Any]] = [[0.0, 0.0] for _ in range(kernel_region_num)]
    if not embedding.numel():
        return groups
    tensors = dense(score), dense(mask, torch.bool), dense(embedding), dense(kernel_label)
    given = (*tensors, dense(kernel_contour, torch.bool), None, None, None)
    labels, scores, counts = run(described(name), given, (kernel_region_num, distance_threshold))
    for label in range(1, kernel_region_num):
        rows, columns = (labels == label).nonzero(as_tuple=True)
        places = torch.stack([columns, rows], 1).flatten().tolist()
        groups[label] = [float(scores[label]), float(counts[label]), *map(float, places)]
    return groups
