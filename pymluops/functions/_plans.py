"""Plans of Fourier transforms as Python objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from pymluops import _core
from pymluops._arguments import Names
from pymluops._core import Backend, DeviceArray, Handle
from pymluops.enums import DataType
from pymluops.functions._objects import LibraryObject, NativeTensorDescriptor, length
from pymluops.functions._registry import call
from pymluops.functions._tensors import describe

__all__ = ["FFTPlan"]

#: Complex and half types by the type that is set as the one used on the chip.
_ON_CHIP = {
    DataType.HALF: DataType.HALF,
    DataType.COMPLEX_HALF: DataType.HALF,
    DataType.FLOAT: DataType.FLOAT,
    DataType.COMPLEX_FLOAT: DataType.FLOAT,
}


class FFTPlan(LibraryObject):
    """A Fourier transform of tensors of certain shapes, for ``mluOpExecFFT``. It keeps the memory that it needs.

    Parameters
    ----------
    input, output : array or TensorDescriptor
        What is transformed and what comes out, of one batch or with the batch as first dim.
    n : sequence of int
        Lengths of the transform.
    handle : Handle, optional
        Where it is made; this thread's handle for the default backend if not given.

    Attributes
    ----------
    reservespace_size, workspace_size : int
        Bytes that the plan asked for; 0 before ``mluOpMakeFFTPlanMany``.
    """

    _CREATE = "mluOpCreateFFTPlan"

    reservespace_size: int = 0
    workspace_size: int = 0
    #: Bytes of the tensors that it was made for.
    input_nbytes: int = 0
    output_nbytes: int = 0
    #: The memory set with mluOpSetFFTReserveArea.
    reservespace: Any = None

    def __init__(self, input: Any, output: Any, n: Sequence[SupportsIndex], *, handle: Handle | None = None) -> None:
        given = _core.require_handle(Names("FFTPlan", "mluOpCreateFFTPlan"), handle)
        self._create(given.backend)
        try:
            described = _described(input, given.backend)
            call("mluOpMakeFFTPlanMany", self, described, output, length(n), n, handle=given)
            call("mluOpSetFFTReserveArea", self, handle=given)
        except BaseException:
            self.close()
            raise

    @property
    def memory_used(self) -> tuple[DeviceArray, ...]:
        """The memory of a device that the plan works on."""
        return (self.reservespace,) if isinstance(self.reservespace, DeviceArray) else ()


def _described(tensor: Any, backend: Backend) -> NativeTensorDescriptor:
    """Return a descriptor of the input of a transform, with the type used on the chip."""
    names = Names("FFTPlan", "mluOpMakeFFTPlanMany")
    description = describe(names, "input", tensor, backend, "ARRAY")
    on_chip = _ON_CHIP.get(DataType(description.dtype))
    if on_chip is not None and not isinstance(tensor, NativeTensorDescriptor):
        call("mluOpSetTensorDescriptorOnchipDataType", description.native, on_chip)
    return description.native
