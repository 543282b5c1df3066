"""Functions of other packages' Python code replaced while the package is loaded, or when it is imported later.

A `Replacements` has a finder in `sys.meta_path` that runs a module as its own loader does and then
replaces functions in it, before other modules take them from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, cast

from pymluops._import_state import leave_meta_path, replacing

__all__ = ["Replacement", "Replacements"]


@dataclass(frozen=True)
class Replacement:
    """A function of a module, and what takes its place.

    Parameters
    ----------
    name : str
        The function, or a method: ``Class.forward``.
    around : callable
        Takes the function, or the function of the method, and returns the one that is called from
        then on.
    """

    name: str
    around: Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass
class _Replaced:
    """A function in its place; `original` is what stood there, for a static method the object of that type."""

    owner: Any
    attribute: str
    original: Any
    current: Any


class Replacements:
    """The replacements of one package.

    Parameters
    ----------
    concerns : callable
        Whether a module may have functions to replace, by its full name.
    find : callable
        Returns the replacements in a module that has run. Those whose function it lacks are left
        out: another release may have other functions.
    """

    def __init__(self, concerns: Callable[[str], bool], find: Callable[[ModuleType], Sequence[Replacement]]) -> None:
        self.concerns, self.find = concerns, find
        self._finder = _Finder(self)
        self._replaced: list[_Replaced] = []

    @property
    def active(self) -> bool:
        """Whether modules that are imported from now on are looked at."""
        return self._finder in sys.meta_path

    def activate(self) -> None:
        """Replace functions, now in loaded modules and later in others. A second call does what is left to do."""
        with replacing:
            if not self.active:
                sys.meta_path.insert(0, self._finder)
        for name, module in list(sys.modules.items()):
            if self.concerns(name):
                self.replace_in(module)

    def deactivate(self) -> None:
        """Put the own functions back, where nobody has replaced them since."""
        with replacing:
            if self.active:
                leave_meta_path(self._finder)
            while self._replaced:
                one = self._replaced.pop()
                if _own(one.owner, one.attribute) is one.current:
                    setattr(one.owner, one.attribute, one.original)
                if isinstance(one.owner, ModuleType):
                    _exchange(one.owner, one.current, one.original)

    def replace_in(self, module: ModuleType, ran: bool = False) -> None:
        """Replace the functions of a module, which `ran` just now or is loaded; nothing if it is not active."""
        found = self.find(module)  # which may import modules of this package
        with replacing:
            if self.active:
                for replacement in found:
                    self._replace(module, replacement, ran)

    def _replace(self, module: ModuleType, replacement: Replacement, ran: bool) -> None:
        *classes, attribute = replacement.name.split(".")
        owner: Any = module
        for name in classes:
            owner = getattr(owner, name, None)
        kept = _own(owner, attribute)
        before = [one for one in self._replaced if one.owner is owner and one.attribute == attribute]
        if kept is None or (before and not ran):
            return
        for one in before:  # the module was run a second time, and has a new function
            self._replaced.remove(one)
        original = getattr(owner, attribute)
        current: Any = replacement.around(original)
        self._put(_Replaced(owner, attribute, kept, _as(kept, current)))
        if not classes:
            _exchange(module, original, current)

    def _put(self, one: _Replaced) -> None:
        setattr(one.owner, one.attribute, one.current)
        self._replaced.append(one)


def _as(kept: object, function: Callable[..., Any]) -> Any:
    """Return a function as what stood in its place: a static method, or itself."""
    return staticmethod(function) if isinstance(kept, staticmethod) else function


def _own(owner: Any, attribute: str) -> Any:
    """Return an attribute as it stands in a module or class, a static method as such; None if it is not there."""
    return cast("Mapping[str, Any]", getattr(owner, "__dict__", {})).get(attribute)


def _exchange(owner: ModuleType, old: object, new: object) -> None:
    """Replace a function in the modules of a package that have taken it from one of them."""
    package = owner.__name__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package:
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)


class _Loader(Loader):
    """Runs a module as its own loader does, then replaces its functions. All else is that loader's."""

    def __init__(self, inner: Loader, replacements: Replacements) -> None:
        self._inner, self._replacements = inner, replacements

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Tools that read sources ask the module for the loader of a file.
        module.__loader__ = self._inner
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        if self._replacements.active:
            self._replacements.replace_in(module, ran=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Finder(MetaPathFinder):
    """Finds the modules that may have functions to replace."""

    def __init__(self, replacements: Replacements) -> None:
        self._replacements = replacements

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification that the file system has, with a loader that replaces."""
        if not self._replacements.concerns(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._replacements)
        return spec
