"""The exceptions of this package: one class for every status that is not success.

A refused argument is a `BadParamError` whether the Python layer or the C library refused it.
Classes whose meaning Python already has a name for derive from that too, so ``except ValueError``
and ``except MemoryError`` work as expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pymluops.enums import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pymluops._finding import Finding

__all__ = [
    "AllocFailedError",
    "ArchMismatchError",
    "BadParamError",
    "BadParamTypeError",
    "ExecutionFailedError",
    "ExportError",
    "InternalError",
    "MluOpError",
    "NotInitializedError",
    "NotSupportedError",
    "NumericalOverflowError",
    "error_from_status",
]


_MOST_STEPS = 3  # that an error names


class MluOpError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    detail : str
        What was wrong, as one line.
    function : str
        Name of the C function concerned; empty if there is none.
    status : int, optional
        The status; the one of the class if not given.

    Attributes
    ----------
    detail : str
    function : str
    status : Status or int
        A plain int if the library returned a number that the ABI does not name.
    """

    _STATUS: ClassVar[Status] = Status.INTERNAL_ERROR

    def __init__(self, detail: str = "", *, function: str = "", status: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.function = function
        self.status: Status | int = self._STATUS if status is None else _as_status(status)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.detail, self.function, int(self.status))


class NotInitializedError(MluOpError):
    """Something is not there (any more): a closed object, or a library that cannot be loaded."""

    _STATUS = Status.NOT_INITIALIZED


class AllocFailedError(MluOpError, MemoryError):
    """Memory ran out."""

    _STATUS = Status.ALLOC_FAILED


class BadParamError(MluOpError, ValueError):
    """An argument was refused; nothing was written."""

    _STATUS = Status.BAD_PARAM


class BadParamTypeError(BadParamError, TypeError):
    """An argument was refused because its Python type is never right: a list for an array, a str for an int."""


class InternalError(MluOpError):
    """The library or the driver below it failed."""

    _STATUS = Status.INTERNAL_ERROR


class ArchMismatchError(MluOpError):
    """The device is too old for this operator."""

    _STATUS = Status.ARCH_MISMATCH


class ExecutionFailedError(MluOpError):
    """The operator was started and failed.

    On the simulated MLU the message is the report about the kernel, which has many lines.

    Parameters
    ----------
    detail, function, status
        As for `MluOpError`.
    findings : tuple of Finding
        What the simulator found.

    Attributes
    ----------
    findings : tuple of Finding
        Empty on anything but the simulator; see `pymluops.sim`.
    outputs : dict of str to ndarray
        What a kernel of `pymluops.bang` had written when it failed, by parameter: for each array in
        host memory that it was to write to. The arrays themselves are as they were.
    """

    _STATUS = Status.EXECUTION_FAILED

    def __init__(
        self, detail: str = "", *, function: str = "", status: int | None = None, findings: tuple[Finding, ...] = ()
    ) -> None:
        super().__init__(detail, function=function, status=status)
        self.findings = findings
        for note in _next_steps(findings):
            self.add_note(note)  # tracebacks, and pytest, show it below the message
        self.outputs: dict[str, NDArray[Any]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        arguments = (type(self), self.detail, self.function, int(self.status), self.findings)
        return _restore_findings, arguments, {"outputs": self.outputs}


def _next_steps(findings: tuple[Finding, ...]) -> list[str]:
    causes = [finding for finding in findings if not finding.cause]
    steps = {f"{finding.checker}/{finding.rule}": finding.next_step for finding in causes}
    told = [(rule, step) for rule, step in steps.items() if step]
    return [f"next: {step}" if len(told) == 1 else f"next: {rule}: {step}" for rule, step in told[:_MOST_STEPS]]


class NotSupportedError(MluOpError, NotImplementedError):
    """The library cannot do this: a function it lacks, a tensor too large, a mode it does not know."""

    _STATUS = Status.NOT_SUPPORTED


class ExportError(NotSupportedError, BufferError):
    """An array cannot be given to another package in the way that it asked for."""


class NumericalOverflowError(MluOpError, OverflowError):
    """A number left the range of its type."""

    _STATUS = Status.NUMERICAL_OVERFLOW


_CLASSES: dict[int, type[MluOpError]] = {
    Status.NOT_INITIALIZED: NotInitializedError,
    Status.ALLOC_FAILED: AllocFailedError,
    Status.BAD_PARAM: BadParamError,
    Status.INTERNAL_ERROR: InternalError,
    Status.ARCH_MISMATCH: ArchMismatchError,
    Status.EXECUTION_FAILED: ExecutionFailedError,
    Status.NOT_SUPPORTED: NotSupportedError,
    Status.NUMERICAL_OVERFLOW: NumericalOverflowError,
}


def error_from_status(status: int, function: str, detail: str) -> MluOpError:
    """Return the exception for a status other than success.

    A library may pass on status numbers of the libraries below it, so any number is accepted; one
    that the ABI does not name becomes a plain `MluOpError`.
    """
    return _CLASSES.get(status, MluOpError)(detail, function=function, status=status)


def _as_status(status: int) -> Status | int:
    try:
        return Status(status)
    except ValueError:
        return int(status)


def _restore(error: type[MluOpError], detail: str, function: str, status: int) -> MluOpError:
    return error(detail, function=function, status=status)


def _restore_findings(
    error: type[ExecutionFailedError], detail: str, function: str, status: int, findings: tuple[Finding, ...]
) -> ExecutionFailedError:
    return error(detail, function=function, status=status, findings=findings)
