"""Settings of the memory pool, which recycles the memory of released results and workspaces.

The system clears each page that it gives out, which takes longer than many an operator takes to
write its result there. The pool itself is a part of the compiled module (``_core/pool.pxi``).
"""

from __future__ import annotations

from pymluops import _environment
from pymluops.errors import NotInitializedError

__all__ = ["LEAST_BYTES", "MOST_BYTES", "limit_from_environment"]

#: Smaller blocks are not worth a search.
LEAST_BYTES = 4 << 20

#: Larger ones would leave too much memory idle.
MOST_BYTES = 64 << 20

_DEFAULT_MIB = 128


def limit_from_environment() -> int:
    """Return how many bytes of idle memory ``PYMLUOPS_POOL_MIB`` allows.

    A value that is no number gives the default here; it is refused when a library is loaded.
    """
    try:
        mib = _environment.integer("PYMLUOPS_POOL_MIB")
    except NotInitializedError:
        mib = None
    return (_DEFAULT_MIB if mib is None else mib) << 20
