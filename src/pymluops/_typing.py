"""Types for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Buffer


class SupportsDLPack(Protocol):
    """An array that offers itself through DLPack: NumPy, PyTorch, JAX and others."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


#: Anything an operator takes as an array.
Array: TypeAlias = "SupportsDLPack | Buffer"
