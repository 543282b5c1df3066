"""A folder that looks like an installed toolkit of the vendor, for build files that ask for one."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from pathlib import Path

from pymluops.sim._cache import Place, cache_folder
from pymluops.sim.toolchain import Simulator

__all__ = ["neuware"]

#: Headers that kernels and host code may include.
_HEADERS = (
    *("bang.h", "bang_fusor.h", "mlu.h", "cnrt.h", "cnrt_older.h", "cn_api.h", "cnnl.h"),
    *("mlusim.h", "mlusim_profile.h", "mlusim_source.h", "mlusim"),
)
#: The names under which programs link the libraries of this package, and those that the libraries have.
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

    ``cncc`` is ``bangcc`` under the vendor's name. ``libcnrt.so`` and ``libcndrv.so`` are the library of the simulator,
    ``libcnnl.so`` is a stand-in for the tensor library. None of them exports operators.
    The folder lies in that of ``PYMLUOPS_CACHE_DIR``; it is made when it is asked for first, and again for another
    installation of this package.

    Returns
    -------
    Path

    Raises
    ------
    NotInitializedError
        If it cannot be made.

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
    root = cache_folder() / f"neuware-{hashlib.sha256(os.fsencode(state)).hexdigest()[:16]}"
    for link, target in links.items():
        _make_link(root / link, target)
    for name in _PROGRAMS:
        _make_program(root / "bin" / name, program)
    return root


def _make_link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.exists():
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    with Place(link) as place:
        place.symlink_to(target)


def _make_program(path: Path, text: str) -> None:
    if path.is_file() and os.access(path, os.X_OK):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with Place(path) as place:
        place.write_text(text, encoding="utf-8")
        place.chmod(0o755)
