"""The modules whose statements are compiled together: each has a function ``statements(arch)``."""

from __future__ import annotations

from kernels.intrinsics import (
    test_assembly,
    test_atomic,
    test_atomic_places,
    test_bits,
    test_convert,
    test_elementwise,
    test_int4,
    test_layout,
    test_math,
    test_math_exact,
    test_matrix,
    test_pool_back,
    test_pool_index,
    test_reduce,
)

MODULES = (
    test_assembly,
    test_atomic,
    test_atomic_places,
    test_bits,
    test_convert,
    test_elementwise,
    test_int4,
    test_layout,
    test_math,
    test_math_exact,
    test_matrix,
    test_pool_back,
    test_pool_index,
    test_reduce,
)
