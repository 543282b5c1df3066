"""Tensors of torch_mlu."""

from __future__ import annotations

import threading
from typing import Any

import torch

from pymluops import library
from pymluops._core import Handle

__all__ = ["mlu_handle"]

_handles = threading.local()


def mlu_handle() -> Handle:
    """Return this thread's handle for the current queue of torch_mlu. Untested: there was no card to test it with."""
    torch_mlu: Any = torch
    queue = int(torch_mlu.mlu.current_stream().mlu_stream)
    handles: dict[int, Handle] = _handles.__dict__.setdefault("by_queue", {})
    if queue not in handles:
        handles[queue] = Handle(library.load("mlu"), queue=queue)
    return handles[queue]
