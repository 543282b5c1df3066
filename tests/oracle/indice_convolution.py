"""indice_convolution: products of sparse rows with filter cells, in float64 unless told otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

#: What only the C function looks at: values of the pairs, their numbers, and how these fit to the rows.
LEFT_TO_C = ("indice_pairs", "indice_num", "output_grad_desc", "input_grad_desc", "filters_desc")


def _cells(filters: np.ndarray) -> np.ndarray:
    """The filters [kd, kh, kw, Ci, Co] as [K, Ci, Co]."""
    return filters.reshape(-1, *filters.shape[-2:]).astype(np.float64)


def forward(
    features: np.ndarray, filters: np.ndarray, pairs: np.ndarray, num: np.ndarray, rows: int, inverse: int = 0
) -> np.ndarray:
    """features_out [rows, Co]: out[o] += features[i] @ filters[k] for each cell k and pair (i, o), or (o, i)."""
    cells = _cells(filters)
    out = np.zeros((rows, filters.shape[-1]))
    for k in range(len(cells)):
        for number in range(int(num[k])):
            source, target = pairs[k, inverse, number], pairs[k, 1 - inverse, number]
            out[target] += features[source].astype(np.float64) @ cells[k]
    return out


def backward_data(
    output_grad: np.ndarray, filters: np.ndarray, pairs: np.ndarray, num: np.ndarray, rows: int, inverse: int = 0
) -> np.ndarray:
    """input_grad [rows, Ci]: grad[i] += output_grad[o] @ filters[k]^T for each cell k and pair."""
    cells = _cells(filters)
    grad = np.zeros((rows, filters.shape[-2]))
    for k in range(len(cells)):
        for number in range(int(num[k])):
            target, source = pairs[k, inverse, number], pairs[k, 1 - inverse, number]
            grad[target] += output_grad[source].astype(np.float64) @ cells[k].T
    return grad


def backward_filter(
    features: np.ndarray, output_grad: np.ndarray, pairs: np.ndarray, num: np.ndarray, inverse: int = 0
) -> np.ndarray:
    """filters_grad [K, Ci, Co]: the outer products of features and output gradients, summed over the pairs."""
    grad = np.zeros((len(num), features.shape[1], output_grad.shape[1]))
    for k in range(len(num)):
        for number in range(int(num[k])):
            feature = features[pairs[k, inverse, number]].astype(np.float64)
            grad[k] += np.outer(feature, output_grad[pairs[k, 1 - inverse, number]].astype(np.float64))
    return grad


def chained(
    source: np.ndarray, cells: np.ndarray, pairs: np.ndarray, num: np.ndarray, rows: int, source_side: int
) -> np.ndarray:
    """The product bit by bit: a chain of multiply-adds in float32, each rounded once, over cells, pairs and channels.

    float64 holds the product of two floats exactly; adding a float to it rounds twice at worst, which differs from one
    rounding only where the sum lies halfway between two floats. Small integers never do.
    """
    out = np.zeros((rows, cells.shape[-1]), np.float32)
    for k in range(len(cells)):
        for number in range(int(num[k])):
            target = pairs[k, 1 - source_side, number]
            row = source[pairs[k, source_side, number]].astype(np.float64)
            for channel, factors in enumerate(cells[k].astype(np.float64)):
                out[target] = (row[channel] * factors + out[target]).astype(np.float32)
    return out


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the pairs be a permutation of the rows for each cell."""
    pairs, num = arguments["indice_pairs"], arguments["indice_num"]
    inputs = pairs.shape[2]
    outputs = arguments["num_act_out"] if "num_act_out" in arguments else len(arguments["output_grad"])
    pairs[...] = -1
    for k in range(len(pairs)):
        num[k] = rng.integers(0, min(inputs, outputs) + 1)
        pairs[k, 0, : num[k]] = rng.permutation(inputs)[: num[k]]
        pairs[k, 1, : num[k]] = rng.permutation(outputs)[: num[k]]
    arguments["inverse"] = arguments["sub_m"] = 0
