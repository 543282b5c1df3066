"""Number of threads of the CPU library."""

from __future__ import annotations

from pymluops import library
from pymluops._arguments import Names, integer
from pymluops._core import check, set_threads
from pymluops._workers import program_chose

__all__ = ["get_num_threads", "set_num_threads"]

_MAX_THREADS = 1024


def get_num_threads() -> int:
    """Return the number of threads that an operator of the CPU library uses.

    It starts as what the environment variable ``PYMLUOPS_NUM_THREADS`` says. Else it is 1 in a
    process that `multiprocessing` has started, such as the worker of a pool, of a DataLoader or of
    Dask, and in any other the number of CPUs that this process may use, at most
    ``OMP_NUM_THREADS``. Affinity and the quota of a control group are respected.

    Returns
    -------
    int

    Examples
    --------
    >>> import pymluops
    >>> pymluops.get_num_threads() >= 1
    True
    """
    return int(library.load("cpu").lib.mluopsExtGetNumThreads())


def set_num_threads(n: int) -> None:
    """Set the number of threads that an operator of the CPU library uses, for the whole process.

    It also counts in processes that are forked from this one later. Results do not depend on it.

    Parameters
    ----------
    n : int
        From 1 to 1024.

    Raises
    ------
    BadParamError
        If `n` is anything else.

    Examples
    --------
    >>> import pymluops
    >>> before = pymluops.get_num_threads()
    >>> pymluops.set_num_threads(1)
    >>> pymluops.get_num_threads()
    1
    >>> pymluops.set_num_threads(before)
    """
    follow_num_threads(n)
    program_chose()


def follow_num_threads(n: int) -> None:
    """Set the number of threads to that of another library, which is no choice of the program."""
    function = "mluopsExtSetNumThreads"
    number = integer(Names("set_num_threads", function), "n", n, 1, _MAX_THREADS)
    backend = library.load("cpu")
    check(backend, function, set_threads(backend, number))
