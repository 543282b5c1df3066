"""Regions of text that grow from kernels: by masks (PSENet, arXiv:1903.12473) or embeddings (PAN, arXiv:1908.05900)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["contour_expand", "pixel_group"]

_BOOL = (DataType.BOOL,)

_EXPAND = Operator(
    "mluopsExtContourExpand",
    "contour_expand",
    (
        Tensor("kernel_mask", _BOOL, "K H W", positive="K"),
        Tensor("internal_kernel_label", INT32, "H W", within=("label_count",), axes=("row", "column")),
        Tensor("out", INT32, "H W", output=True, parameter="output"),
    ),
    (Scalar("min_kernel_area", minimum=-(2**31)), Scalar("label_count")),
)
_GROUP = Operator(
    "mluopsExtPixelGroup",
    "pixel_group",
    (
        Tensor("score", FLOAT32, "H W", positive="H W"),
        Tensor("mask", _BOOL, "H W"),
        Tensor("embedding", "score", "H W C", positive="C"),
        Tensor("kernel_label", INT32, "H W", within=("label_count",), axes=("row", "column")),
        Tensor("kernel_contour", _BOOL, "H W"),
        Tensor("out", INT32, "H W", output=True, parameter="output"),
        Tensor("scores", "score", "label_count", output=True),
        Tensor("counts", INT32, "label_count", output=True),
    ),
    (Scalar("label_count"), Scalar("distance_threshold", infinite=True)),
)


def contour_expand(
    kernel_mask: Array,
    internal_kernel_label: Array,
    min_kernel_area: int,
    label_count: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Let the kernels of text grow inside a mask.

    Kernels of at least `min_kernel_area` pixels keep their labels, which spread to neighbours in
    ``kernel_mask[0]``, one pixel after another in the order in which they were reached: up, down,
    left, right. Other kernels get 0. As in mmcv, the other masks are not looked at, and with a
    single one nothing grows.

    Parameters
    ----------
    kernel_mask : array, shape [K, H, W], bool
        Masks of the text, from the largest to the smallest kernels, K > 0.
    internal_kernel_label : array, shape [H, W], int32
        Labels of the smallest kernels, 0 for none.
    min_kernel_area : int
        The fewest pixels of a kernel.
    label_count : int
        Number of labels with 0, > 0.
    out : array or DeviceArray, optional
        Where to write, shape [H, W], int32; it must not overlap an input.
    validate : bool
        Refuse labels outside of 0 .. `label_count` - 1; else they are background.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument: the label of each pixel. H and W
        may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Wang et al.: Shape Robust Text Detection with Progressive Scale Expansion Network. CVPR 2019,
    arXiv:1903.12473.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> masks = np.array([[[True, True, True, True, False]]] * 2)
    >>> labels = np.array([[1, 0, 0, 2, 0]], np.int32)
    >>> pymluops.contour_expand(masks, labels, 1, 3).tolist()
    [[1, 1, 2, 2, 0]]
    """
    return _EXPAND(handle, (kernel_mask, internal_kernel_label, out), (min_kernel_area, label_count), validate)


def pixel_group(
    score: Array,
    mask: Array,
    embedding: Array,
    kernel_label: Array,
    kernel_contour: Array,
    label_count: int,
    distance_threshold: float,
    *,
    out: Any = None,
    scores: Any = None,
    counts: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> tuple[Any, Any, Any]:
    """Let the kernels of text grow to pixels with embeddings like theirs.

    From the pixels of `kernel_contour`, labels spread to neighbours in the mask, one pixel after
    another in the order in which they were reached: left, right, up, down. A pixel gets a label if
    the distance of its embedding from the mean of the kernel's is less than `distance_threshold`;
    as in mmcv, a NaN counts as near.

    Parameters
    ----------
    score : array, shape [H, W], float32
        Scores of the pixels, H and W > 0.
    mask : array, shape [H, W], bool
        Which pixels are text.
    embedding : array, shape [H, W, C], like `score`
        Embeddings of the pixels, C > 0.
    kernel_label : array, shape [H, W], int32
        Labels of the kernels, 0 for none.
    kernel_contour : array, shape [H, W], bool
        Contours of the kernels.
    label_count : int
        Number of labels with 0, > 0.
    distance_threshold : float
        The distance of embeddings.
    out : array or DeviceArray, optional
        Where to write the labels, shape [H, W], int32; it must not overlap an input.
    scores : array or DeviceArray, optional
        Where to write the mean scores, shape [label_count], like `score`.
    counts : array or DeviceArray, optional
        Where to write the numbers of pixels, shape [label_count], int32.
    validate : bool
        Refuse labels outside of 0 .. `label_count` - 1; else they are background.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    labels : array, shape [H, W], int32
        The label of each pixel.
    scores : array, shape [label_count], like `score`
        The mean score of the pixels with each label; 0 for label 0 and those without a pixel.
    counts : array, shape [label_count], int32
        Their numbers; 0 for label 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Wang et al.: Efficient and Accurate Arbitrary-Shaped Text Detection with Pixel Aggregation
    Network. ICCV 2019, arXiv:1908.05900.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> score, mask = np.float32([[0.5, 1, 0.75]]), np.ones((1, 3), bool)
    >>> embedding, label = np.float32([[[0], [1], [9]]]), np.array([[1, 0, 0]], np.int32)
    >>> labels, scores, counts = pymluops.pixel_group(score, mask, embedding, label, label > 0, 2, 3.0)
    >>> labels.tolist(), scores.tolist(), counts.tolist()
    ([[1, 1, 0]], [0.0, 0.75], [0, 2])
    """
    tensors = score, mask, embedding, kernel_label, kernel_contour, out, scores, counts
    result: tuple[Any, Any, Any] = _GROUP(handle, tensors, (label_count, distance_threshold), validate)
    return result
