"""The modules of the package ``spconv`` 2.x, and the names that each of them has."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

__all__ = ["VERSION", "contents", "modules"]

#: Programs compare it as text, and read its numbers.
VERSION = "2.3.8"

_PACKAGE = "pymluops.dropins.spconv"


def _of_each_size(*kinds: str) -> str:
    return " ".join(f"{kind}{ndim}d" for kind in kinds for ndim in (1, 2, 3, 4))


_KINDS = _of_each_size("SparseConv", "SubMConv", "SparseInverseConv", "SparseConvTranspose")
_POOLS = f"SparseMaxPool SparseAvgPool {_of_each_size('SparseMaxPool', 'SparseAvgPool')}"
_GLOBAL = "SparseGlobalMaxPool SparseGlobalAvgPool SparseGlobalMaxOrAvgPool"
_ALGORITHMS = "ConvAlgo AlgoHint"
_TENSOR = "SparseConvTensor IndiceData ImplicitGemmIndiceData scatter_nd expand_nd"
_MODULES = (
    "SparseModule SparseSequential SparseBatchNorm SparseSyncBatchNorm SparseReLU SparseIdentity Identity ToDense "
    "RemoveGrid assign_name_for_sparse_modules is_spconv_module is_sparse_conv"
)
_TABLES = "AddTable AddTableMisaligned ConcatTable JoinTable"


class _Module(NamedTuple):
    """A module: the files of this package and what it has of them, "*" for all; modules that are its attributes."""

    sources: dict[str, str]
    children: str = ""
    package: bool = False


_NAMES: dict[str, _Module] = {
    "spconv": _Module({"_algorithms": _ALGORITHMS}, "constants core", package=True),
    "spconv.constants": _Module({"_constants": "*"}),
    "spconv.core": _Module({"_algorithms": "*"}),
    "spconv.algo": _Module({"_algorithms": "*"}),
    "spconv.pytorch": _Module(
        {
            "_algorithms": _ALGORITHMS,
            "_tensor": _TENSOR,
            "_modules": _MODULES,
            "_convolutions": "SparseConvolution",
            "_kinds": _KINDS,
            "_pools": f"{_POOLS} {_GLOBAL}",
            "_tables": _TABLES,
        },
        "constants conv core functional hash identity modules ops pool tables utils",
        package=True,
    ),
    "spconv.pytorch.constants": _Module({"_constants": "*"}),
    "spconv.pytorch.conv": _Module(
        {
            "_algorithms": _ALGORITHMS,
            "_tensor": "SparseConvTensor IndiceData ImplicitGemmIndiceData expand_nd",
            "_modules": "SparseModule",
            "_convolutions": "SparseConvolution SparseConvolutionBase",
            "_kinds": _KINDS,
        }
    ),
    "spconv.pytorch.core": _Module({"_tensor": _TENSOR, "_algorithms": "ConvAlgo"}),
    "spconv.pytorch.functional": _Module({"_functional": "*"}),
    "spconv.pytorch.hash": _Module({"_hash": "*"}),
    "spconv.pytorch.identity": _Module({"_modules": "Identity"}),
    "spconv.pytorch.modules": _Module(
        {"_modules": _MODULES, "_tensor": "SparseConvTensor", "_convolutions": "SparseConvolution"}
    ),
    "spconv.pytorch.ops": _Module({"_ops": "*", "_algorithms": "ConvAlgo"}),
    "spconv.pytorch.pool": _Module({"_pools": "*", "_modules": "SparseModule"}),
    "spconv.pytorch.tables": _Module({"_tables": "*", "_modules": "SparseModule"}),
    "spconv.pytorch.utils": _Module({"_voxels": "PointToVoxel gather_features_by_pc_voxel_id"}),
    "spconv.test_utils": _Module({"_test_utils": "*"}),
    "spconv.utils": _Module(
        {"_voxels": "Point2VoxelCPU1d Point2VoxelCPU2d Point2VoxelCPU3d Point2VoxelCPU4d", "_boxes": "*"}
    ),
    "cumm": _Module({}, "tensorview", package=True),
    "cumm.tensorview": _Module({"_tensorview": "*"}),
}


def modules() -> dict[str, bool]:
    """Return the names of all modules, and whether each is a package."""
    return {name: module.package for name, module in _NAMES.items()}


def contents(name: str) -> dict[str, Any]:
    """Return the attributes of a module.

    Its submodules are imported when they are asked for: a thread that imports one of them holds its
    lock and waits for the module.
    """
    module = _NAMES[name]
    found: dict[str, Any] = {}
    if name.startswith(("spconv.pytorch", "spconv.utils")):
        import_module("pymluops.torch")  # before its modules: threads that begin with one of these would meet
    for source, wanted in module.sources.items():
        made = import_module(f"{_PACKAGE}.{source}")
        found["__file__"] = made.__file__
        found |= {key: getattr(made, key) for key in (made.__all__ if wanted == "*" else wanted.split())}
    if name in ("spconv", "cumm"):
        found["__version__"] = VERSION if name == "spconv" else "0.7.11"
    if name == "spconv":
        found["SPCONV_VERSION_NUMBERS"] = _numbers(VERSION)
    if name == "spconv.pytorch.constants":
        found["PYTORCH_VERSION"] = _numbers(import_module("torch").__version__)
    if name == "spconv.utils":
        found["nullcontext"] = contextlib.nullcontext
    children = module.children.split()
    if children:
        found["__all__"] = [*(key for key in found if not key.startswith("_")), *children]
        found["__getattr__"] = _children(name, children)
        found["__dir__"] = lambda: sorted({*vars(sys.modules[name]), *children})
    return found


def _children(name: str, children: list[str]) -> Callable[[str], Any]:
    def of(attribute: str) -> Any:
        if attribute not in children:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        full = f"{name}.{attribute}"
        try:
            return import_module(full)
        except ModuleNotFoundError:  # uninstalled, and the program has kept the package
            child = ModuleType(full)
            vars(child).update(contents(full))
            return child

    return of


def _numbers(version: str) -> list[int]:
    """Return the first three numbers of a version."""
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
