"""Modules with the names and constructors of mmcv.ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pymluops.torch._functions import border_align, mask_sizes, ms_deform_attn, psa_mask, tin_shift
from pymluops.torch._modes import TracedModule, has_values, sizes

__all__ = ["BorderAlign", "MultiScaleDeformableAttention", "PSAMask", "TINShift"]


class TINShift(TracedModule):
    """`tin_shift` as a module.

    Parameters
    ----------
    gradient : {"true", "mmcv"}
        As in `tin_shift`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> shift = pymluops.torch.TINShift()
    >>> shift(torch.ones(1, 3, 1, 1), torch.tensor([[2]])).flatten().tolist()
    [0.0, 0.0, 1.0]
    """

    def __init__(self, *, gradient: str = "true") -> None:
        super().__init__()
        self.gradient = gradient

    def forward(self, input: Tensor, shift: Tensor) -> Tensor:
        """Return `input` shifted."""
        return tin_shift(input, shift, gradient=self.gradient)


class PSAMask(TracedModule):
    """`psa_mask` as a module.

    Parameters
    ----------
    psa_type : {"collect", "distribute"}
        Which way attention flows.
    mask_size : int or (int, int)
        Height and width of a mask.

    Raises
    ------
    AssertionError
        If `psa_type` is unknown.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.PSAMask("collect", (3, 3))(torch.rand(2, 9, 4, 5)).shape
    torch.Size([2, 20, 4, 5])
    """

    def __init__(self, psa_type: str, mask_size: int | Sequence[int]) -> None:
        super().__init__()
        assert psa_type in ("collect", "distribute"), f"PSAMask: psa_type: got {psa_type!r}"
        self.psa_type = psa_type
        self.mask_size = mask_size if type(mask_size) is int else mask_sizes(mask_size)

    def forward(self, input: Tensor) -> Tensor:
        """Return the masks spread over the map."""
        return psa_mask(input, self.psa_type, self.mask_size)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return f"psa_type={self.psa_type}, mask_size={self.mask_size}"


class BorderAlign(TracedModule):
    """`border_align` as a module.

    Parameters
    ----------
    pool_size : int
        Number of steps along a border.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.BorderAlign(10)(torch.rand(1, 8, 5, 6), torch.rand(1, 30, 4)).shape
    torch.Size([1, 2, 30, 4])
    """

    def __init__(self, pool_size: int) -> None:
        super().__init__()
        self.pool_size = pool_size

    def forward(self, input: Tensor, boxes: Tensor) -> Tensor:
        """Return the largest sample of each border."""
        return border_align(input, boxes, self.pool_size)

    def extra_repr(self) -> str:
        """Return the argument."""
        return f"pool_size={self.pool_size}"


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
