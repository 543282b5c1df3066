"""A task: what a kernel is given, and what it is to compute."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._shown import shown
from pymluops.bang._module import KINDS
from pymluops.bang.judging.arguments import Argument, Changed, Output, made
from pymluops.bang.judging.dims import LaunchDims
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.tolerance import Tolerance
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim._devices import DeviceModel, devices
from pymluops.sim._schedules import Schedule

__all__ = ["SCHEDULES", "Task", "with_torch"]

#: The runs of a kernel unless its task names others. Undefined memory differs between the first
#: two: an element that follows it was never written.
SCHEDULES = (
    Schedule(memory="nan"),
    Schedule(copies="early", memory="zero"),
    Schedule("random", "random", "noise", 1),
)


@dataclasses.dataclass(frozen=True)
class Task:
    """What a kernel is given, and what it is to compute.

    Parameters
    ----------
    name : str
        Kernels of this task are in files of this name, ``add.mlu``, of a longer one, ``add-7.mlu``
        or ``add.fast.mlu``, or in a folder of this name.
    arguments : mapping of str to Argument
        In the order of the kernel's parameters: arrays, `random` ones and numbers are inputs,
        `output` and `changed` what it writes. A kernel whose parameters have just these names may
        have them in any order; else the order counts.
    reference : callable
        Computes the outputs. It gets the inputs, and what `changed` arrays hold before, by the
        names of its own parameters; all arrays if Python knows of none, as of ``numpy.add``.
        It returns an array, a tuple of them in the order of the outputs, or a dict by their names.
    tolerance : Tolerance, or dict of str to Tolerance
        How far an output may be off; by the name of the output if they differ.
    launch : (dim, kind), or callable, optional
        How the kernel is launched, ``(8, "union1")``; or a function of the `DeviceModel` of the
        card that returns this. If not given, it is guessed from what the source reads.
    cards : sequence of str
        The cards on which the kernel has to be right.
    entry : str, optional
        The kernel, or an instance of a template. If not given: the only one of its source, or that
        with the name of the task or of the file.
    files : sequence of str
        Patterns of files of this task besides those of its name.
    schedules : sequence of Schedule
        Under which the kernel runs.
    limits : Limits, optional
        Instead of those of the judge.
    options, include_dirs : sequence of str
        For the compiler, as for `pymluops.bang.compile`.

    Raises
    ------
    BadParamError
        If one of them cannot be what it is.
    """

    name: str
    arguments: Mapping[str, Argument]
    reference: Callable[..., Any]
    tolerance: Tolerance | Mapping[str, Tolerance] = Tolerance()  # noqa: RUF009 - it cannot change
    launch: tuple[Any, str] | Callable[[DeviceModel], tuple[Any, str]] | None = None
    cards: Sequence[str] = ("MLU590",)
    entry: str | None = None
    files: Sequence[str] = ()
    schedules: Sequence[Schedule] = SCHEDULES
    limits: Limits | None = None
    options: Sequence[str] = ()
    include_dirs: Sequence[str] = ()

    def __post_init__(self) -> None:
        _require(bool(self.name), "name", "a text", self.name)
        _require(callable(self.reference), "reference", "a function", self.reference)
        _require(bool(self.outputs), "arguments", "at least one output() or changed() among them", list(self.arguments))
        _require(len(self.schedules) > 0, "schedules", "one at least", self.schedules)
        known = {model.name for model in devices()}
        for card in self.cards:
            _require(card in known, "cards", f"names out of {', '.join(sorted(known))}", card)
        _require(len(self.cards) > 0, "cards", "one at least", self.cards)
        if self.launch is not None and not callable(self.launch):
            _launch(self.launch)

    @property
    def outputs(self) -> list[str]:
        """The names of the arguments that the kernel writes."""
        return [name for name, value in self.arguments.items() if isinstance(value, (Output, Changed))]

    def tolerance_of(self, output: str) -> Tolerance:
        """Return the tolerance of an output."""
        if isinstance(self.tolerance, Tolerance):
            return self.tolerance
        return self.tolerance.get(output, Tolerance())

    def launch_on(self, card: DeviceModel) -> LaunchDims | None:
        """Return how the kernel is launched on a card; None if that is to be guessed."""
        launch = self.launch(card) if callable(self.launch) else self.launch
        return None if launch is None else _launch(launch)

    def values(self) -> dict[str, Any]:
        """Return the values of the arguments, None for outputs."""
        return {name: made(name, value) for name, value in self.arguments.items()}

    def expected(self, values: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Compute the outputs by the reference.

        Parameters
        ----------
        values : mapping of str to object
            Of `values`; the reference gets copies.

        Raises
        ------
        BadParamError
            If the reference does not return what the outputs are.
        """
        returned = self.reference(**self._given(values)) if _has_names(self.reference) else self._called(values)
        names = self.outputs
        if isinstance(returned, Mapping):
            results = [cast("Mapping[str, Any]", returned).get(name) for name in names]
        else:
            results = _parts(returned) if _is_tuple(returned) else [returned]
        _require(len(results) == len(names), "reference", f"{len(names)} results ({', '.join(names)})", len(results))
        return {name: self._as_output(name, values, result) for name, result in zip(names, results, strict=True)}

    def _given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        parameters = inspect.signature(self.reference).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        inputs = {name: value for name, value in values.items() if not isinstance(self.arguments[name], Output)}
        for name, parameter in parameters.items():
            is_named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            _require(
                not is_named or name in inputs or parameter.default is not parameter.empty,
                "reference", f"parameters out of {', '.join(inputs)}", name,
            )  # fmt: skip
        return {name: _copied(value) for name, value in inputs.items() if takes_all or name in parameters}

    def _called(self, values: Mapping[str, Any]) -> Any:
        return self.reference(*(_copied(value) for value in values.values() if _is_array(value)))

    def _as_output(self, name: str, values: Mapping[str, Any], result: Any) -> NDArray[Any]:
        declared = self.arguments[name]
        shape = declared.shape if isinstance(declared, Output) else values[name].shape
        array = np.asarray(result)
        _require(array.shape == shape, "reference", f"shape {list(shape)} for {name}", list(array.shape))
        return array


