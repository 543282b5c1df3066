"""Operators of other packages, registered with PyTorch under the names that their compiled parts give them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pymluops.mmcv._torch import load_torch

__all__ = ["TorchOperators"]


@dataclass
class TorchOperators:
    """The operators of one namespace of ``torch.ops``.

    PyTorch keeps them until the process ends, so they are registered once and stay.

    Attributes
    ----------
    namespace : str
        The name below ``torch.ops``.
    source : str
        The module that computes them: a function for each name.
    schemas : mapping of str to str
        Arguments and results of each, as PyTorch writes them.
    fakes : mapping of str to callable
        What each returns for tensors without values, where their package does not say so itself.
    """

    namespace: str
    source: str
    schemas: Mapping[str, str]
    fakes: Mapping[str, Callable[..., Any]]
    _library: Any = None

    @property
    def registered(self) -> bool:
        """Whether `register` was called."""
        return self._library is not None

    def register(self) -> Any:
        """Register those that nobody has registered before; return the library, for what is to be added."""
        torch = load_torch()
        if self._library is None:
            library = torch.library.Library(self.namespace, "FRAGMENT")
            known = getattr(torch.ops, self.namespace)
            functions = importlib.import_module(self.source)
            for name, schema in self.schemas.items():
                if hasattr(known, name):
                    continue
                library.define(f"{name}{schema}")
                # Without a tensor there is no device that tells the function.
                key = "CompositeImplicitAutograd" if schema.startswith("()") else "CPU"
                library.impl(name, getattr(functions, name.lstrip("_")), key)
                if name in self.fakes:
                    torch.library.register_fake(f"{self.namespace}::{name}", self.fakes[name], lib=library)
            self._library = library
        return self._library
