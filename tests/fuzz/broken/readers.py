"""Readers that are broken on purpose: each target must notice within seconds."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.case_runner import Target
from fuzz.dlpack_lies import Dlpack, Liar
from fuzz.images import Images
from fuzz.scans import Scans
from pymluops.demo.images import Image, read_image
from pymluops.demo.scans import Scan, read_scan


def _trusting_scan(path: Path, columns: int | None = None) -> Scan:
    """Believes what its file says about its length."""
    data = path.read_bytes()
    if path.suffix == ".bin" and len(data) % 16:
        struct.unpack(f"<{len(data) // 4 + 1}f", data)
    return read_scan(path, columns)


def _greedy_scan(path: Path, columns: int | None = None) -> Scan:
    """Takes two gigabytes for a file of a few bytes."""
    np.ones(1 << 31, np.uint8)
    return read_scan(path, columns)


def _slow_image(path: Path) -> Image:
    """Computes for too long."""
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
    return read_image(path)


def _bright_image(path: Path) -> Image:
    """Gives pixels beyond 1."""
    image = read_image(path)
    return Image(image.source, image.pixels * 2)


class _NumpysDlpack(Dlpack):
    """The consumer is NumPy's, which raises other classes."""

    def _call(self, role: str, liar: Liar, *rest: Any) -> Any:
        return np.from_dlpack(liar)


class _LeakingDlpack(Dlpack):
    """The consumer takes capsules over and never deletes them."""

    def _call(self, role: str, liar: Liar, *rest: Any) -> Any:
        result = super()._call(role, liar, *rest)
        liar.deleted = 0
        return result


TRUSTING_SCAN: Target = Scans(_trusting_scan)
GREEDY_SCAN: Target = Scans(_greedy_scan)
SLOW_IMAGE: Target = Images(_slow_image)
BRIGHT_IMAGE: Target = Images(_bright_image)
NUMPYS_DLPACK: Target = _NumpysDlpack()
LEAKING_DLPACK: Target = _LeakingDlpack()
