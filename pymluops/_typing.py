"""Types for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Buffer


class SupportsDLPack(Protocol):
    """An array that offers itself through DLPack: NumPy, PyTorch, JAX and others."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsAutograd(SupportsDLPack, Protocol):
    """What a tensor of PyTorch has and other arrays do not; PyTorch need not be installed to check types."""

    @property
    def requires_grad(self) -> bool: ...
    def detach(self) -> Any: ...


#: A tensor of PyTorch.
TorchTensor = TypeVar("TorchTensor", bound=SupportsAutograd)

#: The array given for a result.
Out = TypeVar("Out")

#: An array in host memory, or one of another package.
HostArray: TypeAlias = "SupportsDLPack | Buffer"

#: Anything an operator takes as an array: one of those, or a `DeviceArray`, which offers itself
#: through DLPack too.
Array: TypeAlias = HostArray
