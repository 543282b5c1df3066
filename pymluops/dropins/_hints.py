"""The error of an import that an extension of this package would satisfy: it says which call installs it.

Packages often import an extension that another one has too, under a name of their own, such as
``det3d.ops.iou3d_nms.iou3d_nms_cuda``. Nothing is known of such a package, but the last part of the
name tells the extension.
"""

from __future__ import annotations

import sys

from pymluops.dropins._extensions import last_names, owners

__all__ = ["explain"]

_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def explain(fullname: str) -> None:
    """Raise an ImportError that gives the call for a module, if it looks like an extension of this package.

    Nothing happens while a program only asks whether there is a module, as
    `importlib.util.find_spec` does.
    """
    advice = _advice(fullname)
    callers = _functions_of_import_system() if advice else []
    if "_find_and_load" not in callers:
        return
    package, _, child = fullname.rpartition(".")
    if "_handle_fromlist" in callers:  # from package import child: Python drops a ModuleNotFoundError of the child
        path = getattr(sys.modules.get(package), "__file__", None)
        text = f"cannot import name {child!r} from {package!r} ({path or 'unknown location'}); {advice}"
        raise ImportError(text, name=package, path=path)
    raise ModuleNotFoundError(f"No module named {fullname!r}; {advice}", name=fullname)


def _advice(fullname: str) -> str:
    """Return what to do for a module, or ""."""
    if fullname == "mmcv._ext":
        return 'pymluops has this extension: call pymluops.install("mmcv") before the import'
    known = owners().get(fullname)
    if known is not None and known.DROP_IN:
        return f'pymluops has this extension: call pymluops.install("{known.DROP_IN}") before the import'
    last = fullname.rpartition(".")[2]
    found = last_names().get(last)
    if not found:
        return ""
    call = f'pymluops.install("{last}", at="{fullname}")'
    if last.startswith("_"):  # a name that says nothing
        several = "; ".join((one.__doc__ or "").partition(":")[0] for one in found)
        return f"if it is one of these ({several}), pymluops has it: call {call} before the import"
    return f"pymluops has this extension: call {call} before the import"


def _functions_of_import_system() -> list[str]:
    """Return the functions of Python's import system that the call of a finder comes from."""
    names: list[str] = []
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    own = (__name__, "pymluops.dropins._install")
    while frame.f_back is not None and frame.f_globals.get("__name__") in own:
        frame = frame.f_back
    while frame.f_back is not None and frame.f_code.co_filename == _IMPORT_SYSTEM:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names
