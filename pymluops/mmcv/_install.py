"""Making ``mmcv._ext`` importable, and undoing that.

An entry of `sys.meta_path` answers for the one name ``mmcv._ext``. It stands last, so that a
compiled extension, which Python finds before, is never hidden; with `force` it stands first. mmcv
itself is imported only when the program does.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from pymluops._import_state import changing, imports_ended, leave_meta_path, making
from pymluops.mmcv import _extension, _wrappers

NAME = "mmcv._ext"


class _Loader(Loader):
    """Fills the module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave the making of the module to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the functions into the module."""
        with making():
            found = _extension.contents()
        vars(module).update(found)


class _Finder(MetaPathFinder):
    """Finds the one module; if `forced` before a compiled one."""

    forced = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Answer for ``mmcv._ext`` only."""
        return ModuleSpec(NAME, _Loader(), origin="pymluops.mmcv") if fullname == NAME else None


_finder = _Finder()

#: Modules whose imports are waited for: one of the first takes the lock of the second while it
#: holds its own.
_ORDER = ("mmcv.ops", NAME)

#: Our extension and the modules of mmcv.ops that were imported with it, and their parent, while it
#: is not installed. A module must not be run twice, since mmcv registers its classes under names.
_parked: dict[str, ModuleType] = {}
_parked_parent: list[ModuleType | None] = [None]

#: The compiled extension that `install` has replaced, if one was loaded.
_replaced: list[ModuleType] = []


def is_ours(module: ModuleType) -> bool:
    """Whether a module was made here."""
    return isinstance(getattr(getattr(module, "__spec__", None), "loader", None), _Loader)


def compiled_extension() -> str:
    """Return where the compiled ``mmcv._ext`` is, or "" if there is none. Nothing is imported."""
    loaded = sys.modules.get(NAME)
    if loaded is not None and not is_ours(loaded):
        return str(getattr(loaded, "__file__", None) or "sys.modules")
    for folder in _folders_of_mmcv():
        spec = PathFinder.find_spec("_ext", [folder])  # its full name would want mmcv to be imported
        if spec is not None:
            return str(spec.origin or next(iter(spec.submodule_search_locations or []), folder))
    return ""


def _folders_of_mmcv() -> list[str]:
    """Return the search path of the package mmcv; refuse if there is no mmcv."""
    loaded = sys.modules.get("mmcv")
    if loaded is not None:
        return list(getattr(loaded, "__path__", []))
    _require("mmcv", "mmcv-lite")
    spec = importlib.util.find_spec("mmcv")
    folders = list((spec and spec.submodule_search_locations) or [])
    if spec is not None and spec.origin is None:
        text = f"pymluops.mmcv: {' and '.join(folders)}, a folder without __init__.py, is found as mmcv: remove it"
        raise ModuleNotFoundError(f"{text}, and pip install mmcv-lite", name="mmcv")
    return folders


def _require(package: str, distribution: str) -> None:
    if package not in sys.modules and importlib.util.find_spec(package) is None:
        text = f"pymluops.mmcv: no module named {package!r}: pip install {distribution} would do"
        raise ModuleNotFoundError(text, name=package)


def install(*, force: bool = False) -> bool:
    """Let ``import mmcv.ops`` work where mmcv has no compiled extension: mmcv-lite, or a source tree.

    The module ``mmcv._ext`` gets every function that mmcv 2.2.0 loads. Those that this package
    computes run on the CPU; any other raises NotImplementedError when it is called, in one sentence
    that says what to install. ``python -m pymluops.mmcv`` prints which is which. Functions of
    mmcv's Python code that ask for a GPU first take tensors on the CPU too. Call it before
    ``import mmcv.ops``, in every process. Another call changes nothing.

    Parameters
    ----------
    force : bool
        Take the place of a compiled ``mmcv._ext`` too, loaded or not: one that does not fit the
        installed PyTorch, or whose functions lack a CPU kernel. Without it a compiled extension
        stays in use.

    Returns
    -------
    bool
        Whether ``mmcv._ext`` is the one of this package now.

    Raises
    ------
    ModuleNotFoundError
        If mmcv or PyTorch is not installed.
    """
    with changing:
        _require("torch", "torch")
        if _finder in sys.meta_path:
            force = force or _finder.forced
        compiled = compiled_extension()
        if compiled and not force:
            if Path(compiled).is_dir():
                text = (
                    f"install: 'mmcv' is not provided, since {compiled} has the name mmcv._ext, a folder without code"
                )
                warnings.warn(f"{text}; remove that, or call install(force=True)", stacklevel=2)
            return False
        with imports_ended(_ORDER):  # one of mmcv.ops that has begun without the extension fails first
            _unpark()
            _stand(force)
        loaded = sys.modules.get(NAME)
        if loaded is not None and not is_ours(loaded):
            del sys.modules[NAME]
            _exchange(loaded, importlib.import_module(NAME))
            _replaced.append(loaded)
        _wrappers.activate()
        return True


