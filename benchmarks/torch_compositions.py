"""The operators that the example networks use, written with PyTorch alone, with gradients.

`ways_of` returns for a network the ways to write its operators: functions by the name that they
replace. Where a peer does the same on arrays, it is called here. spconv's functions are one of the
ways of the sparse network, if installed.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.cases import Case
from benchmarks.peers.ball_query import torch as torch_ball_query
from benchmarks.peers.border_align._points import backward_positions, corners, forward_positions
from benchmarks.peers.border_align.torch import scaled
from benchmarks.peers.get_indice_pairs import torch as torch_get_indice_pairs
from benchmarks.peers.indice_convolution.torch import convolve, gradients
from benchmarks.peers.ms_deform_attn.torch import attention
from benchmarks.peers.psamask._views import Geometry
from benchmarks.peers.psamask.torch import source_index
from benchmarks.peers.three_interpolate import torch as torch_three_interpolate
from benchmarks.peers.three_nn import torch as torch_three_nn
from benchmarks.peers.tin_shift import torch as torch_tin_shift
from benchmarks.problem import Arrays, Problem

Operators = Mapping[str, Callable[..., Any]]


def ways_of(network: str, threads: int) -> dict[str, Operators]:
    """Return the ways to write a network's operators, by name, that are right with so many threads."""
    ways = _WAYS[network](importlib.import_module("torch"))
    # With two threads, the results of spconv's CPU build differ from run to run, by more than a
    # rounding.
    return ways if threads == 1 else {name: way for name, way in ways.items() if name != "spconv"}


def _problem(operator: str, parameters: Mapping[str, Any], **tensors: Any) -> Problem:
    """Return what the peers take: a problem of some tensors, whose memory its arrays share."""
    arrays = {name: tensor.detach().contiguous().numpy() for name, tensor in tensors.items()}
    case = Case("network", operator, operator, "network", "more", "float32", parameters)
    return Problem(case, arrays, {}, lambda outputs: outputs, lambda expected, found: None)


def _run(module: Any, way: str, problem: Problem, **outputs: Any) -> Arrays:
    """Let a variant of a peer write into tensors."""
    found: Arrays = module.variants(problem, {name: tensor.numpy() for name, tensor in outputs.items()}, 0)[way]()
    return found


