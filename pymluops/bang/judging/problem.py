"""A task as data in a folder: what the processes of a judge read, none of which runs code of the task.

``problem.json`` describes it. Arrays are files of their bytes. Those of the reference stand in a
folder of their own, which the process of a kernel cannot read.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._shown import shortened
from pymluops.bang.judging.arguments import Changed, Output, dtype_named
from pymluops.bang.judging.dims import LaunchDims
from pymluops.bang.judging.given import read_task_options, refusal_of_options
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.task import Task
from pymluops.bang.judging.tolerance import Tolerance
from pymluops.errors import BadParamError
from pymluops.sim._devices import devices
from pymluops.sim._schedules import Schedule

__all__ = ["ArrayFile", "Problem", "Value", "read_problem", "write_problem"]

_INPUTS, _EXPECTED = "inputs", "expected"
#: The key of a structure's bytes.
_BYTES = "bytes"


@dataclass(frozen=True)
class ArrayFile:
    """An array in a file; without a file only its shape and type."""

    shape: tuple[int, ...]
    dtype: str
    file: str = ""

    @property
    def nbytes(self) -> int:
        """The size of its contents."""
        return int(np.prod(self.shape, dtype=np.int64)) * dtype_named(self.dtype).itemsize

    def read(self, folder: Path) -> NDArray[Any]:
        """Return the array."""
        return self.of((folder / self.file).read_bytes())

    def of(self, content: bytes) -> NDArray[Any]:
        """Return the array with these contents."""
        return np.frombuffer(bytearray(content), dtype_named(self.dtype)).reshape(self.shape)


@dataclass(frozen=True)
class Value:
    """An argument: an array, or something else that JSON can hold.

    Attributes
    ----------
    role : str
        ``input``, ``output`` or ``changed``.
    array : ArrayFile or None
        The array.
    other : object
        A number, None, a bool, or the bytes of a structure in an object.
    """

    name: str
    role: str
    array: ArrayFile | None
    other: Any

    def read(self, folder: Path) -> Any:
        """Return the value that a kernel is given; None for an output."""
        if self.array is not None:
            return self.array.read(folder) if self.array.file else None
        if isinstance(self.other, dict):
            return bytes.fromhex(cast("dict[str, str]", self.other)[_BYTES])
        return self.other


@dataclass(frozen=True)
class Problem:
    """A task as data; `digest` is another one for another problem, `named` are files that its options name."""

    folder: Path
    task: str
    digest: str
    values: tuple[Value, ...]
    expected: Mapping[str, ArrayFile]
    tolerances: Mapping[str, Tolerance]
    launches: Mapping[str, LaunchDims | None]
    entry: str | None
    schedules: tuple[Schedule, ...]
    limits: Limits | None
    options: tuple[str, ...]
    include_dirs: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards on which a kernel has to be right."""
        return tuple(self.launches)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The arguments that a kernel writes."""
        return tuple(value for value in self.values if value.role != "input")

    @property
    def nbytes(self) -> int:
        """The size of all outputs of a run."""
        return sum(value.array.nbytes for value in self.outputs if value.array is not None)

    def arguments(self) -> dict[str, Any]:
        """Read the values of all arguments; None for outputs."""
        return {value.name: value.read(self.folder / _INPUTS) for value in self.values}

    def reference(self, name: str) -> NDArray[Any]:
        """Read what the reference computed for an output."""
        return self.expected[name].read(self.folder / _EXPECTED)


def write_problem(task: Task, folder: Path) -> Problem:
    """Run the reference of a task, and write all of the task to a folder.

    Raises
    ------
    BadParamError
        If the task does not fit together.
    """
    options = read_task_options(task.options, task.include_dirs)
    launches = {model.name: task.launch_on(model) for model in devices() if model.name in task.cards}
    refusal = refusal_of_options(options, task.cards[0])
    if refusal:
        raise BadParamError(f"task: options: the compiler refuses {shortened(' '.join(task.options))}: {refusal}")
    values = task.values()
    expected = task.expected(values)
    (folder / _INPUTS).mkdir()
    (folder / _EXPECTED).mkdir()
    checksum = hashlib.sha256()
    described = [_value(task, name, value, folder / _INPUTS, checksum) for name, value in values.items()]
    references = {
        name: asdict(_written(array, folder / _EXPECTED / f"{number}.bin", checksum))
        for number, (name, array) in enumerate(expected.items())
    }
    content: dict[str, Any] = {
        "task": task.name,
        "values": described,
        "expected": references,
        "tolerances": {name: asdict(task.tolerance_of(name)) for name in expected},
        "launches": launches,
        "entry": task.entry,
        "schedules": list(task.schedules),
        "limits": None if task.limits is None else asdict(task.limits),
        "options": options.words,
        "include_dirs": options.folders,
        "named": options.named,
    }
    checksum.update(json.dumps(content).encode())
    content["digest"] = checksum.hexdigest()
    (folder / "problem.json").write_text(json.dumps(content), encoding="utf-8")
    return read_problem(folder)


def _value(task: Task, name: str, value: Any, folder: Path, checksum: Any) -> dict[str, Any]:
    declared = task.arguments[name]
    if isinstance(declared, Output):
        return {
            "name": name,
            "role": "output",
            "array": asdict(ArrayFile(declared.shape, declared.dtype)),
            "other": None,
        }
    role = "changed" if isinstance(declared, Changed) else "input"
    structure = _structure(value)
    if structure is not None:
        checksum.update(structure)
        return {"name": name, "role": role, "array": None, "other": {_BYTES: structure.hex()}}
    if _is_array(value):
        array = asdict(_written(value, folder / f"{len(list(folder.iterdir()))}.bin", checksum))
        return {"name": name, "role": role, "array": array, "other": None}
    other: Any = value.item() if hasattr(value, "item") else value
    return {"name": name, "role": role, "array": None, "other": other}


def _structure(value: object) -> bytes | None:
    """Return the bytes of a structure; None for anything else."""
    if isinstance(value, (bytes, bytearray, ctypes.Structure)):
        return bytes(value)
    names = getattr(getattr(value, "dtype", None), "names", None)
    return None if names is None else cast("np.void", value).tobytes()


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _written(array: NDArray[Any], file: Path, checksum: Any) -> ArrayFile:
    content = np.ascontiguousarray(array).tobytes()
    checksum.update(content)
    file.write_bytes(content)
    return ArrayFile(array.shape, array.dtype.name, file.name)


def read_problem(folder: Path) -> Problem:
    """Return the problem in a folder."""
    content = json.loads((folder / "problem.json").read_text(encoding="utf-8"))
    return Problem(
        folder,
        content["task"],
        content["digest"],
        tuple(
            Value(each["name"], each["role"], None if each["array"] is None else _array(each["array"]), each["other"])
            for each in content["values"]
        ),
        {name: _array(each) for name, each in content["expected"].items()},
        {name: Tolerance(**each) for name, each in content["tolerances"].items()},
        {card: each and LaunchDims(tuple(each[0]), each[1]) for card, each in content["launches"].items()},
        content["entry"],
        tuple(Schedule(*each) for each in content["schedules"]),
        None if content["limits"] is None else Limits(**content["limits"]),
        tuple(content["options"]),
        tuple(content["include_dirs"]),
        tuple(content["named"]),
    )


def _array(each: Mapping[str, Any]) -> ArrayFile:
    return ArrayFile(tuple(each["shape"]), each["dtype"], each["file"])