def _stand(forced: bool) -> None:
    """Put the finder where it belongs."""
    _finder.forced = forced
    if _finder not in sys.meta_path or (sys.meta_path[0] if forced else sys.meta_path[-1]) is not _finder:
        leave_meta_path(_finder)
        sys.meta_path.insert(0 if forced else len(sys.meta_path), _finder)


def uninstall() -> None:
    """Undo `install`: ``mmcv._ext`` is the compiled one again, or cannot be imported.

    Modules of ``mmcv.ops`` that are loaded use a compiled extension from then on. Where there is
    none they leave `sys.modules`, so that ``import mmcv.ops`` fails as it did before; objects that
    the program holds go on working, and another `install` brings the modules back. Without a call
    of `install` before, nothing happens.
    """
    with changing:
        if _finder not in sys.meta_path:
            return
        with imports_ended(_ORDER):
            leave_meta_path(_finder)
            _wrappers.deactivate()
            loaded = sys.modules.get(NAME)
            if loaded is not None and is_ours(loaded):
                _take_away(loaded)


def _take_away(ours: ModuleType) -> None:
    """Undo the import of our extension."""
    del sys.modules[NAME]
    parent = sys.modules.get("mmcv")
    if parent is not None and getattr(parent, "_ext", None) is ours:
        delattr(parent, "_ext")
    compiled = _compiled_module(parent)
    if compiled is not None:
        _exchange(ours, compiled)
    else:
        _park(parent, ours)


def _compiled_module(parent: ModuleType | None) -> ModuleType | None:
    """Return the compiled extension: the one that was loaded, else one for modules of mmcv.ops that are loaded."""
    if _replaced:
        compiled = _replaced.pop()
        sys.modules[NAME] = compiled
        if parent is not None:
            setattr(parent, "_ext", compiled)  # noqa: B010 - the attribute of a submodule
        return compiled
    if not list(_loaded_operators()) or not compiled_extension():
        return None
    try:
        return importlib.import_module(NAME)
    except ImportError:  # it does not fit this PyTorch, which is why it had been replaced
        return None


def _loaded_operators() -> Iterator[tuple[str, ModuleType]]:
    """Yield name and module of mmcv.ops and everything below it."""
    for name, module in list(sys.modules.items()):
        if name == "mmcv.ops" or name.startswith("mmcv.ops."):
            yield name, module


def _exchange(old: ModuleType, new: ModuleType) -> None:
    """Let the loaded modules of mmcv.ops use another extension."""
    for _, module in _loaded_operators():
        for attribute, value in list(vars(module).items()):
            if value is old:
                setattr(module, attribute, new)


def _park(parent: ModuleType | None, ours: ModuleType) -> None:
    """Take the modules of mmcv.ops away."""
    for name, module in _loaded_operators():
        _parked[name] = sys.modules.pop(name, module)
    _parked[NAME] = ours
    _parked_parent[0] = parent
    if parent is not None and hasattr(parent, "ops"):
        delattr(parent, "ops")


def _unpark() -> None:
    """Bring the modules of mmcv.ops back, unless the program has imported another mmcv since."""
    parent = sys.modules.get("mmcv")
    if _parked and parent is not None and parent is _parked_parent[0] and "mmcv.ops" not in sys.modules:
        sys.modules.update(_parked)
        for name in {NAME, "mmcv.ops"} & _parked.keys():
            setattr(parent, name.removeprefix("mmcv."), _parked[name])
    _parked.clear()
    _parked_parent[0] = None
