"""The functions of mmcv that tell what an extension was compiled with."""

from __future__ import annotations

from importlib import metadata

from pymluops.mmcv._binding import Row

__all__ = ("get_compiler_version", "get_compiling_cuda_version")

ROWS = (Row("get_compiler_version, get_compiling_cuda_version", __all__, "-", "pymluops", dtypes="-"),)


def get_compiler_version() -> str:
    """Return what `mmcv.ops.get_compiler_version` gives: who made the extension."""
    return f"pymluops {metadata.version('pymluops')}"


def get_compiling_cuda_version() -> str:
    """Return what a compiled mmcv without CUDA answers."""
    return "not available"
