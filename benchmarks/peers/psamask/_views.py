"""psamask as a view: if every mask covers the whole map, the map of a position is a strided window of its mask."""

from __future__ import annotations

from benchmarks.problem import Problem


class Geometry:
    """Sizes of a psamask problem, and where the window of each position lies.

    The mask at row h of positions meets the map rows of ``span(h)``; row h2 of the map is its row
    ``h2 - h + reach``.
    """

    def __init__(self, problem: Problem) -> None:
        facts = problem.case.parameters
        self.batch, self.height, self.width = (int(size) for size in facts["shape"])
        self.mask = int(facts["mask"])
        self.reach = (self.mask - 1) >> 1
        self.forward = problem.case.operator.endswith("forward")
        self.collect = facts["mode"] == "collect"
        self.source = problem.inputs["x" if self.forward else "dy"]
        self.full = all(self.reach >= size - 1 and self.mask - self.reach >= size for size in (self.height, self.width))

    def span(self, position: int, size: int) -> tuple[int, int]:
        """Return the map rows or columns, from and up to, that the mask at a position reaches."""
        return max(0, position - self.reach), min(size, position + self.mask - self.reach)

    @property
    def window_shape(self) -> tuple[int, ...]:
        """The shape of all windows: batch, position, place on the map."""
        return (self.batch, self.height, self.width, self.height, self.width)

    @property
    def window_strides(self) -> tuple[int, ...]:
        """Strides, in elements, of the windows in the masks. Valid if the mask covers the map."""
        cells = self.mask * self.mask
        return (self.height * self.width * cells, self.width * cells - self.mask, cells - 1, self.mask, 1)

    @property
    def window_offset(self) -> int:
        """Where the first window starts in the masks, in elements."""
        return self.reach * self.mask + self.reach
