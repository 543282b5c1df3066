"""Making drop-ins importable, and undoing that.

Two entries of `sys.meta_path` answer for the names of the modules. The one for drop-ins that are
not forced stands last, so that Python finds a module of that name before, if there is one; the
other stands first.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from pymluops._import_state import changing, imports_ended, leave_meta_path, making, wait_for_import
from pymluops.dropins import _attention, _hints
from pymluops.dropins._catalogue import DROP_INS, DropIn, all_of, placed

__all__ = ["ATTENTION", "MMCV", "install", "is_ours", "others_module", "uninstall"]

#: The drop-in that `pymluops.mmcv` installs, and the one that replaces functions of packages,
#: under both of its names.
MMCV, ATTENTION = "mmcv", ("transformers", "deformable_attention")


class _Loader(Loader):
    """Fills a module."""

    def __init__(self, drop_in: DropIn) -> None:
        self.drop_in = drop_in

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave the making of the module to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the names into the module."""
        package = module.__name__.rpartition(".")[0]
        if package in self.drop_in.modules:
            # Python takes a module out of `sys.modules` for a moment when its import ends, and
            # looks there for the package when that of this one does.
            wait_for_import(package)
        with making():
            found = self.drop_in.contents(module.__name__)
        vars(module).update(found)


class _Finder(MetaPathFinder):
    """Finds the modules of some drop-ins."""

    def __init__(self) -> None:
        #: Never changed but replaced, since imports of other threads go through it.
        self.drop_ins: Mapping[str, DropIn] = {}

    def without(self, name: str) -> bool:
        """Forget a drop-in; return whether it was known."""
        known = name in self.drop_ins
        self.drop_ins = {key: drop_in for key, drop_in in self.drop_ins.items() if key != name}
        return known

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
            return str(getattr(loaded, "__file__", None) or next(iter(getattr(loaded, "__path__", [])), "sys.modules"))
    for name in drop_in.roots:
        if "." not in name and name not in sys.modules:
            spec = _spec_of_others(name)
            if spec is not None:
                return str(spec.origin or next(iter(spec.submodule_search_locations or []), name))
    return ""


def _spec_of_others(name: str) -> ModuleSpec | None:
    """Find a top-level module that is not ours."""
    for finder in tuple(sys.meta_path):
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
        only what is missing: compiled extensions of packages that are there as source. Two change
        what other packages do, so they are installed by name only: ``"spconv"``, a whole package,
        and ``"transformers"``, also called ``"deformable_attention"``, which replaces PyTorch code
        for the CPU.
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

    Warns
    -----
    UserWarning
        If an empty folder, or a package that lacks the modules, has the name of a drop-in.

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
    _check_names("install", names)
    if importlib.util.find_spec("torch") is None:
        raise ModuleNotFoundError("install: no module named 'torch': pip install torch would do", name="torch")
    wanted = names or (MMCV, *(name for name, drop_in in DROP_INS.items() if drop_in.always))
    with changing:
        return tuple(name for name in wanted if _installed(name, force, bool(names)))


def _check_names(function: str, names: Sequence[str]) -> None:
    known = (MMCV, *ATTENTION, *DROP_INS)
    for name in names:
        if name not in known:
            raise ValueError(f"{function}: names: expected some of {', '.join(known)}, got {name!r}")


def _installed(name: str, force: bool, named: bool) -> bool:
    """Install one drop-in; return whether it is provided now."""
    if name == MMCV:
        spec = None if named else importlib.util.find_spec("mmcv")
        if not named and (spec is None or spec.origin is None):
            return False
        from pymluops import mmcv

        return mmcv.install(force=force)
    if name in ATTENTION:
        _attention.activate()
        return True
    drop_in = DROP_INS[name]
    force = force or name in _first.drop_ins
    other = "" if force else others_module(drop_in)
    if other:
        _tell_what_lacks(drop_in, other)
        return False
    finder = _first if force else _last
    _last.without(name)
    finder.drop_ins = {**finder.drop_ins, name: drop_in}
    _stand()
    if force:
        _take_places(drop_in)
    return drop_in.activate()


def _tell_what_lacks(drop_in: DropIn, other: str) -> None:
    """Warn of what stands in the way of a drop-in and does not have its modules, so that a program cannot use it."""
    for root in drop_in.roots:
        lack = "" if "." in root else _lack(drop_in, root)
        if lack:
            text = (
                f"install: {drop_in.name!r} is not provided, since {other} has its name, {lack}; "
                f"remove that, or call install({drop_in.name!r}, force=True)"
            )
            warnings.warn(text, stacklevel=5)
            return


def _lack(drop_in: DropIn, root: str) -> str:
    """Return what a module of others with the name of a drop-in does not have, or ""."""
    loaded = sys.modules.get(root)
    spec = _spec_of_others(root) if loaded is None else loaded.__spec__
    if spec is None:
        return ""
    folders = spec.submodule_search_locations
    if folders is not None and spec.origin is None:
        return "a folder without __init__.py"
    for name, package in drop_in.modules.items():
        parent, _, child = name.rpartition(".")
        if package and parent == root and not (folders and _has_code(child, folders)):
            return f"without {name}"
    return ""


def _has_code(name: str, folders: Sequence[str]) -> bool:
    """Whether a module is in these folders that is more than a folder."""
    spec = PathFinder.find_spec(name, folders)
    return spec is not None and spec.origin is not None


def _stand() -> None:
    """Put the finders that have drop-ins into `sys.meta_path`, and take the others out."""
    last_stands = _last.drop_ins or _first.drop_ins  # the last one explains failing imports too
    for finder, stands in ((_first, _first.drop_ins), (_last, last_stands)):
        if finder in sys.meta_path and not stands:
            leave_meta_path(finder)
    if _first.drop_ins and sys.meta_path[0] is not _first:
        if _first in sys.meta_path:
            leave_meta_path(_first)
        sys.meta_path.insert(0, _first)
    if last_stands and sys.meta_path[-1] is not _last:
        if _last in sys.meta_path:
            leave_meta_path(_last)
        sys.meta_path.append(_last)


def _take_places(drop_in: DropIn) -> None:
    """Take loaded modules of others away, and let the modules that use one directly use ours."""
    packages = {root.partition(".")[0] for root in drop_in.roots}
    whole = any("." not in root for root in drop_in.roots)
    with imports_ended(root for root in drop_in.roots if root in sys.modules):
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
    wanted = all_of(names)
    _check_names("uninstall", wanted)
    with changing:
        for name in wanted if names else (MMCV, ATTENTION[0], *DROP_INS):
            if name == MMCV:
                # Not imported: that would wait for ever if a thread did so when this process was
                # forked.
                undo = getattr(sys.modules.get("pymluops.mmcv"), "uninstall", None)
                if undo is not None:
                    undo()
            elif name in ATTENTION:
                _attention.deactivate()
            elif _last.without(name) | _first.without(name):
                _stand()
                _take_away(DROP_INS[name])
                DROP_INS[name].deactivate()


def _take_away(drop_in: DropIn) -> None:
    """Take our modules out of `sys.modules`, and bring back those that they replaced."""
    packages = {root.partition(".")[0] for root in drop_in.roots}
    with imports_ended(sorted(drop_in.modules, key=lambda name: -name.count("."))):
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
    if above is not None and vars(above).get(child) is ours:
        delattr(above, child)
    if old is not None:
        _exchange(ours, old)
        if above is not None:
            setattr(above, child, old)
