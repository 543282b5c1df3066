"""A task: what a kernel is given, and what it is to compute."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._arguments import is_integer
from pymluops._shown import one_line, shown
from pymluops._suggestions import among
from pymluops.bang._module import KINDS
from pymluops.bang.judging.arguments import Argument, Changed, Output, Random, dtype_named, made
from pymluops.bang.judging.dims import LaunchDims
from pymluops.bang.judging.given import require_kind, several, texts
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.reference import as_output, results_of
from pymluops.bang.judging.tolerance import Tolerance
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim._devices import DeviceModel, devices
from pymluops.sim._library import simulator
from pymluops.sim._schedules import Schedule, parsed_schedule

__all__ = ["SCHEDULES", "Task", "TaskError", "with_torch"]

#: The runs of a kernel unless its task names others. Undefined memory differs between the first
#: two: an element that follows it was never written.
SCHEDULES = (
    Schedule(memory="nan"),
    Schedule(copies="early", memory="zero"),
    Schedule("random", "random", "noise", 1),
)
#: What a task gives to a kernel, besides None.
_ARGUMENTS = (
    *(np.ndarray, np.generic, Random, Output, Changed, int, float, bool, bytes, bytearray),
    *(ctypes.Structure, type(None)),
)
_MOST_TASKS = 0x7FFFFFFF
_ENTRY = re.compile(r"(::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*(\s*<.*>)?", re.DOTALL)


class TaskError(BadParamError):
    """A task cannot be prepared, such as by a reference that fails: no kernel is to blame."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What a kernel is given, and what it is to compute.

    Parameters
    ----------
    name : str
        Kernels of this task are in files of this name, ``add.mlu``, of a longer one, ``add-7.mlu``,
        ``add_7.mlu`` or ``add.fast.mlu``, or in a folder of this name.
    arguments : mapping of str to Argument
        In the order of the kernel's parameters: arrays, `random` ones and numbers are inputs,
        `output` and `changed` what it writes. A kernel whose parameters have just these names may
        have them in any order; else the order counts.
    reference : callable
        Computes the outputs. It gets the inputs, and what `changed` arrays hold before, by the
        names of its own parameters; all arrays if Python knows of none, as of ``numpy.add``.
        It returns an array, a tuple of them in the order of the outputs, or a dict by their names.
        What it computes is brought to the type of the output before it is compared.
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
        require_kind("task", "name", self.name, str, "a text")
        _require(bool(self.name), "name", "a text", self.name)
        _require(callable(self.reference), "reference", "a function", self.reference)
        self._check_arguments()
        self._check_tolerance()
        for field in ("files", "options"):
            texts("task", field, getattr(self, field))
        several("task", "include_dirs", self.include_dirs, "folders")
        require_kind("task", "limits", self.limits, (Limits, type(None)), "Limits")
        require_kind("task", "entry", self.entry, (str, type(None)), "a name")
        is_entry = self.entry is None or _ENTRY.fullmatch(self.entry)
        _require(bool(is_entry), "entry", "a kernel, such as 'add' or 'add<float, 4>'", self.entry)
        self._check_runs()

    def _check_runs(self) -> None:
        schedules = several("task", "schedules", self.schedules, "schedules")
        _require(len(schedules) > 0, "schedules", "one at least", self.schedules)
        for each in schedules:
            _check_schedule(each)
        cards = texts("task", "cards", self.cards)
        _require(len(cards) > 0, "cards", "one at least", self.cards)
        known = {model.name: model for model in devices()}
        for card in cards:
            hint = among([card], known)
            _require(card in known, "cards", f"names out of {', '.join(sorted(known))}", card, hint)
            if self.launch is not None and not callable(self.launch):
                self.launch_on(known[card])

    def _check_arguments(self) -> None:
        require_kind("task", "arguments", self.arguments, Mapping, "a mapping of names to arguments")
        for name, value in self.arguments.items():
            require_kind("task", "arguments", name, str, "names")
            kinds = "an array, random(), output(), changed(), a number, a structure or None"
            require_kind("task", f"arguments: {one_line(name)}", value, _ARGUMENTS, kinds)
            if isinstance(value, (np.ndarray, np.generic)) and not _is_held(value.dtype):
                expected = "an array of numbers or of a structure" if value.ndim else "a number or a structure"
                _require(False, f"arguments: {one_line(name)}", expected, value)
        _require(bool(self.outputs), "arguments", "at least one output() or changed() among them", list(self.arguments))

    def _check_tolerance(self) -> None:
        if isinstance(self.tolerance, Tolerance):
            return
        expected = "a Tolerance, or a dict of them by the names of outputs"
        require_kind("task", "tolerance", self.tolerance, Mapping, expected)
        outputs = self.outputs
        for name, tolerance in self.tolerance.items():
            hint = among([str(name)], outputs)
            _require(name in outputs, "tolerance", f"names out of {', '.join(outputs)}", name, hint)
            require_kind("task", f"tolerance: {name}", tolerance, Tolerance, "a Tolerance")

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
        launch = _returned("launch", self.launch, card) if callable(self.launch) else self.launch
        return None if launch is None else _launch(launch, card)

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
        TaskError
            If the reference raises something.
        """
        if _has_names(self.reference):
            returned = _returned("reference", self.reference, **self._given(values))
        else:
            arrays = (_copied(value) for value in values.values() if _is_array(value))
            returned = _returned("reference", self.reference, *arrays)
        results = zip(self.outputs, results_of(returned, self.outputs), strict=True)
        return {name: self._as_output(name, values, result) for name, result in results}

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

    def _as_output(self, name: str, values: Mapping[str, Any], result: Any) -> NDArray[Any]:
        declared = self.arguments[name]
        if isinstance(declared, Output):
            return as_output(name, result, declared.shape, dtype_named(declared.dtype))
        return as_output(name, result, values[name].shape, values[name].dtype)


def _require(holds: bool, field: str, expected: str, got: object, hint: str = "") -> None:
    if not holds:
        raise BadParamError(f"task: {field}: expected {expected}, got {shown(got)}{hint}")


def _returned(field: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function of a task, which may raise anything."""
    try:
        return function(*arguments, **named)
    except (Exception, SystemExit) as error:
        raise TaskError(f"task: {field}: {type(error).__name__}: {error}") from error


