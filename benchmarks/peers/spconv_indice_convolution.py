"""indice_convolution with spconv's CPU build."""

from __future__ import annotations
