"""Arguments and oracles, by subject."""

from __future__ import annotations

from gallery.case import Case
from gallery.cases import algorithms, copies, elementwise, networks, reductions

CASES: tuple[Case, ...] = (
    *copies.CASES, *elementwise.CASES, *reductions.CASES, *networks.CASES, *algorithms.CASES,
)  # fmt: skip
