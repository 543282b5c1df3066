"""Types for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from pymluops._core import DeviceArray


class SupportsDLPack(Protocol):
    """An array that offers itself through DLPack: NumPy, PyTorch, JAX and others."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


#: An array in host memory, or one of another package.
HostArray: TypeAlias = "SupportsDLPack | Buffer"

#: Anything an operator takes as an array.
Array: TypeAlias = "HostArray | DeviceArray"
