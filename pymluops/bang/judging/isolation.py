"""What keeps a kernel that is judged from the rest of the machine.

The process of a kernel passes two gates. Behind the first it compiles: it and the compiler have
limits and no network, and they see the files of the system, of the package and of the source.
Behind the second it runs the kernel: it can make nothing but threads, run no program, and write no
file at all.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import resource
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from pymluops.bang.judging import landlock, seccomp
from pymluops.bang.judging.limits import Limits
from pymluops.sim.toolchain import Simulator

__all__ = ["before_compiling", "before_running", "held", "system_folders"]

_MIB = 1 << 20
#: Of the system, with compilers and their headers.
_OF_SYSTEM = (
    *("/usr", "/bin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/etc/alternatives", "/etc/ld.so.cache"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/dev/urandom", "/dev/random"),
)
_NULL = Path("/dev/null")
_FILES, _COMPILED_MIB = 256, 512
#: The version of Landlock from which on a file cannot be cut either.
_SINCE_TRUNCATE = 3
_PR_CAPBSET_DROP, _MOST_CAPABILITY = 24, 63


def held() -> dict[str, bool]:
    """Tell which parts of the isolation this system holds."""
    filters, rules = seccomp.is_available(), landlock.version()
    return {
        "limits of time, memory, output and threads": True,
        "no network (seccomp)": filters,
        "no other program or process while a kernel runs (seccomp)": filters,
        "no file is written while a kernel runs (seccomp or Landlock)": filters or rules >= _SINCE_TRUNCATE,
        "only the files of the system, of the package and of the source are read (Landlock)": rules > 0,
        "no signals to other processes (seccomp or Landlock)": filters or rules >= landlock.SINCE_SCOPES,
    }


@cache
def system_folders(compiler: tuple[str, ...]) -> list[Path]:
    """Return what a process reads that compiles and runs kernels: the system, Python, this package, the compiler."""
    installed = Simulator.installed()
    found = [Path(name) for name in _OF_SYSTEM]
    found += [Path(sys.prefix), Path(sys.base_prefix), Path(__file__).resolve().parents[2], installed.library.parent]
    found += [installed.include]
    for name in ("numpy", "ml_dtypes", "cffi"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found.append(Path(spec.origin).resolve().parent.parent)
    found += [Path(word).resolve().parent for word in compiler[:1] if os.path.isabs(word)]
    return list(dict.fromkeys(found))


def before_compiling(limits: Limits, readable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Pass the first gate.

    Parameters
    ----------
    limits : Limits
        For the compiler.
    readable, writable : iterable of Path
        Files and folders that the compiler needs.
    """
    _give_up_capabilities()
    with suppress(OSError):  # if memory runs out, the system ends this process before others
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_DATA, _own_data() + limits.memory_mib * _MIB),
        (resource.RLIMIT_FSIZE, _COMPILED_MIB * _MIB),
        (resource.RLIMIT_CPU, _used_seconds() + limits.compile_seconds),
    ):
        _limit(kind, int(value))
    landlock.restrict(readable, [*writable, _NULL])
    seccomp.restrict(seccomp.COMPILING, only_threads=False)


def before_running(limits: Limits, readable: Iterable[Path]) -> None:
    """Pass the second gate; nothing can be compiled behind it.

    Parameters
    ----------
    limits : Limits
        For the kernel. Its memory has none here: the simulator reserves more than it uses, so who
        watches the process counts it.
    readable : iterable of Path
        Files and folders that the kernel's process needs.
    """
    _limit(resource.RLIMIT_DATA, None)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CPU, int(_used_seconds() + limits.seconds) + 2)
    landlock.restrict([*readable, Path(f"/proc/{os.getpid()}"), _NULL], [])
    seccomp.restrict(seccomp.RUNNING, only_threads=True)


def _limit(kind: int, value: int | None) -> None:
    """Set the limit that a process has; only what no later one needs to raise is set for good."""
    hard = resource.getrlimit(kind)[1]
    wanted = hard if value is None else value if hard == resource.RLIM_INFINITY else min(value, hard)
    is_final = kind in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE) or (kind == resource.RLIMIT_FSIZE and value == 0)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (wanted, wanted if is_final else hard))


def _own_data() -> int:
    """Return the bytes of memory that this process has asked for already, which its children begin with."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def _used_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + 1


def _give_up_capabilities() -> None:
    """Give up what root has, so that the limits hold for it."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return
    library = ctypes.CDLL(None)
    for capability in range(_MOST_CAPABILITY + 1):
        library.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    library.capset(header, (ctypes.c_uint32 * 6)())
