"""A test case: what a file says, as Python values."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from pymluops._regular import open_regular
from pymluops.dtypes import item_size
from pymluops.enums import DataType, Layout
from pymluops.gencase._messages import bytes_for_text, node_class, protobuf
from pymluops.gencase._places import line_of
from pymluops.gencase._values import decode, encode, stated_field
from pymluops.gencase._writing import loses_bits, move_to_files, write_files

__all__ = ["CaseError", "CaseFile", "CaseTensor", "read_node", "text_of"]

#: Characters of what protobuf says that are told; it may repeat the file.
_LONGEST = 300
#: How quantised numbers are rounded where a case does not say it: half away from zero.
_ROUND_OFF_ZERO = 2
_MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class CaseError(ValueError):
    """A test case that cannot be read or run; the message is one line."""


class CaseTensor:
    """A tensor of a case.

    Parameters
    ----------
    message : message
        The message ``Tensor``.
    folder : pathlib.Path
        Where its paths begin.
    place : callable
        Gives the file and line where it stands, for errors.
    round_mode : int
        How its random numbers are rounded where they are not converted.
    exact : bool
        Whether a list must have all its values; that of an input may be shorter.
    """

    def __init__(self, message: Any, folder: Path, place: Callable[[], str], round_mode: int, exact: bool) -> None:
        self.message, self._folder, self._place = message, folder, place
        self._round_mode, self._exact = round_mode, exact

    def __repr__(self) -> str:
        return f"CaseTensor({self.id!r}, {list(self.shape)}, {self.dtype.name})"

    @property
    def id(self) -> str:
        """Its name in the file."""
        return cast(str, self.message.id)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dims."""
        return tuple(self.message.shape.dims)

    @property
    def strides(self) -> tuple[int, ...]:
        """Its strides in elements; packed ones where the file has none."""
        stated = tuple(self.message.shape.dim_stride)
        if stated:
            return stated
        steps: list[int] = []
        step = 1
        for dim in reversed(self.shape):
            steps.append(step)
            step *= max(dim, 1)
        return tuple(reversed(steps))

    @property
    def is_packed(self) -> bool:
        """Whether its elements lie behind one another in memory, in the order of its dims."""
        step = 1
        for dim, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if dim != 1 and stride != step and 0 not in self.shape:
                return False
            step *= dim
        return True

    @property
    def span(self) -> int:
        """Elements from the first to the last in memory, with those between."""
        if 0 in self.shape:
            return 0
        return 1 + sum((dim - 1) * step for dim, step in zip(self.shape, self.strides, strict=True))

    @property
    def dtype(self) -> DataType:
        """Its element type."""
        return DataType[self._enum("dtype").removeprefix("DTYPE_")]

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return item_size(self.dtype)

    @property
    def layout(self) -> Layout:
        """What its dims mean."""
        return Layout[self._enum("layout").removeprefix("LAYOUT_")]

    @property
    def onchip_dtype(self) -> DataType | None:
        """The type that is computed in on the chip; None if the file states none."""
        name = self._enum("onchip_dtype").removeprefix("DTYPE_")
        return None if name == "UNSET" else DataType[name]

    @property
    def is_null(self) -> bool:
        """Whether NULL is passed for it: descriptor and data."""
        return "NULL" in self.id

    @property
    def is_random(self) -> bool:
        """Whether its values are drawn."""
        return stated_field(self.message) == "random_data"

    @property
    def has_values(self) -> bool:
        """Whether the file has values of it, names a file with them, or says how they are drawn."""
        return stated_field(self.message) != ""

    @property
    def is_compared(self) -> bool:
        """Whether it is compared where it is an output."""
        return not (self.message.HasField("threshold_use") and self.message.threshold_use == 0)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Its own thresholds."""
        return tuple(self.message.thresholds.evaluation_threshold)

    @property
    def imaginary_thresholds(self) -> tuple[float, ...]:
        """Its own thresholds of imaginary parts."""
        return tuple(self.message.thresholds.evaluation_threshold_imag)

    def values(self) -> np.ndarray | None:
        """Return its numbers in memory, None if the file has none.

        Returns
        -------
        numpy.ndarray or None
            One dim: the numbers from the first to the last element; complex ones as their parts,
            BFLOAT16 as its bits.

        Raises
        ------
        CaseError
            If they cannot be read.
        """
        self.require_memory()
        try:
            return decode(
                self.message, self.dtype, self.span, self._folder, round_mode=self._round_mode, exact=self._exact
            )
        except (ValueError, OSError) as error:
            raise CaseError(f"{self._place()}: {error}") from None
        except (MemoryError, OverflowError):
            raise CaseError(self._no_memory()) from None

    @property
    def elements(self) -> int:
        """How many elements its shape has, or the memory that it spans, whichever are more."""
        return max(self.span, math.prod(self.shape))

    def require_memory(self) -> None:
        """Refuse a tensor that is larger than the memory of this machine.

        Raises
        ------
        CaseError
            If it is.
        """
        if self.elements * self.itemsize > _MEMORY:
            raise CaseError(self._no_memory())

    def _no_memory(self) -> str:
        return f"{self._place()}: {self.id}: no memory for {self.elements} elements"

    def set_values(self, values: np.ndarray, shape: Sequence[int] | None = None, *, hexadecimal: bool = False) -> None:
        """Replace its values, and its shape if one is given; it is packed then.

        Parameters
        ----------
        values : numpy.ndarray
            The numbers in memory, as `values` has them.
        shape : sequence of int, optional
            New dims.
        hexadecimal : bool
            Write real numbers by their bits.
        """
        if shape is not None:
            del self.message.shape.dims[:], self.message.shape.dim_stride[:]
            self.message.shape.dims.extend(shape)
        encode(self.message, values, self.dtype, hexadecimal=hexadecimal)

    def _enum(self, field: str) -> str:
        kinds = self.message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
        return cast(str, kinds[getattr(self.message, field)].name)

    def check(self) -> None:
        """Refuse a tensor that the ABI cannot have.

        Raises
        ------
        CaseError
            If it has a problem.
        """
        problem = self.problem()
        if problem:
            raise CaseError(f"{self._place()}: {self.id}: {problem}")

    def problem(self) -> str:
        """Return what the ABI lacks, or what contradicts itself in a tensor; empty if nothing."""
        for field, known in (("dtype", DataType), ("layout", Layout), ("onchip_dtype", DataType)):
            name = self._enum(field).removeprefix("LAYOUT_" if known is Layout else "DTYPE_")
            absent = field == "onchip_dtype" and name == "UNSET"
            if not absent and (name not in known.__members__ or name == "INVALID"):
                return f"{self._enum(field)} is no {field} of the ABI"
        steps = len(self.message.shape.dim_stride)
        if steps not in (0, len(self.shape)):
            return f"{steps} strides for {len(self.shape)} dims"
        if any(dim < 0 for dim in (*self.shape, *self.message.shape.dim_stride)):
            return "a dim or a stride is negative"
        return ""


class CaseFile:
    """A test case of one operator.

    Parameters
    ----------
    node : message
        The message ``Node``.
    path : pathlib.Path, optional
        The file that it is from.
    """

    def __init__(self, node: Any, path: Path | None = None) -> None:
        self.node, self.path = node, path

    @classmethod
    def build(
        cls,
        op_name: str,
        inputs: Sequence[tuple[str, np.ndarray]],
        outputs: Sequence[tuple[str, np.ndarray]],
        parameters: Mapping[str, Any] | None = None,
        criteria: Sequence[tuple[str, float]] | None = None,
        *,
        layouts: Mapping[str, Layout] | None = None,
    ) -> Self:
        """Make a case of arrays.

        Parameters
        ----------
        op_name : str
            Name of the operator, as in ``roi_crop_forward``.
        inputs, outputs : sequence of (str, numpy.ndarray)
            Names and arrays, in the order of the operator. Of an output, shape and type are taken.
        parameters : mapping of str to number or sequence of numbers, optional
            By the names of the format; those that are left out have their defaults.
        criteria : sequence of (str, float), optional
            Names and thresholds, as in ``("DIFF1", 0.003)``; those of the vendor if not given.
        layouts : mapping of str to Layout, optional
            Layouts of tensors; ARRAY if not given.

        Returns
        -------
        Case
            The case, which is in no file yet.

        Raises
        ------
        CaseError
            If the operator, a parameter, a criterion or a type is not known, or a parameter is
            missing.
        """
        from pymluops.gencase._build import build_node

        try:
            return cls(build_node(op_name, inputs, outputs, parameters or {}, criteria, layouts or {}))
        except ValueError as error:
            raise CaseError(str(error)) from None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.op_name!r}, {[*self.inputs]} -> {[*self.outputs]})"

    @property
    def op_name(self) -> str:
        """Name of the operator, as in ``roi_crop_forward``."""
        return cast(str, self.node.op_name)

    @property
    def inputs(self) -> tuple[CaseTensor, ...]:
        """Its inputs in the order of the file."""
        return self._tensors("input")

    @property
    def outputs(self) -> tuple[CaseTensor, ...]:
        """Its outputs in the order of the file."""
        return self._tensors("output")

    @property
    def round_mode(self) -> int | None:
        """How the handle rounds when it quantises; None if the file does not say."""
        return self.node.handle_param.round_mode if self.node.HasField("handle_param") else None

    def place(self, field: str, number: int = 0) -> str:
        """Return the file and, in a text, the line of a field of the node.

        Parameters
        ----------
        field : str
            As in ``input``.
        number : int
            Which of the fields of this name, from 0.
        """
        if self.path is None:
            return "case"
        line = None
        if self.path.suffix == ".prototxt":
            with suppress(OSError, UnicodeDecodeError):  # the file may have become another one
                line = line_of(_content(self.path).decode("utf-8"), field, number)
        return str(self.path) if line is None else f"{self.path}:{line}"

    def _tensors(self, side: str) -> tuple[CaseTensor, ...]:
        mode = _ROUND_OFF_ZERO if self.round_mode is None else self.round_mode
        return tuple(
            CaseTensor(message, self._folder, partial(self.place, side, number), mode, side == "output")
            for number, message in enumerate(getattr(self.node, side))
        )

    @property
    def _folder(self) -> Path:
        return Path() if self.path is None else self.path.parent

    def parameter(self, message: str, name: str) -> Any:
        """Return a parameter; a field that is not there has its default.

        Parameters
        ----------
        message : str
            The field of the node, as in ``carafe_param``.
        name : str
            The field of the message.
        """
        return getattr(getattr(self.node, message), name)

    def parameter_name(self, message: str, name: str) -> str | None:
        """Return the name of an enum's value, None if the field is not there."""
        found = getattr(self.node, message)
        if not found.HasField(name):
            return None
        return cast(str, found.DESCRIPTOR.fields_by_name[name].enum_type.values_by_number[getattr(found, name)].name)

    def copy(self) -> Self:
        """Return a copy that can be changed."""
        node = node_class()()
        node.CopyFrom(self.node)
        return type(self)(node, self.path)

    def inlined(self, *, hexadecimal: bool = False) -> Self:
        """Return a copy that has all values itself, those of files and of random data too.

        Parameters
        ----------
        hexadecimal : bool
            Write real numbers by their bits.
        """
        case = self.copy()
        for tensor in (*case.inputs, *case.outputs):
            values = None if tensor.is_null else tensor.values()
            if values is not None:
                tensor.set_values(values, hexadecimal=hexadecimal)
        return case

    def write(self, path: str | os.PathLike[str], *, data: str = "keep") -> None:
        """Write it to a file.

        Parameters
        ----------
        path : path
            ``.prototxt`` for text, ``.pb`` for binary.
        data : str
            ``keep``: values as they are, in lists or random; ``decimal`` and ``hexadecimal``: all
            in lists, of real numbers in decimals that give them back (but no bits of a NaN) or by
            their bits; ``files``: in files beside the case. Values of files beside another case
            become lists.

        Raises
        ------
        CaseError
            If the suffix is another.
        OSError
            If it cannot be written.
        """
        target = Path(path)
        if data not in ("keep", "decimal", "hexadecimal", "files"):
            raise CaseError(f"data: expected keep, decimal, hexadecimal or files, got {data!r}")
        if target.suffix not in (".pb", ".prototxt"):
            raise CaseError(f"{target}: a case is a file .prototxt or .pb")
        made, files = self.copy(), dict[str, bytes]()
        if data == "files":
            values = [None if tensor.is_null else tensor.values() for tensor in (*self.inputs, *self.outputs)]
            files = move_to_files({"input": made.node.input, "output": made.node.output}, values, target.stem)
        elif data != "keep":
            made = self.inlined(hexadecimal=data == "hexadecimal")
        elif target.parent.resolve() != self._folder.resolve():
            made._take_values_of_files()
        content = made.node.SerializeToString() if target.suffix == ".pb" else text_of(made).encode()
        write_files(target, content, files)

    def _take_values_of_files(self) -> None:
        """Have the values of files itself, by their bits where decimals would lose some."""
        for tensor in (*self.inputs, *self.outputs):
            values = tensor.values() if stated_field(tensor.message) == "path" else None
            if values is not None:
                tensor.set_values(values, hexadecimal=loses_bits(values))


