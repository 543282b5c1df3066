"""Modules of spconv that are no convolutions: sequences, normalisation, activations, identities."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor, nn

from pymluops.dropins.spconv._tensor import SparseConvTensor
from pymluops.torch import sparse

__all__ = [
    "Identity",
    "RemoveGrid",
    "SparseBatchNorm",
    "SparseIdentity",
    "SparseModule",
    "SparseReLU",
    "SparseSequential",
    "SparseSyncBatchNorm",
    "ToDense",
    "assign_name_for_sparse_modules",
    "is_sparse_conv",
    "is_spconv_module",
]


class SparseModule(sparse.SparseModule):
    """A module that takes a `SparseConvTensor`; a `SparseSequential` hands it the tensor, not its features.

    Parameters
    ----------
    name : str, optional
        Kept as an attribute.
    """

    #: Whether it is a convolution.
    _convolves = False

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name
        self._sparse_unique_name = ""

    def _read_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any) -> None:
        """Convert what a state dict has in another layout."""

    # On this class, where programs look for it: mmdetection3d puts a function of its own in its
    # place.
    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Load parameters and buffers, those of other layouts converted."""
        lists = (*args, *kwargs.values())
        self._read_state_dict(state_dict, prefix, local_metadata, *lists)
        load: Any = cast("Any", super())._load_from_state_dict
        load(state_dict, prefix, local_metadata, *args, **kwargs)


class SparseSequential(SparseModule, sparse.SparseSequential):
    """Modules one after another. Those that take no sparse tensor get the features of one.

    Parameters
    ----------
    *args : Module, or one OrderedDict of modules
        The modules, numbered or named as in the dict.
    **kwargs : Module
        More modules by name.
    """

    def __init__(self, *args: Any, **kwargs: nn.Module) -> None:
        SparseModule.__init__(self)
        self._add_all(args, kwargs)

    def add(self, module: nn.Module, name: str | None = None) -> None:
        """Append a module, with its number as name if none is given."""
        taken = str(len(self)) if name is None else name
        if taken in self._modules:
            raise KeyError(f"SparseSequential: name: expected a new one, got {taken!r} again")
        super().add(module, name)


class _OfFeatures:
    """A module of PyTorch that takes sparse tensors too."""

    def forward(self, input: Any) -> Any:
        """Apply it to features."""
        call: Any = cast("Any", super()).forward
        return input.replace_feature(call(input.features)) if isinstance(input, SparseConvTensor) else call(input)


class SparseBatchNorm(_OfFeatures, nn.BatchNorm1d):
    """`torch.nn.BatchNorm1d` for sparse tensors too."""


class SparseSyncBatchNorm(_OfFeatures, nn.SyncBatchNorm):
    """`torch.nn.SyncBatchNorm` for sparse tensors too."""


class SparseReLU(_OfFeatures, nn.ReLU):
    """`torch.nn.ReLU` for sparse tensors too."""


class SparseIdentity(_OfFeatures, nn.Identity):
    """`torch.nn.Identity` for sparse tensors too."""


class Identity(SparseModule):
    """Returns its input."""

    def forward(self, input: Any) -> Any:
        """Return it."""
        return input


class ToDense(SparseModule):
    """Turns a sparse tensor into a dense one, [batch, channels, *space]."""

    def forward(self, x: SparseConvTensor) -> Tensor:
        """Return `SparseConvTensor.dense`."""
        return x.dense()


class RemoveGrid(SparseModule):
    """Takes the grid of a sparse tensor away."""

    def forward(self, x: SparseConvTensor) -> SparseConvTensor:
        """Set it to None."""
        x.__dict__["grid"] = None
        return x


def is_spconv_module(module: nn.Module) -> bool:
    """Tell whether a module takes sparse tensors."""
    return isinstance(module, (SparseModule, SparseBatchNorm, SparseSyncBatchNorm, SparseReLU))


def is_sparse_conv(module: nn.Module) -> bool:
    """Tell whether a module is a sparse convolution."""
    return isinstance(module, SparseModule) and module._convolves


def assign_name_for_sparse_modules(module: nn.Module) -> None:
    """Give each sparse module its name in the network as attribute ``_sparse_unique_name``."""
    for name, child in module.named_modules():
        if isinstance(child, SparseModule):
            child._sparse_unique_name = name
