"""Which argument of the C function each tensor and each parameter of a case is.

The vendor's test program goes by the position of tensors, and tells which optional ones are there
by their number; so does this module. Numbers that a case lacks follow from shapes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymluops.enums import DataType
from pymluops.gencase._file import CaseError, CaseFile, CaseTensor
from pymluops.gencase._operators import OPERATORS, CaseInput, CaseOperator, CaseOutput

__all__ = ["Bound", "bind", "operator_of"]

#: Operators that compute what another one does.
_ALIASES = {"adam_w_light": "adam_w"}
_OPERATORS: dict[str, CaseOperator] = {}
for _row in OPERATORS:
    _OPERATORS.setdefault(_row.name, _row)

#: Numbers of inputs with a tensor in front that no operator looks at.
_UNUSED_FIRST = {"sync_batchnorm_gather_stats_with_counts": (4, 6)}
#: Operators with the argument ``prefer``, whose cases may name it without a row in the table.
_PREFERRING = ("div", "log", "sqrt")


@dataclass
class Bound:
    """A case with its arguments.

    Attributes
    ----------
    operator : CaseOperator
        Its row in the table.
    function : str
        The C function.
    inputs : dict of str to CaseTensor or None
        By argument; None for a tensor that is passed as NULL.
    outputs : dict of str to CaseTensor
        By argument, in the order of the file.
    numbers : dict of str to int, float or tuple
        By argument, or ``descriptor.field``.
    """

    operator: CaseOperator
    function: str
    inputs: dict[str, CaseTensor | None] = field(default_factory=dict[str, "CaseTensor | None"])
    outputs: dict[str, CaseTensor] = field(default_factory=dict[str, "CaseTensor"])
    numbers: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def in_place(self) -> tuple[str, ...]:
        """Arguments that are read and written."""
        return tuple(name for name in self.outputs if name in self.inputs)


def operator_of(case: CaseFile) -> CaseOperator:
    """Return the row of a case's operator.

    Raises
    ------
    CaseError
        If there is none.
    """
    found = _OPERATORS.get(_ALIASES.get(case.op_name, case.op_name))
    if found is None:
        name = case.op_name if case.op_name.isidentifier() else ascii(case.op_name)
        raise CaseError(f"{case.path}: no operator is called {name if len(name) <= 100 else name[:100] + '...'}")
    return found


def bind(case: CaseFile) -> Bound:
    """Return the arguments of a case.

    Raises
    ------
    CaseError
        If the operator is unknown, or the tensors are not those that it has.
    """
    operator = operator_of(case)
    bound = Bound(operator, operator.functions[0])
    bound.numbers = _numbers(operator, case)
    given, made = list(case.inputs), list(case.outputs)
    if len(given) in _UNUSED_FIRST.get(operator.name, ()):
        del given[0]
    inputs, outputs = _choose(operator, case, given, made, bound.numbers)
    for one, tensor in zip(inputs, given, strict=True):
        if one.argument is not None:
            bound.inputs[_argument(one.argument)] = None if tensor.is_null else tensor
    for other, tensor in zip(outputs, made, strict=True):
        bound.outputs[_argument(other.argument)] = tensor
    try:
        _complete(bound, case)
    except (LookupError, TypeError, ValueError) as error:
        raise CaseError(f"{case.path}: {case.op_name}: its tensors or parameters do not fit: {error}") from None
    _check_in_place(bound, case)
    return bound


def _check_in_place(bound: Bound, case: CaseFile) -> None:
    """Refuse an output of another shape or type than the input that it is."""
    sources = {name: name for name in bound.in_place}
    if "inplace" in bound.numbers and "y" in bound.outputs:
        sources["y"] = "x"
    for name, source in sources.items():
        made, given = bound.outputs[name], bound.inputs[source]
        if given is not None and (made.shape, made.dtype) != (given.shape, given.dtype):
            texts = [f"{one.id} is {list(one.shape)} {one.dtype.name.lower()}" for one in (made, given)]
            raise CaseError(f"{case.path}: {case.op_name} works in place, but {' and '.join(texts)}")


def _argument(name: str) -> str:
    """Return the C argument of ``plan.input`` too."""
    return name.rpartition(".")[2]


def _conditions(operator: CaseOperator, numbers: dict[str, Any]) -> list[str]:
    """Return the arguments whose presence the file does not say."""
    rows: Sequence[CaseInput | CaseOutput] = (*operator.inputs, *operator.outputs)
    names = (row.condition.removeprefix("!") for row in rows if row.condition)
    return [name for name in dict.fromkeys(names) if name not in numbers]


def _choose(
    operator: CaseOperator, case: CaseFile, given: list[CaseTensor], made: list[CaseTensor], numbers: dict[str, Any]
) -> tuple[list[CaseInput], list[CaseOutput]]:
    """Return the rows of the tensors of a file."""
    fitting: list[tuple[int, list[CaseInput], list[CaseOutput]]] = []
    for inputs, outputs in _layouts(operator, numbers):
        if operator.name == "lgamma" and not made:
            outputs = []
        in_place = {row.argument for row in inputs}
        if len(inputs) == len(given) and len(outputs) > len(made):  # what is changed in place need not be compared
            outputs = [row for row in outputs if row.argument not in in_place]
        if len(inputs) == len(given) and len(outputs) == len(made):
            alike = sum(row.id == tensor.id for row, tensor in zip(inputs, given, strict=True))
            fitting.append((alike + 10 * _has_shapes(operator, inputs, given), inputs, outputs))
    if not fitting:
        raise CaseError(
            f"{case.path}: {case.op_name} has no call with {len(given)} inputs and {len(made)} outputs; "
            f"it has {_counts(operator, numbers)}"
        )
    _, inputs, outputs = max(fitting, key=lambda one: one[0])
    return inputs, outputs


def _layouts(operator: CaseOperator, numbers: dict[str, Any]) -> Iterator[tuple[list[CaseInput], list[CaseOutput]]]:
    """Yield the inputs and outputs for every choice of optional tensors."""
    open_names = _conditions(operator, numbers)
    for choice in itertools.product((True, False), repeat=len(open_names)):
        present = {
            **{name: bool(value) for name, value in numbers.items()},
            **dict(zip(open_names, choice, strict=True)),
        }

        def holds(condition: str, present: dict[str, bool] = present) -> bool:
            return not condition or present[condition.removeprefix("!")] != condition.startswith("!")

        yield (
            [row for row in operator.inputs if holds(row.condition)],
            [row for row in operator.outputs if holds(row.condition)],
        )


def _has_shapes(operator: CaseOperator, rows: list[CaseInput], given: list[CaseTensor]) -> bool:
    """Tell filter and bias of a convolution apart: only the filter has four dims."""
    if not operator.name.startswith("dcn"):
        return True
    dims = 4
    return all((len(tensor.shape) == dims) == (row.id != "bias") for row, tensor in zip(rows, given, strict=True))


def _counts(operator: CaseOperator, numbers: dict[str, Any]) -> str:
    found = dict.fromkeys((len(inputs), len(outputs)) for inputs, outputs in _layouts(operator, numbers))
    return " or ".join(f"{inputs} and {outputs}" for inputs, outputs in sorted(found))


# ---- Numbers -------------------------------------------------------------------------------------


def _numbers(operator: CaseOperator, case: CaseFile) -> dict[str, Any]:
    """Return the parameters of a case by their sources; fields that are not there have their defaults."""
    found: dict[str, Any] = {}
    for parameter in operator.parameters:
        if parameter.source.isdigit() or "==" in parameter.source:
            continue
        value = case.parameter(operator.message, parameter.name)
        found[parameter.source] = tuple(value) if parameter.repeated else value
    return found


def _complete(bound: Bound, case: CaseFile) -> None:
    """Add the numbers that follow from shapes, and from messages that the table has no row for."""
    name, numbers = bound.operator.name, bound.numbers
    tensors = {**bound.inputs, **bound.outputs}
    shapes = {argument: tensor.shape for argument, tensor in tensors.items() if tensor is not None}
    if name in _PREFERRING:
        numbers["prefer"] = case.parameter(f"{name}_param", "prefer")
    elif name in ("focal_loss_sigmoid_forward", "focal_loss_sigmoid_backward"):
        numbers["reduction"] = case.parameter(bound.operator.message, "reduction")
    elif name == "roipoint_pool3d":
        points, boxes, features = shapes["points"], shapes["boxes3d"], shapes["point_features"]
        numbers |= dict(zip(("batch_size", "pts_num"), points, strict=False))
        numbers |= {"boxes_num": boxes[1], "feature_in_len": features[2]}
    elif name == "roialign_forward":
        numbers["roialign_desc.pooled_height"], numbers["roialign_desc.pooled_width"] = shapes["output"][1:3]
    elif name.startswith("dcn"):
        numbers["dcn_desc.compute_type"] = _compute_type(case, bound.operator)
    elif name == "lgamma" and case.parameter(bound.operator.message, "inplace"):
        bound.numbers["inplace"] = 1


def _compute_type(case: CaseFile, operator: CaseOperator) -> int:
    """Return the type that a convolution computes in; FLOAT where none is stated."""
    stated = case.parameter_name(operator.message, "compute_type")
    return int(DataType.FLOAT if stated is None else DataType[stated.removeprefix("DTYPE_")])
