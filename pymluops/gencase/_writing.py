"""Writes test cases, and files with their values beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pymluops._whole_file import whole_file
from pymluops.gencase._values import clear_values

__all__ = ["loses_bits", "move_to_files", "write_files"]


def move_to_files(
    messages: Mapping[str, Sequence[Any]], values: Sequence[np.ndarray | None], stem: str
) -> dict[str, bytes]:
    """Let tensors name files, and return the bytes of these by their names: the bits as they are.

    Parameters
    ----------
    messages : mapping of str to sequence of message
        The tensors of ``input`` and of ``output``, which are changed.
    values : sequence of numpy.ndarray or None
        Their numbers in memory in this order; None: it has none.
    stem : str
        How the names of files begin.
    """
    files: dict[str, bytes] = {}
    tensors = [(side, message) for side, ones in messages.items() for message in ones]
    for number, ((side, message), found) in enumerate(zip(tensors, values, strict=True)):
        if found is None:
            continue
        name = f"{stem}_data{number}_{side}"
        files[name] = found.astype(found.dtype.newbyteorder("<"), copy=False).tobytes()
        clear_values(message)
        message.path = name
    return files


def loses_bits(values: np.ndarray) -> bool:
    """Whether a NaN has other bits than that of decimal numbers."""
    if values.dtype.kind != "f":
        return False
    found = values[np.isnan(values)]
    return bool(found.tobytes() != np.full(found.size, np.nan, values.dtype).tobytes())


def write_files(target: Path, content: bytes, beside: Mapping[str, bytes]) -> None:
    """Write the files beside a case, then the case, each as a whole.

    Raises
    ------
    OSError
        If one cannot be written.
    """
    for path, data in [*((target.with_name(name), data) for name, data in beside.items()), (target, content)]:
        with whole_file(path) as temporary:
            temporary.write_bytes(data)
