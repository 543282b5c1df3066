"""A folder that looks like an installed toolkit of the vendor, for build files that ask for one."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from pymluops import _environment
from pymluops._cache.location import lasting_folder
from pymluops._cache.private import is_own_file
from pymluops._cache.scratch import remove_tree
from pymluops._cache.store import Store
from pymluops.errors import NotInitializedError
from pymluops.sim.toolchain import Simulator

__all__ = ["neuware"]

#: Headers that kernels and host code may include.
_HEADERS = (
    *("bang.h", "bang_fusor.h", "mlu.h", "cnrt.h", "cnrt_older.h", "cn_api.h", "cnnl.h", "cnnl_operators.h"),
    *("mlusim.h", "mlusim_profile.h", "mlusim_source.h", "mlusim"),
)
#: The names under which programs link the libraries of this package, and those that the libraries
#: have.
_LIBRARIES = {
    "libcnrt.so": "libmlusim.so",
    "libcndrv.so": "libmlusim.so",
    "libcnnl.so": "libmlusim_cnnl.so",
    "libmlusim.so": "libmlusim.so",
    "libmlusim_cnnl.so": "libmlusim_cnnl.so",
}
_PROGRAMS = ("cncc", "bangcc")


def neuware() -> Path:
    """Return a folder to set ``NEUWARE_HOME`` to: ``bin/cncc``, ``include``, ``lib64`` and ``cmake/modules``.

    ``cncc`` is ``bangcc`` under the vendor's name. ``libcnrt.so`` and ``libcndrv.so`` are the
    library of the simulator, ``libcnnl.so`` is a stand-in for the tensor library. None of them
    exports operators. The folder lies in that of ``PYMLUOPS_CACHE_DIR``; it is made when it is
    asked for first, and again for another installation of this package.

    Returns
    -------
    Path

    Raises
    ------
    NotInitializedError
        If it cannot be made, or others can write where it would be.

    Examples
    --------
    >>> (pymluops.sim.neuware() / "bin" / "cncc").is_file()  # doctest: +SKIP
    True
    """
    simulator = Simulator.installed()
    modules = Path(__file__).resolve().parent.parent / "bang" / "cmake"
    program = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m pymluops.bang "$@"\n'
    links = {Path("include", name): simulator.include / name for name in _HEADERS}
    links |= {Path("lib64", name): simulator.library.with_name(own) for name, own in _LIBRARIES.items()}
    links |= {Path("cmake", "modules", path.name): path for path in sorted(modules.glob("*.cmake"))}
    state = "\0".join([program, *(f"{link}\0{target}" for link, target in links.items())])
    folder = lasting_folder()
    root = folder / f"neuware-{hashlib.sha256(os.fsencode(state)).hexdigest()[:16]}"
    for last in (False, False, True):  # the folder may be deleted meanwhile
        try:
            _complete(folder, root, links, program)
            break
        except OSError as error:
            if last or not isinstance(error, FileNotFoundError):
                place = _environment.text_shown(str(error.filename or root))
                raise NotInitializedError(
                    f"{place}: {error.strerror}: set PYMLUOPS_CACHE_DIR to a folder that can be written"
                ) from None
    return root


def _complete(folder: Path, root: Path, links: Mapping[Path, Path], program: str) -> None:
    """Create missing or wrong entries below `root`; each appears complete."""
    wrong = [link for link, target in links.items() if not _leads_to(root / link, target)]
    programs = [root / "bin" / name for name in _PROGRAMS]
    changed = [path for path in programs if not _holds(path, program)]
    if not wrong and not changed:
        return
    temporary = Store(folder).locked_folder()
    try:
        for number, link in enumerate(wrong):
            new = temporary.path / str(number)
            new.symlink_to(links[link])
            _put(new, root / link)
        for path in changed:
            new = temporary.path / path.name
            new.write_text(program, encoding="utf-8", errors="surrogateescape")
            new.chmod(0o700)
            _put(new, path)
    finally:
        temporary.remove()


def _leads_to(link: Path, target: Path) -> bool:
    try:
        return link.readlink() == target
    except OSError:
        return False


def _holds(path: Path, text: str) -> bool:
    """Tell whether a program exists with this text and only this user can write it."""
    try:
        status = path.lstat()
        whole = path.read_bytes() == text.encode("utf-8", "surrogateescape")
    except OSError:
        return False
    return whole and is_own_file(status) and os.access(path, os.X_OK)


def _put(new: Path, path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        new.replace(path)
    except IsADirectoryError:
        remove_tree(path)
        new.replace(path)
