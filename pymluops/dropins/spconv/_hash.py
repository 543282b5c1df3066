"""``spconv.pytorch.hash``: a table from integers to values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["HashTable"]

_KEYS = (torch.int32, torch.int64)


class HashTable:
    """A table of keys and values; here sorted keys, which a search finds.

    Parameters
    ----------
    device : torch.device
        The CPU.
    key_dtype : torch.dtype
        int32 or int64.
    value_dtype : torch.dtype
        Of the values.
    max_size : int
        Without meaning on a CPU: a table grows.
    """

    def __init__(self, device: Any, key_dtype: Any, value_dtype: Any, max_size: int = -1) -> None:
        if torch.device(device).type != "cpu":
            raise ValueError(f"HashTable: device: expected the CPU, got {device}")
        if key_dtype not in _KEYS:
            raise ValueError(f"HashTable: key_dtype: expected int32 or int64, got {key_dtype}")
        self.is_cpu, self.key_dtype, self.value_dtype = True, key_dtype, value_dtype
        self._keys = torch.empty(0, dtype=key_dtype)
        self._values = torch.empty(0, dtype=value_dtype)

    def _checked(self, name: str, given: Tensor, dtype: Any, rows: int | None = None) -> Tensor:
        shape = "[N]" if rows is None else f"[{rows}]"
        if given.dim() != 1 or (rows is not None and len(given) != rows) or given.dtype != dtype:
            raise ValueError(
                f"HashTable: {name}: expected {dtype} of shape {shape}, got {given.dtype} of {list(given.shape)}"
            )
        return given

    def _places(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return where each key stands, and whether it does."""
        if not len(self._keys):
            return torch.zeros_like(keys, dtype=torch.int64), torch.zeros_like(keys, dtype=torch.bool)
        at = torch.searchsorted(self._keys, keys).clamp(max=len(self._keys) - 1)
        return at, self._keys[at] == keys

    def insert(self, keys: Tensor, values: Tensor | None = None) -> None:
        """Put keys and values into the table; of equal keys the last one counts."""
        keys = self._checked("keys", keys, self.key_dtype)
        if values is None:
            values = torch.zeros(len(keys), dtype=self.value_dtype)
        values = self._checked("values", values, self.value_dtype, len(keys))
        both, rows = torch.cat([self._keys, keys]), torch.cat([self._values, values])
        self._keys, group = both.unique(return_inverse=True)
        last = torch.full((len(self._keys),), -1, dtype=torch.int64)
        last.scatter_reduce_(0, group, torch.arange(len(both)), "amax")
        self._values = rows[last]

    def query(self, keys: Tensor, values: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the values of keys, and which keys are missing."""
        at, found = self._places(self._checked("keys", keys, self.key_dtype))
        out = torch.zeros(len(keys), dtype=self.value_dtype) if values is None else values
        out[found] = self._values[at[found]]
        return out, ~found

    def insert_exist_keys(self, keys: Tensor, values: Tensor) -> Tensor:
        """Change the values of keys that are there, and return which are missing."""
        at, found = self._places(self._checked("keys", keys, self.key_dtype))
        values = self._checked("values", values, self.value_dtype, len(keys))
        self._values[at[found]] = values[found]
        return ~found

    def assign_arange_(self) -> Tensor:
        """Give the keys, ascending, the values 0, 1 and so on, and return their number."""
        self._values = torch.arange(len(self._keys), dtype=self.value_dtype)
        return torch.tensor([len(self._keys)], dtype=torch.int64)

    def items(self, max_size: int = -1) -> tuple[Tensor, Tensor, Tensor]:
        """Return keys, ascending, values and their number; at most `max_size`, if that is not negative."""
        size = len(self._keys) if max_size < 0 else min(max_size, len(self._keys))
        return self._keys[:size].clone(), self._values[:size].clone(), torch.tensor([size], dtype=torch.int64)