def _require(holds: bool, field: str, expected: str, got: object) -> None:
    if not holds:
        raise BadParamError(f"task: {field}: expected {expected}, got {shown(got)}")


def _launch(launch: object) -> LaunchDims:
    parts = _parts(launch)
    if len(parts) != 2 or parts[1] not in KINDS:
        raise BadParamTypeError(f"task: launch: expected (dim, kind), such as (8, 'union1'), got {shown(launch)}")
    dims = _parts(parts[0]) or [parts[0]]
    are_dims = len(dims) <= 3 and all(isinstance(dim, int) and 0 < dim < 2**32 for dim in dims)
    _require(are_dims, "launch", "one to three numbers of tasks", parts[0])
    x, y, z = (*dims, 1, 1)[:3]
    return LaunchDims((x, y, z), str(parts[1]))


def _parts(given: object) -> list[Any]:
    """Return what is in a tuple or a list; nothing if it is neither."""
    return list(cast("Sequence[Any]", given)) if _is_several(given) else []


def _is_tuple(given: object) -> bool:
    return isinstance(given, tuple)


def _is_several(given: object) -> bool:
    return isinstance(given, (tuple, list))


def _has_names(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in parameters)


def _copied(value: Any) -> Any:
    return copy.copy(value)


def with_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a reference of a function of PyTorch: arrays come to it as tensors, and its tensors become arrays.

    Parameters
    ----------
    function : callable
        With parameters of the names of the task's arguments.

    Examples
    --------
    >>> Task("relu", {...}, with_torch(lambda x: torch.relu(x)))  # doctest: +SKIP
    """

    def reference(**values: Any) -> Any:
        torch: Any = importlib.import_module("torch")
        given = {name: torch.as_tensor(value) if _is_array(value) else value for name, value in values.items()}
        with torch.no_grad():
            returned: object = function(**given)
        if isinstance(returned, Mapping):
            named = cast("Mapping[str, Any]", returned)
            return {name: _as_array(value) for name, value in named.items()}
        return tuple(map(_as_array, _parts(returned))) if _is_several(returned) else _as_array(returned)

    reference.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return reference


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _as_array(tensor: Any) -> NDArray[Any]:
    return np.asarray(tensor.float() if str(getattr(tensor, "dtype", "")) == "torch.bfloat16" else tensor)
