"""Descriptors of a library as Python objects: tensor descriptors and descriptors with settings."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, ClassVar, Self, SupportsFloat, SupportsIndex

from pymluops import enums
from pymluops._core import Backend, NativeObject
from pymluops.enums import DataType
from pymluops.errors import NotInitializedError
from pymluops.functions._registry import call

__all__ = [
    "AdamWDescriptor",
    "CarafeDescriptor",
    "DCNDescriptor",
    "LibraryObject",
    "NativeSparseConvolutionDescriptor",
    "NativeTensorDescriptor",
    "NmsDescriptor",
    "RoiAlignForwardDescriptor",
    "SeqDataDescriptor",
    "SettingsObject",
    "TensorSetDescriptor",
    "length",
]

_Backend = Backend | str | PathLike[str] | None
_Real = SupportsFloat | SupportsIndex


def length(values: Any) -> int:
    """Return the number of values; what has none is refused where the values are read."""
    try:
        return len(values)
    except TypeError:
        return 0


class LibraryObject(NativeObject):
    """An object of a library. A Create function makes one without settings."""

    _CREATE: ClassVar[str]

    def _create(self, backend: _Backend, *arguments: Any) -> None:
        """Take over what the Create function makes."""
        call(self._CREATE, *arguments, backend=backend, target=self)

    def _set(self, function: str, *arguments: Any) -> None:
        """Call a Set function; where that fails, nothing is left."""
        try:
            call(function, self, *arguments)
        except BaseException:
            self.close()
            raise

    @classmethod
    def unset(cls) -> Self:
        """Return an object that a Create function is to fill."""
        return cls.__new__(cls)

    def __repr__(self) -> str:
        return f"<pymluops.functions.{type(self).__name__}{', closed' if self.closed else f' on {self.backend.name}'}>"


class SettingsObject(LibraryObject):
    """A descriptor with nothing but what Set functions gave it. Pickles and copies have the same settings."""

    #: What it was set to last: arguments by function and, where that sets one of several
    #: attributes, the attribute.
    _settings: dict[tuple[str, Any], tuple[Any, ...]]

    def remember(self, function: str, attribute: Any, arguments: tuple[Any, ...]) -> None:
        """Note what a Set function was called with."""
        if not hasattr(self, "_settings"):
            self._settings = {}
        self._settings.pop((function, attribute), None)  # a later call counts, so it comes last
        self._settings[function, attribute] = arguments

    def __reduce__(self) -> tuple[object, ...]:
        if self.closed:
            raise NotInitializedError(f"{type(self).__name__}: is closed")
        settings = [(name, arguments) for (name, _), arguments in getattr(self, "_settings", {}).items()]
        return type(self)._with_settings, (self.backend, settings)

    @classmethod
    def _with_settings(cls, backend: Backend, settings: list[tuple[str, tuple[Any, ...]]]) -> Self:
        """Make a descriptor with settings; what a pickle of one calls."""
        made = cls.unset()
        made._create(backend)
        for function, arguments in settings:
            made._set(function, *arguments)
        return made


class NativeTensorDescriptor(LibraryObject):
    """A tensor descriptor of a library, for functions that set or read one.

    `pymluops.TensorDescriptor` describes a tensor as a value, and arrays describe themselves: this
    is needed for what only the C object holds, such as the type used on the chip.

    Parameters
    ----------
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateTensorDescriptor"

    def __init__(self, *, backend: _Backend = None) -> None:
        self._create(backend)


class NativeSparseConvolutionDescriptor(SettingsObject):
    """A sparse convolution descriptor without settings; `pymluops.SparseConvolutionDescriptor` is one with them.

    Parameters
    ----------
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateSparseConvolutionDescriptor"

    def __init__(self, *, backend: _Backend = None) -> None:
        self._create(backend)


class TensorSetDescriptor(LibraryObject):
    """A set of tensor descriptors, addressed by an index of several numbers.

    Parameters
    ----------
    setDimSize : sequence of int
        Shape of the set.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateTensorSetDescriptor"

    def __init__(self, setDimSize: Sequence[SupportsIndex], *, backend: _Backend = None) -> None:  # noqa: N803
        self._create(backend, length(setDimSize), setDimSize)


