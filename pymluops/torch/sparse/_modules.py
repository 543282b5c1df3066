"""Modules that take sparse tensors, and sequences of them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, cast

import torch
from torch import Tensor, nn

from pymluops.torch.sparse._dispatch import compiling, tracing
from pymluops.torch.sparse._tensor import SparseConvTensor

#: Modules that learn from all rows together.
_NORMS = (nn.BatchNorm1d, nn.SyncBatchNorm, nn.InstanceNorm1d)


class SparseModule(nn.Module):
    """A module that takes a `SparseConvTensor`; a `SparseSequential` hands it the tensor, not its features."""


def _has_rows(features: Tensor) -> bool:
    """Whether there are rows; true for programs that are compiled or traced, where it is not known."""
    if compiling() or tracing():
        return True
    rows: Any = features.shape[0]
    return isinstance(rows, torch.SymInt) or rows > 0


def _scaled(module: Any, features: Tensor) -> Tensor:
    """Return features without rows, which depend on the parameters of a normalisation."""
    if isinstance(module, nn.SyncBatchNorm) and module.training and torch.distributed.is_initialized():
        return module(features)  # the other processes wait for its part
    for parameter, combine in ((module.weight, torch.mul), (module.bias, torch.add)):
        if parameter is not None:
            features = combine(features, parameter.to(features.dtype))
    return features


class SparseSequential(SparseModule):
    """Modules one after another. Those that are no `SparseModule` get the features of a sparse tensor.

    Parameters
    ----------
    *args : Module, or one OrderedDict of modules
        The modules, numbered or named as in the dict.
    **kwargs : Module
        More modules by name.

    Raises
    ------
    ValueError
        If a name is used twice.

    Notes
    -----
    Where there are no rows, normalisation has nothing to learn from: its statistics stay as they
    are, and its weight and bias get a gradient of 0. A compiled or traced program calls it in any
    case.
    """

    def __init__(self, *args: Any, **kwargs: nn.Module) -> None:
        super().__init__()
        self._add_all(args, kwargs)

    def _add_all(self, args: tuple[Any, ...], kwargs: dict[str, nn.Module]) -> None:
        """Append the modules of a constructor."""
        one_dict = len(args) == 1 and isinstance(args[0], OrderedDict)
        named: Any = cast("Any", args[0]).items() if one_dict else enumerate(args)
        for name, module in named:
            self.add(module, str(name))
        for name, module in kwargs.items():
            self.add(module, name)

    def add(self, module: nn.Module, name: str | None = None) -> None:
        """Append a module, with its number as name if none is given."""
        name = str(len(self)) if name is None else name
        if name in self._modules:
            raise ValueError(f"SparseSequential: name: expected a new one, got {name!r} again")
        self.add_module(name, module)

    def __len__(self) -> int:
        """Return the number of modules."""
        return len(self._modules)

    def __getitem__(self, index: int) -> nn.Module:
        """Return a module by number; negative numbers count from the end."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"SparseSequential: index {index} is out of range")
        return list(self.children_in_order())[index]

    def children_in_order(self) -> list[nn.Module]:
        """Return the modules, one that is there twice included twice."""
        return [module for module in self._modules.values() if module is not None]

    def forward(self, input: SparseConvTensor | Tensor) -> SparseConvTensor | Tensor:
        """Apply the modules."""
        for module in self.children_in_order():
            if isinstance(module, SparseModule) or not isinstance(input, SparseConvTensor):
                input = module(input)
            elif not isinstance(module, _NORMS) or _has_rows(input.features):
                input = input.replace_feature(module(input.features))
            else:
                input = input.replace_feature(_scaled(module, input.features))
        return input


class ToDense(SparseModule):
    """Turns a sparse tensor into a dense one, [batch, channels, *space]."""

    def forward(self, x: SparseConvTensor) -> Tensor:
        """Return `SparseConvTensor.dense`."""
        return x.dense()
