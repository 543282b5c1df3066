"""ms_deform_attn: for each query and head the weighted sum of bilinear samples from several maps, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad

#: Arguments that only the C functions look at, by their names in both.
LEFT_TO_C = ("im2col_step", "spatial_shapes", "level_start_index", "data_spatial_shapes", "data_level_start_index")


class Inputs(NamedTuple):
    """What both directions take, in the order of the C functions."""

    value: np.ndarray  # [B, K, M, C]
    spatial_shapes: np.ndarray  # [L, 2], height and width
    level_start_index: np.ndarray  # [L]
    sampling_loc: np.ndarray  # [B, Q, M, L, P, 2], x and y
    attn_weight: np.ndarray  # [B, Q, M, L, P]


class Sample(NamedTuple):
    """A sample that counts. Keys are those of [yl, xl], [yl, xh], [yh, xl], [yh, xh], None outside of the map."""

    place: tuple[int, int, int, int, int]  # b, q, m, l, p
    keys: tuple[int | None, ...]
    distances: tuple[np.floating, np.floating, np.floating, np.floating]  # hy, hx, ly, lx
    size: tuple[np.floating, np.floating]  # height, width
    attention: np.floating

    @property
    def corner_weights(self) -> tuple[np.floating, ...]:
        hy, hx, ly, lx = self.distances
        return hy * hx, hy * lx, ly * hx, ly * lx


def samples(inputs: Inputs, real: type[np.floating]) -> Iterator[Sample]:
    """Samples that count, in the order b, q, m, l, p."""
    for place in np.ndindex(inputs.attn_weight.shape):
        height, width = (int(size) for size in inputs.spatial_shapes[place[3]])
        location = inputs.sampling_loc[place].astype(real)
        with np.errstate(all="ignore"):
            x, y = location[0] * real(width) - real(0.5), location[1] * real(height) - real(0.5)
        if not (-1 < x < width and -1 < y < height):
            continue
        xl, yl = int(np.floor(x)), int(np.floor(y))
        lx, ly = x - real(xl), y - real(yl)
        start = int(inputs.level_start_index[place[3]])
        keys = tuple(
            start + row * width + column if 0 <= row < height and 0 <= column < width else None
            for row in (yl, yl + 1)
            for column in (xl, xl + 1)
        )
        distances = real(1) - ly, real(1) - lx, ly, lx
        yield Sample(place, keys, distances, (real(height), real(width)), real(inputs.attn_weight[place]))


def _corner_values(inputs: Inputs, sample: Sample, real: type[np.floating]) -> list[np.ndarray]:
    """Channels of the four corners, zeros outside of the map."""
    b, _, m, _, _ = sample.place
    zeros = np.zeros(inputs.value.shape[3], real)
    return [zeros if key is None else inputs.value[b, key, m].astype(real) for key in sample.keys]


def _sampled(sample: Sample, corners: list[np.ndarray]) -> np.ndarray:
    w = sample.corner_weights
    return ((w[0] * corners[0] + w[1] * corners[1]) + w[2] * corners[2]) + w[3] * corners[3]


def forward(inputs: Inputs, real: type[np.floating] = np.float64) -> np.ndarray:
    """data_col [B, Q, M, C]; samples are added in order, each sum of corners is multiplied by the weight."""
    batch, queries, heads = inputs.attn_weight.shape[:3]
    result = np.zeros((batch, queries, heads, inputs.value.shape[3]), real)
    with np.errstate(all="ignore"):
        for sample in samples(inputs, real):
            corners = _corner_values(inputs, sample, real)
            result[sample.place[:3]] += sample.attention * _sampled(sample, corners)
    return result


def backward(
    inputs: Inputs, grad_output: np.ndarray, real: type[np.floating] = np.float64
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of value, sampling_loc and attn_weight. Additions to one value are made in the order of samples."""
    grad_value = np.zeros(inputs.value.shape, real)
    grad_loc, grad_weight = np.zeros(inputs.sampling_loc.shape, real), np.zeros(inputs.attn_weight.shape, real)
    with np.errstate(all="ignore"):
        for sample in samples(inputs, real):
            b, _, m, _, _ = sample.place
            grad = grad_output[sample.place[:3]].astype(real)
            weighted = grad * sample.attention
            for key, weight in zip(sample.keys, sample.corner_weights, strict=True):
                if key is not None:
                    grad_value[b, key, m] += weight * weighted
            v = _corner_values(inputs, sample, real)
            hy, hx, ly, lx = sample.distances
            height, width = sample.size
            grad_weight[sample.place] = (grad * _sampled(sample, v)).sum()
            grad_loc[sample.place] = (
                (width * (hy * (v[1] - v[0]) + ly * (v[3] - v[2])) * weighted).sum(),
                (height * (hx * (v[2] - v[0]) + lx * (v[3] - v[1])) * weighted).sum(),
            )
    return grad_value, grad_loc, grad_weight


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the maps lie within the keys, and the samples near the maps."""
    keys, levels = arguments["value"].shape[1], len(arguments["level_start_index"])
    heights = rng.integers(1, int(keys**0.5) + 1, levels)
    widths = keys // heights
    arguments["spatial_shapes"][:] = np.stack([heights, widths], 1)
    arguments["level_start_index"][:] = [rng.integers(0, keys - size + 1) for size in heights * widths]
    arguments["sampling_loc"][:] = rng.uniform(-0.2, 1.2, arguments["sampling_loc"].shape)
    arguments["im2col_step"] = len(arguments["value"])


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays; the step changes none."""
    inputs = Inputs(*given[:5])
    return forward(inputs) if name == "ms_deform_attn_forward" else backward(inputs, given[5])


def _levels(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """The step, and levels within the keys; only contents that fit their shape are looked at."""
    step, batch = problem.values["im2col_step"], sizes.get("B", 0)
    if "attn_weight" in problem.tensors:  # backward looks at the step before it compares the shapes
        batch = (problem.tensors["attn_weight"].dims or (0,))[0]
    used = min(batch, step)
    divides = bad(used > 0 and batch % used == 0, "im2col_step")
    checks = {"step": [divides], "levels": list[Check]()}
    shapes, starts = (
        next(tensor for name, tensor in problem.tensors.items() if name.endswith(end))
        for end in ("spatial_shapes", "level_start_index")
    )
    if sizes.get("P") == 0 or (sizes.get("K") == 0 and "grad_value" in problem.tensors):
        return checks
    if any(t.content is None or t.content.shape != t.dims or t.dtype != "INT32" for t in (shapes, starts)):
        return checks
    for (height, width), start in zip(shapes.content.tolist(), starts.content.tolist(), strict=False):
        fits = height >= 0 and width >= 0 and start >= 0 and start + height * width <= sizes.get("K", 0)
        checks["levels"].append(bad(fits, *(n for n in problem.tensors if n.endswith(("shapes", "start_index")))))
    return checks


REFUSALS = {
    "mluOpMsDeformAttnForward": Refusals(
        order="handle objects ranks shapes packed types indexable positive step data overlap levels",
        empty={"L": "data_col", "P": "data_col"},
        checks=_levels,
    ),
    "mluOpMsDeformAttnBackward": Refusals(
        order="handle objects ranks packed types step shapes indexable positive data overlap levels",
        empty={"L": "", "P": "grad_value", "K": "grad_sampling_loc grad_attn_weight"},
        checks=_levels,
    ),
}
