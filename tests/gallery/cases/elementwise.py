"""Kernels whose results depend on one element, or on one row, each."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallery.case import SINCE_370, Case, Changed, Out
from gallery.cases.copies import floats, integral


def softmax(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 13, 201) * 4, Out((13, 201)), 13, 201]


def softmax_oracle(x: np.ndarray, *_: Any) -> np.ndarray:
    powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def leaky_relu_half(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 2311).astype(np.float16), Out(2311, np.float16), 0.125, 2311]


def batch_norm(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 333, 64), integral(rng, 64), integral(rng, 64), Out((333, 64)), 333, 64]


def quantize(rng: np.random.Generator) -> list[Any]:
    x = (rng.integers(-600, 600, 2000) / 8).astype(np.float32)
    return [x, Out(2000, np.int8), Out(2000), -1, 2000]


def quantize_oracle(x: np.ndarray, position: int, _n: int) -> tuple[np.ndarray, np.ndarray]:
    scaled = x.astype(np.float64) / 2.0**position
    away_from_zero = np.trunc(scaled + np.copysign(0.5, scaled))
    q = np.clip(away_from_zero, -127, 127).astype(np.int8)
    return q, (x - q * 2.0**position).astype(np.float32)


def bit_mask(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 3001), Out(376, np.uint8), Changed(np.zeros(1, np.int32)), 0.25, 3001]


def bit_mask_oracle(x: np.ndarray, _number: np.ndarray, threshold: float, _n: int) -> tuple[np.ndarray, np.ndarray]:
    above = x > np.float32(threshold)
    return np.packbits(above, bitorder="little"), np.array([above.sum()], np.int32)


def fused_assembly(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 5555), Out(5555), -2.0, 0.5, 1.0, 5555]


def fused_oracle(x: np.ndarray, threshold: float, scale: float, shift: float, _n: int) -> np.ndarray:
    return np.clip(x * np.float32(scale) + np.float32(shift), 0, 6) * (x > threshold)


CASES = (
    Case("fused_assembly", 4, "union1", fused_assembly, fused_oracle, 0.0, SINCE_370),
    Case("softmax", 4, "union1", softmax, softmax_oracle, 1e-6),
    Case("leaky_relu_half", 3, "block", leaky_relu_half, lambda x, slope, n: np.maximum(x, x * np.float16(slope))),
    Case("batch_norm", 4, "union1", batch_norm, lambda x, scale, bias, rows, channels: x * scale + bias),
    Case("quantize", 3, "block", quantize, quantize_oracle),
    Case("bit_mask", 4, "block", bit_mask, bit_mask_oracle),
)