def _check_schedule(schedule: object) -> None:
    require_kind("task", "schedules", schedule, Schedule, "a list of pymluops.sim.Schedule")
    try:
        parsed_schedule(simulator(), str(schedule))
    except BadParamError as error:
        raise BadParamError(f"task: schedules: {error.detail}") from None


def _launch(launch: object, card: DeviceModel) -> LaunchDims:
    """Return dims that a card can run."""
    parts = _parts(launch)
    if len(parts) != 2 or not isinstance(parts[1], str) or parts[1] not in KINDS:
        raise BadParamTypeError(f"task: launch: expected (dim, kind), such as (8, 'union1'), got {shown(launch)}")
    dims, kind = _parts(parts[0]) or [parts[0]], parts[1]
    are_dims = len(dims) <= 3 and all(is_integer(dim) and dim > 0 for dim in dims)
    _require(are_dims, "launch", "one to three numbers of tasks", parts[0])
    x, y, z = (int(dim) for dim in (*dims, 1, 1)[:3])
    _require(x * y * z <= _MOST_TASKS, "launch", f"at most {_MOST_TASKS} tasks", x * y * z)
    clusters = KINDS[kind] // 4
    _require(clusters <= card.clusters, "launch", f"a kind for {card.clusters} clusters of {card.name}", kind)
    width = max(clusters * card.cores_per_cluster, 1)
    _require(x % width == 0, "launch", f"a multiple of {width} tasks in x for {kind} on {card.name}", x)
    return LaunchDims((x, y, z), kind)


def _is_held(dtype: np.dtype[Any]) -> bool:
    """Tell whether a kernel can hold an element: a number, or a structure of them."""
    if dtype.names is None:
        return dtype.kind in "fiubc" or dtype.name == "bfloat16"
    return all(_is_held(dtype[name].base) for name in dtype.names)


def _parts(given: object) -> list[Any]:
    """Return what is in a tuple or a list; nothing if it is neither."""
    return list(cast("Sequence[Any]", given)) if _is_several(given) else []


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
