"""Runs a case on a library and compares what comes out."""

from __future__ import annotations

import math
import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymluops import functions, load
from pymluops._core import Backend, Handle
from pymluops.enums import DataType
from pymluops.gencase._binding import Bound, bind
from pymluops.gencase._criteria import Criterion, Measure, Place, compare, worst_place
from pymluops.gencase._file import CaseFile, CaseTensor
from pymluops.gencase._memory import Guarded
from pymluops.gencase._reference import description_of, reference
from pymluops.gencase._settings import settings_of
from pymluops.gencase._unseen import unseen_differences
from pymluops.gencase._values import memory_type
from pymluops.gencase._verdict import Criteria, criteria_of
from pymluops.gencase.result import Judgement, Outcome, OutputResult, Result

__all__ = ["FILE", "ORACLE", "run_case"]

#: What a result can be compared with beside a library: the oracle, and the outputs in the file.
ORACLE, FILE = "oracle", "file"

#: Operators that write parts of their outputs; these begin with zeros.
_PARTLY = (
    "ball_query",
    "dynamic_point_to_voxel_forward",
    "generate_proposals_v2",
    "get_indice_pairs",
    "logspace",
    "nms",
    "nms_rotated",
    "poly_nms",
    "roiaware_pool3d_forward",
    "voxelization",
)


@dataclass
class _Outputs:
    """What a library or the oracle made: numbers by argument, in the order of the file."""

    arrays: dict[str, np.ndarray]
    seconds: float = 0.0
    #: What it wrote that is not its own: memory beside arrays, and inputs.
    harm: str = ""
    efficiencies: tuple[float, float] | None = None


def run_case(
    case: CaseFile,
    library: str | Backend = "cpu",
    against: str | Backend = ORACLE,
    announce: Callable[[str], None] = lambda part: None,
) -> Result:
    """Run a case; see `Case.run`. `announce` gets the name of what is about to compute."""
    names = _name(library), _name(against)
    facts: dict[str, Any] = {"path": str(case.path or ""), "operator": case.op_name}
    facts["library"], facts["against"] = names
    try:
        return _ran(case, library, against, facts, announce)
    except Exception as error:  # whatever a case leads to is said about this case
        return Result(**facts, outcome=Outcome.ERROR, message=f"{type(error).__name__}: {error}")


def _ran(
    case: CaseFile,
    library: str | Backend,
    against: str | Backend,
    facts: dict[str, Any],
    announce: Callable[[str], None],
) -> Result:
    names = facts["library"], facts["against"]
    bound = bind(case)
    criteria = criteria_of(case)
    announce(names[0])
    found = _compute(bound, case, library)
    if against != FILE:
        announce(names[1])
    wanted = _baseline(bound, case, against, criteria)
    outputs = _compared(bound, found.arrays, wanted.arrays, criteria)
    judgements: tuple[Judgement, ...] = ()
    if against not in (ORACLE, FILE) and not all(output.passed for output in outputs):
        announce(ORACLE)
        judgements = _judged(bound, outputs, {names[0]: found.arrays, names[1]: wanted.arrays}, criteria)
    facts |= {"outputs": tuple(outputs), "seconds": found.seconds, "judgements": judgements}
    if found.efficiencies is not None:
        facts["io_efficiency"], facts["compute_efficiency"] = found.efficiencies
    harm = [found.harm, f"{names[1]}: {wanted.harm}" if wanted.harm else ""]
    if any(harm):
        return Result(**facts, outcome=Outcome.FAILED, message="\n".join(filter(None, harm)))
    passed = all(output.passed for output in outputs)
    message = "" if outputs else "nothing was compared: the outputs are empty, or left out of the comparison"
    return Result(**facts, outcome=Outcome.PASSED if passed else Outcome.FAILED, message=message)


def _name(library: str | Backend | os.PathLike[str]) -> str:
    return library.name if isinstance(library, Backend) else str(library)


# ---- Results of a library ------------------------------------------------------------------------


def _compute(bound: Bound, case: CaseFile, library: str | Backend) -> _Outputs:
    """Call the function of a library."""
    backend = load(library)
    arrays = _arrays(bound)
    with Handle(backend) as handle:
        if case.round_mode is not None:
            functions.mluOpSetQuantizeRoundMode(case.round_mode, handle=handle)
        arguments = _arguments(bound, arrays, handle)
        function = _function(bound)
        before, gaps = _sums(bound, arrays), {name: array.gaps() for name, array in arrays.items()}
        start = time.perf_counter()
        efficiencies = _call(backend, lambda: function(**arguments, handle=handle))
        seconds = time.perf_counter() - start
    harm = _harm(arrays, before, _sums(bound, arrays), gaps)
    _finish(bound, arrays)
    return _Outputs({name: arrays[name].numbers() for name in bound.outputs}, seconds, harm, efficiencies)