def text_of(case: CaseFile) -> str:
    """Return a case as text."""
    return cast(str, protobuf("text_format").MessageToString(case.node))


def _content(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read()


def read_node(path: str | os.PathLike[str], *, checked: bool = True) -> Any:
    """Return the message of a file; see `pymluops.gencase.read`.

    Parameters
    ----------
    path : path
        The file.
    checked : bool
        Whether tensors that the ABI cannot have are refused.
    """
    source = Path(path)
    node = node_class()()
    if source.suffix == ".prototxt":
        _parse_text(source, node)
    elif source.suffix == ".pb":
        try:
            node.ParseFromString(_content(source))
        except protobuf("message").DecodeError as error:
            raise CaseError(f"{source}: no binary test case: {error}") from None
        wrong = bytes_for_text(node)
        if wrong:
            raise CaseError(f"{source}: the field {wrong} is no text in UTF-8")
    else:
        raise CaseError(f"{source}: a case is a file .prototxt or .pb")
    case = CaseFile(node, source)
    missing = node.FindInitializationErrors()
    if missing:
        found = re.match(r"(\w+)(?:\[(\d+)\])?", missing[0])
        assert found is not None
        raise CaseError(f"{case.place(found[1], int(found[2] or 0))}: the field {missing[0]} is missing")
    if checked:
        for tensor in (*case.inputs, *case.outputs):
            tensor.check()
    return node


def _parse_text(source: Path, node: Any) -> None:
    text_format = protobuf("text_format")
    try:
        text_format.Parse(_content(source).decode("utf-8"), node)
    except UnicodeDecodeError as error:
        raise CaseError(f"{source}: no text in UTF-8: {error.reason} at byte {error.start}") from None
    except text_format.ParseError as error:
        line = error.GetLine()
        place = f"{source}:{line}" if line else str(source)
        reason = " ".join(str(error).split())
        if len(reason) > _LONGEST:
            reason = f"{reason[:_LONGEST]}..."
        prefix = f"{line}:{error.GetColumn()} : "
        raise CaseError(f"{place}: {reason.removeprefix(prefix)}") from None
