"""Arguments and oracles, by subject."""

from __future__ import annotations

from gallery.case import Case
from gallery.cases import algorithms, copies, elementwise, networks, reductions

CASES: tuple[Case, ...] = (
    *copies.CASES, *elementwise.CASES, *reductions.CASES, *networks.CASES, *algorithms.CASES,
)  # fmt: skip


def cases_of(kernel: str, arch: int) -> list[Case]:
    """The launches of a kernel on a card."""
    return [case for case in CASES if case.kernel == kernel and arch in case.archs]
