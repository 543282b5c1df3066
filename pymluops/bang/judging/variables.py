"""The environment variables that compilers and kernels see: secrets of who judges are none of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["passed_on"]

#: What programs, Python and compilers need to work as elsewhere.
_NAMES = frozenset(
    {"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"}
    | {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH"}
    | {"GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH"}
    | {"PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "PYTHONDONTWRITEBYTECODE"}
    | {"PYMLUOPS_CACHE_DIR", "PYMLUOPS_CACHE_MIB", "PYMLUOPS_CXX", "PYMLUOPS_INSTRUCTION_LEVEL"}
)
#: Of locales, and of the compiler cache ccache.
_BEGINNINGS = ("LC_", "CCACHE_")


def passed_on(variables: Mapping[str, str], further: Iterable[str]) -> dict[str, str]:
    """Return the variables that the processes of a judge have.

    Parameters
    ----------
    variables : mapping of str to str
        Those of this process.
    further : iterable of str
        Names that are passed on besides.
    """
    names = _NAMES.union(further)
    return {name: value for name, value in variables.items() if name in names or name.startswith(_BEGINNINGS)}
