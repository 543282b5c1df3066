"""MsDeformAttn: the multi-scale deformable attention of Deformable DETR."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pymluops._arguments import INT32_MAX
from pymluops._core import Operator
from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, has_values, sizes

__all__ = ["MultiScaleDeformableAttention", "ms_deform_attn"]


def _operator(name: str) -> Operator:
    """Return an operator that takes any step: the library gets one that is never less than the batch."""
    known = described(name)
    scalars = tuple(replace(scalar, minimum=1, passed=INT32_MAX) for scalar in known.scalars)
    return Operator(known.function, known.name, known.tensors, scalars, too_large=known.too_large)


_FORWARD = TorchOperator(
    _operator("ms_deform_attn_forward"),
    sample={"K": 15, "L": 2, "spatial_shapes": [[2, 3], [3, 3]], "level_start_index": [0, 6], "im2col_step": 64},
)
_BACKWARD = TorchOperator(_operator("ms_deform_attn_backward"), autocast=False)
_FORWARD.differentiate(
    _BACKWARD,
    "grad_output",
    {"value": "grad_value", "sampling_loc": "grad_sampling_loc", "attn_weight": "grad_attn_weight"},
    linear=("value", "attn_weight"),
)
_BACKWARD.refuse_gradient("the gradient of ms_deform_attn cannot be differentiated again")


def _formula(
    value: Tensor, shapes: Tensor, starts: Tensor, places: Tensor, weights: Tensor, im2col_step: int
) -> Tensor:
    """Add up the four pixels around each sample."""
    batch, _, heads, channels = value.shape
    queries = places.shape[1]
    height, width, start = shapes[:, :1].long(), shapes[:, 1:].long(), starts.long()[:, None]
    x, y = places[..., 0] * width.to(places.dtype) - 0.5, places[..., 1] * height.to(places.dtype) - 0.5
    left, upper = x.floor(), y.floor()
    keys = value.permute(0, 2, 1, 3)  # [B, M, K, C]
    total = torch.zeros_like(weights)[..., None]
    for row in (upper, upper + 1):
        for column in (left, left + 1):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            number = torch.where(inside, row.long() * width + column.long() + start, 0)
            number = number.transpose(1, 2).reshape(batch, heads, -1, 1).expand(-1, -1, -1, channels)
            pixels = keys.gather(2, number).reshape(batch, heads, queries, *weights.shape[3:], channels)
            share = (1 - (x - column).abs()) * (1 - (y - row).abs()) * weights * inside.to(weights.dtype)
            total = total + pixels.transpose(1, 2) * share[..., None]
    return total.sum((3, 4)).flatten(2)


_ATTENTION = TensorFunction(_FORWARD, shapes={"out": "B Q M*C"}, formula=_formula)


@_ATTENTION
def ms_deform_attn(
    value: Tensor,
    value_spatial_shapes: Tensor,
    value_level_start_index: Tensor,
    sampling_locations: Tensor,
    attention_weights: Tensor,
    im2col_step: int = 64,
) -> Tensor:
    """Sum samples of several maps, weighted, for each query and head: `MultiScaleDeformableAttnFunction` of mmcv.

    `pymluops.ms_deform_attn_forward` has the formulas. Gradients flow to `value`,
    `sampling_locations` and `attention_weights`.

    Parameters
    ----------
    value : Tensor, shape [B, K, M, C]
        K keys of M heads with C channels each: the pixels of L maps, row by row; any floating type.
    value_spatial_shapes : Tensor, shape [L, 2], int32 or int64
        Height and width of each map.
    value_level_start_index : Tensor, shape [L], int32 or int64
        The key with which each map begins.
    sampling_locations : Tensor, shape [B, Q, M, L, P, 2], like `value`
        For each query, head and map the x and y of P samples; 0 and 1 are the edges of the map.
    attention_weights : Tensor, shape [B, Q, M, L, P], like `value`
        Weights of the samples.
    im2col_step : int
        Any number from 1 on, with no effect: other implementations compute as many batches at a
        time.

    Returns
    -------
    Tensor, shape [B, Q, M*C]
        Like `value`.

    Raises
    ------
    ValueError
        If an argument is not as described, or a map does not lie within the K keys.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> value = torch.tensor([1.0, 2, 3, 4]).reshape(1, 4, 1, 1)  # a map of 2 x 2
    >>> shapes, starts = torch.tensor([[2, 2]]), torch.tensor([0])
    >>> places, weights = torch.full((1, 1, 1, 1, 1, 2), 0.5), torch.ones(1, 1, 1, 1, 1)
    >>> pymluops.torch.ms_deform_attn(value, shapes, starts, places, weights).item()
    2.5
    """
    tensors = value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights
    return (_ATTENTION.through_torch if compiling() else _ATTENTION.direct)(*tensors, im2col_step)


def attention_of_maps(
    value: Any,
    spatial_shapes: Any,
    sampling_locations: Any,
    attention_weights: Any,
    level_start_index: Any = None,
    num_points: Sequence[int] | None = None,
) -> Any:
    """Return `ms_deform_attn` as Python code of other packages calls it: shapes are a tensor, or pairs of numbers.

    Maps that lie one after another need no `level_start_index`. With `num_points`, maps have
    different numbers of samples: locations are [B, Q, M, sum(num_points), 2], weights [B, Q, M,
    sum(num_points)]. Each sample is a map of its own to the operator then.
    """
    shapes = torch.as_tensor(spatial_shapes, device=value.device)
    starts = level_start_index
    if starts is None:
        areas = shapes.prod(1)
        starts = areas.cumsum(0) - areas
    if num_points is not None:
        if len(set(num_points)) == 1:
            places = sampling_locations.unflatten(3, (len(num_points), num_points[0]))
            weights = attention_weights.unflatten(3, (len(num_points), num_points[0]))
        else:
            repeats = torch.tensor(num_points, device=shapes.device)
            shapes, starts = shapes.repeat_interleave(repeats, 0), starts.repeat_interleave(repeats)
            places, weights = sampling_locations.unsqueeze(4), attention_weights.unsqueeze(4)
    else:
        places, weights = sampling_locations, attention_weights
    return ms_deform_attn(value, shapes, starts, places, weights, value.shape[0] or 1)


class MultiScaleDeformableAttention(TracedModule):
    """The attention of Deformable DETR (arXiv:2010.04159); its parameters have the names that checkpoints of mmcv have.

    Parameters
    ----------
    embed_dims : int
        Channels of queries and values.
    num_heads, num_levels, num_points : int
        Heads, maps, and samples for each query, head and map.
    im2col_step : int
        As in `ms_deform_attn`.
    dropout : float
        Of what is added to `identity`.
    batch_first : bool
        Queries are [B, Q, C] instead of [Q, B, C].
    norm_cfg, init_cfg : None
        Taken as mmcv takes them, and not used.
    value_proj_ratio : float
        Channels of the projected value, as a multiple of `embed_dims`.

    Raises
    ------
    ValueError
        If the heads do not divide `embed_dims`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.MultiScaleDeformableAttention(embed_dims=32, num_levels=1, batch_first=True)
    >>> pixels = torch.rand(2, 12, 32)  # a map of 3 x 4
    >>> places = torch.rand(2, 12, 1, 2)
    >>> maps = dict(spatial_shapes=torch.tensor([[3, 4]]), level_start_index=torch.tensor([0]))
    >>> layer(pixels, reference_points=places, **maps).shape
    torch.Size([2, 12, 32])
    """

    def __init__(
        self,
        embed_dims: int = 256,
        num_heads: int = 8,
        num_levels: int = 4,
        num_points: int = 4,
        im2col_step: int = 64,
        dropout: float = 0.1,
        batch_first: bool = False,
        norm_cfg: Any = None,
        init_cfg: Any = None,
        value_proj_ratio: float = 1.0,
    ) -> None:
        super().__init__()
        if embed_dims % num_heads != 0:
            raise ValueError(f"embed_dims: expected a multiple of num_heads={num_heads}, got {embed_dims}")
        self.embed_dims, self.num_heads, self.num_levels, self.num_points = (
            embed_dims,
            num_heads,
            num_levels,
            num_points,
        )
        self.im2col_step, self.batch_first = im2col_step, batch_first
        self.norm_cfg, self.init_cfg = norm_cfg, init_cfg
        samples = num_heads * num_levels * num_points
        value_dims = int(embed_dims * value_proj_ratio)
        self.dropout = nn.Dropout(dropout)
        self.sampling_offsets = nn.Linear(embed_dims, 2 * samples)
        self.attention_weights = nn.Linear(embed_dims, samples)
        self.value_proj = nn.Linear(embed_dims, value_dims)
        self.output_proj = nn.Linear(value_dims, embed_dims)
        self.init_weights()

    def init_weights(self) -> None:
        """Let the samples of head h lie in direction h around the reference point, 1 to P pixels away from it."""
        angles = torch.arange(self.num_heads) * (2 * math.pi / self.num_heads)
        direction = torch.stack([angles.cos(), angles.sin()], -1)
        direction = direction / direction.abs().amax(-1, keepdim=True)
        steps = torch.arange(1, self.num_points + 1.0)
        grid = direction[:, None, None] * steps[:, None]
        with torch.no_grad():
            self.sampling_offsets.bias.copy_(grid.expand(-1, self.num_levels, -1, -1).flatten())
        for zeroed in (self.sampling_offsets.weight, self.attention_weights.weight, self.attention_weights.bias):
            nn.init.zeros_(zeroed)
        for projection in (self.value_proj, self.output_proj):
            nn.init.xavier_uniform_(projection.weight)
            nn.init.zeros_(projection.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        identity: Tensor | None = None,
        query_pos: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
        reference_points: Tensor | None = None,
        spatial_shapes: Tensor | None = None,
        level_start_index: Tensor | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Attend to samples around the reference points.

        Parameters
        ----------
        query : Tensor, shape [Q, B, C], or [B, Q, C] if `batch_first`
            What attends.
        key : Tensor, optional
            Not used; mmcv's callers pass it.
        value : Tensor, optional
            Like `query` with K pixels instead of Q queries; `query` if not given.
        identity : Tensor, optional
            What the result is added to; `query` if not given.
        query_pos : Tensor, optional
            Added to `query`.
        key_padding_mask : Tensor, shape [B, K], bool, optional
            True where a pixel is padding.
        reference_points : Tensor, shape [B, Q, L, 2 or 4]
            x and y of the points from 0 to 1, or boxes: x and y of their centre, width and height.
        spatial_shapes : Tensor, shape [L, 2], int64 or int32
            Height and width of each map.
        level_start_index : Tensor, shape [L], int64 or int32
            The pixel with which each map begins.
        **kwargs
            Not used.

        Returns
        -------
        Tensor
            Like `query`.

        Raises
        ------
        AssertionError
            If the maps do not have K pixels.
        ValueError
            If the last dim of `reference_points` is neither 2 nor 4.
        """
        assert reference_points is not None, "reference_points: expected a tensor, got None"
        assert spatial_shapes is not None, "spatial_shapes: expected a tensor, got None"
        assert level_start_index is not None, "level_start_index: expected a tensor, got None"
        values: Any = query if value is None else value
        identity = query if identity is None else identity
        if query_pos is not None:
            query = query + query_pos
        if not self.batch_first:
            query, values = query.transpose(0, 1), values.transpose(0, 1)
        batch, queries, _ = query.shape
        pixels = values.shape[1]
        if has_values(spatial_shapes):
            assert int(spatial_shapes.prod(1).sum()) == pixels, f"spatial_shapes: expected maps of {pixels} pixels"
        projected: Tensor = self.value_proj(values)
        if key_padding_mask is not None:
            projected = projected.masked_fill(key_padding_mask[..., None], 0.0)
        projected = projected.reshape(batch, pixels, self.num_heads, -1)
        offsets = self.sampling_offsets(query).reshape(
            batch, queries, self.num_heads, self.num_levels, self.num_points, 2
        )
        weights = self.attention_weights(query).reshape(batch, queries, self.num_heads, -1).softmax(-1)
        weights = weights.reshape(batch, queries, self.num_heads, self.num_levels, self.num_points)
        locations = self._locations(reference_points, offsets, spatial_shapes)
        found = ms_deform_attn(projected, spatial_shapes, level_start_index, locations, weights, self.im2col_step)
        result = self.output_proj(found)
        return self.dropout(result if self.batch_first else result.transpose(0, 1)) + identity

    def _locations(self, reference_points: Tensor, offsets: Tensor, spatial_shapes: Tensor) -> Tensor:
        """Return where the samples lie, from 0 to 1 in each map."""
        points = reference_points[:, :, None, :, None]
        values = sizes(reference_points)[-1]
        if values == 2:
            size = spatial_shapes.flip(-1).to(offsets.dtype)  # width, height
            return points + offsets / size[None, None, None, :, None]
        if values == 4:
            return points[..., :2] + offsets / self.num_points * points[..., 2:] * 0.5
        raise ValueError(f"reference_points: expected 2 or 4 values for each point, got {values}")