def _sums(bound: Bound, arrays: Mapping[str, Guarded]) -> dict[str, int]:
    """Return checksums of the inputs that the operator must leave as they are."""
    changed = {row.argument.rpartition(".")[2] for row in bound.operator.outputs}
    description = description_of(bound.function)
    if description is not None:
        changed |= {tensor.parameter or tensor.name for tensor in description.tensors if tensor.in_place}
    if "inplace" in bound.numbers:
        changed.add("x")
    return {
        name: zlib.crc32(arrays[name].memory.data) for name in bound.inputs if name in arrays and name not in changed
    }


def _harm(
    arrays: Mapping[str, Guarded], before: Mapping[str, int], after: Mapping[str, int], gaps: Mapping[str, int]
) -> str:
    """Return what a call wrote that is not its own; empty if nothing."""
    beside = [name for name, array in arrays.items() if not array.intact]
    between = [name for name, sum_ in gaps.items() if arrays[name].gaps() != sum_ and name not in before]
    changed = [arrays[name].tensor.id for name in before if before[name] != after[name]]
    said = [f"memory beside {', '.join(beside)} was written"] if beside else []
    said += [f"memory between the elements of {', '.join(between)} was written"] if between else []
    said += [f"the library wrote to what it only reads: {', '.join(changed)}"] if changed else []
    return "\n".join(said)


def _function(bound: Bound) -> Any:
    return getattr(functions, bound.function)


def _call(backend: Backend, call: Any) -> tuple[float, float] | None:
    """Make the call; on a simulated card, return how much of its bandwidth and of its units it used."""
    if backend.kind != "sim":
        call()
        return None
    from pymluops import sim

    with sim.profiling() as profile:
        call()
    rated = [launch for launch in profile.launches if launch.estimate_ns]
    if not rated:
        return None
    total = sum(launch.estimate_ns for launch in rated)
    return (
        sum(launch.io_efficiency * launch.estimate_ns for launch in rated) / total,
        sum(launch.compute_efficiency * launch.estimate_ns for launch in rated) / total,
    )


def _arrays(bound: Bound) -> dict[str, Guarded]:
    """Return the memory of all tensors."""
    zeros = bound.operator.name in _PARTLY
    found: dict[str, Guarded] = {}
    for name, tensor in bound.inputs.items():
        if tensor is not None:
            found[name] = Guarded(tensor, tensor.values(), zeros=True)
    for name, tensor in bound.outputs.items():
        if name not in found:
            found[name] = Guarded(tensor, None, zeros=zeros or not tensor.is_packed)
    if "inplace" in bound.numbers and "y" in bound.outputs:
        found["y"] = found["x"]
    return found


def _arguments(bound: Bound, arrays: Mapping[str, Guarded], handle: Handle) -> dict[str, Any]:
    """Return what the function of `pymluops.functions` takes, by name."""
    function = _function(bound)
    settings = settings_of(bound, handle)
    if "inplace" in bound.numbers:
        return {"x": arrays["x"].described, "y": arrays["x"].described}
    found: dict[str, Any] = {}
    for name in function.positional:
        if name in arrays:
            found[name] = arrays[name].described if _is_described(function, name) else _bare(arrays[name])
        elif name in settings:
            found[name] = settings[name]
        else:
            found[name] = bound.numbers.get(name)
    if bound.operator.name == "nms" and arrays["boxes"].tensor.shape[-1] == _COLUMNS_3D:
        found["confidence"] = None
    return found


_COLUMNS_3D = 7


def _is_described(function: Any, name: str) -> bool:
    return name in function.descriptors


def _bare(array: Guarded) -> np.ndarray:
    """Return an array without a descriptor; complex numbers of half are their parts."""
    kind = np.float16 if array.tensor.dtype == DataType.COMPLEX_HALF else memory_type(array.tensor.dtype)
    kind = np.complex64 if array.tensor.dtype == DataType.COMPLEX_FLOAT else kind
    return array.memory.view(kind)