def _differentiable(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a gradient: `backward` takes the incoming one, then the arguments of `forward`."""

    def compute(ctx: Any, *arguments: Any) -> Any:
        ctx.arguments = arguments
        return forward(*arguments)

    def differentiate(ctx: Any, grad: Any) -> Any:
        return backward(grad, *ctx.arguments, needed=ctx.needs_input_grad)

    return autograd_function(compute, differentiate)


def autograd_function(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a class of torch.autograd.Function, which needs no torch where types are checked."""
    base: Any = importlib.import_module("torch").autograd.Function
    kind: Any = type("Function", (base,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
    function: Callable[..., Any] = kind.apply
    return function


# ---- Points --------------------------------------------------------------------------------------


def _points(torch: Any) -> dict[str, Operators]:
    near = {"ball_query": functools.partial(_ball_query, torch)}
    nearest, spread = ("differences", "cdist"), ("gather", "embedding_bag", "dense matrix")
    return {
        f"{one}, {other}": {
            **near,
            "three_nn": functools.partial(_three_nn, torch, one),
            "three_interpolate": _three_interpolate(torch, other),
        }
        for one, other in itertools.product(nearest, spread)
    }


def _ball_query(torch: Any, min_radius: float, max_radius: float, sample_num: int, xyz: Any, center_xyz: Any) -> Any:
    if min_radius > 0:
        raise ValueError(f"ball_query: min_radius: the composition has none, got {min_radius}")
    out = torch.empty((*center_xyz.shape[:2], sample_num), dtype=torch.int32)
    _run(torch_ball_query, "topk", _problem("ball_query", {"radius": max_radius}, new_xyz=center_xyz, xyz=xyz), out=out)
    return out


def _three_nn(torch: Any, way: str, target: Any, source: Any) -> tuple[Any, Any]:
    dist2, idx = torch.empty((*target.shape[:2], 3)), torch.empty((*target.shape[:2], 3), dtype=torch.int32)
    _run(torch_three_nn, way, _problem("three_nn", {}, unknown=target, known=source), dist2=dist2, idx=idx)
    return dist2.sqrt_(), idx


def _three_interpolate(torch: Any, way: str) -> Callable[..., Any]:
    back = {"gather": "scatter_add", "embedding_bag": "index_add"}.get(way, way)

    def interpolate(direction: str, way: str, name: str, source: Any, places: tuple[Any, Any], features: int) -> Any:
        batch, points, _ = places[0].shape
        facts = {"batch": batch, "features": features, "points": points, "channels": source.shape[1]}
        tensors = {name: source, "indices": places[0], "weights": places[1]}
        size = points if name == "features" else features
        out = torch.empty((batch, source.shape[1], size))
        _run(torch_three_interpolate, way, _problem(f"three_interpolate_{direction}", facts, **tensors), out=out)
        return out

    def forward(features: Any, indices: Any, weight: Any) -> Any:
        return interpolate("forward", way, "features", features, (indices, weight), features.shape[2])

    def backward(grad: Any, features: Any, indices: Any, weight: Any, needed: Sequence[bool]) -> Any:
        found = interpolate("backward", back, "grad_output", grad, (indices, weight), features.shape[2])
        return found, None, None

    return _differentiable(forward, backward)


# ---- Sparse convolutions -------------------------------------------------------------------------


def _sparse(torch: Any) -> dict[str, Operators]:
    product = _indice_conv(torch)
    ways: dict[str, Operators] = {
        way: {"get_indice_pairs": functools.partial(_indice_pairs, torch, way), "indice_conv": product}
        for way in ("unique", "dense grid")
    }
    if importlib.util.find_spec("spconv") is not None:
        ways["spconv"] = _spconv()
    return ways


def _indice_pairs(
    torch: Any, way: str, indices: Any, batch_size: int, spatial_shape: Any, ksize: Any, stride: Any, padding: Any,
    dilation: Any, out_padding: Any, subm: bool, transpose: bool,
) -> Any:  # fmt: skip
    """Return output places, the rows that meet under each filter cell as index_add takes them, and how many."""
    if len({*ksize}) > 1 or {*dilation} != {1} or any(out_padding) or transpose:
        raise ValueError("get_indice_pairs: the composition has cubic filters without dilation or transposition only")
    facts = {"batch": batch_size, "space": tuple(spatial_shape), "kernel": ksize[0], "stride": tuple(stride)}
    facts |= {"padding": tuple(padding), "submanifold": subm}
    way = "sorted search" if subm else way
    found = _run(torch_get_indice_pairs, way, _problem("get_indice_pairs", facts, indices=indices))
    out, pairs, num = (torch.from_numpy(found[name]) for name in ("out_indices", "indice_pairs", "indice_num"))
    rows = [(cell[0, :n].long(), cell[1, :n].long()) for cell, n in zip(pairs, num.tolist(), strict=True)]
    return out, rows, num


def _indice_conv(torch: Any) -> Callable[..., Any]:
    def forward(features: Any, filters: Any, rows: Any, num: Any, outputs: int) -> Any:
        return convolve(features, filters.flatten(0, -3), rows, features.new_empty((outputs, filters.shape[-1])))

    def backward(grad: Any, features: Any, filters: Any, rows: Any, num: Any, outputs: int, needed: Any) -> Any:
        first = torch.empty_like(features) if needed[0] else None
        second = torch.empty_like(filters)
        gradients(features, filters.flatten(0, -3), rows, grad, first, second.flatten(0, -3))
        return first, second, None, None, None

    return _differentiable(forward, backward)


@dataclass(frozen=True)
class _SpconvPairs:
    """spconv's pairs [2, K, L], and of which kind they are. Their length is the number of filter cells."""

    pairs: Any
    submanifold: bool

    def __len__(self) -> int:
        return int(self.pairs.shape[1])


def _spconv() -> Operators:
    """The functions of spconv's CPU build."""
    operators: Any = importlib.import_module("spconv.pytorch.ops")
    functional: Any = importlib.import_module("spconv.pytorch.functional")
    native = importlib.import_module("spconv.core").ConvAlgo.Native
    to_spconv = importlib.import_module("pymluops.torch").filters_to_spconv
    operators.get_current_stream = lambda: 0  # the CPU build asks for one of CUDA's in the backward direction

    def pairs(
        indices: Any, batch_size: int, spatial_shape: Any, ksize: Any, stride: Any, padding: Any, dilation: Any,
        out_padding: Any, subm: bool, transpose: bool,
    ) -> Any:  # fmt: skip
        sizes = ksize, stride, padding, dilation, out_padding
        found = operators.get_indice_pairs(indices, batch_size, spatial_shape, native, *sizes, subm, transpose)
        return found[0], _SpconvPairs(found[1], subm), found[2]

    def product(features: Any, filters: Any, rows: _SpconvPairs, num: Any, outputs: int) -> Any:
        convolve = functional.indice_subm_conv if rows.submanifold else functional.indice_conv
        return convolve(features, to_spconv(filters), rows.pairs, num, outputs, native)

    return {"get_indice_pairs": pairs, "indice_conv": product}


# ---- Masks ---------------------------------------------------------------------------------------


def _masks(torch: Any) -> dict[str, Operators]:
    return {
        "gather": {"psa_mask": _psa_mask(torch)},
        "strided view of padded masks": {"psa_mask": functools.partial(_padded_mask, torch)},
    }


def _psa_mask(torch: Any) -> Callable[..., Any]:
    """Gathers in both directions, along indices that depend on the sizes only and are made once."""

    @functools.cache
    def index_of(direction: str, mode: str, mask: int, height: int, width: int) -> tuple[Any, Any]:
        # The index of channels last, for one picture, in terms of channels first.
        facts = {"shape": (1, height, width), "mask": mask, "mode": mode}
        index, missing = map(
            torch.from_numpy, source_index(Geometry(_problem(f"psamask_{direction}", facts, x=empty, dy=empty)))
        )
        cells, places = mask * mask, height * width
        if direction == "forward":
            return index % cells * places + index // cells, missing
        return tuple(one.view(places, cells).t().reshape(-1) for one in (index, missing))

    empty = torch.empty(0)

    def moved(direction: str, source: Any, kind: str, mask: int, size: tuple[int, int]) -> Any:
        # What targets collect with channels last, positions distribute with channels first.
        mode = {"collect": "distribute", "distribute": "collect"}[kind]
        index, missing = index_of(direction, mode, mask, *size)
        found = source.flatten(1).gather(1, index.expand(len(source), -1))
        return found.masked_fill_(missing, 0)

    def forward(masks: Any, kind: str, mask: int) -> Any:
        height, width = masks.shape[2:]
        return moved("forward", masks, kind, mask, (height, width)).view(-1, height * width, height, width)

    def backward(grad: Any, masks: Any, kind: str, mask: int, needed: Any) -> Any:
        return moved("backward", grad, kind, mask, tuple(masks.shape[2:])).view(masks.shape), None, None

    apply = _differentiable(forward, backward)

    def psa_mask(input: Any, psa_type: str, mask_size: tuple[int, int]) -> Any:
        return apply(input, psa_type, _square(mask_size))

    return psa_mask


def _square(mask_size: tuple[int, int]) -> int:
    if mask_size[0] != mask_size[1]:
        raise ValueError(f"psa_mask: mask_size: the composition has square masks only, got {mask_size}")
    return mask_size[0]


def _padded_mask(torch: Any, input: Any, psa_type: str, mask_size: tuple[int, int]) -> Any:
    """Zeros around the masks until each covers the map; then a map is a strided window of its mask."""
    batch, _, height, width = input.shape
    mask, reach = _square(mask_size), (_square(mask_size) - 1) // 2
    before = [max(0, size - 1 - reach) for size in (height, width)]
    after = [max(0, size - (mask - reach)) for size in (height, width)]
    masks = input.permute(0, 2, 3, 1).reshape(batch, height, width, mask, mask)
    padded = torch.nn.functional.pad(masks, (before[1], after[1], before[0], after[0]))
    rows, columns = padded.shape[3:]
    steps = (height * width * rows * columns, width * rows * columns - columns, rows * columns - 1, columns, 1)
    first = (reach + before[0]) * columns + reach + before[1]
    windows = padded.as_strided((batch, height, width, height, width), steps, first)
    if psa_type == "collect":
        windows = windows.permute(0, 3, 4, 1, 2)
    return windows.reshape(batch, height * width, height, width)


# ---- Borders, time and attention -----------------------------------------------------------------


def _borders(torch: Any) -> dict[str, Operators]:
    ways = {"grid_sample": _sampled_borders, "gather of corners": _gathered_borders}
    return {name: {"border_align": functools.partial(way, torch)} for name, way in ways.items()}


def _sampled_borders(torch: Any, input: Any, boxes: Any, pool_size: int) -> Any:
    """Borders are images of their own."""
    batch, channels, height, width = input.shape
    x, y = forward_positions(torch, boxes, pool_size)  # [N, K, 4, pool + 1]
    outside = ((y < -1) | (y > height) | (x < -1) | (x > width)).transpose(1, 2).flatten(0, 1)[:, None]
    grid = torch.stack([scaled(x, width), scaled(y, height)], -1).transpose(1, 2).flatten(0, 1)
    image = input.reshape(batch * 4, channels // 4, height, width)
    found = torch.nn.functional.grid_sample(image, grid, padding_mode="border", align_corners=True)
    largest = found.masked_fill(outside, 0).max(3).values
    return largest.view(batch, 4, channels // 4, -1).permute(0, 2, 3, 1)


def _gathered_borders(torch: Any, input: Any, boxes: Any, pool_size: int) -> Any:
    """The largest sample is found without a gradient; then its four corners alone are gathered."""
    batch, channels, height, width = input.shape
    steps = torch.arange(pool_size + 1, dtype=torch.float32)
    place = backward_positions(torch, boxes, steps, pool_size)
    pixels, weights = corners(torch, lambda values: values.long(), place, height, width)
    rows = input.permute(0, 2, 3, 1).reshape(batch * height * width, 4, channels // 4)
    images = torch.arange(batch).view(-1, 1, 1, 1, 1) * (height * width)
    index = (images + pixels) * 4 + torch.arange(4).view(4, 1, 1)  # rows of one border's channels
    rows = rows.flatten(0, 1)
    shape = (-1, 4)
    bag = torch.nn.functional.embedding_bag
    with torch.no_grad():
        samples = bag(index.view(shape), rows, mode="sum", per_sample_weights=weights.view(shape))
        where = samples.view(*index.shape[:4], -1).argmax(3)  # [N, K, 4, C]
    inner = torch.arange(channels // 4)
    total: Any = 0
    for corner in range(4):
        flat = index[..., corner].gather(3, where) * (channels // 4) + inner
        total = total + rows.reshape(-1).take(flat) * weights[..., corner].gather(3, where)
    return total.permute(0, 3, 1, 2)


def _clips(torch: Any) -> dict[str, Operators]:
    return {way: {"tin_shift": _tin_shift(torch, way)} for way in ("slices", "index_select")}


def _tin_shift(torch: Any, way: str) -> Callable[..., Any]:
    def moved(clips: Any, shifts: Any) -> Any:
        out = torch.empty_like(clips, memory_format=torch.contiguous_format)
        _run(torch_tin_shift, way, _problem("tin_shift_forward", {}, input=clips, shifts=shifts), out=out)
        return out

    apply = _differentiable(moved, lambda grad, clips, shifts, needed: (moved(grad, -shifts), None))

    def tin_shift(input: Any, shift: Any, *, gradient: str = "true") -> Any:
        if gradient != "true":
            raise ValueError(f"tin_shift: gradient: the composition has the true one only, got {gradient!r}")
        return apply(input, shift)

    return tin_shift


def _attention(torch: Any) -> dict[str, Operators]:
    def ms_deform_attn(value: Any, shapes: Any, starts: Any, places: Any, weights: Any, step: int = 64) -> Any:
        return attention(torch, shapes.tolist(), value, places, weights).flatten(2)

    return {"grid_sample": {"ms_deform_attn": ms_deform_attn}}


_WAYS: dict[str, Callable[[Any], dict[str, Operators]]] = {
    "pointnet2": _points,
    "second": _sparse,
    "psanet": _masks,
    "borderdet": _borders,
    "tin": _clips,
    "deformable_detr": _attention,
}

NETWORKS = tuple(_WAYS)
