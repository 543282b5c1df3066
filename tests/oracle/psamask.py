"""psamask: every position (h, w) owns a mask of h_mask x w_mask cells that is laid, centred, over the feature map."""

from __future__ import annotations

import numpy as np

COLLECT, DISTRIBUTE = 0, 1


def _cells(height: int, width: int, h_mask: int, w_mask: int):
    """Yields (h, w, mask cell, h', w') for every mask cell that lies on the map."""
    half_h, half_w = (h_mask - 1) >> 1, (w_mask - 1) >> 1
    for h in range(height):
        for w in range(width):
            for hi in range(h_mask):
                for wi in range(w_mask):
                    h_out, w_out = hi + h - half_h, wi + w - half_w
                    if 0 <= h_out < height and 0 <= w_out < width:
                        yield h, w, hi * w_mask + wi, h_out, w_out


def forward(x: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """y [N, H, W, H*W] of x [N, H, W, h_mask*w_mask]."""
    batch, height, width, _ = x.shape
    y = np.zeros((batch, height, width, height * width), x.dtype)
    for h, w, cell, h_out, w_out in _cells(height, width, h_mask, w_mask):
        if psa_type == COLLECT:
            y[:, h, w, h_out * width + w_out] = x[:, h, w, cell]
        else:
            y[:, h_out, w_out, h * width + w] = x[:, h, w, cell]
    return y


def backward(dy: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """dx [N, H, W, h_mask*w_mask] of dy [N, H, W, H*W]: the same movement the other way."""
    batch, height, width, _ = dy.shape
    dx = np.zeros((batch, height, width, h_mask * w_mask), dy.dtype)
    for h, w, cell, h_out, w_out in _cells(height, width, h_mask, w_mask):
        if psa_type == COLLECT:
            dx[:, h, w, cell] = dy[:, h, w, h_out * width + w_out]
        else:
            dx[:, h, w, cell] = dy[:, h_out, w_out, h * width + w]
    return dx
