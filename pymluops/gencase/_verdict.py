"""The criteria of a case, from the places where it may have them, in the order of the vendor's evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pymluops.gencase._criteria import NAMES, Criterion
from pymluops.gencase._file import CaseError, CaseFile, CaseTensor

__all__ = ["Criteria", "criteria_of"]

#: Older names.
_SYNONYMS = {"MAPE": "DIFF1", "MAXAPE": "DIFF3"}
#: Operators of which only some criteria count where the node states them, and which.
_COUNTED = {
    "carafe_forward": ("DIFF1", "DIFF2", "DIFF4"),
    "roi_pooling_backward": ("DIFF1", "DIFF2", "DIFF4"),
    "focal_loss_sigmoid_forward": ("DIFF1", "DIFF2"),
    "sync_batchnorm_gather_stats_with_counts": ("DIFF1", "DIFF2", "DIFF3"),
    "fft": ("DIFF1", "DIFF2", "DIFF3", "DIFF4"),
}


@dataclass(frozen=True)
class Criteria:
    """The criteria of a case: those of all outputs, or names whose thresholds each output has itself."""

    path: str
    names: tuple[str, ...]
    common: tuple[Criterion, ...]

    def of(self, tensor: CaseTensor) -> Sequence[Criterion]:
        """Return those of one output."""
        if self.common:
            return self.common
        limits, imaginary = tensor.thresholds, tensor.imaginary_thresholds
        return _made(self.path, self.names, limits, imaginary, f"the thresholds of {tensor.id}")


def criteria_of(case: CaseFile) -> Criteria:
    """Return the criteria of a case.

    Raises
    ------
    CaseError
        If it has none, or their numbers do not agree.
    """
    path, node = str(case.path or case.op_name), case.node
    if node.HasField("test_param"):
        names = _names(path, node.test_param, "error_func")
        parts: Any = node.test_param
        common = _made(path, names, parts.error_threshold, parts.error_threshold_imag, "test_param")
        return _known(Criteria(path, names, _once(common)))
    names = _names(path, node, "evaluation_criterion")
    counted = _COUNTED.get(case.op_name, NAMES)
    if node.evaluation_threshold:
        common = _made(path, names, node.evaluation_threshold, node.evaluation_threshold_imag, "evaluation_threshold")
        kept = tuple(one for one in _once(common) if one.name in counted)
        return _known(Criteria(path, tuple(one.name for one in kept), kept))
    return _known(Criteria(path, names, ()))


def _known(criteria: Criteria) -> Criteria:
    if not criteria.names:
        raise CaseError(f"{criteria.path}: the case has no criterion")
    return criteria


def _names(path: str, message: Any, field: str) -> tuple[str, ...]:
    kinds = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    stated: list[str] = [kinds[number].name for number in getattr(message, field)]
    names = tuple(_SYNONYMS.get(name, name) for name in stated)
    for name in names:
        if name not in NAMES:
            raise CaseError(f"{path}: the criterion {name} is not known; there are {', '.join(NAMES)}")
    return names


def _made(
    path: str, names: Sequence[str], limits: Sequence[float], imaginary: Sequence[float], place: str
) -> tuple[Criterion, ...]:
    if len(names) != len(limits):
        raise CaseError(f"{path}: {place} has {len(limits)} thresholds for {len(names)} criteria")
    if imaginary and len(imaginary) != len(names):
        raise CaseError(f"{path}: {place} has {len(imaginary)} imaginary thresholds for {len(names)} criteria")
    others: Sequence[float | None] = list(imaginary) or [None] * len(names)
    return tuple(Criterion(name, limit, other) for name, limit, other in zip(names, limits, others, strict=True))


def _once(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Keep the first of a criterion that is named twice."""
    found: dict[str, Criterion] = {}
    for one in criteria:
        found.setdefault(one.name, one)
    return tuple(found.values())
