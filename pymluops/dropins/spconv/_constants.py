"""Flags of ``spconv.constants``. Programs may set them; only the layout of checkpoints has a meaning on a CPU."""

from __future__ import annotations

import os

__all__ = [
    "ALL_WEIGHT_IS_KRSC",
    "FILTER_HWIO",
    "SAVED_WEIGHT_LAYOUT",
    "SPCONV_ALLOW_TF32",
    "SPCONV_CPP_GEMM",
    "SPCONV_CPP_INDICE_PAIRS",
    "SPCONV_CPP_INDICE_PAIRS_IGEMM",
    "SPCONV_DEBUG_SAVE_PATH",
    "SPCONV_DO_SORT",
    "SPCONV_FX_TRACE_MODE",
    "SPCONV_INT8_DEBUG",
    "SPCONV_USE_DIRECT_TABLE",
]

ALL_WEIGHT_IS_KRSC = True
FILTER_HWIO = False
#: How filters of checkpoints lie: "KRSC", "RSKC", "RSCK", or "" for what their shapes tell.
SAVED_WEIGHT_LAYOUT = os.environ.get("SPCONV_SAVED_WEIGHT_LAYOUT", "")
SPCONV_ALLOW_TF32 = False
SPCONV_CPP_GEMM = False
SPCONV_CPP_INDICE_PAIRS = False
SPCONV_CPP_INDICE_PAIRS_IGEMM = False
SPCONV_DEBUG_SAVE_PATH = ""
SPCONV_DO_SORT = True
SPCONV_FX_TRACE_MODE = False
SPCONV_INT8_DEBUG = False
SPCONV_USE_DIRECT_TABLE = True
