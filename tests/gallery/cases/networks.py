"""Kernels of neural networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gallery.case import SINCE_370, Case, Changed, Out
from gallery.cases.copies import floats, integral


def log_softmax_oracle(x: np.ndarray, *_: int) -> np.ndarray:
    shifted = x.astype(np.float64) - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def layer_norm(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 19, 201), floats(rng, 201), floats(rng, 201), Out((19, 201)), 1e-5, 19, 201]


def layer_norm_oracle(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, epsilon: float, *_: int) -> np.ndarray:
    centred = x.astype(np.float64) - x.mean(-1, keepdims=True, dtype=np.float64)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon) * gamma + beta


def rms_norm_half(rng: np.random.Generator) -> list[Any]:
    x, weight = floats(rng, 18, 300).astype(np.float16), floats(rng, 300).astype(np.float16)
    return [x, weight, Out((18, 300), np.float16), 1e-5, 18, 300]


def rms_norm_oracle(x: np.ndarray, weight: np.ndarray, epsilon: float, *_: int) -> np.ndarray:
    wide = x.astype(np.float64)
    return wide / np.sqrt((wide**2).mean(-1, keepdims=True) + epsilon) * weight


def gelu_oracle(x: np.ndarray, _n: int) -> np.ndarray:
    return x * (1 + np.vectorize(math.erf)(x.astype(np.float64) / math.sqrt(2))) / 2


def attention(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 11, 64), floats(rng, 75, 64), floats(rng, 75, 64), Out((11, 64)), 0.125, 11, 75]


def attention_oracle(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, *_: int) -> np.ndarray:
    scores = q.astype(np.float64) @ k.T * scale
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


def gather_rows(rng: np.random.Generator) -> list[Any]:
    index = np.concatenate([rng.permutation(50), rng.integers(0, 50, 77)]).astype(np.int32)
    return [floats(rng, 50, 33), index, Out((127, 33)), 127, 33]


def scatter_rows(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 127, 33), rng.permutation(127).astype(np.int32), Out((127, 33)), 127, 33]


def scatter_oracle(x: np.ndarray, index: np.ndarray, *_: int) -> np.ndarray:
    table = np.empty_like(x)
    table[index] = x
    return table


def im2col(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 12, 17, 5), Out((10 * 16, 3 * 2 * 5)), 12, 17, 5, 3, 2]


def windows(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """[out_h, out_w, channels, height, width]"""
    return np.lib.stride_tricks.sliding_window_view(image, (height, width), (0, 1))


def im2col_oracle(image: np.ndarray, *_: int) -> np.ndarray:
    return windows(image, 3, 2).transpose(0, 1, 3, 4, 2).reshape(10 * 16, 30)


def depthwise_conv(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 14, 11, 24), integral(rng, 3, 3, 24), Out((12, 9, 24)), 14, 11, 24]


def depthwise_oracle(image: np.ndarray, weights: np.ndarray, *_: int) -> np.ndarray:
    return np.einsum("hwcyx,yxc->hwc", windows(image, 3, 3), weights)


def roi_pool(rng: np.random.Generator) -> list[Any]:
    first = rng.integers(0, 12, (13, 2))
    last = first + rng.integers(0, 6, (13, 2))
    regions = np.concatenate([first, last], 1).astype(np.int32)
    regions[0] = (0, 0, 17, 17)
    return [floats(rng, 18, 18, 20), regions, Out((13, 2, 2, 20)), 13, 18, 20]


def roi_pool_oracle(image: np.ndarray, regions: np.ndarray, *_: int) -> np.ndarray:
    out = np.empty((len(regions), 2, 2, image.shape[2]), np.float32)
    for number, (x1, y1, x2, y2) in enumerate(regions):
        region = image[y1 : y2 + 1, x1 : x2 + 1]
        for y, x in np.ndindex(2, 2):
            top, bottom = y * len(region) // 2, -(-(y + 1) * len(region) // 2)
            left, right = x * region.shape[1] // 2, -(-(x + 1) * region.shape[1] // 2)
            out[number, y, x] = region[top:bottom, left:right].max((0, 1))
    return out


def resize(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 9, 13, 10), Out((17, 19, 10)), 9, 13, 10, 17, 19]


def resize_oracle(image: np.ndarray, height: int, width: int, _channels: int, out_h: int, out_w: int) -> np.ndarray:
    def mixed(x: np.ndarray, axis: int, size: int, out_size: int) -> np.ndarray:
        exact = np.arange(out_size) * (size - 1) / (out_size - 1)
        first = np.minimum(exact.astype(int), size - 2)
        weight = (exact - first).reshape([-1 if i == axis else 1 for i in range(3)])
        return np.take(x, first, axis) * (1 - weight) + np.take(x, first + 1, axis) * weight

    return mixed(mixed(image.astype(np.float64), 0, height, out_h), 1, width, out_w)


SETTINGS = np.dtype([("rate", "f4"), ("beta1", "f4"), ("beta2", "f4"), ("epsilon", "f4")])


def adam(rng: np.random.Generator) -> list[Any]:
    arrays = [floats(rng, 3333) for _ in range(3)]
    settings = np.array((0.01, 0.9, 0.99, 1e-6), SETTINGS)[()]
    return [
        Changed(arrays[0]), arrays[1], Changed(arrays[2]), Changed(np.abs(floats(rng, 3333))), settings, 3333
    ]  # fmt: skip


def adam_oracle(p: np.ndarray, g: np.ndarray, m: np.ndarray, v: np.ndarray, settings: Any, _n: int) -> Any:
    rate, beta1, beta2, epsilon = (float(value) for value in settings)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    return p - rate * m / (np.sqrt(v) + epsilon), m, v


def moe_gate(rng: np.random.Generator) -> list[Any]:
    load = Changed(np.zeros(12, np.int32))
    return [floats(rng, 101, 12), Out((101, 2)), Out((101, 2), np.int32), load, 101, 12]


def moe_oracle(gate: np.ndarray, _load: np.ndarray, tokens: int, number: int) -> Any:
    best = np.argsort(-gate, -1, kind="stable")[:, :2]
    scores = np.exp(np.take_along_axis(gate.astype(np.float64), best, -1))
    counts = np.bincount(best.ravel(), minlength=number)
    return scores / scores.sum(-1, keepdims=True), best, counts


def rotary(rng: np.random.Generator) -> list[Any]:
    angles = rng.uniform(0, 6, (10, 48))
    x = floats(rng, 10, 3, 96).astype(np.float16)
    return [
        x,
        np.cos(angles).astype(np.float16),
        np.sin(angles).astype(np.float16),
        Out(x.shape, np.float16),
        10,
        3,
        96,
    ]


def rotary_oracle(x: np.ndarray, cosines: np.ndarray, sines: np.ndarray, *_: int) -> np.ndarray:
    first, second = x[..., :48], x[..., 48:]
    cosine, sine = cosines[:, None], sines[:, None]
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def swish_gate(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 9999), floats(rng, 9999), Out(9999), 9999]


def swish_oracle(x: np.ndarray, gate: np.ndarray, _n: int) -> np.ndarray:
    return x / (1 + np.exp(-x.astype(np.float64))) * gate


def matmul(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 75, 48), integral(rng, 128, 48), Out((75, 128)), 75, 48, 128]


def gemm_half(rng: np.random.Generator) -> list[Any]:
    a, b = integral(rng, 37, 100).astype(np.float16), integral(rng, 320, 100).astype(np.float16)
    return [a, b, Out((37, 320)), 37, 100, 320]


def conv_int8(rng: np.random.Generator) -> list[Any]:
    image = rng.integers(-128, 128, (11, 14, 128)).astype(np.int8)
    weights = rng.integers(-128, 128, (64, 3, 3, 128)).astype(np.int8)
    return [image, weights, Out((9, 12, 64)), 11, 14, 128, -8]


def conv_oracle(image: np.ndarray, weights: np.ndarray, *sizes: int) -> np.ndarray:
    sums = np.einsum("hwcyx,oyxc->hwo", windows(image.astype(np.int64), 3, 3), weights.astype(np.int64))
    return sums * 2.0 ** sizes[-1]


CASES = (
    Case(
        "log_softmax", 4, "union1", lambda rng: [floats(rng, 23, 333) * 4, Out((23, 333)), 23, 333],
        log_softmax_oracle, 1e-6, SINCE_370,
    ),
    Case("layer_norm", 4, "union1", layer_norm, layer_norm_oracle, 1e-6, SINCE_370),
    Case("rms_norm_half", 8, "union1", rms_norm_half, rms_norm_oracle, 1e-3, SINCE_370),
    Case("gelu", 4, "union1", lambda rng: [floats(rng, 7001), Out(7001), 7001], gelu_oracle, 1e-6, SINCE_370),
    Case("attention", 4, "union1", attention, attention_oracle, 1e-6, SINCE_370),
    Case("embedding", 4, "union1", gather_rows, lambda t, index, n, w: t[index], 0.0, SINCE_370, "gather_rows"),
    Case("embedding", 4, "union1", scatter_rows, scatter_oracle, 0.0, SINCE_370, "scatter_rows"),
    Case("im2col", 4, "union1", im2col, im2col_oracle, 0.0, SINCE_370),
    Case("depthwise_conv", 4, "union1", depthwise_conv, depthwise_oracle, 0.0, SINCE_370),
    Case("roi_pool", 4, "union1", roi_pool, roi_pool_oracle, 0.0, SINCE_370),
    Case("resize", 4, "union1", resize, resize_oracle, 1e-5, SINCE_370),
    Case("adam", 4, "union1", adam, adam_oracle, 1e-6, SINCE_370),
    Case("moe_gate", 4, "union1", moe_gate, moe_oracle, 1e-6, SINCE_370),
    Case("rotary", (2, 2), "block", rotary, rotary_oracle, 0.0, SINCE_370),
    Case("matmul", 4, "union1", matmul, lambda a, b, *_: a @ b.T, 0.0, SINCE_370),
    Case("gemm_half", 8, "union1", gemm_half, lambda a, b, *_: a.astype(np.float32) @ b.T, 0.0, SINCE_370),
    Case("conv_int8", 4, "union1", conv_int8, conv_oracle),
    Case("swish_gate", 8, "union2", swish_gate, swish_oracle, 1e-6, SINCE_370),
)  # fmt: skip
