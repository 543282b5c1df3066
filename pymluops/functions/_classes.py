"""The Python classes of the library's objects, by C type."""

from pymluops.functions._objects import (
    AdamWDescriptor,
    CarafeDescriptor,
    DCNDescriptor,
    LibraryObject,
    NativeSparseConvolutionDescriptor,
    NativeTensorDescriptor,
    NmsDescriptor,
    RoiAlignForwardDescriptor,
    SeqDataDescriptor,
    TensorSetDescriptor,
)
from pymluops.functions._plans import FFTPlan

__all__ = [
    "CLASSES",
    "AdamWDescriptor",
    "CarafeDescriptor",
    "DCNDescriptor",
    "FFTPlan",
    "NativeSparseConvolutionDescriptor",
    "NativeTensorDescriptor",
    "NmsDescriptor",
    "RoiAlignForwardDescriptor",
    "SeqDataDescriptor",
    "TensorSetDescriptor",
]

#: Classes by C type.
CLASSES: dict[str, type[LibraryObject]] = {
    "mluOpTensorDescriptor_t": NativeTensorDescriptor,
    "mluOpSparseConvolutionDescriptor_t": NativeSparseConvolutionDescriptor,
    "mluOpTensorSetDescriptor_t": TensorSetDescriptor,
    "mluOpSeqDataDescriptor_t": SeqDataDescriptor,
    "mluOpNmsDescriptor_t": NmsDescriptor,
    "mluOpRoiAlignForwardDescriptor_t": RoiAlignForwardDescriptor,
    "mluOpDCNDescriptor_t": DCNDescriptor,
    "mluOpCarafeDescriptor_t": CarafeDescriptor,
    "mluOpAdamWDescriptor_t": AdamWDescriptor,
    "mluOpFFTPlan_t": FFTPlan,
}
