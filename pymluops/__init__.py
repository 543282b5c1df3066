"""Cambricon mlu-ops operators for Python: on the CPU, and on any library with the mlu-ops C ABI."""

from typing import TYPE_CHECKING, Any

from pymluops._location import use_compiled_package

use_compiled_package(__name__)

from pymluops import _case_writer, ops
from pymluops._core import DeviceArray, Handle, Queue, SparseConvolutionDescriptor
from pymluops.descriptors import TensorDescriptor
from pymluops.enums import DataType, Layout, Status
from pymluops.errors import (
    AllocFailedError,
    ArchMismatchError,
    BadParamError,
    BadParamTypeError,
    ExecutionFailedError,
    ExportError,
    InternalError,
    MluOpError,
    NotInitializedError,
    NotSupportedError,
    NumericalOverflowError,
)
from pymluops.library import Backend, BackendInfo, backends, load, use
from pymluops.ops import *  # noqa: F403 - its __all__ is generated
from pymluops.threads import get_num_threads, set_num_threads

_case_writer.watch_as_asked()

if TYPE_CHECKING:
    from pymluops import bang as bang
    from pymluops import dropins as dropins
    from pymluops import functions as functions
    from pymluops import mmcv as mmcv
    from pymluops import sim as sim
    from pymluops import torch as torch
    from pymluops.dropins import install as install
    from pymluops.dropins import uninstall as uninstall
    from pymluops.functions import AdamWDescriptor as AdamWDescriptor
    from pymluops.functions import CarafeDescriptor as CarafeDescriptor
    from pymluops.functions import DCNDescriptor as DCNDescriptor
    from pymluops.functions import FFTPlan as FFTPlan
    from pymluops.functions import NmsDescriptor as NmsDescriptor
    from pymluops.functions import RoiAlignForwardDescriptor as RoiAlignForwardDescriptor
    from pymluops.functions import SeqDataDescriptor as SeqDataDescriptor
    from pymluops.functions import TensorSetDescriptor as TensorSetDescriptor

__all__ = [
    "AllocFailedError",
    "ArchMismatchError",
    "Backend",
    "BackendInfo",
    "BadParamError",
    "BadParamTypeError",
    "DataType",
    "DeviceArray",
    "ExecutionFailedError",
    "ExportError",
    "Handle",
    "InternalError",
    "Layout",
    "MluOpError",
    "NotInitializedError",
    "NotSupportedError",
    "NumericalOverflowError",
    "Queue",
    "SparseConvolutionDescriptor",
    "Status",
    "TensorDescriptor",
    "backends",
    "get_num_threads",
    "load",
    "set_num_threads",
    "use",
]
__all__ += ops.__all__
__all__.remove("abs")  # after `from pymluops import *` it would hide Python's

#: Classes of `pymluops.functions` that are found here too.
_SETTINGS = frozenset(
    (
        "AdamWDescriptor",
        "CarafeDescriptor",
        "DCNDescriptor",
        "FFTPlan",
        "NmsDescriptor",
        "RoiAlignForwardDescriptor",
        "SeqDataDescriptor",
        "TensorSetDescriptor",
    )
)


def __getattr__(name: str) -> Any:
    # Reading the metadata of a package takes longer than importing this one, so it waits until
    # somebody asks.
    if name == "__version__":
        from importlib.metadata import version

        return version("pymluops")
    # Programs that do not use these modules do not wait for their import.
    if name in ("bang", "dropins", "functions", "mmcv", "sim", "torch"):
        from importlib import import_module

        return import_module(f"pymluops.{name}")
    if name in ("install", "uninstall"):
        from pymluops import dropins

        return getattr(dropins, name)
    if name in _SETTINGS:
        from pymluops import functions

        return getattr(functions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
