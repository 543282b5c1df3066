"""What works here: the table of ``python -m pymluops.mmcv``."""

from __future__ import annotations

import importlib.util
import textwrap
from importlib import metadata
from typing import NamedTuple

from pymluops.mmcv._extension import IMPLEMENTED
from pymluops.mmcv._install import compiled_extension
from pymluops.mmcv._names import FUNCTIONS, TORCHVISION

_ALL_FLOATS = "float16, bfloat16, float32, float64"

#: Computed by the kernel of the library in these types and in float64, in float32 for others.
_HALF_AND_SINGLE, _SINGLE = "float16, float32", "float32"


class Row(NamedTuple):
    """One operator.

    Attributes
    ----------
    operators : str
        Names in `mmcv.ops`.
    functions : tuple of str
        The functions of ``mmcv._ext`` behind them.
    dtypes : str
        Types of values taken.
    directions : str
        Forward, or forward and backward.
    library : str
        What computes it: functions of the C library with the types of their kernels, or PyTorch.
    note : str
        What a user has to know.
    """

    operators: str
    functions: tuple[str, ...]
    dtypes: str
    directions: str
    library: str
    note: str = ""


ROWS = (
    Row(
        "tin_shift, TINShift",
        ("tin_shift_forward", "tin_shift_backward"),
        _ALL_FLOATS,
        "forward, backward",
        "mluOpTinShiftForward (bits are moved)",
        "The gradient is shifted with the same sign as the values, which is mmcv's rule but not the true gradient, so "
        "gradcheck fails, as it does with a compiled mmcv.",
    ),
    Row(
        "psa_mask, PSAMask",
        ("psamask_forward", "psamask_backward"),
        _ALL_FLOATS,
        "forward, backward",
        "mluOpPsamaskForward, Backward (bits are moved)",
    ),
    Row(
        "border_align, BorderAlign",
        ("border_align_forward", "border_align_backward"),
        _ALL_FLOATS,
        "forward, backward",
        f"mluOpBorderAlignForward, Backward ({_HALF_AND_SINGLE})",
    ),
    Row(
        "three_interpolate",
        ("three_interpolate_forward", "three_interpolate_backward"),
        _ALL_FLOATS,
        "forward, backward",
        f"mluOpThreeInterpolateForward, Backward ({_HALF_AND_SINGLE})",
        "An index outside of the points is refused; a compiled mmcv reads outside of the tensor.",
    ),
    Row("three_nn", ("three_nn_forward",), _ALL_FLOATS, "forward", f"mluOpThreeNNForward ({_HALF_AND_SINGLE})"),
    Row(
        "ball_query",
        ("ball_query_forward", "stack_ball_query_forward"),
        _ALL_FLOATS,
        "forward",
        f"mluOpBallQuery ({_HALF_AND_SINGLE})",
    ),
    Row(
        "MultiScaleDeformableAttnFunction",
        ("ms_deform_attn_forward", "ms_deform_attn_backward"),
        _ALL_FLOATS,
        "forward, backward",
        f"mluOpMsDeformAttnForward, Backward ({_SINGLE})",
        "The module MultiScaleDeformableAttention of mmcv computes CPU tensors with PyTorch code of its own and never "
        "calls this; MultiScaleDeformableAttnFunction.apply does.",
    ),
    Row(
        "SparseConv2d, 3d, SubMConv2d, 3d: pairs",
        (
            "get_indice_pairs_2d_forward",
            "get_indice_pairs_2d_backward",
            "get_indice_pairs_3d_forward",
            "get_indice_pairs_3d_backward",
        ),
        "int32",
        "-",
        "mluOpGetIndicePairs; transposed, or sub-manifold and dilated: mluopsExtGetIndicePairs",
        "Output rows are in ascending order. The _backward functions are those for a given grid, which is not used.",
    ),
    Row("SparseConv4d, SubMConv4d: pairs", ("get_indice_pairs_4d_forward",), "int32", "-", "mluopsExtGetIndicePairs"),
    Row(
        "SparseConv*, SparseInverseConv*, SparseConvTranspose*, SubMConv*",
        ("indice_conv_forward", "indice_conv_backward"),
        _ALL_FLOATS,
        "forward, backward",
        f"mluopsExtIndiceConvolutionForward, Backward* ({_HALF_AND_SINGLE})",
        "mmcv's code lets through float32 and float16 only.",
    ),
    Row(
        "the same with fused_bn",
        ("fused_indice_conv_forward",),
        _ALL_FLOATS,
        "forward",
        f"mluopsExtIndiceConvolutionForward ({_SINGLE})",
        "mmcv's code fails for anything but float16 features before it gets here (it reads filters.dtypes); "
        "mmcv._ext.fused_indice_conv_forward itself takes all types.",
    ),
    Row(
        "SparseMaxPool2d, 3d",
        ("indice_maxpool_forward", "indice_maxpool_backward"),
        _ALL_FLOATS,
        "forward, backward",
        "PyTorch",
        "mmcv's code lets through float32 and float16 only.",
    ),
    Row(
        "get_compiler_version, get_compiling_cuda_version",
        ("get_compiler_version", "get_compiling_cuda_version"),
        "-",
        "-",
        "pymluops",
    ),
)

#: What stands below the table.
_MISSING = (
    "These functions raise NotImplementedError when they are called and say what to install. On a machine without CUDA "
    "furthest_point_sample, knn, points_in_boxes_part and points_in_boxes_all do not get as far: mmcv's own Python "
    "code, of 2.1 and of 2.2, first asks PyTorch for the CUDA device or makes tensors on it."
)
_TYPES = (
    "A type that the kernel does not have is computed in float32 and rounded once, but float64 by a kernel in double, "
    "on the CPU."
)


def state() -> str:
    """Return in one line which mmcv is there and whether it needs this package."""
    if importlib.util.find_spec("mmcv") is None:
        return "mmcv is not installed: pip install mmcv-lite"
    version = "of unknown version"
    for distribution in ("mmcv-lite", "mmcv", "mmcv-full"):
        try:
            version = f"({distribution} {metadata.version(distribution)})"
            break
        except metadata.PackageNotFoundError:
            continue
    compiled = compiled_extension()
    if compiled:
        return (
            f"mmcv {version} has a compiled extension, {compiled}: install() leaves it alone, install(force=True) not"
        )
    return f"mmcv {version} has no compiled extension: install() provides mmcv._ext"


def render(width: int = 120) -> str:
    """Return the text."""
    head = ("operators of mmcv.ops", "dtypes", "directions", "computed by")
    lines = [(row.operators, row.dtypes, row.directions, row.library) for row in ROWS]
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    table = ["  ".join(f"{text:{size}}" for text, size in zip(line, widths, strict=True)) for line in (head, *lines)]
    table.insert(1, "  ".join("-" * size for size in widths))
    notes = [f"{row.operators}: {row.note}" for row in ROWS if row.note]
    other = [name for names in FUNCTIONS.values() for name in names if name not in IMPLEMENTED]
    alike = ", ".join(sorted(set(TORCHVISION.values())))
    paragraphs = [
        f"{len(other)} functions of {len(other) + len(IMPLEMENTED)} are not here: {', '.join(other)}.",
        f"{_MISSING} torchvision has {alike}.",
    ]
    return "\n".join(
        [
            state(),
            "",
            *(line.rstrip() for line in table),
            "",
            *(_wrapped(f"- {note}", width, "  ") for note in (_TYPES, *notes)),
            "",
            *(_wrapped(text, width) for text in paragraphs),
        ]
    )


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
