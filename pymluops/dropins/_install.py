"""Making drop-ins importable, and undoing that.

Two entries of `sys.meta_path` answer for the names of the modules. The one for drop-ins that are
not forced stands last, so that Python finds a module of that name before, if there is one; the
other stands first.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from pymluops.dropins import _attention, _hints
from pymluops.dropins._catalogue import DROP_INS, DropIn, all_of, placed

__all__ = ["ATTENTION", "MMCV", "install", "is_ours", "others_module", "uninstall"]

#: The drop-in that `pymluops.mmcv` installs, and the one that replaces functions of packages.
MMCV, ATTENTION = "mmcv", "deformable_attention"

_lock = threading.RLock()


class _Loader(Loader):
    """Fills a module."""

    def __init__(self, drop_in: DropIn) -> None:
        self.drop_in = drop_in

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave the making of the module to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the names into the module."""
        vars(module).update(self.drop_in.contents(module.__name__))


class _Finder(MetaPathFinder):
    """Finds the modules of some drop-ins."""

    def __init__(self) -> None:
        self.drop_ins: dict[str, DropIn] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Answer for the names of the modules only."""
        for drop_in in self.drop_ins.values():
            package = drop_in.modules.get(fullname)
            if package is not None and self._may(drop_in, fullname):
                origin = f"pymluops: {drop_in.source}"
                return ModuleSpec(fullname, _Loader(drop_in), origin=origin, is_package=package)
        if self is _last:
            _hints.explain(fullname)
        return None

    def _may(self, drop_in: DropIn, fullname: str) -> bool:
        """Whether a module belongs into its package: a package of ours, or one that the drop-in completes."""
        parent = fullname.rpartition(".")[0]
        if parent not in drop_in.modules:
            return True
        above = sys.modules.get(parent)
        return above is not None and is_ours(above)


_last, _first = _Finder(), _Finder()

#: Modules of others that a forced drop-in has taken the place of, by name.
_replaced: dict[str, ModuleType] = {}


def is_ours(module: ModuleType) -> bool:
    """Whether a module was made here."""
    return isinstance(getattr(getattr(module, "__spec__", None), "loader", None), _Loader)


def others_module(drop_in: DropIn) -> str:
    """Return where a module is that stands in the way of a drop-in, or "". Nothing is imported."""
    for name in drop_in.modules:
        loaded = sys.modules.get(name)
        if loaded is not None and not is_ours(loaded):
            return str(getattr(loaded, "__file__", None) or "sys.modules")
    for name in drop_in.roots:
        if "." not in name and name not in sys.modules:
            spec = _spec_of_others(name)
            if spec is not None:
                return str(spec.origin or next(iter(spec.submodule_search_locations or []), name))
    return ""


def _spec_of_others(name: str) -> ModuleSpec | None:
    """Find a top-level module that is not ours."""
    for finder in sys.meta_path:
        if not isinstance(finder, _Finder) and hasattr(finder, "find_spec"):
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
    return None


def install(*names: str, force: bool = False, at: str | None = None) -> tuple[str, ...]:
    """Let a program import packages and compiled extensions of others that compute on the CPU here.

    Call it before the program imports them, in every process. Another call changes nothing.
    ``python -m pymluops.dropins`` prints what there is and what works.

    Parameters
    ----------
    *names : str
        Which: ``"mmcv"``, ``"spconv"`` and the others of the table. Without names, all that add
        only what is missing: compiled extensions of packages that are there as source, and the
        kernel for deformable attention in place of PyTorch code for the CPU. ``spconv``
        is a whole package, whose presence changes what other packages do, so it is installed by
        name only.
    force : bool
        Take the place of modules of that name that are there, loaded or not. Without it they stay
        in use.
    at : str, optional
        The full name of a module that is to be the extension whose last name is given alone, for a
        package that has an extension of another one under a name of its own.

    Returns
    -------
    tuple of str
        The names that are provided now.

    Raises
    ------
    ValueError
        If a name is none of the table, or `at` is no name of a module.
    ModuleNotFoundError
        If PyTorch, or a package that is named and that a drop-in completes, is not installed.

    Examples
    --------
    >>> import pymluops
    >>> pymluops.install("spconv")
    ('spconv',)
    >>> pymluops.install("iou3d_nms_cuda", at="my_detector.ops.iou3d_nms_cuda")
    ('iou3d_nms_cuda',)
    """
    if at is not None:
        return names if install(placed(names, at), force=force) else ()
    known = (MMCV, ATTENTION, *DROP_INS)
    for name in names:
        if name not in known:
            raise ValueError(f"install: names: expected some of {', '.join(known)}, got {name!r}")
    if importlib.util.find_spec("torch") is None:
        raise ModuleNotFoundError("install: no module named 'torch': pip install torch would do", name="torch")
    wanted = names or (MMCV, ATTENTION, *(name for name, drop_in in DROP_INS.items() if drop_in.always))
    with _lock:
        return tuple(name for name in wanted if _installed(name, force, bool(names)))


def _installed(name: str, force: bool, named: bool) -> bool:
    """Install one drop-in; return whether it is provided now."""
    if name == MMCV:
        if not named and importlib.util.find_spec("mmcv") is None:
            return False
        from pymluops import mmcv

        return mmcv.install(force=force)
    if name == ATTENTION:
        if not named and not _attention.is_installed():
            return False
        _attention.activate()
        return True
    drop_in = DROP_INS[name]
    force = force or name in _first.drop_ins
    if others_module(drop_in) and not force:
        return False
    finder = _first if force else _last
    _last.drop_ins.pop(name, None)
    finder.drop_ins[name] = drop_in
    _stand()
    if force:
        _take_places(drop_in)
    return drop_in.activate()


def _stand() -> None:
    """Put the finders that have drop-ins into `sys.meta_path`, and take the others out."""
    for finder in (_first, _last):
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
    if _first.drop_ins:
        sys.meta_path.insert(0, _first)
    if _last.drop_ins or _first.drop_ins:  # the last one explains failing imports too
        sys.meta_path.append(_last)


def _take_places(drop_in: DropIn) -> None:
    """Take loaded modules of others away, and let the modules that use one directly use ours."""
    packages = {root.partition(".")[0] for root in drop_in.roots}
    whole = any("." not in root for root in drop_in.roots)
    for name, module in list(sys.modules.items()):
        below = name in drop_in.modules or (whole and name.partition(".")[0] in packages)
        if below and not is_ours(module):
            _replaced[name] = sys.modules.pop(name)
    for name in drop_in.modules:
        old = _replaced.get(name)
        if old is not None and not drop_in.modules[name] and "." in name and not whole:
            _exchange(old, importlib.import_module(name))


def _exchange(old: ModuleType, new: ModuleType) -> None:
    """Let the loaded modules of the same package use another module."""
    root = old.__name__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != root:
            continue
        for attribute, value in list(vars(module).items()):
            if value is old:
                setattr(module, attribute, new)


def uninstall(*names: str) -> None:
    """Undo `install`: the modules are those of others again, or cannot be imported.

    Objects that the program holds go on working. Without a call of `install` before, nothing
    happens.

    Parameters
    ----------
    *names : str
        Which; all without names. The last name of an extension stands for all modules that it was
        installed at.

    Raises
    ------
    ValueError
        If a name is none of the table.
    """
    known = (MMCV, ATTENTION, *DROP_INS)
    wanted = all_of(names)
    for name in wanted:
        if name not in known:
            raise ValueError(f"uninstall: names: expected some of {', '.join(known)}, got {name!r}")
    with _lock:
        for name in wanted if names else known:
            if name == MMCV:
                if "pymluops.mmcv" in sys.modules:
                    importlib.import_module("pymluops.mmcv").uninstall()
                continue
            if name == ATTENTION:
                _attention.deactivate()
                continue
            if _last.drop_ins.pop(name, None) or _first.drop_ins.pop(name, None):
                _take_away(DROP_INS[name])
                DROP_INS[name].deactivate()
        _stand()


def _take_away(drop_in: DropIn) -> None:
    """Take our modules out of `sys.modules`, and bring back those that they replaced."""
    packages = {root.partition(".")[0] for root in drop_in.roots}
    for name in drop_in.modules:
        module = sys.modules.get(name)
        if module is not None and is_ours(module):
            del sys.modules[name]
            _put_back(name, module, _replaced.get(name))
    for name in [name for name in _replaced if name in drop_in.modules or name.partition(".")[0] in packages]:
        sys.modules.setdefault(name, _replaced.pop(name))


def _put_back(name: str, ours: ModuleType, old: ModuleType | None) -> None:
    """Let the package of a module have the old one, or none."""
    parent, _, child = name.rpartition(".")
    above = sys.modules.get(parent)
    if above is not None and getattr(above, child, None) is ours:
        delattr(above, child)
    if old is not None:
        _exchange(ours, old)
        if above is not None:
            setattr(above, child, old)