class SeqDataDescriptor(SettingsObject):
    """Sequence data: layout, element type, dims, lengths of the sequences.

    Parameters
    ----------
    layout : enums.SeqDataLayout
        Meaning of the dims.
    dtype : DataType
        Element type.
    dimSize : sequence of int
        The dims.
    seqLengthArray : sequence of int
        Lengths, each > 0.
    paddingFill : number or bytes, optional
        The value of padding, one element.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateSeqDataDescriptor"

    def __init__(
        self,
        layout: enums.SeqDataLayout | int,
        dtype: DataType | int,
        dimSize: Sequence[SupportsIndex],  # noqa: N803
        seqLengthArray: Sequence[SupportsIndex] = (),  # noqa: N803
        paddingFill: _Real | bytes | None = None,  # noqa: N803
        *,
        backend: _Backend = None,
    ) -> None:
        self._create(backend)
        sizes = length(dimSize), dimSize, length(seqLengthArray), seqLengthArray
        self._set("mluOpSetSeqDataDescriptor_v2", layout, dtype, *sizes, paddingFill)


class RoiAlignForwardDescriptor(SettingsObject):
    """Settings of ``mluOpRoiAlignForward_v2``.

    Parameters
    ----------
    pooled_height, pooled_width : int
        Size of the output.
    sampling_ratio : int
        Samples in a bin along each axis; 0 is adaptive.
    spatial_scale : float
        Scale of the boxes to the feature map.
    pool_mode : int
        0 takes the maximum, 1 the average.
    aligned : bool
        Whether boxes are moved by half a pixel.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateRoiAlignForwardDescriptor"

    def __init__(
        self,
        pooled_height: SupportsIndex,
        pooled_width: SupportsIndex,
        sampling_ratio: SupportsIndex,
        spatial_scale: _Real,
        pool_mode: SupportsIndex,
        aligned: bool,
        *,
        backend: _Backend = None,
    ) -> None:
        self._create(backend)
        values = pooled_height, pooled_width, sampling_ratio, spatial_scale, pool_mode, aligned
        self._set("mluOpSetRoiAlignForwardDescriptor_v2", *values)


class DCNDescriptor(SettingsObject):
    """Settings of deformable convolution.

    Parameters
    ----------
    pad : sequence of int
        Top, bottom, left, right.
    stride, dilation : sequence of int
        Height, width.
    deformable_group, conv_group, im2col_step : int
        Groups of channels that share offsets, groups of the convolution, images in one step.
    compute_type : DataType
        Type that is computed with.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateDCNDescriptor"

    def __init__(
        self,
        pad: Sequence[SupportsIndex],
        stride: Sequence[SupportsIndex],
        dilation: Sequence[SupportsIndex],
        deformable_group: SupportsIndex,
        conv_group: SupportsIndex,
        im2col_step: SupportsIndex,
        compute_type: DataType | int = DataType.FLOAT,
        *,
        backend: _Backend = None,
    ) -> None:
        self._create(backend)
        values = pad, stride, dilation, deformable_group, conv_group, im2col_step, compute_type
        self._set("mluOpSetDCNDescriptor", 4, *values)


class CarafeDescriptor(SettingsObject):
    """Settings of ``mluOpCarafeForward`` and ``mluOpCarafeBackward``.

    Parameters
    ----------
    kernel_size : int
        Width of a neighbourhood, odd.
    group_size : int
        Groups of channels.
    scale_factor : int
        How much larger the output is.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateCarafeDescriptor"

    def __init__(
        self,
        kernel_size: SupportsIndex,
        group_size: SupportsIndex,
        scale_factor: SupportsIndex,
        *,
        backend: _Backend = None,
    ) -> None:
        self._create(backend)
        self._set("mluOpSetCarafeDescriptor", 4, kernel_size, group_size, scale_factor)


class NmsDescriptor(SettingsObject):
    """Settings of ``mluOpNms``.

    Parameters
    ----------
    box_mode, output_mode, algo, method_mode : members of the enums
        How a box is written, what is returned, whether a boundary counts, the kind of suppression.
    iou_threshold, soft_nms_sigma : float
        Overlap that suppresses, width of the soft kinds.
    max_output_size : int
        Most boxes that are selected.
    confidence_threshold, offset : float
        Confidence that a box needs, what is added to its sides.
    input_layout : int
        0 for boxes in rows, 1 in columns.
    pad_to_max_output_size : bool
        Whether the rest of the output is filled with 0.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateNmsDescriptor"

    def __init__(
        self,
        box_mode: enums.NmsBoxPointMode | int,
        output_mode: enums.NmsOutputMode | int,
        algo: enums.NmsAlgo | int,
        method_mode: enums.NmsMethodMode | int,
        iou_threshold: _Real,
        soft_nms_sigma: _Real,
        max_output_size: SupportsIndex,
        confidence_threshold: _Real,
        offset: _Real,
        input_layout: SupportsIndex,
        pad_to_max_output_size: bool,
        *,
        backend: _Backend = None,
    ) -> None:
        self._create(backend)
        modes = box_mode, output_mode, algo, method_mode
        limits = iou_threshold, soft_nms_sigma, max_output_size, confidence_threshold
        self._set("mluOpSetNmsDescriptor", *modes, *limits, offset, input_layout, pad_to_max_output_size)


class AdamWDescriptor(SettingsObject):
    """Settings of ``mluOpAdamW``.

    Parameters
    ----------
    weight_decay, grad_scale : float
        Decay of the parameters in a step, what gradients are divided by.
    use_nesterov, need_remove_nan : bool
        Kept by the library; whether values that are not finite are dropped.
    backend : Backend, str or os.PathLike, optional
        The library; the default backend if not given.
    """

    _CREATE = "mluOpCreateAdamWDescriptor"

    def __init__(
        self,
        weight_decay: _Real = 0.0,
        grad_scale: _Real = 1.0,
        use_nesterov: bool = False,
        need_remove_nan: bool = False,
        *,
        backend: _Backend = None,
    ) -> None:
        self._create(backend)
        for attribute, value in enumerate((weight_decay, grad_scale, use_nesterov, need_remove_nan)):
            self._set("mluOpSetAdamWDescAttr", attribute, value)