def _finish(bound: Bound, arrays: Mapping[str, Guarded]) -> None:
    """Let what an operator leaves open be alike: what stands behind the boxes that nms found."""
    if bound.operator.name != "nms":
        return
    count = int(arrays["output_size"].numbers()[0])
    output = arrays["output"]
    if not bound.numbers["nms_desc.pad_to_max_output_size"]:
        output.memory[count * (output.memory.size // max(output.tensor.shape[0], 1)) :] = 0


# ---- Baselines and comparison --------------------------------------------------------------------


def _baseline(bound: Bound, case: CaseFile, against: str | Backend, criteria: Criteria) -> _Outputs:
    """Return what the results are compared with."""
    if against == FILE:
        return _Outputs({name: _stated(name, tensor) for name, tensor in bound.outputs.items()})
    if against == ORACLE:
        return _oracle(bound, criteria)
    return _compute(bound, case, against)


def _stated(name: str, tensor: CaseTensor) -> np.ndarray:
    values = tensor.values()
    if values is None or tensor.is_random:
        raise LookupError(f"the file has no values of {name}")
    return Guarded(tensor, values).numbers()


def _oracle(bound: Bound, criteria: Criteria) -> _Outputs:
    arrays: dict[str, np.ndarray | None] = {}
    for name, tensor in bound.inputs.items():
        arrays[name] = None if tensor is None else Guarded(tensor, tensor.values(), zeros=True).numbers()
    for name, tensor in bound.outputs.items():
        if name not in arrays:
            arrays[name] = np.zeros(tensor.shape, Guarded(tensor, None, zeros=True).numbers().dtype)
    if "inplace" in bound.numbers:
        arrays["y"] = np.zeros_like(arrays["x"])
    exact = all(one.threshold == 0 for one in criteria.common) and bool(criteria.common)
    try:
        found = reference(bound.operator, arrays, bound.numbers, exact=exact)
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        text = f"{type(error).__name__}: {error}"
        raise LookupError(f"the oracle of {bound.operator.name} does not take this case: {text}") from None
    missing = [name for name in bound.outputs if name not in found]
    if missing:
        raise LookupError(f"the oracle of {bound.operator.name} has no {', '.join(missing)}")
    for name, tensor in bound.outputs.items():
        if found[name].size != math.prod(tensor.shape):
            shapes = f"the oracle makes {list(found[name].shape)}, the case has {list(tensor.shape)}"
            raise LookupError(f"{bound.operator.name}: output {tensor.id}: {shapes}")
    return _Outputs({name: _rounded(found[name], tensor) for name, tensor in bound.outputs.items()})


def _rounded(array: np.ndarray, tensor: CaseTensor) -> np.ndarray:
    """Round a result to the type of the output."""
    with np.errstate(all="ignore"):
        if tensor.dtype == DataType.HALF:
            array = array.astype(np.float16)
        elif tensor.dtype == DataType.FLOAT:
            array = array.astype(np.float32)
        elif array.dtype.kind == "c":
            array = array.astype(np.complex64)
        elif tensor.dtype == DataType.BFLOAT16:
            bits = array.astype(np.float32).view(np.uint32)
            even = bits + 0x7FFF + (bits >> 16 & 1)
            array = np.where(np.isnan(array), array.astype(np.float32), (even & 0xFFFF0000).view(np.float32))
    return array.reshape(tensor.shape)


def _compared(
    bound: Bound, found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray], criteria: Criteria
) -> list[OutputResult]:
    """Return the measures of the outputs that are compared."""
    results: list[OutputResult] = []
    for name, tensor in bound.outputs.items():
        if not tensor.is_compared or not found[name].size:
            continue
        own: Sequence[Criterion] = criteria.of(tensor)
        measures = tuple(compare(found[name], wanted[name], own, tensor.dtype))
        place = worst_place(_narrow(found[name]), _narrow(wanted[name]))
        passed = _passed(measures)
        unseen = unseen_differences(found[name], wanted[name], own, tensor.dtype, measures) if passed else None
        results.append(OutputResult(tensor.id, measures, place, passed, unseen))
    return results


def _narrow(array: np.ndarray) -> np.ndarray:
    """Return numbers as the metrics see them."""
    if array.dtype.kind == "c":
        return array.astype(np.complex64)
    return array if array.dtype == np.float64 else array.astype(np.float32)


def _passed(measures: Sequence[Measure]) -> bool:
    return bool(measures) and all(measure.passed for measure in measures)


def _judged(
    bound: Bound, outputs: Sequence[OutputResult], found: Mapping[str, Mapping[str, np.ndarray]], criteria: Criteria
) -> tuple[Judgement, ...]:
    """Say for each output on which two libraries differ which of them agrees with the oracle."""
    try:
        oracle = _oracle(bound, criteria).arrays
    except LookupError:
        return ()
    failed = {output.id for output in outputs if not output.passed}
    judgements: list[Judgement] = []
    for name, tensor in bound.outputs.items():
        if tensor.id not in failed:
            continue
        passed: dict[str, bool] = {}
        distances: dict[str, float] = {}
        places: dict[str, Place | None] = {}
        for library, arrays in found.items():
            passed[library] = _passed(compare(arrays[name], oracle[name], criteria.of(tensor), tensor.dtype))
            distances[library] = compare(arrays[name], oracle[name], [Criterion("DIFF2", 0)], tensor.dtype)[0].value
            places[library] = worst_place(_narrow(arrays[name]), _narrow(oracle[name]))
        agreeing = [library for library, holds in passed.items() if holds]
        agrees = agreeing[0] if len(agreeing) == 1 else "both" if agreeing else "none"
        judgements.append(Judgement(tensor.id, agrees, distances, places))
    return tuple(judgements)
